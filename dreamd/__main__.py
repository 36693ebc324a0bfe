"""The console script."""

from dreamd.cli import main

if __name__ == "__main__":
    main()
