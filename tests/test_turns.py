"""Writes over HTTP take turns, and who waits too long is told so."""

from typing import Any

import anyio

from memorix.server.turns import WRITERS, Turns


def test_a_write_that_gets_no_turn_is_told_so_and_does_nothing() -> None:
    turns, done = Turns(lambda: True, patience_s=0.05), list[Any]()

    async def play() -> None:
        async with anyio.create_task_group() as group:
            finish, begun = anyio.Event(), anyio.Semaphore(0)

            async def slow(call: Any) -> str:
                begun.release()
                await finish.wait()
                done.append(call)
                return "written"

            for call in range(WRITERS):
                group.start_soon(turns.middleware, call, slow)
            for _ in range(WRITERS):
                await begun.acquire()
            refused = await turns.middleware("one more", slow)
            assert refused["isError"]
            assert "Nothing was written" in refused["content"][0]["text"]
            finish.set()
        again = await Turns(lambda: True).middleware("later", slow)
        assert again == "written"

    anyio.run(play)
    assert sorted(done, key=str) == [*range(WRITERS), "later"]


def test_what_writes_nothing_waits_for_no_turn() -> None:
    turns = Turns(lambda: False, patience_s=0.0)

    async def read(call: Any) -> Any:
        return call if call == 0 else await turns.middleware(call - 1, read)

    assert anyio.run(turns.middleware, WRITERS + 3, read) == 0
