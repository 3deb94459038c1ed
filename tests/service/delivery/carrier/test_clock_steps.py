"""Steps of the system's clock: nothing in flight is submitted again, and nothing stalls."""

import logging
from pathlib import Path

import pytest

from pabal.carriers.base import Accepted, Busy
from pabal.domain.base.dates import HOUR, SECOND
from pabal.domain.sends.message import Outcome, Status
from pabal.service.delivery.carrier.clock import CHECK_INTERVAL_S
from tests.fixtures.cluster import open_cluster
from tests.fixtures.delivery import accept_without_receipt
from tests.fixtures.service import FakeCarrier, Start, answer_in_order, later, message_id_of, sms
from tests.fixtures.slot_sharing import REBALANCE_S, fake_carriers, send_many, submissions
from tests.fixtures.virtual import NOON, Environment, VirtualWorld

DONE = [(Status.COMPLETED, Outcome.DELIVERED)]


def step_clock(env: Environment, seconds: float) -> None:
    """Set the wall clock; the monotonic clock goes on."""
    env.world.starts_at += round(seconds * SECOND)


@pytest.mark.parametrize("seconds", [60, HOUR / SECOND, -60, -HOUR / SECOND])
@pytest.mark.carrier(answer=accept_without_receipt, delay_s=20)
async def test_message_in_flight_is_not_submitted_again_after_a_clock_step(
    env: Environment, carrier: FakeCarrier, seconds: float
) -> None:
    request_id = await env.send(sms())
    await env.wait(1)
    step_clock(env, seconds)
    other = await env.send(sms())  # makes the deliverer look at the queue
    await env.wait(30)

    assert carrier.ids == [message_id_of(request_id), message_id_of(other)]
    assert await env.outcomes_of(request_id) == DONE


@pytest.mark.carrier(answer=accept_without_receipt, delay_s=20, window=1000)
async def test_messages_in_flight_keep_no_others_from_being_claimed(env: Environment, carrier: FakeCarrier) -> None:
    carrier.batch_size = 10
    await env.send(sms(*["01012345678"] * 40))
    await env.wait(5)
    step_clock(env, 60)
    request_id = await env.send(sms())
    await env.wait(30)

    assert len(carrier.submitted) == len(set(carrier.ids)) == 41
    assert await env.outcomes_of(request_id) == DONE


async def test_message_in_flight_is_not_rerouted_after_a_clock_step(start: Start) -> None:
    first = FakeCarrier("first", accept_without_receipt, delay_s=25, failover_after_s=2)
    second = FakeCarrier("second", accept_without_receipt)
    env = await start(first, second)
    request_id = await env.send(sms())
    await env.wait(1)
    first.is_connected = False
    step_clock(env, 60)
    await env.wait(40)

    assert (len(first.submitted), len(second.submitted)) == (1, 0)
    assert await env.outcomes_of(request_id) == DONE


@pytest.mark.carrier(is_connected=False)
async def test_queued_messages_do_not_wait_for_a_clock_that_was_set_back(
    env: Environment, carrier: FakeCarrier
) -> None:
    carrier.answer = answer_in_order(Busy(), Accepted(None))
    at_once = await env.send(sms())
    scheduled = await env.send(sms(scheduled_at=later(NOON, 600)))
    await env.wait(1)
    step_clock(env, -HOUR / SECOND)
    carrier.is_connected = True
    await env.wait(20)

    assert await env.outcomes_of(at_once) == DONE
    assert (await env.message_of(scheduled)).status is Status.WAITING
    await env.wait(HOUR / SECOND + 600)
    assert await env.outcomes_of(scheduled) == DONE


async def test_retries_do_not_wait_for_a_clock_that_was_set_back(env: Environment, carrier: FakeCarrier) -> None:
    carrier.answer = answer_in_order(Busy(), Busy(), Busy(), Accepted(None))
    request_id = await env.send(sms())
    await env.wait(2)
    step_clock(env, -HOUR / SECOND)
    await env.wait(30)

    assert await env.outcomes_of(request_id) == DONE


async def test_queue_does_not_wait_if_the_clock_was_set_back_before_the_start(start: Start) -> None:
    carrier = FakeCarrier(delay_s=1000, timeout_s=900, window=1)
    sent: list[bytes] = []
    env = await start(carrier, stop_seconds=1)
    sent.extend([await env.send(sms()) for _ in range(2)])
    await env.wait(1)
    assert len(carrier.submitted) == 1
    next_carrier = FakeCarrier(answer=accept_without_receipt)

    env = await start(next_carrier, world=VirtualWorld(1, NOON - 3 * HOUR))
    await env.wait(10)
    for request_id in sent:
        assert await env.outcomes_of(request_id) == DONE


@pytest.mark.parametrize(("seconds", "direction"), [(90, "forward"), (-90, "back")])
async def test_clock_step_is_logged_once_and_counted(
    env: Environment, carrier: FakeCarrier, caplog: pytest.LogCaptureFixture, seconds: int, direction: str
) -> None:
    caplog.set_level(logging.WARNING, "pabal.clock")
    await env.wait(3)
    step_clock(env, seconds)
    await env.wait(10 * CHECK_INTERVAL_S)
    step_clock(env, 0.2)
    await env.wait(10 * CHECK_INTERVAL_S)

    (record,) = [each for each in caplog.records if each.name == "pabal.clock"]
    assert record.__dict__["seconds"] == seconds
    assert env.metric_value("pabal_clock_steps_total", direction=direction) == 1


async def test_new_holder_with_a_fast_clock_leaves_the_last_holder_its_messages(tmp_path: Path) -> None:
    async with open_cluster(tmp_path, carriers=fake_carriers(delay_s=25)) as cluster:
        first = await cluster.start_process("first")
        await cluster.wait(REBALANCE_S)
        await send_many(first)
        await cluster.wait(1)
        cluster.world.starts_at += 120 * SECOND  # the leases of the first process have expired by this clock
        second = await cluster.start_process("second")
        await cluster.wait(60)

        assert len(second.held) == 4
        assert set(submissions(first, second).values()) == {1}
