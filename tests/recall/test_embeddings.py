"""A server of embeddings as it answers over HTTP."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from dreamd.errors import ProviderRefused, ProviderUnreachable, ReplyUnusable
from dreamd.recall.embeddings import LONGEST, ask
from dreamd.recall.meaning import OPEN
from dreamd.sections import Recall


class Server(ThreadingHTTPServer):
    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.asked: list[tuple[str, str | None, dict[str, object]]] = []
        self.status, self.body = 200, b""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Answering(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append((self.path, self.headers["Authorization"], asked))
        data = [
            {"index": place, "embedding": [float(len(text)), 1]} for place, text in enumerate(asked["input"])
        ]
        body = self.server.body or json.dumps({"data": data[::-1], "model": "m", "usage": {}}).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def server() -> Iterator[Server]:
    with Server() as opened:
        Thread(target=opened.serve_forever, args=(0.01,)).start()
        yield opened
        opened.shutdown()


async def test_vectors_come_in_the_order_of_the_texts(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMBEDDINGS_KEY", "sesame")
    recall = Recall(
        embeddings_url=f"{server.url}/v1", embeddings_model="m", embeddings_key_env="EMBEDDINGS_KEY"
    )
    assert await OPEN(recall).of(["one", "three"]) == [[3, 1], [5, 1]]
    assert server.asked == [("/v1/embeddings", "Bearer sesame", {"input": ["one", "three"], "model": "m"})]


@pytest.mark.parametrize("path", ["", "/", "/v1", "/v1/", "/v1/embeddings"])
async def test_the_address_may_be_given_as_people_do(server: Server, path: str) -> None:
    await ask(Recall(embeddings_url=server.url + path), ["x"])
    assert [each[:2] for each in server.asked] == [("/v1/embeddings", None)]


async def test_secrets_stay_and_long_texts_are_cut(server: Server) -> None:
    await ask(Recall(embeddings_url=server.url), ["AKIAIOSFODNN7EXAMPLE " + "x" * 9000])
    (sent,) = server.asked[0][2]["input"]  # type: ignore[misc]
    assert "AKIA" not in sent
    assert len(sent) == LONGEST


@pytest.mark.parametrize("body", [b"no JSON", b"{}", b'{"data": []}', b'{"data": [{"embedding": []}]}',
                                  b'{"data": [{"embedding": [1]}, {"embedding": [1, 2]}]}'])  # fmt: skip
async def test_what_are_no_vectors_is_refused(server: Server, body: bytes) -> None:
    server.body = body
    with pytest.raises(ReplyUnusable, match="vectors"):
        await ask(Recall(embeddings_url=server.url), ["x"])


async def test_a_server_that_refuses_or_is_down_is_told(server: Server) -> None:
    server.status = 401
    with pytest.raises(ProviderRefused, match="401"):
        await ask(Recall(embeddings_url=server.url), ["x"])
    with pytest.raises(ProviderUnreachable, match="does not answer"):
        await ask(Recall(embeddings_url="http://127.0.0.1:9"), ["x"])
    with pytest.raises(ProviderRefused, match="MISSING"):
        await ask(Recall(embeddings_url=server.url, embeddings_key_env="MISSING"), ["x"])
