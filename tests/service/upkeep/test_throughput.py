"""Throughput of carriers, measured every ten seconds."""

import pytest

from pabal.carriers.base import Accepted, Busy
from pabal.store.queue import carriers
from pabal.store.queue.carriers import CarrierState
from tests.fixtures.service import sms
from tests.fixtures.virtual import Environment


async def stored_throughput(env: Environment) -> CarrierState:
    (state,) = await env.store.read(carriers.list_states)
    return state


@pytest.mark.carrier(answer=lambda attempt: Accepted("x"))
async def test_throughput_is_what_was_accepted_in_the_last_ten_seconds(env: Environment) -> None:
    await env.wait(1)
    before = await stored_throughput(env)
    await env.send(sms(*["01012345678"] * 50))
    await env.wait(10)
    busy = await stored_throughput(env)
    await env.wait(10)
    idle = await stored_throughput(env)
    await env.wait(30)

    assert (before.messages_per_minute, busy.messages_per_minute, idle.messages_per_minute) == (None, 300, 0)
    assert await stored_throughput(env) == idle, "nothing is written without traffic"


@pytest.mark.carrier(answer=lambda attempt: Busy())
async def test_messages_answered_busy_are_not_counted(env: Environment) -> None:
    await env.send(sms())
    await env.wait(21)

    assert (await stored_throughput(env)).messages_per_minute is None
