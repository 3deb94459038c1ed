"""Carriers that look up messages in doubt: they are told of the doubt, and no other carrier gets the message."""

import asyncio
from pathlib import Path

import pytest

from pabal.carriers.base import Accepted, Busy, Declined, NotSent, Rejected, Unknown, Verdict
from pabal.domain.base.dates import HOUR, MINUTE, SECOND
from pabal.domain.sends.message import Outcome, Status
from pabal.domain.sends.route import MAX_DELAY_MS, MAX_TRIES
from pabal.service.delivery.claiming.claim_tx import lease_duration_ms
from pabal.service.delivery.outcome.settle import MAX_LOOKUPS
from tests.fixtures.cluster import open_cluster
from tests.fixtures.delivery import accept_without_receipt, recorded_attempts
from tests.fixtures.service import DEFAULT_CARRIER, FakeCarrier, Start, answer_in_order, message_id_of, sms
from tests.fixtures.slot_sharing import REBALANCE_S, carrier_of, fake_carriers
from tests.fixtures.virtual import NOON, Environment, VirtualWorld, build_environment

DELIVERED, SENDING = (Status.COMPLETED, Outcome.DELIVERED), (Status.SENDING, None)


def doubt_flags(carrier: FakeCarrier) -> list[bool]:
    """Return for each submitted attempt whether it was marked as in doubt."""
    return [attempt.is_in_doubt for _, attempt in carrier.submitted]


async def set_lookup_count(env: Environment, times: int) -> None:
    """Set how often the only message has been looked up."""
    await env.store.write(lambda tx: tx.execute("update jobs set tries = ?", (times,)))


# What the carrier is told.


@pytest.mark.carrier(can_look_up=True)
async def test_message_is_in_doubt_after_an_unknown_verdict(env: Environment, carrier: FakeCarrier) -> None:
    carrier.answer = answer_in_order(Busy(), Unknown(), Busy(), Accepted(None))
    request_id = await env.send(sms())
    await env.wait(30)

    assert doubt_flags(carrier) == [False, False, True, True]
    assert await recorded_attempts(env) == [
        (1, DEFAULT_CARRIER, "busy"),
        (2, DEFAULT_CARRIER, "unknown"),
        (3, DEFAULT_CARRIER, "busy"),
    ]
    assert await env.outcomes_of(request_id) == [DELIVERED]


async def test_carrier_that_cannot_look_up_is_told_of_doubt_too(env: Environment, carrier: FakeCarrier) -> None:
    carrier.answer = answer_in_order(Unknown(), Accepted(None))
    await env.send(sms())
    await env.wait(30)

    assert doubt_flags(carrier) == [False, True]


@pytest.mark.carrier(can_look_up=True)
async def test_only_the_unknown_messages_of_a_batch_are_in_doubt(env: Environment, carrier: FakeCarrier) -> None:
    verdicts: dict[str, Verdict] = {"01000000011": Busy(), "01000000012": Unknown(), "01000000013": NotSent()}
    carrier.answer = lambda attempt: verdicts[attempt.receiver] if attempt.number == 1 else Accepted(None)
    await env.send(sms(*verdicts))
    await env.wait(30)

    later_attempts = {
        attempt.receiver: attempt.is_in_doubt for _, attempt in carrier.submitted if attempt.number > 1
    }
    assert later_attempts == {"01000000011": False, "01000000012": True, "01000000013": False}


async def test_doubt_concerns_one_carrier_only(start: Start) -> None:
    first, second = (
        FakeCarrier("first", answer_in_order(Unknown(), Declined(Outcome.SPAM)), can_look_up=True),
        FakeCarrier("second", accept_without_receipt, can_look_up=True),
    )
    env = await start(first, second)
    request_id = await env.send(sms())
    await env.wait(30)

    assert (doubt_flags(first), doubt_flags(second)) == ([False, True], [False])
    assert await env.outcomes_of(request_id) == [DELIVERED]


# Where the message goes.


async def test_message_in_doubt_goes_to_no_other_carrier(start: Start) -> None:
    first, second = (
        FakeCarrier("first", lambda _: Unknown(), can_look_up=True),
        FakeCarrier("second", accept_without_receipt),
    )
    env = await start(first, second)
    request_id = await env.send(sms())
    await env.wait(0.5)
    await set_lookup_count(env, MAX_TRIES)
    await env.wait(2 * MAX_DELAY_MS / SECOND)

    assert first.submitted[-1][1].tries > MAX_TRIES
    assert second.submitted == []
    assert await env.outcomes_of(request_id) == [SENDING]


