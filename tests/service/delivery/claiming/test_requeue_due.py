"""Retries, scheduled sends and fallbacks are sent soon after their time, also in a lane that never runs empty."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from pabal.carriers.base import Accepted, Busy, Rejected, Verdict
from pabal.domain.base.dates import SECOND, Instant
from pabal.domain.sends.message import Attempt, Outcome, Product
from pabal.domain.sends.sending import Sending
from pabal.service.delivery.claiming.requeue_due import BATCH, INTERVAL_S
from pabal.service.sending.accept import accept
from pabal.store.engine.base import Tx
from tests.fixtures.campaigns import phones
from tests.fixtures.cluster import open_cluster
from tests.fixtures.service import DEFAULT_CARRIER, FakeCarrier, Start, account_id_of, alimtalk, message_id_of, sms
from tests.fixtures.slot_sharing import carrier_of
from tests.fixtures.virtual import NOON, Environment, VirtualWorld

BUSY_PHONE = "01055550001"
"""Its first attempt is answered with busy."""
PROMISED_S = 5.0
"""How long after its own time a message is submitted at the latest, as the promise says."""
OVERLOAD_S = 20
"""How long a lane is overloaded before the messages come due that are watched."""


def answer(attempt: Attempt) -> Verdict:
    if attempt.product is Product.ALIMTALK:
        return Rejected(Outcome.NOT_A_USER)
    is_busy = attempt.receiver == BUSY_PHONE and attempt.number == 1
    return Busy() if is_busy else Accepted(None)


pytestmark = pytest.mark.carrier(answer=answer, window=5, delay_s=0.25)


def slow_carrier(name: str = DEFAULT_CARRIER) -> FakeCarrier:
    """Return a carrier that takes 20 messages a second."""
    return FakeCarrier(name, answer, window=5, delay_s=0.25)


def submitted_at(carrier: FakeCarrier, message_id: bytes) -> list[float]:
    return [at for at, attempt in carrier.submitted if attempt.message_id == message_id]


async def send_as(env: Environment, account: str, sending: Sending) -> bytes:
    return await accept(env.context, await account_id_of(env, account), sending)


class Overload:
    """Sends twice what the slow carrier takes, in one lane, until it is stopped."""

    def __init__(self, env: Environment, receivers: int, product: Product = Product.SMS) -> None:
        self._env = env
        self._sending = sms(*phones(receivers), product=product)
        self._pause_s = receivers / 40
        self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        account_id = await account_id_of(self._env, "flooding")
        while True:
            await accept(self._env.context, account_id, self._sending)
            await asyncio.sleep(self._pause_s)

    async def stop(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


async def wait_of_retry(env: Environment, carrier: FakeCarrier, *others: str) -> float:
    """Send a message whose first attempt is busy; return how long after the first one its second began."""
    message_id = message_id_of(await send_as(env, "small", sms(BUSY_PHONE, *others)))
    await env.wait(2 * PROMISED_S + 2)
    first, second = submitted_at(carrier, message_id)[:2]
    return second - first


async def wait_of_scheduled(env: Environment, carrier: FakeCarrier, *receivers: str) -> float:
    """Schedule a send in ten seconds; return how long after its time its first message was submitted."""
    due_at = asyncio.get_running_loop().time() + 10
    sending = sms(*receivers, scheduled_at=env.world.now() + 10 * SECOND)
    message_id = message_id_of(await send_as(env, "small", sending))
    await env.wait(10 + 2 * PROMISED_S)
    (at,) = submitted_at(carrier, message_id)
    return at - due_at


@pytest.mark.parametrize("receivers", [1, 20], ids=["small", "campaign"])
async def test_retry_and_scheduled_send_do_not_wait_for_the_end_of_an_overload(
    env: Environment, carrier: FakeCarrier, receivers: int
) -> None:
    others = phones(receivers)[1:]
    overload = Overload(env, receivers)
    await env.wait(OVERLOAD_S)

    assert await wait_of_retry(env, carrier, *others) <= 1.2 + PROMISED_S
    assert -0.001 <= await wait_of_scheduled(env, carrier, *phones(receivers)) <= PROMISED_S
    await overload.stop()


async def test_fallback_does_not_wait_for_the_end_of_an_overload(env: Environment, carrier: FakeCarrier) -> None:
    profile_id = await env.add_profile()
    overload = Overload(env, 1)
    await env.wait(OVERLOAD_S)
    began_at = asyncio.get_running_loop().time()
    request_id = await send_as(env, "acme", alimtalk(profile_id))
    await env.wait(2 * PROMISED_S)
    await overload.stop()

    _, fallback = await env.messages_of(request_id)
    (at,) = submitted_at(carrier, fallback.id)
    assert at - began_at <= 2 + PROMISED_S


async def test_code_at_its_own_time_passes_the_other_messages_of_its_account(
    env: Environment, carrier: FakeCarrier
) -> None:
    overload = Overload(env, 1)
    await env.wait(OVERLOAD_S)
    due_at, scheduled_at = asyncio.get_running_loop().time() + 10, env.world.now() + 10 * SECOND
    for _ in range(200):
        await send_as(env, "small", sms(scheduled_at=scheduled_at))
    code = await send_as(env, "small", sms(scheduled_at=scheduled_at, is_code=True))
    await env.wait(10 + 2 * PROMISED_S)
    await overload.stop()

    (at,) = submitted_at(carrier, message_id_of(code))  # behind the others it would wait for 20 s
    assert at - due_at <= PROMISED_S


async def test_messages_at_their_own_time_are_found_in_all_slots_of_an_overloaded_worker(tmp_path: Path) -> None:
    carrier = slow_carrier()
    async with open_cluster(tmp_path, carriers=lambda: {DEFAULT_CARRIER: carrier}) as cluster:
        worker = await cluster.start_process("worker")
        await cluster.wait(4)
        overload = Overload(worker.env, 1)
        await cluster.wait(OVERLOAD_S)
        due_at = asyncio.get_running_loop().time() + 10
        at = worker.env.world.now() + 10 * SECOND
        scheduled = [await send_as(worker.env, f"small{each}", sms(scheduled_at=at)) for each in range(12)]

        assert await wait_of_retry(worker.env, carrier) <= 1.2 + PROMISED_S
        await cluster.wait(PROMISED_S)
        waits = [submitted_at(carrier, message_id_of(each))[0] - due_at for each in scheduled]
        assert min(waits) >= -0.001
        assert max(waits) <= PROMISED_S
        await overload.stop()


async def test_send_of_a_process_that_does_not_know_the_queue_is_not_passed_for_ever(tmp_path: Path) -> None:
    async with open_cluster(tmp_path, carriers=lambda: {DEFAULT_CARRIER: slow_carrier()}) as cluster:
        worker = await cluster.start_process("worker")
        front = await cluster.start_process("front", delivers=False)
        await cluster.wait(4)
        overload = Overload(worker.env, 1)
        await cluster.wait(OVERLOAD_S)
        began_at = asyncio.get_running_loop().time()
        message_id = message_id_of(await send_as(front.env, "small", sms()))
        await cluster.wait(2 * PROMISED_S)
        await overload.stop()

        (at,) = submitted_at(carrier_of(worker), message_id)
        assert at - began_at <= PROMISED_S


async def test_message_of_a_failed_carrier_is_not_passed_at_the_next_one(start: Start) -> None:
    failing, overloaded = FakeCarrier("failing", failover_after_s=10), slow_carrier("next")
    routes = {"sms": ["failing", "next"], "lms": ["next"]}
    env = await start(failing, overloaded, routes=routes)
    overload = Overload(env, 1, product=Product.LMS)
    await env.wait(OVERLOAD_S)
    await send_as(env, "small", sms())
    await env.wait(1)
    failing.is_connected = False
    message_id = message_id_of(await send_as(env, "small", sms()))
    await env.wait(10)
    began_at = asyncio.get_running_loop().time()
    await env.wait(2 * PROMISED_S)
    await overload.stop()

    (at,) = submitted_at(overloaded, message_id)
    assert at - began_at <= 1 + PROMISED_S


async def test_messages_at_their_own_time_are_found_after_a_restart(start: Start) -> None:
    carrier = slow_carrier()
    env = await start(slow_carrier())
    overload = Overload(env, 1)
    await env.wait(OVERLOAD_S)
    at = env.world.now() + 1 * SECOND
    due = message_id_of(await send_as(env, "small", sms(scheduled_at=at)))
    await overload.stop()
    world = VirtualWorld(starts_at=NOON + (OVERLOAD_S + 60) * SECOND)

    env = await start(carrier, world=world)
    overload = Overload(env, 1)
    began_at = asyncio.get_running_loop().time()
    await env.wait(2 * PROMISED_S)
    await overload.stop()

    (submitted_s,) = submitted_at(carrier, due)
    assert submitted_s - began_at <= PROMISED_S


async def test_scheduled_campaign_gets_the_share_of_its_account_in_an_overload(
    env: Environment, carrier: FakeCarrier
) -> None:
    overload = Overload(env, 20)
    await env.wait(OVERLOAD_S)
    at = env.world.now() + 1 * SECOND
    first = await send_as(env, "first", sms(*phones(200), scheduled_at=at))
    second = await send_as(env, "second", sms(*phones(20), scheduled_at=at + 1))
    await env.wait(1)
    began_at = asyncio.get_running_loop().time()
    await env.wait(12)
    await overload.stop()

    counts = Counter(attempt.message_id[:13] for at, attempt in carrier.submitted if at >= began_at)
    assert counts[second] == 20  # it does not wait for the 200
    assert 50 <= counts[first] <= 150  # half of what is left


async def test_deadline_holds_for_a_message_that_got_a_position_far_in_the_past(
    env: Environment, carrier: FakeCarrier
) -> None:
    overload = Overload(env, 20)
    await env.wait(2)
    carrier.is_connected = False
    await env.wait(240)  # the lane stands still
    carrier.is_connected = True
    await env.wait(10)
    at = env.world.now() + 1 * SECOND
    request_id = await send_as(env, "small", sms(*phones(200), scheduled_at=at, expire_minutes=3))
    await env.wait(2)
    carrier.is_connected = False
    await env.wait(240)
    await overload.stop()

    found = await env.messages_of(request_id)
    assert {each.outcome for each in found} <= {Outcome.EXPIRED, Outcome.DELIVERED}
    assert len([each for each in found if each.outcome is Outcome.EXPIRED]) >= 100


async def test_positions_are_given_to_all_of_very_many_that_are_due_at_one_time(env: Environment) -> None:
    overload = Overload(env, 20)
    await env.wait(OVERLOAD_S)
    at = env.world.now() + 1 * SECOND
    for number in range(3):
        await send_as(env, f"large{number}", sms(*phones(1000), scheduled_at=at))
    assert await count_due(env, at) == 3000 > BATCH
    await env.wait(1 + 2 * INTERVAL_S)
    await overload.stop()

    assert await count_due(env, at) == 0


async def test_look_passes_very_many_that_keep_their_time(env: Environment) -> None:
    at = env.world.now() + 1 * SECOND
    for number in range(3):
        await send_as(env, f"large{number}", sms(*phones(1000), scheduled_at=at))
    later = await send_as(env, "other", sms(*phones(20), scheduled_at=at + 5 * SECOND))
    await env.wait(1 + 5 + 2 * INTERVAL_S)

    job = await env.job_of(message_id_of(later))
    assert job is not None
    assert job[2] == at  # the first of the lane


async def count_due(env: Environment, at: Instant) -> int:
    def count(tx: Tx) -> int:
        row = tx.fetch_one("select count(*) from jobs where ready_at = ?", (at,))
        assert row is not None
        return int(row[0])

    return await env.store.read(count)
