"""Claims that were committed without confirmation: their messages are submitted at once, and only once."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pabal.carriers.base import Accepted
from pabal.domain.sends.message import Outcome, Status
from pabal.service.delivery.claiming.claim_tx import ClaimedBatch
from pabal.service.delivery.outcome.settle import settle
from pabal.store.engine.base import Store, StoreUnavailable
from tests.fixtures.forwarding_store import ForwardingStore
from tests.fixtures.service import PHONE, FakeCarrier, Start, sms
from tests.fixtures.virtual import VirtualWorld, open_store
from tests.fixtures.web import AWAY, FailingStore


class LosesClaimResults(ForwardingStore):
    """A store that commits every write but loses the results of some claims that leased messages."""

    def __init__(self, store: Store, lost: int, *, kept_before: int = 0) -> None:
        super().__init__(store)
        self._results_to_keep = kept_before
        self.results_to_lose = lost

    async def write(self, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        result = await self._store.write(work, *args, **kwargs)
        if not isinstance(result, ClaimedBatch) or not result.leased:
            return result
        if self._results_to_keep:
            self._results_to_keep -= 1
        elif self.results_to_lose:
            self.results_to_lose -= 1
            raise StoreUnavailable("the result was lost")
        return result


@pytest.mark.parametrize("holds_in_doubt", [False, True])
@pytest.mark.parametrize("lost", [1, 3])
async def test_messages_of_an_unconfirmed_claim_are_submitted_at_once_and_only_once(
    start: Start, tmp_path: Path, holds_in_doubt: bool, lost: int
) -> None:
    carrier, world = (
        FakeCarrier(answer=lambda _: Accepted(None), timeout_s=60, holds_in_doubt=holds_in_doubt),
        VirtualWorld(),
    )
    store = LosesClaimResults(open_store(tmp_path, world), lost)
    env = await start(carrier, world=world, store=store)
    request_id = await env.send(sms(PHONE, "01087654321"))
    await env.wait(lost * 1.0 + 2)

    assert store.results_to_lose == 0
    assert await env.outcomes_of(request_id) == [(Status.COMPLETED, Outcome.DELIVERED)] * 2
    assert len(carrier.submitted) == 2


async def test_unconfirmed_claim_in_the_millisecond_of_a_confirmed_one_is_told_apart(
    start: Start, tmp_path: Path
) -> None:
    carrier, world = FakeCarrier(answer=lambda _: Accepted(None), timeout_s=60, delay_s=10), VirtualWorld()
    carrier.batch_size = 1  # a full claim is followed by the next at once
    store = LosesClaimResults(open_store(tmp_path, world), 1, kept_before=1)
    env = await start(carrier, world=world, store=store)
    request_id = await env.send(sms(PHONE, "01087654321"))
    await env.wait(5)

    assert store.results_to_lose == 0
    first, second = [at for at, _ in carrier.submitted]  # each once, although the first still was in flight
    assert second - first <= 2
    await env.wait(15)
    assert await env.outcomes_of(request_id) == [(Status.COMPLETED, Outcome.DELIVERED)] * 2
    assert len(carrier.submitted) == 2


class UnavailableFromSettlement(FailingStore):
    """A store that is unavailable for a minute from the first settlement on."""

    has_begun = False

    async def write(self, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if work is settle and not self.has_begun:
            self.has_begun = True
            self.error = AWAY
            asyncio.get_running_loop().call_later(60, setattr, self, "error", None)
        return await super().write(work, *args, **kwargs)


@pytest.mark.first_case
@pytest.mark.parametrize("holds_in_doubt", [False, True])
async def test_messages_accepted_before_a_long_store_outage_are_not_submitted_again(
    start: Start, tmp_path: Path, holds_in_doubt: bool
) -> None:
    carrier, world = (
        FakeCarrier(answer=lambda _: Accepted(None), timeout_s=2, holds_in_doubt=holds_in_doubt),
        VirtualWorld(),
    )
    env = await start(carrier, world=world, store=UnavailableFromSettlement(open_store(tmp_path, world)))
    request_id = await env.send(sms(PHONE, "01087654321"))
    await env.wait(100)

    assert await env.outcomes_of(request_id) == [(Status.COMPLETED, Outcome.DELIVERED)] * 2
    assert len(carrier.submitted) == 2
