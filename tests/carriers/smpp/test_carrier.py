"""The SMPP carrier with a scripted SMSC: verdicts, and submits on lost connections."""

import asyncio
from typing import Any

import pytest

from pabal.carriers.base import Accepted, Busy, Declined, NotSent, Unknown
from pabal.carriers.smpp import protocol
from pabal.carriers.smpp.batch import verdict_for_status
from pabal.carriers.smpp.carrier import TIMEOUT_MARGIN_S, TIMEOUT_S, SmppCarrier
from pabal.carriers.smpp.pdu import Pdu
from pabal.domain.base import identifiers
from pabal.domain.sends.message import Outcome
from pabal.settings.field import BadSetting
from tests.fakes.smsc.scripted import (
    SUBMIT_SM_RESP,
    ScriptedSmsc,
    SmscConnection,
    accept,
    in_sequence,
    no_response,
    respond_with_status,
)
from tests.fixtures.smpp import (
    LONG,
    PHONE,
    CarrierRunner,
    attempt,
    attempts,
    describe_verdicts,
    kinds,
    now,
    running_carrier,
    smpp_settings,
    wait_until,
)
from tests.fixtures.verdicts import submit
from tests.fixtures.virtual import VirtualWorld


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"system_id": "파발"}, "carriers.telco: system_id has a character beyond Latin-1"),
        ({"password": "비밀"}, "carriers.telco: password has a character beyond Latin-1"),
        ({"service_type": "파발"}, "carriers.telco: service_type has a character beyond Latin-1"),
        (
            {"tls": True, "tls_ca": "/nowhere.pem"},
            "carriers.telco.tls_ca: cannot be read (No such file or directory)",
        ),
    ],
)
def test_invalid_settings_are_refused_at_start(settings: dict[str, Any], reason: str) -> None:
    with pytest.raises(BadSetting) as no:
        SmppCarrier(smpp_settings(**settings), VirtualWorld(), lambda _: None)

    assert str(no.value) == reason


# Verdicts.


@pytest.mark.settings(encoding="cp949")
async def test_unencodable_message_is_declined_and_delays_no_other(runner: CarrierRunner) -> None:
    began = now()
    alone = await submit(runner.carrier, [attempt(content="🐎")])
    among = await submit(runner.carrier, [attempt(1), attempt(2, "🐎"), attempt(3), attempt(4, sender="0" * 21)])

    assert describe_verdicts(alone) == describe_verdicts([Declined(Outcome.UNDELIVERABLE)])
    assert kinds(among) == [Accepted, Declined, Accepted, Declined]
    assert now() - began < 0.1


@pytest.mark.parametrize("status", [protocol.RTHROTTLED, protocol.RINVDSTADR, protocol.RINVSRCADR, 0xFFFFFFFF])
async def test_refused_message_has_the_verdict_of_its_status_and_keeps_the_connection(
    runner: CarrierRunner, status: int
) -> None:
    runner.smsc.handlers[protocol.SUBMIT_SM] = in_sequence(respond_with_status(status), accept)
    assert describe_verdicts(await submit(runner.carrier, [attempt()])) == describe_verdicts(
        [verdict_for_status(status)]
    )
    assert kinds(await submit(runner.carrier, [attempt()])) == [Accepted]
    assert len(runner.smsc.connections) == 1


async def test_session_is_rebound_after_rinvbndsts_and_no_message_fails(runner: CarrierRunner) -> None:
    runner.smsc.handlers[protocol.SUBMIT_SM] = in_sequence(respond_with_status(protocol.RINVBNDSTS), accept)
    assert describe_verdicts(await submit(runner.carrier, [attempt()])) == describe_verdicts(
        [Busy(code="0x00000004")]
    )
    await wait_until(lambda: len(runner.smsc.connections) == 2 and runner.carrier.is_connected)
    assert kinds(await submit(runner.carrier, [attempt()])) == [Accepted]


@pytest.mark.settings(receipts=False, long_messages="parts")
async def test_without_receipts_accepted_messages_have_no_reference(runner: CarrierRunner) -> None:
    assert await submit(runner.carrier, [attempt(1), attempt(2, LONG)]) == [Accepted(None), Accepted(None)]


@pytest.mark.parametrize("body", [b"", b"\0", b" \0"])
async def test_response_without_an_id_uses_the_in_doubt_reference(body: bytes) -> None:
    def handler(connection: SmscConnection, request: Pdu) -> None:
        connection.send(SUBMIT_SM_RESP, request.sequence, body)

    smsc = ScriptedSmsc()
    smsc.handlers[protocol.SUBMIT_SM] = handler
    async with running_carrier(smsc) as runner:
        name = identifiers.in_doubt_reference(identifiers.user_message_reference(attempt().message_id), PHONE)

        assert await submit(runner.carrier, [attempt()]) == [Accepted(name)]
        assert runner.anomalies == {"submit_sm_resp without a message_id": 1}


# Missing responses and lost connections.


@pytest.mark.settings(window=3)
async def test_unanswered_submits_on_a_live_connection_free_the_window(runner: CarrierRunner) -> None:
    runner.smsc.handlers[protocol.SUBMIT_SM] = in_sequence(accept, no_response, no_response, accept)
    began = now()
    verdicts = await submit(runner.carrier, attempts(3))

    assert kinds(verdicts) == [Accepted, Unknown, Unknown]
    assert now() - began == pytest.approx(TIMEOUT_S - TIMEOUT_MARGIN_S)
    assert runner.anomalies == {"no submit_sm_resp in time": 2}
    assert len(runner.smsc.connections) == 1
    assert kinds(await submit(runner.carrier, attempts(3))) == [Accepted] * 3
    for number in list(runner.smsc.open_connection.unanswered):
        accept(runner.smsc.open_connection, runner.smsc.open_connection.unanswered[number])
    await wait_until(lambda: runner.anomalies["late submit_sm_resp"] == 2)


@pytest.mark.settings(window=3)
async def test_after_a_reset_sent_messages_are_unknown_and_others_not_sent(runner: CarrierRunner) -> None:
    runner.smsc.handlers[protocol.SUBMIT_SM] = in_sequence(accept, no_response)
    sending = asyncio.create_task(submit(runner.carrier, attempts(6)))
    await wait_until(lambda: len(runner.smsc.submits) == 4)
    runner.smsc.open_connection.pipe.reset()

    assert kinds(await sending) == [Accepted, Unknown, Unknown, Unknown, NotSent, NotSent]
    assert runner.carrier.problem
    await wait_until(lambda: runner.carrier.is_connected)
    assert runner.carrier.problem == ""


@pytest.mark.settings(window=1)
async def test_messages_that_wait_too_long_for_the_window_are_not_sent(runner: CarrierRunner) -> None:
    runner.smsc.handlers[protocol.SUBMIT_SM] = no_response
    began = now()

    assert kinds(await submit(runner.carrier, attempts(3))) == [Unknown, NotSent, NotSent]
    assert now() - began < TIMEOUT_S
