"""The entry for the MCP registry and the bundle for Claude Desktop: well formed, and startable."""

import asyncio
import io
import json
import os
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from memorix import __version__
from memorix.hosts import listings

ROOT = Path(__file__).parents[1]
TEXT = {"type": "string", "minLength": 1}

# What the two formats document of the keys we use; others are refused here.

ARGUMENT = {
    "type": "object",
    "required": ["type"],
    "properties": {"type": {"const": "positional"}, "value": TEXT, "valueHint": TEXT},
    "anyOf": [{"required": ["value"]}, {"required": ["valueHint"]}],
    "additionalProperties": False,
}
PACKAGE = {
    "type": "object",
    "required": ["registryType", "identifier", "transport"],
    "properties": {
        "registryType": {"enum": ["npm", "pypi", "oci", "nuget", "mcpb"]},
        "registryBaseUrl": {"type": "string", "format": "uri"},
        "identifier": TEXT,
        "version": {"type": "string", "pattern": r"^\d+\.\d+\.\d+", "not": {"const": "latest"}},
        "runtimeHint": TEXT,
        "transport": {
            "type": "object",
            "required": ["type"],
            "properties": {"type": {"const": "stdio"}},
            "additionalProperties": False,
        },
        "packageArguments": {"type": "array", "items": ARGUMENT},
    },
    "additionalProperties": False,
}
ENTRY = {
    "type": "object",
    "required": ["$schema", "name", "description", "version"],
    "properties": {
        "$schema": {
            "type": "string",
            "pattern": r"^https://static\.modelcontextprotocol\.io/schemas/[\d-]+/server\.schema\.json$",
        },
        "name": {
            "type": "string",
            "pattern": r"^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$",
            "minLength": 3,
            "maxLength": 200,
        },
        "title": {**TEXT, "maxLength": 100},
        "description": {**TEXT, "maxLength": 100},
        "version": {"type": "string", "maxLength": 255},
        "packages": {"type": "array", "items": PACKAGE},
    },
    "additionalProperties": False,
}
COMMAND = {
    "type": "object",
    "required": ["command"],
    "properties": {
        "command": TEXT,
        "args": {"type": "array", "items": TEXT},
        "env": {"type": "object"},
    },
    "additionalProperties": False,
}
MANIFEST = {
    "type": "object",
    "required": ["manifest_version", "name", "version", "description", "author", "server"],
    "properties": {
        "manifest_version": {"const": "0.4"},
        **dict.fromkeys(("name", "display_name", "version", "description", "license"), TEXT),
        "author": {
            "type": "object",
            "required": ["name"],
            "properties": {"name": TEXT, "email": TEXT, "url": TEXT},
            "additionalProperties": False,
        },
        "keywords": {"type": "array", "items": TEXT},
        "server": {
            "type": "object",
            "required": ["type", "entry_point", "mcp_config"],
            "properties": {
                "type": {"enum": ["python", "node", "binary", "uv"]},
                "entry_point": TEXT,
                "mcp_config": COMMAND,
            },
            "additionalProperties": False,
        },
        "tools": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["name"],
                "properties": {"name": TEXT, "description": TEXT},
                "additionalProperties": False,
            },
        },
        "prompts_generated": {"type": "boolean"},
        "compatibility": {
            "type": "object",
            "properties": {
                "platforms": {"type": "array", "items": {"enum": ["darwin", "win32", "linux"]}},
                "runtimes": {"type": "object", "properties": {"python": TEXT}},
            },
            "additionalProperties": False,
        },
    },
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("bundle") / "a.mcpb")


def built(path: Path) -> Path:
    script = [sys.executable, str(ROOT / "scripts/build-mcpb"), str(path)]
    subprocess.run(script, check=True, capture_output=True, timeout=100)
    return path


def read(bundle: Path, name: str) -> bytes:
    with zipfile.ZipFile(bundle) as archive:
        return archive.read(name)


# -- the registry


def test_the_entry_for_the_registry_is_as_it_documents() -> None:
    entry = json.loads((ROOT / "server.json").read_text(encoding="utf-8"))

    jsonschema.validate(entry, ENTRY)
    assert entry["version"] == entry["packages"][0]["version"] == __version__


def test_the_package_on_pypi_names_the_entry_and_starts_by_its_own_name() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    package = listings.registry_entry()["packages"][0]

    readme = (ROOT / project["readme"]).read_text(encoding="utf-8")

    assert f"mcp-name: {listings.REGISTRY_NAME} " in readme, "the registry looks for it"
    assert package["identifier"] == project["name"]
    assert package["identifier"] in project["scripts"], "uvx starts the command of that name"


# -- the bundle


def test_the_manifest_of_the_bundle_is_as_documented(bundle: Path) -> None:
    manifest = json.loads(read(bundle, "manifest.json"))
    project = tomllib.loads(read(bundle, "pyproject.toml").decode())["project"]

    jsonschema.validate(manifest, MANIFEST)
    assert manifest["version"] == __version__
    assert manifest["compatibility"]["runtimes"]["python"] == project["requires-python"]
    assert manifest["server"]["mcp_config"]["args"][-1].endswith(manifest["server"]["entry_point"])


def test_the_bundle_is_the_same_bytes_each_time(bundle: Path, tmp_path: Path) -> None:
    assert built(tmp_path / "b.mcpb").read_bytes() == bundle.read_bytes()


def test_a_bundle_does_not_depend_on_the_order_of_its_files() -> None:
    one, two = {"a": b"1", "b/c": b"2"}, {"b/c": b"2", "a": b"1"}

    packed = listings.packed(one)

    assert packed == listings.packed(two)
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        assert archive.namelist() == ["a", "b/c"]


def test_the_bundle_holds_the_package_and_nothing_of_this_machine(bundle: Path) -> None:
    with zipfile.ZipFile(bundle) as archive:
        names = archive.namelist()

    assert {"memorix/__main__.py", "memorix/embedders/minilm/LICENSE", "LICENSE"} <= set(names)
    assert not [name for name in names if "__pycache__" in name or name.startswith(("/", "tests"))]


def test_the_entry_point_alone_starts_the_tools_that_the_manifest_names(
    bundle: Path, tmp_path: Path, settings: dict[str, str]
) -> None:
    with zipfile.ZipFile(bundle) as archive:
        archive.extractall(tmp_path / "bundle")
    manifest = json.loads(read(bundle, "manifest.json"))
    entry = tmp_path / "bundle" / manifest["server"]["entry_point"]
    environment = {**os.environ, **settings}
    environment.pop("PYTHONPATH", None)

    async def listed() -> set[str]:
        program = StdioServerParameters(
            command=sys.executable, args=[str(entry)], env=environment, cwd=tmp_path
        )
        async with Client(stdio_client(program)) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    tools: list[Any] = manifest["tools"]
    assert asyncio.run(listed()) == {tool["name"] for tool in tools}
