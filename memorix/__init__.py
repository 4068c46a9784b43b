"""Memorix: a local-first memory for coding assistants.

Markdown notes in a folder are the truth; an index beside it finds them by words and by meaning.
In reading order:

    errors, kinds, files, yamltext, frontmatter, editing, copies, note,
    layout                                                                 what things are called
    blocks, prose, links, lexemes, glossary, seams, chunks, dates, feedback, query, settings,
    config
    reconcile, validity, keys, trust, lifecycle, relations                 decisions, without I/O
    retention, priors, ranking, floors
    values, lexicon, changes, grammar, claims, anchors, injection, conflict
    quoting, brief, reserved, strength, keyforms, assignments
    screening, privacy, admission, leaving, bounds, checking, indexes, intake
    imported, held
    access, versions, attribution, resemblance, topics, tidying, erasure, usage, merging,
    ancestry
    gitprogram, journal, gitlog, gitcommit, store, index, embedders        one outside thing each
    rerankers, exchange, importers, exporters, tokens, served
    gitchange, committing                                                  each write a commit
    notes, memory, recalling, paging, reranking, learning, linking, sync             the uses
    embedding, watching, scopes
    tombstones, arrivals, erasing, moving, inbox, settling                 and those of whole notes
    batches, transfer, importing, exporting
    history, diverged, upkeep, forgetting, proving                         and what is left of them
    views                                                                  as one caller may see it
    hosts, installing                                                      getting into hosts
    wiring                                                                 picks the adapters
    server, bench, demo, doctor, cli                                       the faces
"""

__version__ = "0.1.0"
