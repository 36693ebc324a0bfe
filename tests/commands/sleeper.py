"""An agent whose logs lie on disk and are dreamt of without an LLM, for commands to be run on."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from dreamd.cli import cli
from tests.acceptance.house import Home

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
TABS = "I prefer tabs over spaces in Makefiles."
AGAIN = "As ever, I prefer tabs over spaces in Makefiles."
TEA = "I prefer green tea in the afternoon."


class Sleeper:
    """`says` writes the human's words of a day, one session a day, and the agent's answer."""

    def __init__(self, folder: Path) -> None:
        self.home = Home(folder)
        self.minutes = 0

    def says(self, day: int, *texts: str) -> None:
        for text in texts:
            self.minutes += 2
            at = MONDAY + timedelta(days=day, minutes=self.minutes)
            self.home.says(at, text, f"All right, that is point {self.minutes}.", session=f"s{day}")

    def run(self, *arguments: str, answer: str | None = None) -> Result:
        return CliRunner().invoke(
            cli, ["--config", str(self.home.config), *arguments], input=answer, standalone_mode=False
        )

    def json(self, *arguments: str) -> Any:
        result = self.run(*arguments, "--json")
        assert result.exception is None, result.exception
        return json.loads(result.stdout)

    def lived(self) -> None:
        """One thing said on two days, another on one, and dreamt of."""
        self.says(0, TABS, TEA)
        self.says(1, AGAIN)
        assert self.run("dream").exception is None

    def insight(self, text: str) -> dict[str, Any]:
        found = self.json("insights")
        return next(one for one in found if text in one["insight"]["content"])
