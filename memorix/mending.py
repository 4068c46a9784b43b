"""Do what was asked although the index is damaged: make it anew from the notes first."""

import functools
import logging
from collections.abc import Callable
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from memorix.errors import IndexDamaged

_log = logging.getLogger(__name__)


class _Mendable(Protocol):
    def make_index_anew(self) -> None: ...


M = TypeVar("M", bound=_Mendable)
P = ParamSpec("P")
R = TypeVar("R")


def on_a_sound_index(
    use: Callable[Concatenate[M, P], R],
) -> Callable[Concatenate[M, P], R]:
    """Repeat a use of the memory once on a new index, where the old one turns out damaged."""

    @functools.wraps(use)
    def sound(memory: M, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return use(memory, *args, **kwargs)
        except IndexDamaged as error:
            _log.warning("%s", error)
            memory.make_index_anew()
            return use(memory, *args, **kwargs)

    return sound
