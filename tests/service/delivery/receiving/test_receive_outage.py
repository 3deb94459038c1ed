"""Receipts and verdicts while the store is unavailable: they are stored before they are acknowledged."""

import asyncio
from typing import Any

from pabal.carriers.base import Accepted
from pabal.domain.sends.message import Attempt, Outcome, Status
from pabal.store.engine.base import StoreUnavailable
from tests.fixtures.delivery import reference_of
from tests.fixtures.service import DEFAULT_CARRIER, FakeCarrier, Start, sms
from tests.fixtures.virtual import Environment
from tests.fixtures.web import AWAY, FailingStore

SENDING, DONE, GOOD = Status.SENDING, Status.COMPLETED, Outcome.DELIVERED


async def test_unavailable_store_only_delays_the_receipts_of_the_simulator(
    failing_store: FailingStore, env: Environment
) -> None:
    request_id = await env.send(sms())
    await env.wait(0.1)
    failing_store.write_error = AWAY
    await env.wait(30)
    assert await env.outcomes_of(request_id) == [(SENDING, None)]

    failing_store.write_error = None
    await env.wait(5)

    assert await env.outcomes_of(request_id) == [(DONE, GOOD)]


async def test_receipts_are_not_acknowledged_before_they_are_stored(
    failing_store: FailingStore, env: Environment, carrier: FakeCarrier
) -> None:
    request_id = await env.send(sms())
    await env.wait(1)
    failing_store.write_error = AWAY

    acknowledgement = asyncio.create_task(carrier.report((reference_of(request_id), GOOD)))
    await env.wait(60)
    assert not acknowledgement.done()
    assert await env.outcomes_of(request_id) == [(SENDING, None)]

    failing_store.write_error = None
    await acknowledgement
    assert await env.outcomes_of(request_id) == [(DONE, GOOD)]
    assert env.metric_value("pabal_receipts_total", carrier=DEFAULT_CARRIER) == 1


async def test_verdict_is_stored_when_the_store_is_available_again(
    failing_store: FailingStore, env: Environment, carrier: FakeCarrier
) -> None:
    def accept_and_interrupt(attempt: Attempt) -> Accepted:
        failing_store.write_error = AWAY
        return Accepted(None)

    carrier.answer = accept_and_interrupt
    request_id = await env.send(sms())
    await env.wait(3)
    assert await env.outcomes_of(request_id) == [(SENDING, None)]

    failing_store.write_error = None
    await env.wait(2)

    assert await env.outcomes_of(request_id) == [(DONE, GOOD)]
    assert len(carrier.submitted) == 1


async def test_carrier_session_is_restarted_after_a_store_outage(start: Start) -> None:

    class BreaksOnce(FakeCarrier):
        sessions = 0

        async def run(self, on_receipts: Any) -> None:
            self.sessions += 1
            if self.sessions == 1:
                raise StoreUnavailable("unavailable")
            await super().run(on_receipts)

    carrier = BreaksOnce()
    env = await start(carrier)
    await env.wait(2)

    assert carrier.sessions == 2
