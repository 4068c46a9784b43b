"""Give peers the weights that we package, so that what they find differs by their search alone."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from memorix.embedders.cards import MINILM_FOLDER
from memorix.embedders.fastembed import load_minilm

MODEL = "sentence-transformers/all-MiniLM-L6-v2"
# The name under which fastembed knows them.
HUB = "models--qdrant--all-MiniLM-L6-v2-onnx"
REVISION = "packaged"


def place(folder: Path) -> None:
    """Link the files of the model into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in MINILM_FOLDER.iterdir():
        link = folder / file.name
        if not link.is_symlink():
            link.symlink_to(file)


def place_as_download(cache: Path) -> None:
    """Lay the model out as fastembed leaves it in its cache."""
    place(cache / HUB / "snapshots" / REVISION)
    refs = cache / HUB / "refs"
    refs.mkdir(exist_ok=True)
    (refs / "main").write_text(REVISION, encoding="utf-8")


@contextmanager
def endpoint(env: Mapping[str, str]) -> Iterator[str]:
    """Run a process that embeds as OpenAI's interface does, and yield its address.

    Raises:
        OSError: It does not start.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", __name__],
        env={**env, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    )
    with process:
        try:
            port = process.stdout.readline().strip() if process.stdout else ""
            if not port:
                raise OSError("what embeds for it does not start")
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            process.kill()


def _serve() -> None:
    model = load_minilm()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
            texts = [asked] if isinstance(asked, str) else asked
            rows = [
                {"object": "embedding", "index": place, "embedding": vector.tolist()}
                for place, vector in enumerate(model.embed(texts))
            ]
            used = {"prompt_tokens": 0, "total_tokens": 0}
            made = {"object": "list", "data": rows, "model": MODEL, "usage": used}
            body = json.dumps(made).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)  # noqa: T201 - it tells its parent
    server.serve_forever()


if __name__ == "__main__":
    _serve()
