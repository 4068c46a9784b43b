"""Calls over HTTP take turns, reads and writes apart, and who waits too long is told so."""

from types import SimpleNamespace
from typing import Any

import anyio

from memorix.server.turns import READERS, WRITERS, Turns


def request(number: int, method: str = "tools/call", *, writes: bool = False) -> Any:
    return SimpleNamespace(number=number, method=method, writes=writes)


def test_a_write_that_gets_no_turn_is_told_so_and_does_nothing() -> None:
    turns, done = Turns(lambda: True, patience_s=0.05), list[Any]()

    async def play() -> None:
        async with anyio.create_task_group() as group:
            finish, begun = anyio.Event(), anyio.Semaphore(0)

            async def slow(call: Any) -> str:
                begun.release()
                await finish.wait()
                done.append(call.number)
                return "written"

            for number in range(WRITERS):
                group.start_soon(turns.middleware, request(number), slow)
            for _ in range(WRITERS):
                await begun.acquire()
            refused = await turns.middleware(request(98), slow)
            assert refused["isError"]
            assert "Nothing was written" in refused["content"][0]["text"]
            finish.set()
        again = await Turns(lambda: True).middleware(request(99), slow)
        assert again == "written"

    anyio.run(play)
    assert sorted(done) == [*range(WRITERS), 99]


def test_behind_any_number_of_reads_a_write_and_what_needs_no_thread_go_ahead() -> None:
    now: Any = None
    turns, done = Turns(lambda: now.writes), list[str]()

    async def play() -> None:
        nonlocal now
        async with anyio.create_task_group() as group:
            finish, begun = anyio.Event(), anyio.Semaphore(0)

            async def slow(call: Any) -> None:
                begun.release()
                await finish.wait()
                done.append("read")

            async def quick(call: Any) -> None:
                done.append(call.method)

            now = request(0)
            for _ in range(READERS * 3):
                group.start_soon(turns.middleware, now, slow)
            for _ in range(READERS):
                await begun.acquire()
            await anyio.wait_all_tasks_blocked()
            await turns.middleware(request(1, "tools/list"), quick)
            now = request(2, writes=True)
            await turns.middleware(now, quick)
            now = request(0)
            finish.set()

    anyio.run(play)
    assert done == ["tools/list", "tools/call", *["read"] * (READERS * 3)]