async def test_message_in_doubt_stays_when_its_carrier_disconnects(start: Start) -> None:
    first, second = (
        FakeCarrier("first", answer_in_order(Unknown(), Accepted(None)), can_look_up=True, failover_after_s=60),
        FakeCarrier("second", accept_without_receipt),
    )
    env = await start(first, second)
    in_doubt = await env.send(sms())
    await env.wait(0.5)
    first.is_connected = False
    certain = await env.send(sms("01087654321"))
    await env.wait(600)

    assert [attempt.receiver for _, attempt in second.submitted] == ["01087654321"]
    assert (await env.outcomes_of(certain), await env.outcomes_of(in_doubt)) == ([DELIVERED], [SENDING])
    first.is_connected = True
    await env.wait(60)
    assert await env.outcomes_of(in_doubt) == [DELIVERED]
    assert doubt_flags(first) == [False, True]


async def test_message_in_doubt_stays_when_a_later_attempt_was_not_sent(start: Start) -> None:
    """That the later attempt was not sent says nothing about the first one."""
    first = FakeCarrier(
        "first",
        answer_in_order(Unknown(), *[NotSent()] * 500, Accepted(None)),
        can_look_up=True,
        failover_after_s=5,
    )
    second = FakeCarrier("second", accept_without_receipt)
    env = await start(first, second)
    request_id = await env.send(sms())
    await env.wait(120)

    assert len(first.submitted) > 10
    assert second.submitted == []
    assert await env.outcomes_of(request_id) == [SENDING]


async def test_message_that_the_carrier_does_not_have_goes_to_the_next_carrier(start: Start) -> None:
    first, second = (
        FakeCarrier("first", answer_in_order(Unknown(), Busy()), can_look_up=True),
        FakeCarrier("second", accept_without_receipt),
    )
    env = await start(first, second)
    request_id = await env.send(sms())
    await env.wait(0.5)
    await set_lookup_count(env, MAX_TRIES)
    await env.wait(3)

    assert (doubt_flags(first), len(second.submitted)) == ([False, True], 1)
    assert await env.outcomes_of(request_id) == [DELIVERED]


# How the message ends.


@pytest.mark.carrier(answer=lambda _: Unknown(), can_look_up=True)
async def test_message_ends_as_unknown_after_the_last_lookup(env: Environment, carrier: FakeCarrier) -> None:
    request_id = await env.send(sms())
    await env.wait(0.5)
    await set_lookup_count(env, MAX_LOOKUPS - 2)
    await env.wait(3)
    assert await env.outcomes_of(request_id) == [SENDING]
    await env.wait(MAX_DELAY_MS / SECOND)

    assert await env.outcomes_of(request_id) == [(Status.FAIL, Outcome.UNKNOWN)]
    assert [attempt.tries for _, attempt in carrier.submitted] == [0, MAX_LOOKUPS - 2, MAX_LOOKUPS - 1]
    assert await env.job_of(message_id_of(request_id)) is None


@pytest.mark.carrier(can_look_up=True)
async def test_lookups_use_no_tries(env: Environment, carrier: FakeCarrier) -> None:
    carrier.answer = answer_in_order(Unknown(), Busy(), Busy(), Accepted(None))
    request_id = await env.send(sms())
    await env.wait(0.5)
    await set_lookup_count(env, MAX_TRIES + 2)
    await env.wait(3 * MAX_DELAY_MS / SECOND)

    assert await env.outcomes_of(request_id) == [DELIVERED]


