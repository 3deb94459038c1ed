"""Messages of a carrier that is not configured any more: who gets them, and who never does."""

from collections.abc import Mapping

import pytest

from pabal.carriers.base import NotSent
from pabal.domain.base.dates import HOUR
from pabal.domain.sends.message import Product, Status
from pabal.service.delivery.carrier.known_carriers import register_carriers
from pabal.service.delivery.workers import BATCH
from pabal.service.upkeep.housekeeping import FULL_ROUND_EVERY, ROUND_INTERVAL_S
from tests.fixtures.service import FakeCarrier, Start, message_id_of, sms
from tests.fixtures.virtual import NOON, Caller, Environment, VirtualWorld

LATER = NOON + 2 * HOUR


def simulator(name: str = "sim") -> FakeCarrier:
    """Return a carrier of the kind `simulator`."""
    carrier = FakeCarrier(name)
    carrier.kind = "simulator"
    return carrier


def offline(carrier: FakeCarrier) -> FakeCarrier:
    carrier.is_connected = False
    return carrier


async def register(env: Environment) -> None:
    """Register the carriers of a service, as its start does."""
    await env.store.write(register_carriers, env.context.kinds)


async def start_after(
    start: Start, before: FakeCarrier, *after: FakeCarrier, routes: Mapping[str, list[str]]
) -> tuple[Environment, bytes]:
    """Leave a message in the queue of one carrier, then start with others; return the message's id, too."""
    env = await start(offline(before))
    await register(env)
    sent = await env.send(sms())
    env = await start(*after, routes=routes, world=VirtualWorld(1, LATER))
    await env.wait(FULL_ROUND_EVERY * ROUND_INTERVAL_S + 5)
    return env, sent


async def test_real_message_never_goes_to_a_simulator(start: Start) -> None:
    sim = simulator()
    env, sent = await start_after(start, FakeCarrier("telco"), sim, routes={"sms": ["sim"]})

    assert await env.outcomes_of(sent) == [(Status.WAITING, None)]
    answer = await Caller(env.service, None)("/metrics", method="GET")
    assert b"pabal_queue_unconfigured_jobs 1.0" in answer.body
    assert b'pabal_queue_jobs{carrier="telco",lane="small"} 1.0' in answer.body
    assert sim.ids == []


@pytest.mark.parametrize("is_simulator", [False, True])
async def test_simulated_message_goes_to_another_simulator_and_never_to_a_real_carrier(
    start: Start, is_simulator: bool
) -> None:
    other = simulator("other") if is_simulator else FakeCarrier("other")
    env, sent = await start_after(start, simulator(), other, routes={"sms": ["other"]})

    assert other.ids == ([message_id_of(sent)] if is_simulator else [])
    assert ((await env.message_of(sent)).status is Status.WAITING) is not is_simulator


async def test_messages_that_must_wait_do_not_hold_up_others(start: Start) -> None:
    """More wait for a real route than one transaction looks at; a product that has one is moved all the same."""
    telco, new, sim = offline(FakeCarrier("telco")), FakeCarrier("new"), simulator()
    env = await start(telco, routes={"sms": ["telco"], "lms": ["telco"]})
    await register(env)
    await env.send(sms(*["01012345678"] * 600))
    sent = await env.send(sms(product=Product.LMS))

    env = await start(new, sim, routes={"sms": ["sim"], "lms": ["new"]}, world=VirtualWorld(1, LATER))
    await env.wait(5)
    await env.service.stop()

    assert (new.ids, sim.ids) == ([message_id_of(sent)], [])


async def test_open_circuit_does_not_send_real_messages_to_a_simulator(start: Start) -> None:
    """The route of the product has become a simulator's while a message waited for a carrier that is down now."""
    sim = simulator()
    down = offline(FakeCarrier("telco", lambda attempt: NotSent(), failover_after_s=1))
    routes = {"sms": ["sim"], "lms": ["telco"]}
    env, sent = await start_after(start, FakeCarrier("telco"), down, sim, routes=routes)
    await env.wait(120)

    job = await env.job_of(message_id_of(sent))
    assert job is not None
    assert job[0] == "telco"
    assert sim.ids == []


async def test_log_tells_once_how_many_jobs_go_to_other_carriers(
    start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    receivers = [f"010{number:08}" for number in range(BATCH + 100)]
    gone, telco = offline(FakeCarrier("gone")), offline(FakeCarrier("telco"))
    env = await start(gone)
    await register(env)
    await env.send(sms(*receivers))

    env = await start(telco, world=VirtualWorld(1, LATER))
    await env.wait(1)
    await env.service.stop()

    told = [each for each in caplog.records if "its jobs go to other carriers" in each.message]
    assert [(each.carrier, each.jobs) for each in told] == [("gone", BATCH + 100)]  # type: ignore[attr-defined]
