"""A claim that was kept, though its commit was not seen to end: what it took is handed over at once, and once."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pabal.carriers.base import Accepted
from pabal.domain.message import Outcome, Status
from pabal.service.delivery.claim import ClaimedBatch
from pabal.service.delivery.settle import settle
from pabal.store.engine.base import Store, StoreUnavailable
from tests.fixtures.service import DEFAULT_CARRIER, PHONE, FakeCarrier, RunScenario, outcomes_of, send, sms
from tests.fixtures.virtual import Environment, VirtualWorld, open_store


class Forgetful:
    """A store that keeps everything, and loses the answer to a claim that has taken something."""

    def __init__(self, inner: Store, lost: int) -> None:
        self._inner = inner
        self.left = lost
        self.read = inner.read
        self.close = inner.close

    async def write(self, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        answer = await self._inner.write(work, *args, **kwargs)
        if self.left and isinstance(answer, ClaimedBatch) and answer.leased:
            self.left -= 1
            raise StoreUnavailable("lost")
        return answer


@pytest.mark.parametrize("holds_in_doubt", [False, True])
@pytest.mark.parametrize("lost", [1, 3])
def test_what_an_unseen_claim_took_is_handed_over_at_once_and_is_in_no_doubt(
    run_scenario: RunScenario, tmp_path: Path, holds_in_doubt: bool, lost: int
) -> None:
    post, world = (
        FakeCarrier(answer=lambda _: Accepted(None), timeout_s=60, holds_in_doubt=holds_in_doubt),
        VirtualWorld(),
    )
    store = Forgetful(open_store(tmp_path, world), lost)

    async def scenario(env: Environment) -> None:
        sent = await send(env, sms(PHONE, "01087654321"))
        await env.wait(lost * 1.0 + 2)

        assert store.left == 0
        assert await outcomes_of(env, sent) == [(Status.COMPLETED, Outcome.DELIVERED)] * 2
        assert len(post.submitted) == 2

    run_scenario(scenario, carriers={DEFAULT_CARRIER: post}, world=world, store=store)


class Away:
    """A store that is away from a settlement on, for so many seconds."""

    def __init__(self, inner: Store, seconds: float) -> None:
        self._inner = inner
        self._seconds = seconds
        self._back_at: float | None = None
        self.close = inner.close

    async def write(self, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if work is settle:
            self._back_at = self._back_at or asyncio.get_running_loop().time() + self._seconds
        self._check()
        return await self._inner.write(work, *args, **kwargs)

    async def read(self, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        self._check()
        return await self._inner.read(work, *args, **kwargs)

    def _check(self) -> None:
        if self._back_at is not None and asyncio.get_running_loop().time() < self._back_at:
            raise StoreUnavailable("away")


@pytest.mark.parametrize("holds_in_doubt", [False, True])
def test_what_a_carrier_took_before_the_store_went_away_for_long_is_not_handed_over_again(
    run_scenario: RunScenario, tmp_path: Path, holds_in_doubt: bool
) -> None:
    post, world = (
        FakeCarrier(answer=lambda _: Accepted(None), timeout_s=2, holds_in_doubt=holds_in_doubt),
        VirtualWorld(),
    )

    async def scenario(env: Environment) -> None:
        sent = await send(env, sms(PHONE, "01087654321"))
        await env.wait(100)

        assert await outcomes_of(env, sent) == [(Status.COMPLETED, Outcome.DELIVERED)] * 2
        assert len(post.submitted) == 2

    run_scenario(
        scenario, carriers={DEFAULT_CARRIER: post}, world=world, store=Away(open_store(tmp_path, world), 60)
    )