@pytest.mark.carrier(answer=lambda attempt: Busy() if attempt.number % 2 else Unknown(), can_look_up=True)
async def test_message_that_is_busy_and_unknown_in_turns_ends(env: Environment, carrier: FakeCarrier) -> None:
    request_id = await env.send(sms())
    await env.wait(5)
    assert len(carrier.submitted) > 2
    await set_lookup_count(env, MAX_LOOKUPS - 2)
    await env.wait(3 * MAX_DELAY_MS / SECOND)

    ((status, _),) = await env.outcomes_of(request_id)
    assert status is Status.FAIL
    assert await env.job_of(message_id_of(request_id)) is None


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [(Accepted(None), Outcome.DELIVERED), (Rejected(Outcome.PHONE_OFF), Outcome.PHONE_OFF)],
)
@pytest.mark.carrier(can_look_up=True)
async def test_result_of_the_lookup_ends_the_message(
    env: Environment, carrier: FakeCarrier, verdict: Verdict, expected: Outcome
) -> None:
    carrier.answer = answer_in_order(Unknown(), verdict)
    request_id = await env.send(sms())
    await env.wait(5)

    assert (await env.message_of(request_id)).outcome is expected


@pytest.mark.carrier(can_look_up=True)
async def test_receipt_is_awaited_under_the_reference_that_the_lookup_found(
    env: Environment, carrier: FakeCarrier
) -> None:
    carrier.answer = answer_in_order(Unknown(), Accepted("found"))
    request_id = await env.send(sms())
    await env.wait(5)
    await carrier.report(("found", Outcome.PHONE_OFF))

    assert (await env.message_of(request_id)).outcome is Outcome.PHONE_OFF


# Lost leases.


async def test_only_messages_in_flight_are_in_doubt_after_a_crash(tmp_path: Path) -> None:
    world = VirtualWorld()
    before = FakeCarrier(delay_s=20.0, timeout_s=30.0, can_look_up=True, window=2)
    env = await build_environment(tmp_path, world=world, carriers={DEFAULT_CARRIER: before})
    in_flight = await env.send(sms("01000000011", "01000000012"))
    await env.wait(1)
    waiting = await env.send(sms("01000000013"))
    await env.wait(1)
    assert len(before.submitted) == 2
    await env.crash()

    after = FakeCarrier(answer=accept_without_receipt, can_look_up=True)
    env = await build_environment(tmp_path, world=world, carriers={DEFAULT_CARRIER: after})
    await env.wait(lease_duration_ms(after) / SECOND + 10)

    attempts = {attempt.receiver: (attempt.is_in_doubt, attempt.number) for _, attempt in after.submitted}
    assert attempts == {"01000000011": (True, 2), "01000000012": (True, 2), "01000000013": (False, 1)}
    assert await recorded_attempts(env) == [(1, DEFAULT_CARRIER, "unknown"), (1, DEFAULT_CARRIER, "unknown")]
    assert await env.outcomes_of(in_flight) + await env.outcomes_of(waiting) == [DELIVERED] * 3
    await env.service.stop()


async def test_messages_in_flight_of_a_dead_process_are_in_doubt_for_its_successor(tmp_path: Path) -> None:
    async with open_cluster(tmp_path, carriers=fake_carriers(can_look_up=True)) as cluster:
        first = await cluster.start_process("first")
        await cluster.wait(REBALANCE_S)
        carrier_of(first).delay_s = 20.0
        request_id = await first.env.send(sms())
        await cluster.wait(1)
        assert len(carrier_of(first).submitted) == 1
        second = await cluster.start_process("second")
        await first.die()
        await cluster.wait(60)

        assert doubt_flags(carrier_of(second)) == [True]
        assert await second.env.outcomes_of(request_id) == [DELIVERED]


async def test_advertisement_in_doubt_is_still_in_doubt_in_the_morning(tmp_path: Path) -> None:
    world = VirtualWorld(starts_at=NOON + 8 * HOUR + 49 * MINUTE)
    before = FakeCarrier(delay_s=20.0, timeout_s=30.0, can_look_up=True)
    env = await build_environment(tmp_path, world=world, carriers={DEFAULT_CARRIER: before})
    await env.send(sms("01000000011", "01000000012")._replace(is_ad=True))
    await env.wait(1)
    assert len(before.submitted) == 2
    await env.crash()
    await asyncio.sleep(120)
    after = FakeCarrier(answer=accept_without_receipt, can_look_up=True)
    env = await build_environment(tmp_path, world=world, carriers={DEFAULT_CARRIER: after})
    await env.wait(60)
    assert after.submitted == []
    world.starts_at += 11 * HOUR
    await env.wait(600)

    assert doubt_flags(after) == [True, True]
    await env.service.stop()
