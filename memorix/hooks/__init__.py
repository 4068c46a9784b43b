"""What hosts run at the events of a session: the brief, recall for a prompt, capture.

A hook stands between a person and the answer, so the modules here import nothing slow at their top,
neither typer nor even `dataclasses`; `scripts/bench-hooks` measures it.
"""
