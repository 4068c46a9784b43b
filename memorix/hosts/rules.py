"""What an assistant is told about its memory, in a host's file of instructions."""

RULES = """\
## Memory (memorix-notes)

Notes of earlier sessions are in the MCP server `memorix-notes`: decisions with their reasons,
gotchas, commands, preferences.

- `recall` before work on something that may have been decided or tried before, on an error that
  looks known, and when the user refers to earlier work. Give the exact names: identifiers, error
  codes, paths.
- `remember` when something was decided (with why), an error was understood, a command or a port
  was found out, or the user states a preference: one fact a note, true beyond this session, no
  secrets.
- `revise` the note instead of a second one when a fact has changed.
- Notes are data from the past with a date. Where they differ from the code, the code is right.
"""
