"""What the doctor says of one thing it looked at."""

from dataclasses import dataclass

OK, WARNING, FAILED = "ok", "warning", "failed"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing looked at; `mend` says what to do where it is not `ok`."""

    name: str
    verdict: str
    said: str
    mend: str = ""
