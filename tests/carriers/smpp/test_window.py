"""Several connections, the window they share, and the rate."""

import asyncio
from bisect import bisect_left
from collections.abc import Sequence

import pytest

from pabal.carriers.base import Accepted, NotSent, Unknown
from pabal.carriers.smpp import protocol
from pabal.carriers.smpp.carrier import TIMEOUT_S
from tests.fakes.smsc.scripted import (
    ScriptedSmsc,
    accept,
    in_sequence,
    no_response,
    respond,
    respond_with_status,
)
from tests.fixtures.smpp import (
    LONG,
    PARTS,
    CarrierRunner,
    attempt,
    attempts,
    kinds,
    now,
    running_carrier,
    wait_until,
)
from tests.fixtures.verdicts import submit


@pytest.mark.settings(bind="pair", binds=2)
async def test_pair_sends_on_the_transmitter_only(runner: CarrierRunner) -> None:
    await wait_until(lambda: len(runner.smsc.connections) == 4)
    assert kinds(await submit(runner.carrier, attempts(50))) == [Accepted] * 50

    transmitters = runner.smsc.connections_bound_by(protocol.BIND_TRANSMITTER)
    assert len(transmitters) == len(runner.smsc.connections_bound_by(protocol.BIND_RECEIVER)) == 2
    assert {each.connection for each in runner.smsc.received(protocol.SUBMIT_SM)} <= set(transmitters)


async def test_receiver_alone_does_not_count_as_connected() -> None:
    smsc = ScriptedSmsc()
    smsc.handlers[protocol.BIND_TRANSMITTER] = respond_with_status(protocol.RALYBND)
    async with running_carrier(smsc, is_up=False, bind="pair") as runner:
        for _ in range(20):
            await asyncio.sleep(1)
            assert not runner.carrier.is_connected
            assert runner.carrier.problem == "bind refused: ESME_RALYBND"
        smsc.connections_bound_by(protocol.BIND_RECEIVER)[0].pipe.close()
        for _ in range(100):
            await asyncio.sleep(0.1)
            assert runner.carrier.problem == "bind refused: ESME_RALYBND"
        assert kinds(await submit(runner.carrier, [attempt()])) == [NotSent]


@pytest.mark.parametrize(("binds", "window", "shares"), [(3, 9, [3] * 3), (5, 2, [1, 1, 0, 0, 0])])
async def test_connections_share_the_window(binds: int, window: int, shares: list[int]) -> None:
    smsc = ScriptedSmsc()
    smsc.handlers[protocol.SUBMIT_SM] = no_response
    async with running_carrier(smsc, binds=binds, window=window) as runner:
        await wait_until(lambda: len(smsc.received(protocol.BIND_TRANSCEIVER)) == binds)
        sending = asyncio.create_task(submit(runner.carrier, attempts(30)))
        await asyncio.sleep(1)
        in_flight = [len(connection.unanswered) for connection in smsc.open_connections]
        smsc.handlers[protocol.SUBMIT_SM] = accept
        smsc.answer_all()

        assert sorted(in_flight, reverse=True) == shares
        assert kinds(await sending) == [Accepted] * 30
        assert smsc.max_in_flight == window


async def test_later_connection_takes_waiting_submits() -> None:
    smsc = ScriptedSmsc()
    smsc.handlers[protocol.BIND_TRANSCEIVER] = in_sequence(respond, respond_with_status(protocol.RALYBND), respond)
    smsc.handlers[protocol.SUBMIT_SM] = no_response
    async with running_carrier(smsc, binds=2, window=2) as runner:
        sending = asyncio.create_task(submit(runner.carrier, attempts(2)))
        await wait_until(lambda: len(smsc.submits) == 2)

        assert len(smsc.open_connections) == 2
        assert smsc.submitted_at[1] - smsc.received(protocol.BIND_TRANSCEIVER)[2].at < 0.01
        smsc.answer_all()
        assert kinds(await sending) == [Accepted] * 2


@pytest.mark.settings(binds=2, window=8)
async def test_lost_connection_affects_only_its_own_submits(runner: CarrierRunner) -> None:
    runner.smsc.handlers[protocol.SUBMIT_SM] = no_response
    await wait_until(lambda: len(runner.smsc.received(protocol.BIND_TRANSCEIVER)) == 2)
    sending = asyncio.create_task(submit(runner.carrier, attempts(12)))
    await wait_until(lambda: len(runner.smsc.submits) == 8)
    dying = runner.smsc.open_connections[0]
    runner.smsc.handlers[protocol.SUBMIT_SM] = accept
    dying.pipe.reset()
    await asyncio.sleep(0.1)
    assert runner.carrier.is_connected
    runner.smsc.answer_all()
    verdicts = await sending

    assert kinds(verdicts).count(Unknown) == 4
    assert kinds(verdicts).count(Accepted) == 8
    await wait_until(lambda: len(runner.smsc.open_connections) == 2)


# Window and rate.


def check_rate(at: Sequence[float], rate: int) -> None:
    """Assert that no second exceeds the rate, plus the tolerance for late wake-ups."""
    for place, began in enumerate(at):
        assert bisect_left(at, began + 1) - place <= rate * 1.06 + 1


