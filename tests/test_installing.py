"""Into every host and out again: to the byte, and with nothing left behind."""

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from memorix import installing
from memorix.config import Config
from memorix.errors import HostFileRefused, InvalidRequest
from memorix.hosts.catalogue import BY_NAME, HOSTS
from memorix.hosts.ledger import Ledger
from memorix.hosts.machine import Machine, Program, Scope, System

PROGRAM = Program("/opt/venv/bin/memorix")

LIBRARY = "Library/Application Support"

PLAIN = """\
{
  "command": "/opt/venv/bin/memorix",
  "args": [
    "serve"
  ]
}"""
STDIO = PLAIN.replace("{\n", '{\n  "type": "stdio",\n', 1)

# name -> (settings below home on Linux, key of the servers, our entry as it must be written)
JSON_HOSTS = {
    "claude-code": (".claude.json", "mcpServers", STDIO),
    "claude-desktop": (".config/Claude/claude_desktop_config.json", "mcpServers", PLAIN),
    "cursor": (".cursor/mcp.json", "mcpServers", PLAIN),
    "vscode": (".config/Code/User/mcp.json", "servers", STDIO),
    "copilot-cli": (
        ".copilot/mcp-config.json",
        "mcpServers",
        STDIO.replace('"stdio"', '"local"').replace(
            "  ]\n}", '  ],\n  "tools": [\n    "*"\n  ]\n}'
        ),
    ),
    "windsurf": (".codeium/windsurf/mcp_config.json", "mcpServers", PLAIN),
    "devin": (".config/devin/mcp_config.json", "mcpServers", PLAIN),
    "gemini": (".gemini/settings.json", "mcpServers", PLAIN),
    "antigravity": (".gemini/config/mcp_config.json", "mcpServers", PLAIN),
    "opencode": (
        ".config/opencode/opencode.jsonc",
        "mcp",
        '{\n  "type": "local",\n  "command": [\n    "/opt/venv/bin/memorix",\n    "serve"\n  ],\n'
        '  "enabled": true\n}',
    ),
    "zed": (
        ".config/zed/settings.json",
        "context_servers",
        PLAIN.replace("{\n", '{\n  "source": "custom",\n', 1).replace(
            "  ]\n}", '  ],\n  "env": {}\n}'
        ),
    ),
    "cline": (".cline/data/settings/cline_mcp_settings.json", "mcpServers", PLAIN),
    "junie": (".junie/mcp/mcp.json", "mcpServers", PLAIN),
}

EXISTING = """\
// my settings: 网关
{
  "theme": "dark", /* not light */
  "KEY": {
    "memorix": { "command": "/usr/bin/memorix", "args": ["mcp"] } // another tool
    // "old": {}
  },
  "last": [1, 2,]
}
"""
EXPECTED = """\
// my settings: 网关
{
  "theme": "dark", /* not light */
  "KEY": {
    "memorix": { "command": "/usr/bin/memorix", "args": ["mcp"] }, // another tool
    "memorix-notes": ENTRY
    // "old": {}
  },
  "last": [1, 2,]
}
"""

TOML_EXISTING = """\
model = "o5" # mine

[mcp_servers.memorix]
command = "/usr/bin/memorix"

# below
[tui]
x = 1
"""
TOML_ENTRY = """
[mcp_servers.memorix-notes]
command = "/opt/venv/bin/memorix"
args = ["serve"]
"""

