"""The plugins for Claude Code and Codex: what is committed is what is made, and hosts take it."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from memorix import __version__, installing, lifecycle
from memorix.hosts import plugins
from memorix.hosts.base import SERVER
from memorix.hosts.catalogue import BY_NAME
from memorix.hosts.ledger import Ledger
from memorix.hosts.machine import Machine, Program
from memorix.hosts.skills import SKILLS
from memorix.memory import Memory

ROOT = Path(__file__).parents[1]
HOSTS = ("claude-code", "codex")

# What the hosts document of their formats.  Other keys are refused here, since a host that does not
# know a key passes over it in silence.

NAME = {"type": "string", "pattern": r"^[a-z0-9]+(-[a-z0-9]+)*$", "maxLength": 64}
TEXT = {"type": "string", "minLength": 1}
INSIDE = {"type": "string", "pattern": r"^\./(?!.*\.\.)"}
PERSON = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": TEXT, "email": TEXT, "url": TEXT},
    "additionalProperties": False,
}


def closed(required: list[str], **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "required": required,
        "properties": properties,
        "additionalProperties": False,
    }


PLUGIN = {
    "name": NAME,
    "version": {"type": "string", "pattern": r"^\d+\.\d+\.\d+"},
    "description": TEXT,
    "author": PERSON,
    "homepage": TEXT,
    "repository": TEXT,
    "license": TEXT,
    "keywords": {"type": "array", "items": TEXT},
    "skills": INSIDE,
    "hooks": INSIDE,
    "mcpServers": INSIDE,
}
INTERFACE = closed(
    ["displayName"],
    **dict.fromkeys(("displayName", "shortDescription", "longDescription", "developerName"), TEXT),
    category=TEXT,
    capabilities={"type": "array", "items": {"enum": ["Interactive", "Read", "Write"]}},
)
MANIFESTS = {
    "claude-code": closed(["name"], **PLUGIN, commands=INSIDE, agents=INSIDE),
    "codex": closed(["name", "version", "description"], **PLUGIN, apps=INSIDE, interface=INTERFACE),
}
MARKETPLACES = {
    "claude-code": closed(
        ["name", "owner", "plugins"],
        name=NAME,
        description=TEXT,
        owner=PERSON,
        plugins={
            "type": "array",
            "items": closed(
                ["name", "source"], name=NAME, source=INSIDE, description=TEXT, category=TEXT
            ),
        },
    ),
    "codex": closed(
        ["name", "plugins"],
        name=NAME,
        interface=closed(["displayName"], displayName=TEXT),
        plugins={
            "type": "array",
            "items": closed(
                ["name", "source", "policy", "category"],
                name=NAME,
                source=closed(["source", "path"], source={"const": "local"}, path=INSIDE),
                policy=closed(
                    ["installation", "authentication"],
                    installation={"enum": ["AVAILABLE", "INSTALLED_BY_DEFAULT", "NOT_AVAILABLE"]},
                    authentication={"enum": ["ON_INSTALL", "ON_USE"]},
                ),
                category=TEXT,
            ),
        },
    ),
}
COMMAND = closed(
    ["type", "command"], type={"const": "command"}, command=TEXT, timeout={"type": "integer"}
)
EVENTS = {
    "claude-code": {
        "SessionStart", "UserPromptSubmit", "PreCompact", "PostCompact", "Stop", "SessionEnd",
    },
    "codex": {"SessionStart", "UserPromptSubmit", "PreCompact", "PostCompact", "Stop"},
}  # fmt: skip
SERVERS = closed(
    ["mcpServers"],
    mcpServers={
        "type": "object",
        "additionalProperties": closed(
            ["command"],
            command=TEXT,
            args={"type": "array", "items": TEXT},
            env={"type": "object"},
        ),
    },
)
WHERE = {
    "claude-code": (".claude-plugin/marketplace.json", ".claude-plugin/plugin.json"),
    "codex": (".agents/plugins/marketplace.json", ".codex-plugin/plugin.json"),
}


def hooks_schema(host: str) -> dict[str, Any]:
    groups = {
        "type": "array",
        "items": closed(["hooks"], matcher=TEXT, hooks={"type": "array", "items": COMMAND}),
    }
    return closed(["hooks"], hooks=closed([], **dict.fromkeys(EVENTS[host], groups)))


def loaded(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def offered(host: str) -> tuple[Any, Path]:
    """Return the marketplace of the repository, and the folder of the plugin that it offers."""
    market = loaded(ROOT / WHERE[host][0])
    source = market["plugins"][0]["source"]
    return market, ROOT / (source if isinstance(source, str) else source["path"])


# -- the files


def test_what_the_repository_holds_is_what_is_made() -> None:
    made = plugins.repository_files()

    committed = {
        str(path.relative_to(ROOT).as_posix()): path.read_text(encoding="utf-8")
        for folder in (".claude-plugin", ".agents", "plugins")
        for path in (ROOT / folder).rglob("*")
        if path.is_file()
    }
    committed["server.json"] = (ROOT / "server.json").read_text(encoding="utf-8")

    assert committed == made, "run scripts/build-plugins"


@pytest.mark.parametrize("host", HOSTS)
def test_a_plugin_is_as_its_host_documents(host: str) -> None:
    market, folder = offered(host)
    manifest = loaded(folder / WHERE[host][1])

    jsonschema.validate(market, MARKETPLACES[host])
    jsonschema.validate(manifest, MANIFESTS[host])
    jsonschema.validate(loaded(folder / ".mcp.json"), SERVERS)
    jsonschema.validate(loaded(folder / "hooks/hooks.json"), hooks_schema(host))
    assert market["plugins"][0]["name"] == manifest["name"]
    assert manifest["version"] == __version__
    for part in ("skills", "mcpServers", "hooks"):
        assert (folder / manifest.get(part, ".")).exists()


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("name", SKILLS)
def test_a_skill_has_a_name_and_says_when_to_use_it(host: str, name: str) -> None:
    text = (offered(host)[1] / f"skills/{name}/SKILL.md").read_text(encoding="utf-8")

    head = re.fullmatch(r'---\nname: (\S+)\ndescription: "([^"\\\n]+)"\n---\n\n(.+)', text, re.S)

    assert head
    assert head[1] == name
    assert 40 < len(head[2]) <= 1024
    assert SERVER in head[3]


@pytest.mark.parametrize("host", HOSTS)
def test_the_hooks_of_a_plugin_are_those_of_an_install(host: str, tmp_path: Path) -> None:
    machine = Machine("linux", tmp_path, tmp_path)
    wanted = BY_NAME[host].hooks
    assert wanted
    target = wanted.target(machine, "user", Program("/opt/memorix"), host)
    assert target
    installed = ""
    for edit in target.edits:
        installed = edit.put(installed)

    groups = loaded(offered(host)[1] / "hooks/hooks.json")["hooks"]

    lines = {event: group[0]["hooks"][0]["command"] for event, group in groups.items()}
    expected = {
        event: group[0]["hooks"][0]["command"].replace(
            "/opt/memorix hook", f"{SERVER} hook --plugin"
        )
        for event, group in json.loads(installed)["hooks"].items()
    }
    assert lines == expected


# -- beside an install


def hooked(line: str, cwd: Path, environment: dict[str, str]) -> bytes:
    """Run the command of a plugin's hook as a host does; return what it said."""
    words = [sys.executable, "-m", "memorix", *shlex.split(line)[1:]]
    payload = json.dumps({"cwd": str(cwd), "session_id": "s1", "source": "startup"}).encode()
    done = subprocess.run(
        words, input=payload, capture_output=True, env=environment, cwd=cwd, check=True, timeout=60
    )
    assert done.stderr == b""
    return done.stdout


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("host", HOSTS)
def test_a_start_is_told_once_by_plugin_and_install_together(
    host: str,
    scope: Any,
    settings: dict[str, str],
    memory: Memory,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    home, project = tmp_path / "desk", Path(settings["MEMORIX_PROJECT_DIR"])
    home.mkdir()
    environment = {**os.environ, **settings, "HOME": str(home), "USERPROFILE": str(home)}
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "CLAUDE_PROJECT_DIR"):
        environment.pop(variable, None)
    memory.remember(lifecycle.draft_from("The gateway listens on 8443.", "", "Decision"), "")
    line = plugins.hooks(host)["SessionStart"][0]["hooks"][0]["command"]
    told = hooked(line, project, {**environment, "XDG_DATA_HOME": str(tmp_path / "other")})
    assert b"8443" in told, "the plugin alone tells it"
    machine = Machine("linux", home, project, {"PATH": "/nowhere"})
    installer = installing.Installer(machine, Ledger(tmp_path / "records"))

    list(installer.carry_out(installer.plan_install([BY_NAME[host]], scope, Program("/m"))))

    assert hooked(line, project, environment) == b""
    assert b"8443" in hooked(line.replace(" --plugin", ""), project, environment)


