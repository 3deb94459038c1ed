"""Accepting: a request is stored completely and once, with a job for each message, or not at all."""

import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest

from pabal.domain.base.codes import Code, Refused
from pabal.domain.base.identifiers import requested_at
from pabal.domain.people.phone import NumberState
from pabal.domain.sends.message import Status
from pabal.domain.sends.sending import Receiver
from pabal.service.sending.accept import IdempotencyKey, accept
from pabal.service.sending.preconditions import WAKE_HORIZON_MS
from pabal.store.accounts import numbers
from pabal.store.engine.base import StoreUnavailable
from pabal.store.messages import requests
from tests.fixtures.service import (
    PHONE,
    SENDER,
    FakeCarrier,
    Start,
    account_id_of,
    count_rows,
    message_id_of,
    sms,
)
from tests.fixtures.virtual import NOON, Environment

pytestmark = pytest.mark.carrier(is_connected=False)

WAITING = Status.WAITING


async def refusal(work: Awaitable[Any]) -> Refused:
    with pytest.raises(Refused) as refused:
        await work
    return refused.value


async def test_every_receiver_gets_a_waiting_message_and_a_job(env: Environment) -> None:
    receivers = [
        Receiver(PHONE, ("a",)),
        Receiver(PHONE, ("b",), reference="ref"),
        Receiver("01099998888", ("c",)),
    ]
    request_id = await env.send(sms(receivers=receivers, variables=("x",)))

    kept = await env.messages_of(request_id)
    assert [(each.receiver, each.values, each.reference, each.status) for each in kept] == [
        (PHONE, ("a",), None, WAITING),
        (PHONE, ("b",), "ref", WAITING),
        ("01099998888", ("c",), None, WAITING),
    ]
    assert await count_rows(env, "jobs") == 3
    assert env.metric_value("pabal_messages_accepted_total", product="sms") == 3


async def test_request_id_holds_acceptance_time_which_is_the_default_send_time(env: Environment) -> None:
    await env.wait(5)
    now = await env.send(sms())
    scheduled = await env.send(sms(scheduled_at=NOON + 60_000))

    kept = await env.store.read(requests.get, [now, scheduled])

    assert requested_at(now) == requested_at(scheduled) == NOON + 5_000
    assert (kept[now].scheduled_at, kept[scheduled].scheduled_at) == (NOON + 5_000, NOON + 60_000)


@pytest.mark.parametrize(
    ("ahead", "carrier"), [(None, "two"), (0, "two"), (WAKE_HORIZON_MS, "two"), (WAKE_HORIZON_MS + 1, "one")]
)
async def test_scheduled_send_does_not_avoid_a_carrier_with_an_open_circuit(
    start: Start, ahead: int | None, carrier: str
) -> None:
    one, two = FakeCarrier("one", failover_after_s=5), FakeCarrier("two")
    one.is_connected = False
    env = await start(one, two)
    await env.wait(10)
    assert env.context.open_circuits == {"one"}

    now = env.world.now()
    request_id = await env.send(sms(scheduled_at=None if ahead is None else now + ahead))

    found = await env.job_of(message_id_of(request_id))
    assert found is not None
    assert found[0] == carrier


@pytest.mark.settings(check_sender_numbers=True)
async def test_unregistered_sender_number_is_refused_where_numbers_are_checked(env: Environment) -> None:
    owner, other = await account_id_of(env), await account_id_of(env, "other")
    await env.store.write(numbers.add, other, SENDER, NOON)

    refused = await refusal(accept(env.context, owner, sms()))
    assert (refused.code, refused.problems[0].field) == (Code.SENDER_NUMBER_NOT_REGISTERED, "sender")

    await env.store.write(numbers.add, owner, SENDER, NOON, NumberState.PENDING)
    assert (await refusal(accept(env.context, owner, sms()))).code is Code.SENDER_NUMBER_NOT_REGISTERED

    for account_id in (other, owner):
        await env.store.write(numbers.remove, account_id, SENDER)
    await env.store.write(numbers.add, owner, SENDER, NOON)
    await accept(env.context, owner, sms())


REPEATABLE = IdempotencyKey("key", b"digest")


async def test_one_of_many_concurrent_equal_requests_is_stored(env: Environment) -> None:
    owner = await account_id_of(env)

    answers = await asyncio.gather(*(accept(env.context, owner, sms(), REPEATABLE) for _ in range(20)))

    assert len(set(answers)) == 1
    assert await count_rows(env, "messages") == 1


async def test_request_that_cannot_be_stored_is_not_accepted(env: Environment) -> None:
    owner = await account_id_of(env)
    await env.store.close()

    with pytest.raises(StoreUnavailable):
        await accept(env.context, owner, sms())
