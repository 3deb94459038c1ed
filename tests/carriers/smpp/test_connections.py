"""The connections of the SMPP carrier: refused binds, reconnects and the end."""

import asyncio
import errno
import logging
import socket
from itertools import pairwise

import pytest

from pabal.carriers.base import Unknown
from pabal.carriers.smpp import pdu, protocol
from pabal.carriers.smpp.connections import (
    JITTER,
    MAX_RECONNECT_DELAY_S,
    MIN_RECONNECT_DELAY_S,
    STABLE_AFTER_S,
)
from pabal.carriers.smpp.pdu import Pdu
from pabal.carriers.smpp.session import BIND_TIMEOUT_S, UNBIND_TIMEOUT_S
from tests.fakes.smsc.scripted import (
    BINDS,
    ScriptedSmsc,
    SmscConnection,
    no_response,
    respond,
    respond_with_status,
)
from tests.fixtures.smpp import (
    PASSWORD,
    CarrierRunner,
    attempts,
    kinds,
    now,
    running_carrier,
    wait_until,
)
from tests.fixtures.verdicts import submit
from tests.fixtures.virtual import run_in_virtual_time

# Keeping the connection open.


def test_refused_bind_is_described_without_the_password(caplog: pytest.LogCaptureFixture) -> None:
    async def scenario() -> str:
        smsc = ScriptedSmsc()
        smsc.handlers.update(dict.fromkeys(BINDS, respond_with_status(protocol.RINVPASWD)))
        async with running_carrier(smsc, is_up=False) as runner:
            await asyncio.sleep(30)
            carrier = runner.carrier

            assert not carrier.is_connected
            assert carrier.problem == "bind refused: ESME_RINVPASWD"
            assert len(smsc.connections) > 5
            bind = pdu.decode_bind(smsc.received(protocol.BIND_TRANSCEIVER)[0].pdu.body)
            assert bind.password == PASSWORD, "the password was really sent"
            return f"{carrier!r} {vars(carrier)} {carrier.problem}"

    caplog.set_level(logging.DEBUG)
    shown = run_in_virtual_time(scenario())

    reasons = [getattr(record, "reason", "") for record in caplog.records]
    assert reasons.count("bind refused: ESME_RINVPASWD") == 1, "logged once, not at every attempt"
    assert PASSWORD not in shown + caplog.text + str([vars(record) for record in caplog.records])


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"), "Connection refused"),
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "Name or service not known"),
        (OSError("Multiple exceptions: one, two"), "Multiple exceptions: one, two"),
        (ConnectionResetError(), "ConnectionResetError"),
        (UnicodeError("label empty or too long"), "invalid host name"),
        (TimeoutError(errno.ETIMEDOUT, "Connection timed out"), "the connection timed out"),
        (None, "the connection timed out"),
    ],
)
async def test_unreachable_smsc_is_described(fault: Exception | None, reason: str) -> None:
    smsc = ScriptedSmsc()
    smsc.refusal, smsc.drops_connects = fault, fault is None
    async with running_carrier(smsc, is_up=False) as runner:
        assert (runner.carrier.is_connected, runner.carrier.problem) == (False, "not connected yet")
        await asyncio.sleep(BIND_TIMEOUT_S + 1)
        assert (runner.carrier.is_connected, runner.carrier.problem) == (False, reason)


def pauses(smsc: ScriptedSmsc) -> list[float]:
    return [later - earlier for earlier, later in pairwise(smsc.connect_attempts_at)]


async def test_reconnect_delays_grow_with_jitter() -> None:
    smsc = ScriptedSmsc()
    smsc.is_down = True
    async with running_carrier(smsc, is_up=False):
        await asyncio.sleep(120)

    seen = pauses(smsc)
    assert len(seen) >= 20
    for place, pause_s in enumerate(seen):
        longest = min(MIN_RECONNECT_DELAY_S * 2**place, MAX_RECONNECT_DELAY_S)
        assert longest * (1 - JITTER) <= pause_s <= longest
    assert len(set(seen)) == len(seen)


async def test_unanswered_bind_does_not_reset_the_reconnect_delay() -> None:
    smsc = ScriptedSmsc()
    smsc.handlers.update(dict.fromkeys(BINDS, no_response))
    async with running_carrier(smsc, is_up=False) as runner:
        await asyncio.sleep(120)

        assert runner.carrier.problem == "the SMSC does not answer the bind"
    assert min(pauses(smsc)[4:]) > BIND_TIMEOUT_S + MAX_RECONNECT_DELAY_S * (1 - JITTER) - 0.1


async def test_stable_connection_resets_the_reconnect_delay() -> None:
    smsc = ScriptedSmsc()
    smsc.is_down = True
    async with running_carrier(smsc, is_up=False) as runner:
        await asyncio.sleep(60)
        smsc.is_down = False
        await wait_until(lambda: runner.carrier.is_connected)
        await asyncio.sleep(STABLE_AFTER_S)
        smsc.open_connection.pipe.close()
        lost_at = now()
        await wait_until(lambda: len(smsc.connections) == 2)

        assert smsc.connect_attempts_at[-1] - lost_at <= MIN_RECONNECT_DELAY_S + 0.01


async def test_reconnect_delay_grows_if_the_smsc_closes_after_each_bind() -> None:
    def bind_and_close(connection: SmscConnection, request: Pdu) -> None:
        respond(connection, request)
        connection.pipe.close()

    smsc = ScriptedSmsc()
    smsc.handlers[protocol.BIND_TRANSCEIVER] = bind_and_close
    async with running_carrier(smsc, is_up=False):
        await asyncio.sleep(60)

    assert min(pauses(smsc)[4:]) > MAX_RECONNECT_DELAY_S * (1 - JITTER) - 0.1


@pytest.mark.settings(binds=3)
async def test_cancelled_carrier_unbinds(runner: CarrierRunner) -> None:
    await wait_until(lambda: len(runner.smsc.received(protocol.BIND_TRANSCEIVER)) == 3)
    await asyncio.sleep(1)
    began = now()
    await runner.stop()

    assert len(runner.smsc.received(protocol.UNBIND)) == 3
    assert now() - began < 0.1
    assert not runner.carrier.is_connected
    await asyncio.sleep(60)
    assert runner.smsc.open_connections == []
    assert len(runner.smsc.connections) == 3


async def test_cancelled_carrier_does_not_wait_for_a_silent_smsc() -> None:
    smsc = ScriptedSmsc()
    smsc.handlers[protocol.UNBIND] = smsc.handlers[protocol.SUBMIT_SM] = no_response
    async with running_carrier(smsc) as runner:
        sending = asyncio.create_task(submit(runner.carrier, attempts(2)))
        await wait_until(lambda: len(smsc.submits) == 2)
        began = now()
        await runner.stop()

        assert now() - began == pytest.approx(UNBIND_TIMEOUT_S, abs=0.1)
        assert kinds(await sending) == [Unknown, Unknown]


@pytest.mark.parametrize("state", ["unreachable", "is_down", "silent"])
async def test_cancelled_carrier_ends_before_it_is_bound(state: str) -> None:
    smsc = ScriptedSmsc()
    smsc.drops_connects, smsc.is_down = state == "unreachable", state == "is_down"
    smsc.handlers[protocol.BIND_TRANSCEIVER] = no_response
    async with running_carrier(smsc, is_up=False) as runner:
        await asyncio.sleep(1)
        began = now()
        await runner.stop()

        assert now() - began < 0.1
        assert smsc.received(protocol.UNBIND) == []
