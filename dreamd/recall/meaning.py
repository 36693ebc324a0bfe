"""The server of embeddings as the configuration names it; what asks it is loaded when somebody does."""

from collections.abc import Awaitable, Callable, Sequence
from typing import cast

from anyio import to_thread

from dreamd import _plugins
from dreamd.parts import Meaning
from dreamd.sections import Recall

Ask = Callable[[Recall, Sequence[str]], Awaitable[list[Sequence[float]]]]


class Embeddings(Meaning):
    def __init__(self, recall: Recall) -> None:
        self.model = recall.embeddings_model or recall.embeddings_url
        self._recall = recall

    async def of(self, texts: Sequence[str]) -> list[Sequence[float]]:
        ask = cast("Ask", await to_thread.run_sync(_plugins.load, "recall", "embeddings", "ask"))
        return await ask(self._recall, texts)


OPEN: Callable[[Recall], Meaning] = Embeddings
