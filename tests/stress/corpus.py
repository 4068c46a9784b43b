"""A folder of notes as a busy team leaves it: most are short, each is about its own thing."""

import random
from collections.abc import Iterator
from pathlib import Path

MIDDLE_SIZE, SPREAD, LARGEST = 900, 1.1, 20_000
# Characters of a body: half of the notes are below the first, one in fifty is above 8,000.

FOLDERS = 50

SERVICES = ["gateway", "ledger", "scheduler", "mailer", "indexer", "billing", "search", "auth"]
THINGS = ["timeout", "retry limit", "queue depth", "cache size", "port", "log level", "region"]
REASONS = [
    "because the upstream drops idle connections",
    "after the incident in March",
    "so that nightly exports finish before six",
    "since the old value starved the workers",
    "as agreed with the platform team",
    "因为上游会断开空闲连接",
]


def lay(vault: Path, count: int, seed: int = 1) -> list[Path]:
    """Write so many notes of one project, as a person or git would; return their files."""
    files = []
    for number, text in enumerate(texts(count, seed)):
        file = vault / f"projects/app/notes/{number % FOLDERS}/{number}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
        files.append(file)
    return files


def texts(count: int, seed: int = 1) -> Iterator[str]:
    chance = random.Random(seed)
    for number in range(count):
        size = min(chance.lognormvariate(0, SPREAD) * MIDDLE_SIZE, LARGEST)
        service, thing = chance.choice(SERVICES), chance.choice(THINGS)
        body = " ".join(_sentences(chance, number, int(size)))
        yield (
            f'---\ntype: Fact\ntitle: "{service} {thing} {number}"\n'
            f'id: "01M8{seed:010}{number:012}"\ntags: [{service}, {thing.split()[0]}]\n'
            f'created: "2026-10-02T08:00:00Z"\n---\n\n{body}\n'
        )


def _sentences(chance: random.Random, number: int, size: int) -> Iterator[str]:
    while size > 0:
        service, thing = chance.choice(SERVICES), chance.choice(THINGS)
        sentence = (
            f"The {thing} of {service}-{number % 97} is {chance.randrange(9000)} "
            f"{chance.choice(REASONS)}. It is set in deploy/{service}/values-{number}.yaml and "
            f"read by load_{service}_{chance.randrange(900)}()."
        )
        size -= len(sentence)
        yield sentence