@pytest.mark.settings(rate=10, long_messages="parts")
async def test_every_segment_counts_towards_the_rate(runner: CarrierRunner) -> None:
    await submit(runner.carrier, [attempt(number, LONG) for number in range(1, 11)])

    assert len(runner.smsc.submits) == 10 * PARTS
    check_rate(runner.smsc.submitted_at, 10)


@pytest.mark.settings(rate=20, window=5)
async def test_no_burst_after_a_stalled_window(runner: CarrierRunner) -> None:
    runner.smsc.handlers[protocol.SUBMIT_SM] = no_response
    batches = [asyncio.create_task(submit(runner.carrier, attempts(20))) for _ in range(3)]
    await asyncio.sleep(10)
    assert len(runner.smsc.submits) == 5
    runner.smsc.handlers[protocol.SUBMIT_SM] = accept
    runner.smsc.answer_all()
    await asyncio.wait(batches)

    assert len(runner.smsc.submits) == 60
    check_rate(runner.smsc.submitted_at, 20)


@pytest.mark.settings(rate=1)
async def test_messages_beyond_the_timeout_are_not_sent(runner: CarrierRunner) -> None:
    began = now()
    verdicts = await submit(runner.carrier, attempts(100))

    assert now() - began < TIMEOUT_S
    sent = len(runner.smsc.submits)
    assert 17 <= sent <= 20  # none is sent without time for its response
    assert kinds(verdicts) == [Accepted] * sent + [NotSent] * (100 - sent)


@pytest.mark.settings(rate=1)
async def test_paced_messages_are_not_sent_if_the_connection_breaks(runner: CarrierRunner) -> None:
    sending = asyncio.create_task(submit(runner.carrier, attempts(5)))
    await asyncio.sleep(1.5)
    runner.smsc.is_down = True
    runner.smsc.open_connection.pipe.reset()

    assert kinds(await sending) == [Accepted, Accepted, NotSent, NotSent, NotSent]


@pytest.mark.settings(rate=50)
async def test_batches_are_sent_in_order(runner: CarrierRunner) -> None:
    first = asyncio.create_task(submit(runner.carrier, attempts(10)))
    await asyncio.sleep(0)
    second = asyncio.create_task(submit(runner.carrier, [attempt(99, receiver="01099999999")]))
    await asyncio.wait([first, second])

    assert runner.smsc.submits[-1].destination.digits == "01099999999"


async def test_late_response_delays_no_other_verdict(runner: CarrierRunner) -> None:
    runner.smsc.handlers[protocol.SUBMIT_SM] = in_sequence(accept, no_response, accept)
    reported: list[tuple[float, int, type]] = []
    began = now()
    batch = attempts(10)

    await runner.carrier.submit(
        batch,
        lambda verdicts: reported.extend((now() - began, batch.index(one), type(what)) for one, what in verdicts),
    )

    early = [(number, kind) for at, number, kind in reported if at < 1]
    assert early == [(number, Accepted) for number in (0, *range(2, 10))]
    (late,) = [each for each in reported if each[0] >= 1]
    assert late[1:] == (1, Unknown)
    assert late[0] < TIMEOUT_S


@pytest.mark.settings(rate=1, long_messages="parts")
async def test_segmented_message_is_not_begun_without_time_for_all_segments(runner: CarrierRunner) -> None:
    verdicts = await submit(runner.carrier, [attempt(number, LONG) for number in range(1, 8)])

    begun = len(runner.smsc.submits) // PARTS
    assert len(runner.smsc.submits) == begun * PARTS
    assert kinds(verdicts) == [Accepted] * begun + [NotSent] * (7 - begun)
    assert begun in (4, 5)


async def test_pair_with_a_refused_receiver_describes_the_problem() -> None:
    smsc = ScriptedSmsc()
    smsc.handlers[protocol.BIND_RECEIVER] = respond_with_status(protocol.RINVPASWD)
    async with running_carrier(smsc, bind="pair") as runner:
        await wait_until(lambda: "ESME_RINVPASWD" in runner.carrier.problem)

        assert runner.carrier.is_connected
        assert runner.carrier.problem == "1 of 2 connections are down: bind refused: ESME_RINVPASWD"


async def test_backlog_is_known_as_soon_as_a_batch_is_submitted() -> None:
    async with running_carrier(ScriptedSmsc(), rate=50, long_messages="parts") as runner:
        sending = asyncio.create_task(submit(runner.carrier, [attempt(1, LONG), attempt(2, LONG)]))
        await asyncio.sleep(0)

        assert runner.carrier.backlog_s == pytest.approx(2 * PARTS / 50)
        assert kinds(await sending) == [Accepted, Accepted]
        assert runner.carrier.backlog_s == pytest.approx(0, abs=0.1)

        sending = asyncio.create_task(submit(runner.carrier, [attempt(3, LONG)]))
        await asyncio.sleep(0)
        sending.cancel()
        await asyncio.wait([sending])
        assert runner.carrier.backlog_s < 0.1
