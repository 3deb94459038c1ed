"""Stops and crashes: what becomes of the messages in flight."""

import asyncio

import pytest

from pabal.domain.base.dates import SECOND
from pabal.domain.sends.message import Status
from pabal.store.engine.base import Tx
from tests.fixtures.delivery import accept_without_receipt, disconnected_carrier
from tests.fixtures.service import PHONE, FakeCarrier, Start, message_id_of, sms
from tests.fixtures.virtual import Environment, VirtualWorld

WAITING, DONE = Status.WAITING, Status.COMPLETED


async def test_stop_finishes_messages_in_flight_and_leaves_the_rest(start: Start) -> None:
    carrier = FakeCarrier(window=10, delay_s=5, answer=accept_without_receipt)
    env = await start(carrier)
    sent = await env.send(sms(*[PHONE] * 30))
    await env.wait(1)

    env = await start(disconnected_carrier(), world=VirtualWorld(1))
    assert len(carrier.submitted) == 10
    statuses = [each.status for each in await env.messages_of(sent)]
    assert statuses == [DONE] * 10 + [WAITING] * 20


@pytest.mark.parametrize("turns", range(6))
async def test_verdicts_that_arrive_during_a_stop_are_stored(start: Start, turns: int) -> None:
    carrier = FakeCarrier(delay_s=1, answer=accept_without_receipt)
    env = await start(carrier)
    await env.send(sms())
    await env.wait(0.9)
    await env.send(sms())
    for _ in range(turns):  # so that the stop hits every step of a claim
        await asyncio.sleep(0)

    env = await start(disconnected_carrier(), world=VirtualWorld(1))

    def completed(tx: Tx) -> set[bytes]:
        return {row[0] for row in tx.fetch_all("select id from messages where status = ?", (DONE.number,))}

    assert await env.store.read(completed) == set(carrier.ids)


@pytest.mark.carrier(delay_s=10_000, timeout_s=9_000)
@pytest.mark.settings(stop_seconds=20)
async def test_stop_does_not_wait_longer_than_its_limit(env: Environment, carrier: FakeCarrier) -> None:
    request_id = await env.send(sms())
    await env.wait(1)
    started_at = env.world.now()

    await env.service.stop()

    assert env.world.now() - started_at <= 20 * SECOND
    assert carrier.ids == [message_id_of(request_id)]
