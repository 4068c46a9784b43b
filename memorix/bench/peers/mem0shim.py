"""Speak MCP for mem0: run by the Python it is installed for, with the name of a model."""

import json
import os
import sys
from typing import Any

from mcp.server import MCPServer

WHO = "bench"
DIMENSIONS = 384


def _config(folder: str, model: str) -> dict[str, Any]:
    vectors = {
        "path": f"{folder}/qdrant",
        "embedding_model_dims": DIMENSIONS,
        "on_disk": True,  # without, it empties the folder at its start
    }
    return {
        "vector_store": {"provider": "qdrant", "config": vectors},
        "embedder": {
            "provider": "fastembed",
            "config": {"model": model, "embedding_dims": DIMENSIONS},
        },
        "llm": {"provider": "openai", "config": {"api_key": "none"}},  # never asked
        "history_db_path": f"{folder}/history.db",
    }


def _serve(model: str) -> None:
    from mem0 import Memory  # type: ignore[import-not-found] # it is in the peer's Python alone

    server = MCPServer("mem0")
    memory = Memory.from_config(_config(os.environ["MEM0_DIR"], model))

    @server.tool()
    async def add(title: str, text: str) -> str:
        return json.dumps(memory.add(text, user_id=WHO, infer=False, metadata={"title": title}))

    @server.tool()
    async def search(question: str, limit: int) -> str:
        found = memory.search(question, filters={"user_id": WHO}, top_k=limit)
        return json.dumps(found, ensure_ascii=False)

    @server.tool()
    async def find(title: str) -> str:
        return json.dumps(memory.get_all(filters={"user_id": WHO, "title": title}))

    @server.tool()
    async def delete(id: str) -> str:
        return json.dumps(memory.delete(id))

    server.run("stdio")


if __name__ == "__main__":
    _serve(sys.argv[1])
