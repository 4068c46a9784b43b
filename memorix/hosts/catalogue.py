"""The hosts, as data: those that differ in nothing else have no code of their own."""

from memorix.hosts import hookfiles
from memorix.hosts.base import Host, plain, stdio
from memorix.hosts.claude_code import ClaudeCode
from memorix.hosts.hookfiles import HookFile
from memorix.hosts.machine import Program
from memorix.hosts.opencode import OpenCode


def _copilot(program: Program) -> dict[str, object]:
    return {"type": "local", **plain(program), "tools": ["*"]}


def _zed(program: Program) -> dict[str, object]:
    return {"source": "custom", **plain(program), "env": {}}


_COPILOT_HOOKS = HookFile(
    {
        "user": "{COPILOT_HOME:~/.copilot}/hooks/memorix-notes.json",
        "project": "{project}/.github/hooks/memorix-notes.json",
    },
    hookfiles.copilot("sessionStart", "userPromptSubmitted", "agentStop", "sessionEnd"),
    told="copilot-cli",
)


HOSTS: tuple[Host, ...] = (
    ClaudeCode(
        name="claude-code",
        title="Claude Code",
        files={
            "user": ("{CLAUDE_CONFIG_DIR:~}/.claude.json",),
            "project": ("{project}/.mcp.json",),
            "local": ("{CLAUDE_CONFIG_DIR:~}/.claude.json",),
        },
        entry=stdio,
        signs=("~/.claude.json", "{CLAUDE_CONFIG_DIR:~/.claude}"),
        programs=("claude",),
        rules={
            "user": "{CLAUDE_CONFIG_DIR:~/.claude}/CLAUDE.md",
            "project": "{project}/CLAUDE.md",
            "local": "{project}/CLAUDE.local.md",
        },
        hooks=HookFile(
            {
                "user": "{CLAUDE_CONFIG_DIR:~/.claude}/settings.json",
                "project": "{project}/.claude/settings.json",
                "local": "{project}/.claude/settings.local.json",
            },
            hookfiles.grouped(
                "SessionStart", "UserPromptSubmit", "PostCompact", "Stop", "SessionEnd"
            ),
        ),
        plugins=(
            "{CLAUDE_CONFIG_DIR:~/.claude}/settings.json",
            "{project}/.claude/settings.json",
            "{project}/.claude/settings.local.json",
        ),
        next="Sessions that are open need /mcp or a restart.",
    ),
    Host(
        name="claude-desktop",
        title="Claude Desktop",
        files={
            "user": (
                "{appdata}/Claude/claude_desktop_config.json",
                "windows:{LOCALAPPDATA:~/AppData/Local}/Packages/Claude_pzs8sxrjxfjjc/LocalCache"
                "/Roaming/Claude/claude_desktop_config.json",  # of the Microsoft Store
            )
        },
        signs=("{appdata}/Claude",),
        next="Quit it and start it again.",
    ),
    Host(
        name="cursor",
        title="Cursor",
        files={"user": ("~/.cursor/mcp.json",), "project": ("{project}/.cursor/mcp.json",)},
        signs=("~/.cursor",),
        programs=("cursor", "cursor-agent"),
        rules={"project": "{project}/.cursor/rules/memorix-notes.mdc"},  # none in the home folder
        rules_head="---\ndescription: Memory of this project\nalwaysApply: true\n---\n\n",
        hooks=HookFile(
            {"user": "~/.cursor/hooks.json", "project": "{project}/.cursor/hooks.json"},
            hookfiles.listed(
                "sessionStart", "beforeSubmitPrompt", "afterAgentResponse", "sessionEnd"
            ),
        ),
        next="Enable the server in Settings > MCP if Cursor asks.",
    ),
    Host(
        name="codex",
        title="Codex",
        files={
            "user": ("{CODEX_HOME:~/.codex}/config.toml",),
            "project": ("{project}/.codex/config.toml",),
        },
        keys=("mcp_servers",),
        toml=True,
        signs=("{CODEX_HOME:~/.codex}",),
        programs=("codex",),
        rules={"user": "{CODEX_HOME:~/.codex}/AGENTS.md", "project": "{project}/AGENTS.md"},
        hooks=HookFile(
            {
                "user": "{CODEX_HOME:~/.codex}/hooks.json",
                "project": "{project}/.codex/hooks.json",
            },
            hookfiles.grouped("SessionStart", "UserPromptSubmit", "PostCompact", "Stop"),
        ),
        plugins=("{CODEX_HOME:~/.codex}/config.toml",),
        next="It asks once whether to trust the hooks.",
    ),
    Host(
        name="vscode",
        title="VS Code",
        files={
            "user": ("{appdata}/Code/User/mcp.json",),
            "project": ("{project}/.vscode/mcp.json",),
        },
        keys=("servers",),
        entry=stdio,
        signs=("{appdata}/Code",),
        programs=("code",),
        rules={"project": "{project}/.github/copilot-instructions.md"},
        hooks=_COPILOT_HOOKS,
    ),
    Host(
        name="copilot-cli",
        title="Copilot CLI",
        files={
            "user": ("{COPILOT_HOME:~/.copilot}/mcp-config.json",),
            "project": ("{project}/.github/mcp.json",),
        },
        entry=_copilot,
        signs=("{COPILOT_HOME:~/.copilot}",),
        programs=("copilot",),
        rules={
            "user": "{COPILOT_HOME:~/.copilot}/copilot-instructions.md",
            "project": "{project}/.github/copilot-instructions.md",
        },
        hooks=_COPILOT_HOOKS,
    ),
    Host(
        name="windsurf",
        title="Windsurf (Devin Desktop)",
        files={"user": ("~/.codeium/windsurf/mcp_config.json",)},
        signs=("~/.codeium/windsurf",),
        programs=("windsurf",),
        rules={
            "user": "~/.codeium/windsurf/memories/global_rules.md",
            "project": "{project}/.devin/rules/memorix-notes.md",
        },
        next="Press refresh in its MCP panel.",
    ),
    Host(
        name="devin",
        title="Devin CLI",
        files={"user": ("{xdg}/devin/mcp_config.json",)},
        signs=("{xdg}/devin",),
        programs=("devin",),
        rules={"project": "{project}/AGENTS.md"},
    ),
    Host(
        name="gemini",
        title="Gemini CLI",
        files={
            "user": ("~/.gemini/settings.json",),
            "project": ("{project}/.gemini/settings.json",),
        },
        signs=("~/.gemini/settings.json",),
        programs=("gemini",),
        rules={"user": "~/.gemini/GEMINI.md", "project": "{project}/GEMINI.md"},
        hooks=HookFile(
            {
                "user": "~/.gemini/settings.json",
                "project": "{project}/.gemini/settings.json",
            },
            hookfiles.grouped(
                "SessionStart",
                "BeforeAgent",
                "AfterAgent",
                "SessionEnd",
                timeout=hookfiles.TIMEOUT_S * 1000,
            ),
        ),
    ),
    Host(
        name="antigravity",
        title="Antigravity",
        files={
            "user": (
                "~/.gemini/config/mcp_config.json",
                "~/.gemini/antigravity/mcp_config.json",  # before its version 2
            )
        },
        signs=("~/.gemini/antigravity", "~/.gemini/config"),
        programs=("antigravity", "agy"),
        rules={"user": "~/.gemini/GEMINI.md", "project": "{project}/AGENTS.md"},
    ),
    OpenCode(
        name="opencode",
        title="OpenCode",
        files={
            "user": ("{xdg}/opencode/opencode.jsonc", "{xdg}/opencode/opencode.json"),
            "project": ("{project}/opencode.jsonc", "{project}/opencode.json"),
        },
        signs=("{xdg}/opencode",),
        programs=("opencode",),
        rules={"user": "{xdg}/opencode/AGENTS.md", "project": "{project}/AGENTS.md"},
    ),
    Host(
        name="zed",
        title="Zed",
        files={
            "user": (
                "windows:{appdata}/Zed/settings.json",
                "linux:{xdg}/zed/settings.json",
                "darwin:~/.config/zed/settings.json",
            ),
            "project": ("{project}/.zed/settings.json",),
        },
        keys=("context_servers",),
        entry=_zed,
        signs=("windows:{appdata}/Zed", "linux:{xdg}/zed", "darwin:~/.config/zed"),
        programs=("zed", "zeditor"),
        rules={"project": "{project}/AGENTS.md"},
    ),
    Host(
        name="cline",
        title="Cline",
        files={
            "user": (
                "{CLINE_MCP_SETTINGS_PATH:~/.cline/data/settings/cline_mcp_settings.json}",
                "~/.cline/mcp.json",
                "{appdata}/Code/User/globalStorage/saoudrizwan.claude-dev/settings"
                "/cline_mcp_settings.json",  # the extension of earlier years
            )
        },
        signs=("~/.cline", "{appdata}/Code/User/globalStorage/saoudrizwan.claude-dev"),
        programs=("cline",),
        rules={"project": "{project}/.clinerules/memorix-notes.md"},
    ),
    Host(
        name="junie",
        title="Junie (JetBrains)",
        files={"user": ("~/.junie/mcp/mcp.json",), "project": ("{project}/.junie/mcp/mcp.json",)},
        signs=("~/.junie",),
        programs=("junie",),
        rules={"project": "{project}/.junie/guidelines.md"},
    ),
)

BY_NAME = {host.name: host for host in HOSTS}
