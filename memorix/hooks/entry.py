"""`memorix hook EVENT --host NAME`: what a host runs; it always ends with 0."""

import gc
import os
import sys
import time

from memorix import brief
from memorix.hooks import desk, events, fastjson, places
from memorix.quoting import fenced

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memorix.hooks.events import Payload

REPEATED_WITHIN_S = 30.0
# Two hooks for one start of a session, as where one host runs another's, come together.

MOST_INPUT = 4_000_000
# Characters read of what a host says; prompts may have files in them.

PROMPTS_KEPT, PROMPT_KEPT, SAID_KEPT = 12, 400, 6_000
# What is kept of a session until it ends: the first prompts, and characters of them and of the
# last answer.

WORTH_KEEPING = 200
# Characters of an answer below which a session left nothing to remember.


def main(arguments: "list[str]", flags: "dict[str, str | None]") -> None:
    """Answer an event on stdout; a failure is written down and told by the next brief."""
    gc.disable()  # looking for cycles takes a tenth of what the imports do, and finds none
    event, host = _read(arguments)
    error = ""
    try:
        payload = events.Payload(_stdin(), host)
        if "--plugin" in arguments and _is_installed(event, host, payload):
            return  # both run at once; two would tell everything twice
        sys.stdout.buffer.write(_handled(event, payload, flags).encode())
        sys.stdout.buffer.flush()
    except Exception as failure:  # noqa: BLE001 - a hook must never stop its host
        error = f"{type(failure).__name__}: {failure}"
    try:
        desk.fired(host, event, error)
    except OSError:
        return  # the folder cannot be written; nothing can be told there


def _read(arguments: "list[str]") -> "tuple[str, str]":
    """Return the event and the host; what we do not know is passed over."""
    event, host, words = "", "", iter(arguments)
    for word in words:
        if word == "--host":
            host = next(words, "")
        elif word.startswith("--host="):
            host = word.partition("=")[2]
        elif not word.startswith("-") and not event:
            event = word
    return event, host


def _is_installed(event: str, host: str, payload: "Payload") -> bool:
    from memorix.hooks import beside

    return beside.is_installed(event, host, _cwd(payload))


def _handled(event: str, payload: "Payload", flags: "dict[str, str | None]") -> str:
    event = payload.event or event
    kind = events.kind_of(event)
    handle = {
        events.START: _start,
        events.PROMPT: _prompt,
        events.COMPACTED: _compacted,
        events.STOP: _stop,
        events.END: _end,
    }.get(kind)
    text = handle(payload, flags) if handle else ""
    told = events.answer(text, kind, event, payload.host) if text else {}
    return fastjson.dumps(told) if told else ""


def _stdin() -> object:
    if sys.stdin is None or sys.stdin.isatty():
        return {}
    said = sys.stdin.buffer.read(MOST_INPUT).decode("utf-8", "replace").strip()
    return fastjson.loads(said) if said else {}


def _cwd(payload: "Payload") -> str:
    told = payload.cwd
    return told if told and os.path.isdir(told) else os.getcwd()


# -- the beginning of a session


def _start(payload: "Payload", flags: "dict[str, str | None]") -> str:
    now = time.time()
    session = desk.Session(payload.session)
    if session.is_repeated(payload.source, now, REPEATED_WITHIN_S):
        return ""
    place = places.place_of(_cwd(payload), flags)
    told = _brief(place, _cwd(payload), flags)
    ids = [entry.id for entry in told.shown] if told else []
    session.briefed(payload.source, now, ids)
    if told:
        _count(payload, place, "brief", ids, told.text)
    if payload.source == "startup":
        desk.forget_old_sessions()
    return "\n".join([*([_HEAD, fenced(told.text, "brief")] if told else []), *_news()])


_HEAD = "From the notes of earlier sessions (Memorix), quoted data with the day of each:"


def _news() -> "list[str]":
    """Tell of the last failure that nobody was told of."""
    failures = desk.news_of_errors()
    if not failures:
        return []
    desk.errors_told()
    at, which, said = failures[-1]
    day = time.strftime("%Y-%m-%d", time.gmtime(at))
    return [f"A hook of Memorix failed ({which}, {day}): {said}. `memorix doctor` tells more."]


def _brief(place: "places.Place", cwd: str, flags: "dict[str, str | None]") -> "brief.Brief | None":
    from memorix.hooks import quick

    found = quick.compose(place, brief.BUDGET)
    if found and found[1]:  # somebody edited these while nobody watched
        from memorix.hooks import slow

        slow.take_in(cwd, flags, found[1])
        found = quick.compose(place, brief.BUDGET)
    return found[0] if found else None


# -- within a session


def _prompt(payload: "Payload", flags: "dict[str, str | None]") -> str:
    session = desk.Session(payload.session)
    prompts = session.get("prompts") or []
    if session.id and len(prompts) < PROMPTS_KEPT and payload.prompt:
        session.note("prompts", [*prompts, payload.prompt[:PROMPT_KEPT]])
    asked = " ".join([payload.prompt, *map(os.path.basename, payload.files())]).strip()
    if not asked or payload.is_command:
        return ""
    from memorix.hooks import slow, touched

    files = touched.files(payload.prompt, payload.files(), _cwd(payload))
    lines, ids = slow.recall(_cwd(payload), flags, asked, session.shown(), files)
    if ids:
        session.recalled(ids)
        place = places.place_of(_cwd(payload), flags)
        _count(payload, place, "hook", ids, "\n".join(lines))
    return "\n".join(lines)


def _compacted(payload: "Payload", flags: "dict[str, str | None]") -> str:
    if len(payload.summary) >= WORTH_KEEPING:
        _spool(payload, payload.summary, [])
    return ""


def _stop(payload: "Payload", flags: "dict[str, str | None]") -> str:
    session = desk.Session(payload.session)
    if not payload.again and payload.said and session.id:
        session.note("said", payload.said[-SAID_KEPT:])
    return ""


def _end(payload: "Payload", flags: "dict[str, str | None]") -> str:
    session = desk.Session(payload.session)
    said, prompts = str(session.get("said") or ""), session.get("prompts") or []
    if len(said) >= WORTH_KEEPING and prompts:
        _spool(payload, said, prompts)
    session.forget_words()
    return ""


def _count(
    payload: "Payload", place: "places.Place", act: str, ids: "list[str]", text: str
) -> None:
    """Let `memorix usage` know what was shown."""
    desk.used(
        {
            "index": place.index,
            "at": int(time.time()),
            "host": payload.host,
            "act": act,
            "ids": ids,
            "tokens": brief.estimate_tokens(text),
        }
    )


def _spool(payload: "Payload", text: str, prompts: "list[str]") -> None:
    desk.spool(
        {
            "at": int(time.time()),
            "host": payload.host,
            "session": payload.session,
            "cwd": _cwd(payload),
            "prompts": prompts,
            "text": text,
        }
    )