AS = {
    "plain": lambda text: text.encode(),
    "crlf": lambda text: text.replace("\n", "\r\n").encode(),
    "bom": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "tabs": lambda text: re.sub("(?m)^(  )+", lambda m: "\t" * (len(m[0]) // 2), text).encode(),
    "crlf-no-last-end": lambda text: text.rstrip("\n").replace("\n", "\r\n").encode(),
}


@dataclass
class Desk:
    """A scratch computer with a project."""

    home: Path
    machine: Machine
    ledger: Ledger
    program: Program = PROGRAM

    @property
    def installer(self) -> installing.Installer:
        return installing.Installer(self.machine, self.ledger)

    def plan(
        self, *names: str, scope: Scope = "user", rules: bool = False, hooks: bool = False
    ) -> installing.Plan:
        hosts = installing.hosts_named(names)
        return self.installer.plan_install(hosts, scope, self.program, rules=rules, hooks=hooks)

    def install(
        self, *names: str, scope: Scope = "user", rules: bool = False, hooks: bool = False
    ) -> installing.Plan:
        plan = self.plan(*names, scope=scope, rules=rules, hooks=hooks)
        list(self.installer.carry_out(plan))
        return plan

    def uninstall(self, *names: str, scope: Scope | None = None) -> None:
        plan = self.installer.plan_uninstall(installing.hosts_named(names), scope)
        list(self.installer.carry_out(plan))

    def files(self) -> dict[str, bytes]:
        return {
            str(path.relative_to(self.home)): path.read_bytes()
            for path in sorted(self.home.rglob("*"))
            if path.is_file()
        }

    def folders(self) -> set[str]:
        return {str(p.relative_to(self.home)) for p in self.home.rglob("*") if p.is_dir()}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    home = tmp_path / "desk"
    project = home / "code" / "app"
    project.mkdir(parents=True)
    machine = Machine("linux", home, project, {"PATH": "/nowhere"})
    return Desk(home, machine, Ledger(tmp_path / "records"))


def write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def indented(entry: str, by: str) -> str:
    return entry.replace("\n", "\n" + by)


# -- every host, to the byte


@pytest.mark.parametrize("shape", AS)
@pytest.mark.parametrize("name", JSON_HOSTS)
def test_an_entry_goes_into_settings_with_comments_and_out_again(
    desk: Desk, name: str, shape: str
) -> None:
    file, key, entry = JSON_HOSTS[name]
    before = AS[shape](EXISTING.replace("KEY", key))
    path = write(desk.home / file, before)
    expected = EXPECTED.replace("KEY", key).replace("ENTRY", indented(entry, "    "))

    desk.install(name)
    assert path.read_bytes() == AS[shape](expected)
    desk.install(name)
    assert path.read_bytes() == AS[shape](expected)

    desk.uninstall(name)
    assert desk.files() == {file: before}
    assert not list(desk.ledger.records())


@pytest.mark.parametrize("before", [None, b"", b"\n", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("name", JSON_HOSTS)
def test_missing_and_empty_settings_are_made_and_taken_away(
    desk: Desk, name: str, before: bytes | None
) -> None:
    file, key, entry = JSON_HOSTS[name]
    if before is not None:
        write(desk.home / file, before)
    files, folders = desk.files(), desk.folders()

    desk.install(name)
    made = (desk.home / file).read_bytes()
    text = f'{{\n  "{key}": {{\n    "memorix-notes": {indented(entry, "    ")}\n  }}\n}}\n'
    assert made.removeprefix(b"\xef\xbb\xbf") == text.encode()
    assert made.startswith(b"\xef\xbb\xbf") == (before == b"\xef\xbb\xbf")

    desk.uninstall(name)
    assert (desk.files(), desk.folders()) == (files, folders)


@pytest.mark.parametrize("name", JSON_HOSTS)
def test_settings_on_one_line_stay_on_one_line(desk: Desk, name: str) -> None:
    file, key, entry = JSON_HOSTS[name]
    path = write(desk.home / file, b'{"a":1}')

    desk.install(name)

    tight = json.dumps(json.loads(entry), separators=(",", ":"))
    assert path.read_text("utf-8") == f'{{"a":1,"{key}":{{"memorix-notes":{tight}}}}}'
    desk.uninstall(name)
    assert path.read_bytes() == b'{"a":1}'


@pytest.mark.parametrize("name", JSON_HOSTS)
def test_broken_settings_are_refused_with_the_line_and_stay(desk: Desk, name: str) -> None:
    file, _, _ = JSON_HOSTS[name]
    path = write(desk.home / file, b'{\n  "a": 1\n  "b": 2\n}\n')

    plan = desk.install(name)

    assert [str(error) for error in plan.refused] == [
        f"{path}, line 3: a comma or }} is missing. It was not changed. Mend it, then try again."
    ]
    assert path.read_bytes() == b'{\n  "a": 1\n  "b": 2\n}\n'
    assert not list(desk.ledger.records())


@pytest.mark.parametrize("shape", AS)
def test_codex_gets_a_table_at_the_end(desk: Desk, shape: str) -> None:
    before = AS[shape](TOML_EXISTING)
    path = write(desk.home / ".codex/config.toml", before)

    desk.install("codex")
    assert path.read_bytes().replace(b"\r\n", b"\n").removeprefix(b"\xef\xbb\xbf") == (
        TOML_EXISTING + TOML_ENTRY
    ).encode().rstrip() + (b"" if shape == "crlf-no-last-end" else b"\n")
    assert path.read_bytes().count(b"\r\n") in (0, path.read_bytes().count(b"\n"))

    desk.uninstall("codex")
    assert desk.files() == {".codex/config.toml": before}


def test_codex_without_settings_and_with_broken_ones(desk: Desk) -> None:
    desk.install("codex")
    path = desk.home / ".codex/config.toml"
    assert path.read_text("utf-8") == TOML_ENTRY.lstrip()
    desk.uninstall("codex")
    assert desk.files() == {}

    write(path, b"a = 1\nb = \n")
    plan = desk.install("codex")
    assert [error.line for error in plan.refused] == [2]
    assert path.read_bytes() == b"a = 1\nb = \n"


@pytest.mark.parametrize(
    ("name", "scope", "file", "keys"),
    [
        ("claude-code", "project", "code/app/.mcp.json", ["mcpServers"]),
        ("claude-code", "local", ".claude.json", ["projects", "PROJECT", "mcpServers"]),
        ("cursor", "project", "code/app/.cursor/mcp.json", ["mcpServers"]),
        ("vscode", "project", "code/app/.vscode/mcp.json", ["servers"]),
        ("copilot-cli", "project", "code/app/.github/mcp.json", ["mcpServers"]),
        ("gemini", "project", "code/app/.gemini/settings.json", ["mcpServers"]),
        ("opencode", "project", "code/app/opencode.jsonc", ["mcp"]),
        ("zed", "project", "code/app/.zed/settings.json", ["context_servers"]),
        ("junie", "project", "code/app/.junie/mcp/mcp.json", ["mcpServers"]),
    ],
)
def test_a_project_has_settings_of_its_own(
    desk: Desk, name: str, scope: Scope, file: str, keys: list[str]
) -> None:
    desk.install(name, scope=scope)

    found = json.loads((desk.home / file).read_bytes())
    for key in keys:
        found = found[key.replace("PROJECT", str(desk.machine.project))]
    assert list(found) == ["memorix-notes"]
    desk.uninstall(name)
    assert desk.files() == {}
    assert desk.folders() == {"code", "code/app"}


@pytest.mark.parametrize(
    ("system", "env", "name", "file"),
    [
        ("darwin", {}, "claude-desktop", f"{LIBRARY}/Claude/claude_desktop_config.json"),
        ("darwin", {}, "vscode", f"{LIBRARY}/Code/User/mcp.json"),
        ("darwin", {}, "zed", ".config/zed/settings.json"),
        ("darwin", {}, "opencode", ".config/opencode/opencode.jsonc"),
        ("windows", {}, "claude-desktop", "AppData/Roaming/Claude/claude_desktop_config.json"),
        ("windows", {"APPDATA": "HOME/R"}, "vscode", "R/Code/User/mcp.json"),
        ("windows", {"APPDATA": "HOME/R"}, "zed", "R/Zed/settings.json"),
        ("windows", {}, "windsurf", ".codeium/windsurf/mcp_config.json"),
        ("linux", {"XDG_CONFIG_HOME": "HOME/x"}, "zed", "x/zed/settings.json"),
        ("linux", {"XDG_CONFIG_HOME": "HOME/x"}, "opencode", "x/opencode/opencode.jsonc"),
        ("linux", {"CODEX_HOME": "HOME/cx"}, "codex", "cx/config.toml"),
        ("linux", {"COPILOT_HOME": "HOME/co"}, "copilot-cli", "co/mcp-config.json"),
        ("linux", {"CLAUDE_CONFIG_DIR": "HOME/cl"}, "claude-code", "cl/.claude.json"),
        ("linux", {"CLINE_MCP_SETTINGS_PATH": "HOME/c.json"}, "cline", "c.json"),
    ],
)  # fmt: skip
def test_settings_lie_where_the_system_and_the_environment_say(
    desk: Desk, system: System, env: dict[str, str], name: str, file: str
) -> None:
    env = {key: text.replace("HOME", str(desk.home)) for key, text in env.items()}
    desk.machine = Machine(system, desk.home, None, {"PATH": "/nowhere", **env})

    desk.install(name)

    assert list(desk.files()) == [file]


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("cline", ".cline/mcp.json"),
        ("cline", ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings"
         "/cline_mcp_settings.json"),
        ("antigravity", ".gemini/antigravity/mcp_config.json"),
        ("opencode", ".config/opencode/opencode.json"),
    ],
)  # fmt: skip
def test_of_several_places_the_one_in_use_is_taken(desk: Desk, name: str, file: str) -> None:
    write(desk.home / file, b"{}")

    desk.install(name)

    assert list(desk.files()) == [file]


def test_the_store_version_of_claude_desktop_is_found(desk: Desk) -> None:
    desk.machine = Machine("windows", desk.home, None, {})
    file = "AppData/Local/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude"
    write(desk.home / file / "claude_desktop_config.json", b"{}")

    desk.install("claude-desktop")

    assert list(desk.files()) == [f"{file}/claude_desktop_config.json"]


@pytest.mark.parametrize(
    ("before", "keys"),
    [
        ('{"mcp": {"servers": {"a": {"type": "local", "command": ["a"]}}}}', ["mcp", "servers"]),
        ('{"mcp": {"servers": {}}}', ["mcp", "servers"]),
        ('{"mcp": {"a": {"type": "local", "command": ["a"], "enabled": true}}}', ["mcp"]),
        ('{"mcp": {"servers": {"type": "local", "command": ["a"]}}}', ["mcp"]),
        ('{"theme": "x"}', ["mcp"]),
    ],
)
def test_opencode_gets_the_shape_of_the_version_that_its_settings_have(
    desk: Desk, before: str, keys: list[str]
) -> None:
    path = write(desk.home / ".config/opencode/opencode.jsonc", before.encode())

    desk.install("opencode")

    found = json.loads(path.read_bytes())
    for key in keys:
        found = found[key]
    assert found["memorix-notes"]["command"] == ["/opt/venv/bin/memorix", "serve"]
    assert ("enabled" in found["memorix-notes"]) == (keys == ["mcp"])


@pytest.mark.parametrize(("version", "keys"), [("1.18.3", ["mcp"]), ("2.0.1", ["mcp", "servers"])])
@pytest.mark.skipif(os.name == "nt", reason="a shell script stands for the program")
def test_an_opencode_without_settings_is_asked_for_its_version(
    desk: Desk, tmp_path: Path, version: str, keys: list[str]
) -> None:
    program = write(tmp_path / "bin" / "opencode", f"#!/bin/sh\necho {version}\n".encode())
    program.chmod(0o755)
    desk.machine = Machine("linux", desk.home, None, {"PATH": str(program.parent)})

    desk.install("opencode")

    found = json.loads((desk.home / ".config/opencode/opencode.jsonc").read_bytes())
    for key in keys:
        found = found[key]
    assert list(found) == ["memorix-notes"]


# -- living with others


def test_a_file_that_others_changed_since_keeps_their_changes(desk: Desk) -> None:
    path = write(desk.home / ".claude.json", b'{\n  "a": 1\n}\n')
    desk.install("claude-code")
    text = path.read_text("utf-8").replace('"a": 1', '"a": 2, "b": 3')
    path.write_text(text, "utf-8")

    desk.uninstall("claude-code")

    assert path.read_text("utf-8") == '{\n  "a": 2, "b": 3\n}\n'


def test_a_file_that_the_host_wrote_anew_loses_only_our_entry(desk: Desk) -> None:
    path = desk.home / ".claude.json"
    desk.install("claude-code")
    data = json.loads(path.read_bytes())
    data["mcpServers"]["memorix-notes"]["env"] = {}
    data["numStartups"] = 5
    path.write_text(json.dumps(data), "utf-8")

    desk.uninstall("claude-code")

    assert json.loads(path.read_bytes()) == {"numStartups": 5}


def test_an_update_changes_the_path_and_is_still_taken_out_to_the_byte(desk: Desk) -> None:
    path = write(desk.home / ".cursor/mcp.json", b'{ "x": 1 }')
    desk.install("cursor")
    desk.program = Program("/new/memorix")
    desk.install("cursor")
    assert b"/new/memorix" in path.read_bytes()

    desk.uninstall("cursor")

    assert path.read_bytes() == b'{ "x": 1 }'


def test_what_was_changed_between_two_installs_is_not_lost(desk: Desk) -> None:
    path = write(desk.home / ".cursor/mcp.json", b'{\n  "x": 1\n}\n')
    desk.install("cursor")
    path.write_bytes(path.read_bytes().replace(b'"x": 1', b'"x": 2'))
    desk.install("cursor")

    desk.uninstall("cursor")

    assert path.read_bytes() == b'{\n  "x": 2\n}\n'


def test_an_entry_made_by_hand_keeps_its_other_keys_and_comes_back(desk: Desk) -> None:
    by_hand = b'{"mcpServers": {"memorix-notes": {"command": "memorix", "env": {"A": "1"}}}}'
    path = write(desk.home / ".cursor/mcp.json", by_hand)

    desk.install("cursor")
    entry = json.loads(path.read_bytes())["mcpServers"]["memorix-notes"]
    assert entry == {"command": PROGRAM.path, "env": {"A": "1"}, "args": ["serve"]}

    desk.uninstall("cursor")
    assert path.read_bytes() == by_hand


def test_an_entry_that_is_not_recorded_is_taken_out_of_the_file(desk: Desk) -> None:
    path = write(
        desk.home / ".cursor/mcp.json",
        b'{"mcpServers": {"a": {}, "memorix-notes": {"command": "memorix"}}}',
    )

    desk.uninstall("cursor")

    assert path.read_bytes() == b'{"mcpServers": {"a": {}}}'


def test_two_scopes_in_one_file_are_taken_out_one_by_one(desk: Desk) -> None:
    path = write(desk.home / ".claude.json", b"{}\n")
    desk.install("claude-code")
    desk.install("claude-code", scope="local")

    desk.uninstall("claude-code", scope="user")
    assert list(json.loads(path.read_bytes())) == ["projects"]
    desk.uninstall("claude-code", scope="local")
    assert path.read_bytes() == b"{}\n"


def test_an_install_in_another_project_is_taken_out_from_anywhere(desk: Desk) -> None:
    desk.install("cursor", scope="project")
    elsewhere = desk.home / "code" / "other"
    elsewhere.mkdir()
    desk.machine = Machine("linux", desk.home, elsewhere, {})

    desk.uninstall("cursor")

    assert desk.files() == {}


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege there")
def test_a_link_into_dotfiles_stays_a_link_and_modes_stay(desk: Desk) -> None:
    kept = write(desk.home / "dotfiles" / "cursor.json", b'{"a": 1}')
    kept.chmod(0o640)
    link = desk.home / ".cursor" / "mcp.json"
    link.parent.mkdir()
    link.symlink_to(kept)

    desk.install("cursor")
    assert link.is_symlink()
    assert b"memorix-notes" in kept.read_bytes()
    assert kept.stat().st_mode & 0o777 == 0o640

    desk.uninstall("cursor")
    assert link.is_symlink()
    assert kept.read_bytes() == b'{"a": 1}'
    assert kept.stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
def test_records_that_may_hold_secrets_of_others_are_private(desk: Desk) -> None:
    write(desk.home / ".cursor/mcp.json", b'{"token": "t"}')

    desk.install("cursor")

    (record,) = desk.ledger.folder.iterdir()
    assert record.stat().st_mode & 0o777 == 0o600
    assert desk.ledger.folder.stat().st_mode & 0o777 == 0o700
    desk.uninstall("cursor")
    assert not desk.ledger.folder.exists()


def test_a_file_changed_between_plan_and_write_is_not_overwritten(desk: Desk) -> None:
    path = write(desk.home / ".cursor/mcp.json", b"{}")
    plan = desk.plan("cursor")
    path.write_bytes(b'{"new": 1}')

    with pytest.raises(HostFileRefused, match="changed meanwhile"):
        list(desk.installer.carry_out(plan))

    assert path.read_bytes() == b'{"new": 1}'


def test_one_broken_host_does_not_keep_the_others_out(desk: Desk) -> None:
    write(desk.home / ".cursor/mcp.json", b"{")

    plan = desk.install("cursor", "zed")

    assert len(plan.refused) == 1
    assert b"memorix-notes" in (desk.home / ".config/zed/settings.json").read_bytes()


def test_text_that_is_not_utf8_is_refused_with_its_line(desk: Desk) -> None:
    path = write(desk.home / ".cursor/mcp.json", '{\n"a": "ü"}'.encode("latin-1"))

    plan = desk.install("cursor")

    assert "line 2: is not UTF-8" in str(plan.refused[0])
    assert path.read_bytes() == '{\n"a": "ü"}'.encode("latin-1")


# -- rules


@pytest.mark.parametrize(
    ("name", "scope"), [(h.name, s) for h in HOSTS for s in h.rules if s in h.files]
)
def test_rules_go_in_when_asked_and_out_to_the_byte(desk: Desk, name: str, scope: Scope) -> None:
    host = BY_NAME[name]
    path = desk.machine.place(host.rules[scope])
    if path.stem != "memorix-notes":
        write(path, b"# Mine\r\n\r\nUse tabs.")
    before = desk.files()
    desk.install(host.name, scope=scope)
    assert desk.files().get(str(path.relative_to(desk.home))) == before.get(
        str(path.relative_to(desk.home))
    )

    desk.install(host.name, scope=scope, rules=True)
    text = path.read_bytes().decode()
    assert "`recall`" in text
    assert "`remember`" in text
    assert text.count("Memory (memorix-notes)") == 1
    if path.stem != "memorix-notes":
        assert text.startswith("# Mine\r\n\r\nUse tabs.\r\n\r\n<!-- memorix-notes: begin")
        assert "\n" not in text.replace("\r\n", "")

    desk.uninstall(host.name)
    assert desk.files() == before


def test_two_hosts_share_one_block_until_the_last_is_taken_out(desk: Desk) -> None:
    path = write(desk.home / "code/app/AGENTS.md", b"# Mine\n")

    desk.install("codex", "opencode", "zed", scope="project", rules=True)
    assert path.read_bytes().count(b"memorix-notes: begin") == 1

    desk.uninstall("codex", "zed")
    assert path.read_bytes().count(b"memorix-notes: begin") == 1
    desk.uninstall("opencode")
    assert path.read_bytes() == b"# Mine\n"


def test_rules_that_a_person_wrote_around_keep_what_they_wrote(desk: Desk) -> None:
    path = write(desk.home / "code/app/CLAUDE.md", b"# Mine")
    desk.install("claude-code", scope="project", rules=True)
    path.write_bytes(path.read_bytes() + b"\n\n# More\n")

    desk.uninstall("claude-code")

    assert path.read_bytes() == b"# Mine\n\n# More\n"


# -- hooks

HOOKS = {
    "claude-code": (
        ".claude/settings.json",
        "SessionStart UserPromptSubmit PostCompact Stop SessionEnd",
    ),
    "codex": (".codex/hooks.json", "SessionStart UserPromptSubmit PostCompact Stop"),
    "cursor": (
        ".cursor/hooks.json",
        "sessionStart beforeSubmitPrompt afterAgentResponse sessionEnd",
    ),
    "gemini": (".gemini/settings.json", "SessionStart BeforeAgent AfterAgent SessionEnd"),
    "copilot-cli": (
        ".copilot/hooks/memorix-notes.json",
        "sessionStart userPromptSubmitted agentStop sessionEnd",
    ),
    "vscode": (
        ".copilot/hooks/memorix-notes.json",
        "sessionStart userPromptSubmitted agentStop sessionEnd",
    ),
}


@pytest.mark.parametrize("name", HOOKS)
def test_hooks_go_in_beside_the_server_and_out_without_a_trace(desk: Desk, name: str) -> None:
    file, names = HOOKS[name]
    events = names.split()

    desk.install(name, hooks=True)
    first = desk.files()
    desk.install(name, hooks=True)
    assert desk.files() == first

    hooks = json.loads(first[file])["hooks"]
    assert list(hooks) == events
    for event in events:
        (command,) = re.findall(r'"(?:command|bash)": "(/opt[^"]*)"', json.dumps(hooks[event]))
        host = "copilot-cli" if name == "vscode" else name
        assert command == f"/opt/venv/bin/memorix hook {event} --host {host}"
    desk.uninstall(name)
    assert desk.files() == {}
    assert desk.folders() == {"code", "code/app"}


@pytest.mark.parametrize("name", ["claude-code", "codex", "cursor", "gemini"])
def test_hooks_of_others_and_comments_stay_to_the_byte(desk: Desk, name: str) -> None:
    file, names = HOOKS[name]
    events = names.split()
    before = f"""\
{{
    // mine
    "hooks": {{
        "{events[0]}": [
            {{ "command": "lint.sh" }} // first
        ],
        "Other": []
    }},
    "version": 1
}}
""".replace("\n", "\r\n").encode()
    path = write(desk.home / file, before)

    desk.install(name, hooks=True)
    text = path.read_bytes().decode()
    assert '{ "command": "lint.sh" }, // first\r\n            {' in text
    assert "\n" not in text.replace("\r\n", "")

    path.write_bytes(path.read_bytes().replace(b"// mine", b"// still mine"))
    desk.uninstall(name)
    assert path.read_bytes() == before.replace(b"// mine", b"// still mine")


def test_a_new_path_takes_the_place_of_the_old_hook(desk: Desk) -> None:
    desk.install("claude-code", hooks=True)
    desk.program = Program("/new/my memorix", ("--vault", "/a b"))
    desk.install("claude-code", hooks=True)

    text = (desk.home / ".claude/settings.json").read_text("utf-8")
    assert "/opt/venv" not in text
    assert "'/new/my memorix' --vault '/a b' hook Stop --host claude-code" in text
    desk.uninstall("claude-code")
    assert desk.files() == {}


def test_two_hosts_share_a_file_of_hooks_until_the_last_is_taken_out(desk: Desk) -> None:
    desk.install("vscode", "copilot-cli", hooks=True)
    desk.uninstall("vscode")
    assert ".copilot/hooks/memorix-notes.json" in desk.files()

    desk.uninstall("copilot-cli")
    assert desk.files() == {}


def test_on_windows_the_command_is_quoted_for_its_shells(desk: Desk) -> None:
    desk.machine = Machine("windows", desk.home, None, {})
    desk.program = Program(r"C:\Program Files\m\memorix.exe")

    desk.install("claude-code", hooks=True)

    data = json.loads((desk.home / ".claude/settings.json").read_bytes())
    command = data["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert command == '"C:/Program Files/m/memorix.exe" hook Stop --host claude-code'


# -- finding hosts and ourselves


def test_hosts_that_leave_signs_are_found(desk: Desk) -> None:
    assert desk.installer.here() == []
    (desk.home / ".cursor").mkdir()
    (desk.home / ".codex").mkdir()

    assert [host.name for host in desk.installer.here()] == ["cursor", "codex"]


def test_an_unknown_host_or_scope_is_refused_with_the_known_ones(desk: Desk) -> None:
    with pytest.raises(InvalidRequest, match=r"no host 'emacs'.*Known: claude-code"):
        desk.install("emacs")

    desk.machine = Machine("linux", desk.home, None, {})
    with pytest.raises(InvalidRequest, match="no project"):
        desk.install("cursor", scope="project")


def test_a_program_in_a_cache_is_refused(config: Config, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", "/home/x/.cache/uv/archive-v0/abc")
    with pytest.raises(InvalidRequest, match="Install it"):
        installing.this_program(config)

    monkeypatch.setattr(sys, "prefix", "/home/x/.local/share/uv/tools/memorix-notes")
    assert Path(installing.this_program(config).path).is_absolute()


# -- as typed


@pytest.fixture
def typed(
    settings: dict[str, str], tmp_path: Path
) -> Callable[..., subprocess.CompletedProcess[str]]:
    def run(*arguments: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "memorix", *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            env={**os.environ, **settings, "PYTHONUTF8": "1"},
            cwd=tmp_path / "app",
            check=False,
            timeout=60,
        )
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        return done

    return run


def test_install_shows_the_diff_first_and_asks(typed, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    path = write(tmp_path / "home" / ".cursor/mcp.json", b'{\n  "a": 1\n}\n')

    shown = typed("install", "cursor", "--dry-run").stdout
    assert f"--- {path}\n+++ {path}" in shown
    assert '+    "memorix-notes": {' in shown
    assert "nobody can be asked" in typed("install", "cursor", code=2).stderr
    assert path.read_bytes() == b'{\n  "a": 1\n}\n'

    assert f"written: {path}" in typed("install", "cursor", "--no-hooks", "--yes").stdout
    listed = json.loads(typed("install", "--list", "--json").stdout)
    assert {r["name"]: r["installed"] for r in listed}["cursor"] == {"user": str(path)}
    assert "Nothing to do." in typed("install", "cursor", "--no-hooks", "--yes").stdout
    typed("uninstall", "cursor", "--yes")
    assert path.read_bytes() == b'{\n  "a": 1\n}\n'


def test_install_tells_what_it_cannot_do_in_a_sentence(typed, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    assert "There is no host" in typed("install", "emacs", code=2).stderr
    assert "Name the hosts" in typed("install", code=2).stderr
    assert "has no settings" in typed("install", "windsurf", "--scope", "local", code=2).stderr
    assert "no scope 'world'" in typed("install", "zed", "--scope", "world", code=2).stderr
    write(tmp_path / "home" / ".cursor/mcp.json", b"{\n")
    assert "line 2" in typed("install", "cursor", "--yes", code=9).stderr


@pytest.mark.fault("A-85")
def test_the_entry_starts_the_server_without_the_path_of_a_shell(typed, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    typed("install", "cursor", "--yes")
    path = tmp_path / "home" / ".cursor/mcp.json"
    entry = json.loads(path.read_bytes())["mcpServers"]["memorix-notes"]

    names = asyncio.run(_tools(entry, {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path / "home")}))

    assert Path(entry["command"]).is_absolute()
    assert "recall" in names
    assert ["--vault", str(tmp_path / "vault")] == entry["args"][-3:-1]


async def _tools(entry: dict[str, object], env: dict[str, str]) -> list[str]:
    from mcp.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    carried = {k: v for k, v in os.environ.items() if k in ("PYTHONPATH", "SYSTEMROOT")}
    given = StdioServerParameters(**entry, env={**env, **carried})  # type: ignore[arg-type]
    async with Client(stdio_client(given)) as client:
        return [tool.name for tool in (await client.list_tools()).tools]