@pytest.mark.parametrize(
    ("host", "file", "on", "off"),
    [
        (
            "claude-code",
            ".claude/settings.json",
            '{"enabledPlugins": {"memorix-notes@memorix-notes": true}}',
            '{"enabledPlugins": {"memorix-notes@memorix-notes": false, "other@x": true}}',
        ),
        (
            "codex",
            ".codex/config.toml",
            '[plugins."memorix-notes@memorix-notes"]\nenabled = true\n',
            '[plugins."memorix-notes@memorix-notes"]\nenabled = false\n[plugins."x@y"]\n',
        ),
    ],
)
def test_install_leaves_a_host_with_our_plugin_alone_and_says_why(
    tmp_path: Path, host: str, file: str, on: str, off: str
) -> None:
    machine = Machine("linux", tmp_path, None, {"PATH": "/nowhere"})
    installer = installing.Installer(machine, Ledger(tmp_path / "records"))
    path = tmp_path / file
    path.parent.mkdir()
    path.write_text(on, encoding="utf-8")

    refused = installer.plan_install([BY_NAME[host]], "user", Program("/m"))
    path.write_text(off, encoding="utf-8")
    done = installer.plan_install([BY_NAME[host]], "user", Program("/m"))

    assert not refused.needed
    assert "has our plugin" in refused.remarks[0]
    assert done.needed
    assert not done.remarks
