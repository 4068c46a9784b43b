"""Part what is taken in into batches, each of which is kept as a whole."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

MOST, LARGEST = 200, 4 * 1024 * 1024
# Items, and bytes of text: a batch is held in memory, with its words, while it is indexed.

T = TypeVar("T")


def batches(items: Iterable[T], size_bytes: Callable[[T], int]) -> Iterator[list[T]]:
    """Yield lists of items in their order, none empty; a larger item is a batch of its own."""
    batch: list[T] = []
    total = 0
    for item in items:
        size = size_bytes(item)
        if batch and (len(batch) >= MOST or total + size > LARGEST):
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += size
    if batch:
        yield batch
