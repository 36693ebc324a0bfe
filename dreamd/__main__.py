"""The console script."""

import gc

from dreamd import cli


def main() -> None:
    try:
        cli.main()
    finally:
        gc.freeze()  # else Python looks all that was loaded through for garbage on its way out: 10 ms


if __name__ == "__main__":
    main()
