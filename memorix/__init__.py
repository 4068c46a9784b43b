"""Memorix: a local-first memory for coding assistants.

Markdown notes in a folder are the truth; an index beside it finds them by words and by meaning.
In reading order:

    errors, note, frontmatter, lexemes, chunks, query, files, config    what things are called
    reconcile, lifecycle, ranking, brief                                decisions, without I/O
    store, index, embedders, exchange                                   one outside thing each
    memory, recalling, sync, watching, places, scopes                   the uses
    wiring                                                              picks the adapters
    server, bench, demo, cli                                            the faces
"""

__version__ = "0.1.0"
