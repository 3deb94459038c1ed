"""Searches: one account's cannot delay another's, and one that takes too long is refused with the remedy."""

import asyncio
import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from pabal.domain.base.codes import Code, Refused
from pabal.service import context
from pabal.service.context import LARGE_TOTAL, TOTAL_TTL_S, Searches
from pabal.service.history import history, timeline
from pabal.store.engine.base import ReadTimedOut
from pabal.store.messages.history import MessageFilter
from tests.fixtures.forwarding_store import ForwardingStore
from tests.fixtures.refusals import refused
from tests.fixtures.virtual import Environment, VirtualWorld

ACCOUNT, OTHER = 1, 2


class SlowStore(ForwardingStore):
    """A store whose searches take too long."""

    async def read(self, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        raise ReadTimedOut("too slow")


async def test_account_searches_one_at_a_time_and_others_pass() -> None:
    running = Searches(VirtualWorld())
    order: list[str] = []

    async def search(name: str, account_id: int, seconds: float) -> None:
        async with running.acquire(account_id):
            await asyncio.sleep(seconds)
            order.append(name)

    await asyncio.gather(search("long", ACCOUNT, 10), search("waits", ACCOUNT, 1), search("passes", OTHER, 1))
    assert order == ["passes", "long", "waits"]


async def test_search_beyond_those_that_may_wait_is_refused() -> None:
    running = Searches(VirtualWorld())

    async def search(account_id: int) -> None:
        async with running.acquire(account_id):
            await asyncio.sleep(0.1)

    waiting = [asyncio.create_task(search(ACCOUNT)) for _ in range(context.MAX_WAITING_PER_ACCOUNT)]
    await asyncio.sleep(0)
    with refused(Code.RATE_LIMITED):
        await search(ACCOUNT)
    await search(OTHER)
    await asyncio.gather(*waiting)
    await search(ACCOUNT)


async def test_large_totals_are_remembered_for_a_moment() -> None:
    found = Searches(VirtualWorld())
    found.remember_total("large", LARGE_TOTAL)
    found.remember_total("small", LARGE_TOTAL - 1)
    assert (found.known_total("large"), found.known_total("small")) == (LARGE_TOTAL, None)

    await asyncio.sleep(TOTAL_TTL_S)
    assert found.known_total("large") is None

    for number in range(2 * context.MAX_TOTALS):
        found.remember_total(number, LARGE_TOTAL)
    assert found.known_total(context.MAX_TOTALS - 1) is None
    assert found.known_total(context.MAX_TOTALS) == LARGE_TOTAL


async def test_search_that_takes_too_long_is_refused_with_the_remedy(env: Environment) -> None:
    slow = dataclasses.replace(env.context, store=SlowStore(env.store))
    message_filter = MessageFilter(ACCOUNT, receiver="01012345678")

    for search in (
        history.find_messages(slow, message_filter, 1, 10),
        timeline.search_messages(slow, message_filter, timeline.NEWEST, 10),
    ):
        with pytest.raises(Refused) as refused:
            await search
        assert refused.value.code is Code.SERVICE_UNAVAILABLE
        assert "Narrow the period" in refused.value.problems[0].message("en")
