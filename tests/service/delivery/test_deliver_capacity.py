"""Capacity: windows are used in full, and no send is starved by another."""

import asyncio

import pytest

from pabal.domain.sends.message import Outcome, Status
from tests.fixtures.delivery import accept_without_receipt
from tests.fixtures.service import PHONE, FakeCarrier, message_id_of, sms
from tests.fixtures.virtual import Environment

WAITING, DONE = Status.WAITING, Status.COMPLETED


@pytest.mark.carrier(window=7, delay_s=1, answer=accept_without_receipt)
async def test_window_is_never_exceeded_and_always_used(env: Environment, carrier: FakeCarrier) -> None:
    request_id = await env.send(sms(*[PHONE] * 70))
    await env.wait(10.5)

    assert carrier.max_in_flight == 7
    assert await env.outcomes_of(request_id) == [(DONE, Outcome.DELIVERED)] * 70


@pytest.mark.carrier(window=20, delay_s=0.5, answer=accept_without_receipt)
async def test_small_send_does_not_wait_behind_a_campaign(env: Environment, carrier: FakeCarrier) -> None:
    campaign = await env.send(sms(*[PHONE] * 5000))
    await env.wait(5)
    started_at = asyncio.get_running_loop().time()

    small = await env.send(sms("01099998888"))
    await env.wait(2)

    waited = carrier.times[carrier.ids.index(message_id_of(small))] - started_at
    assert waited <= 1
    assert WAITING in [each.status for each in await env.messages_of(campaign)]


@pytest.mark.carrier(window=20, delay_s=1, answer=accept_without_receipt)
async def test_campaign_continues_during_a_stream_of_small_sends(env: Environment, carrier: FakeCarrier) -> None:
    campaign = await env.send(sms(*[PHONE] * 100))
    for _ in range(60):
        await env.send(sms(*["01099998888"] * 10))
    await env.wait(5.5)

    of_campaign = [message_id for message_id in carrier.ids if message_id[:13] == campaign]
    assert len(of_campaign) >= 5 * 20 // 4
    assert len(of_campaign) < len(carrier.ids) / 2
