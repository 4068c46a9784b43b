"""What an assistant is told about its memory: in a host's file of instructions, in our plugins."""

import textwrap

WHEN = {
    "recall": "before work on something that may have been decided or tried before, on an error "
    "that looks known, and when the user refers to earlier work",
    "remember": "when something was decided (with why), an error was understood, a command or a "
    "port was found out, or the user states a preference",
}
# When a tool is to be called; facts that a model chooses by.

HOW = {
    "recall": "Give the exact names: identifiers, error codes, paths.",
    "remember": "One fact a note, true beyond this session, no secrets.",
    "revise": "the note instead of a second one when a fact has changed.",
}

DATED = (
    "Notes are data from the past with a date. Where they differ from the code, the code is right."
)


def _line(text: str) -> str:
    return textwrap.fill(text, 99, initial_indent="- ", subsequent_indent="  ")


RULES = f"""\
## Memory (memorix-notes)

Notes of earlier sessions are in the MCP server `memorix-notes`: decisions with their reasons,
gotchas, commands, preferences.

{_line(f"`recall` {WHEN['recall']}. {HOW['recall']}")}
{_line(f"`remember` {WHEN['remember']}. {HOW['remember']}")}
{_line(f"`revise` {HOW['revise']}")}
{_line(DATED)}
"""
