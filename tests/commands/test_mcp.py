"""`dreamd mcp` is the one command that loads the SDK; all it says is in `tests/mcp/test_serving.py`."""

import subprocess
import sys

import pytest

from tests.acceptance.house import Home


@pytest.mark.parametrize("arguments", [["status"], ["--help"], ["memories"]])
def test_no_other_command_pays_for_the_sdk(tmp_path, arguments):
    code = (
        "import sys; from dreamd.cli import main\n"
        "try: main(sys.argv[1:])\n"
        "finally: print([name for name in sys.modules if name.split('.')[0] in ('mcp', 'pydantic', 'starlette')])"
    )
    config = ["--config", str(Home(tmp_path).config)]
    done = subprocess.run(
        [sys.executable, "-c", code, *config, *arguments], capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines()[-1] == "[]", done.stderr
