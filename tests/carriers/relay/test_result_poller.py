"""The rounds of the result poller: quick while results come, and seldom when none do."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence

import pytest

from pabal.carriers.base import Receipt
from pabal.carriers.relay.http import ErrorAnswer
from pabal.carriers.relay.result_poller import ResultPoller, ResultSource
from pabal.domain.base.dates import Instant
from pabal.domain.sends.message import Outcome
from tests.carriers.conformance import InMemoryCursor
from tests.fixtures.virtual import VirtualWorld, run_in_virtual_time

CALL_S = 3.0
ROUND_S = 5.0


class SlowSource(ResultSource):
    """Lists all results in every round, one a page; each call takes three seconds."""

    name = "slow"
    server_time = None

    def __init__(self, world: VirtualWorld) -> None:
        self._world = world
        self.references: list[str] = []
        self.calls: list[float] = []
        """When each call began."""

    async def read(self, start: Instant, end: Instant) -> AsyncIterator[Sequence[Receipt]]:
        for reference in [*self.references, None]:
            self.calls.append(self._world.monotonic())
            await asyncio.sleep(CALL_S)
            yield [Receipt(reference, Outcome.DELIVERED)] if reference else []

    async def check(self, now: Instant) -> None:
        return

    def is_closed_by(self, error: ErrorAnswer) -> bool:
        return False


def make_poller(references: Sequence[str]) -> tuple[SlowSource, ResultPoller]:
    world = VirtualWorld()
    source = SlowSource(world)
    source.references += references
    poller = ResultPoller(
        "relay",
        [source],
        InMemoryCursor(),
        world,
        lambda service, problem: None,
        logging.getLogger("test"),
        round_s=ROUND_S,
        poll_s=ROUND_S,
    )
    return source, poller


def poll(seconds: float, references: Sequence[str], store_s: float = 0.0) -> tuple[list[float], list[str]]:
    """Poll for so long, and return when calls began and which results were stored."""
    stored: list[str] = []

    async def store(receipts: Sequence[Receipt]) -> None:
        await asyncio.sleep(store_s)
        stored.extend(each.reference for each in receipts)

    async def main() -> list[float]:
        source, poller = make_poller(references)
        running = asyncio.create_task(poller.run(store))
        await asyncio.sleep(seconds)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        return [round(at) for at in source.calls]

    return run_in_virtual_time(main()), stored


def test_calls_that_bring_nothing_take_a_third_of_the_time() -> None:
    calls, _ = poll(30, [])

    assert calls == [0, 9, 18, 27]


def test_calls_that_bring_results_are_followed_by_a_round_at_once() -> None:
    calls, stored = poll(19, ["a", "b", "c"])

    assert stored == ["a", "b", "c"]
    assert calls == [0, 3, 6, 9, 12 + 6], "only the last call of the round brought nothing"


def test_results_that_are_known_do_not_count_as_new() -> None:
    calls, stored = poll(60, ["a"])

    assert stored == ["a"]
    assert calls == [0, 3, 12, 15, 30, 33, 48, 51]


def test_next_page_is_read_while_one_is_stored() -> None:
    calls, stored = poll(13, ["a", "b", "c"], store_s=CALL_S)

    assert stored == ["a", "b", "c"]
    assert calls == [0, 3, 6, 9]


async def test_failing_store_ends_the_call_that_runs_beside_it() -> None:
    async def store(receipts: Sequence[Receipt]) -> None:
        raise OSError("the store is gone")

    _, poller = make_poller(["a", "b"])
    with pytest.raises(OSError, match="the store is gone"):
        await poller.run(store)
    await asyncio.sleep(0)
    assert asyncio.all_tasks() == {asyncio.current_task()}
