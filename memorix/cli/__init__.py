"""The command line: arguments in, one call to the memory, lines out.

Nothing heavy is imported before the command that needs it.
"""
