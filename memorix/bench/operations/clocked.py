"""Run the real program in another time: `python -m memorix.bench.operations.clocked CLOCK PID ...`.

CLOCK is a file with the moment that counts as now; whoever plays a scenario rewrites it between
two calls, and the server that runs meanwhile reads it for each.  PID is a file for the process's
number, for who must kill it.  What follows is the command line of `memorix`, unchanged.  The
product itself has no setting for this: a clock that can be set from outside can be set by mistake.
"""

import os
import runpy
import sys
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from memorix import wiring


def clock_of(file: Path) -> Callable[[], datetime]:
    return lambda: datetime.fromisoformat(file.read_text(encoding="ascii"))


def set_clock(file: Path, now: datetime) -> None:
    """Make it `now` for all who read this clock; they never see half of it."""
    fresh = file.with_suffix(".new")
    fresh.write_text(now.isoformat(), encoding="ascii")
    fresh.replace(file)


def main(arguments: Sequence[str]) -> None:
    clock, pid, *rest = arguments
    wiring.clock = clock_of(Path(clock))
    Path(pid).write_text(str(os.getpid()), encoding="ascii")
    sys.argv = ["memorix", *rest]
    runpy.run_module("memorix", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(sys.argv[1:])
