"""Sending scheduled messages now: each once, and only those that still wait."""

import asyncio

import pytest

from pabal.domain.base.codes import Code
from pabal.domain.base.dates import HOUR
from pabal.domain.sends.message import Product, Status
from pabal.service.sending.accept import accept
from pabal.service.sending.waiting import Expedited, cancel_request, send_now
from pabal.store.messages import requests
from tests.fixtures.delivery import accept_without_receipt
from tests.fixtures.refusals import refused
from tests.fixtures.service import (
    DEFAULT_CARRIER,
    PHONE,
    FakeCarrier,
    Start,
    account_id_of,
    later,
    message_id_of,
    sms,
)
from tests.fixtures.virtual import NOON, Environment, VirtualWorld

pytestmark = pytest.mark.carrier(answer=accept_without_receipt)

LATER = later(NOON, 300)


@pytest.mark.parametrize("receivers", [2, 25])
async def test_waiting_messages_are_sent_at_once_and_not_again_later(
    env: Environment, carrier: FakeCarrier, receivers: int
) -> None:
    request_id = await env.send(sms(*[PHONE] * receivers, scheduled_at=LATER))
    await env.wait(60)

    expedited = await send_now(env.context, await account_id_of(env), request_id)

    assert expedited == Expedited(receivers, frozenset({DEFAULT_CARRIER}))
    await env.wait(6)
    assert {status for status, _ in await env.outcomes_of(request_id)} == {Status.COMPLETED}
    kept = (await env.store.read(requests.get, [request_id]))[request_id]
    assert kept.scheduled_at == NOON + 60_000
    await env.wait(600)
    assert len(carrier.submitted) == receivers
    assert (await send_now(env.context, await account_id_of(env), request_id)).messages == 0


async def test_cancelled_messages_stay_cancelled(env: Environment, carrier: FakeCarrier) -> None:
    owner = await account_id_of(env)
    request_id = await env.send(sms(PHONE, PHONE, scheduled_at=LATER))
    await cancel_request(env.context, owner, request_id, message_id_of(request_id, 1))

    assert (await send_now(env.context, owner, request_id)).messages == 1
    await env.wait(10)
    assert carrier.ids == [message_id_of(request_id, 2)]


@pytest.mark.parametrize("turns", range(8))
async def test_send_now_cancel_and_schedule_never_send_a_message_twice(
    env: Environment, carrier: FakeCarrier, turns: int
) -> None:
    owner = await account_id_of(env)
    request_id = await env.send(sms(*[PHONE] * 12, scheduled_at=later(NOON, 10)))
    await env.wait(9.999)

    async def after(count: int) -> None:
        for _ in range(count):
            await asyncio.sleep(0)
        await send_now(env.context, owner, request_id)

    _, done = await asyncio.gather(after(turns), cancel_request(env.context, owner, request_id, None))
    await env.wait(60)

    assert len(carrier.ids) == len(set(carrier.ids)) == 12 - done.canceled


async def test_unknown_or_foreign_message_cannot_be_sent_now(env: Environment) -> None:
    foreign = await accept(env.context, await account_id_of(env, "other"), sms(scheduled_at=LATER))
    for request_id in (None, bytes(13), foreign):
        with refused(Code.REQUEST_NOT_FOUND):
            await send_now(env.context, await account_id_of(env), request_id)
    assert await env.outcomes_of(foreign) == [(Status.WAITING, None)]


async def test_advertisement_cannot_be_sent_now_at_night(start: Start, carrier: FakeCarrier) -> None:
    env = await start(carrier, world=VirtualWorld(starts_at=NOON + 10 * HOUR))
    at = env.world.now() + 12 * HOUR
    request_id = await env.send(sms(product=Product.FRIENDTALK_TEXT, is_ad=True, scheduled_at=at))
    with refused(Code.NIGHT_AD_RESTRICTED):
        await send_now(env.context, await account_id_of(env), request_id)
