"""Canaries with real carriers: nothing of a message, and no password, is in a log when SMSC or relay fails."""

import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from pabal.carriers.smpp import protocol
from pabal.carriers.smpp.carrier import SmppCarrier
from pabal.carriers.smpp.pdu import Pdu
from pabal.domain.people.user import Role
from pabal.outbound.calls import HttpAnswer, HttpRequest
from tests.fakes.nhncloud.channel import BRAND_TEMPLATE_CODE
from tests.fakes.smsc.scripted import (
    BINDS,
    Handler,
    ScriptedSmsc,
    SmscConnection,
    accept,
    no_response,
    receipt,
    respond,
    respond_with_status,
)
from tests.fixtures.console import signed_in_browser
from tests.fixtures.nhncloud import SENDER_KEY, NhnCloud
from tests.fixtures.planted import (
    NAME,
    RECEIVER,
    REFERENCE,
    RESENT,
    SUBJECT,
    TEXT,
    VALUE,
    check_no_secrets,
    find_canaries,
    lines,
)
from tests.fixtures.relay_delivery import SENDER
from tests.fixtures.smpp import PASSWORD, smpp_settings
from tests.fixtures.virtual import Caller, VirtualWorld, run_in_virtual_time
from tests.fixtures.web import alimtalk_body, call_ok, friendtalk_body, image_body, sms_body

__all__ = ["lines"]

DIGITS = RECEIVER.replace("-", "")
SMSC = "telco"
TOKEN = re.compile(r"[0-9a-f]{32,}")
"""Random tokens of pages, in which any four digits may be."""
ECHO = f"{DIGITS} {RECEIVER} {TEXT} {VALUE}"
"""What a careless peer may repeat in its answers."""


def accept_and_report(connection: SmscConnection, request: Pdu) -> None:
    """Accept a message, and report its delivery with the beginning of its text, as many SMSCs do."""
    accept(connection, request)
    sent = receipt(str(len(connection.smsc.submits)), phone=DIGITS)
    connection.deliver(1000 + request.sequence, sent)


def report_garbage(connection: SmscConnection, request: Pdu) -> None:
    """Accept a message with the receiver's number as its id, and send receipts that cannot be read."""
    connection.send(protocol.SUBMIT_SM | protocol.RESPONSE, request.sequence, f"{DIGITS}\0".encode())
    text = f"id:{DIGITS} stat:????? text:{ECHO}".encode("utf-16-be")
    connection.deliver(
        1000 + request.sequence, receipt(DIGITS, "?????", phone=DIGITS)._replace(short_message=text[:254])
    )
    connection.send(protocol.DELIVER_SM, 2000 + request.sequence, ECHO.encode())
    connection.send(0x00000999, 3000 + request.sequence, ECHO.encode())


ODD_HANDLERS = (report_garbage, respond, no_response)
"""Handlers of submits that the carrier counts as anomalies."""


def drop(connection: SmscConnection, request: Pdu) -> None:
    """Close the connection with an answer open."""
    connection.pipe.close()


def answer_with(status: int, body: str, content_type: str = "application/json") -> Callable[..., HttpAnswer]:
    """Return a gateway that gives one answer to every call."""
    return lambda request: HttpAnswer(status, {"Content-Type": content_type}, body.encode())


def echo_request(request: HttpRequest) -> HttpAnswer:
    """Answer with the whole call, as the error page of a gateway may do."""
    return HttpAnswer(500, {}, request.url.encode() + request.body)


def echo_as_message(request: HttpRequest) -> HttpAnswer:
    """Answer with an error whose message repeats the call."""
    return refuse(request.body.decode(errors="replace") + request.url)


def error_message(said: str) -> Callable[[HttpRequest], HttpAnswer]:
    """Return a relay whose errors all have one message."""
    return lambda request: refuse(said)


def refuse(said: str) -> HttpAnswer:
    """Return an error with a message."""
    header = {"isSuccessful": False, "resultCode": -1000, "resultMessage": said}
    return HttpAnswer(200, {}, msgspec.json.encode({"header": header}))


async def send_canaries(call: Caller) -> None:
    """Send every kind of message with planted texts."""
    receiver = {"phoneNumber": RECEIVER, "templateData": {"name": VALUE}, "reference": REFERENCE}
    text = {"sender": SENDER, "receivers": [receiver], "content": f"{TEXT} #{{name}}"}
    await call_ok(call, "message/sendSMS", sms_body(**text))
    await call_ok(call, "message/sendLMS", sms_body(**text, subject=SUBJECT))
    await call_ok(call, "message/sendMMS", sms_body(**text, subject=SUBJECT, image=image_body(fileName=NAME)))
    fallback = {"resend": True, "resendPhoneNumber": SENDER, "resendContent": RESENT}
    await call_ok(call, "message/sendAlimtalk", alimtalk_body(SENDER_KEY, receivers=[receiver], **fallback))
    talk = friendtalk_body(SENDER_KEY, content=f"{TEXT} #{{name}}", receivers=[receiver], **fallback)
    await call_ok(call, "message/sendFriendtalk", talk)
    await call_ok(call, "message/sendBrandMessage", talk)
    values = {"senderKey": SENDER_KEY, "templateCode": BRAND_TEMPLATE_CODE, "receivers": [receiver], **fallback}
    await call_ok(call, "message/sendBrandMessage", values)


def run_with_carriers(
    folder: Path,
    smsc: ScriptedSmsc,
    override: Callable[[HttpRequest], HttpAnswer] | None = None,
    faults: Sequence[str] = (),
) -> list[str]:
    """Send canaries through both carriers; return the secrets, and what people see of the carriers at the end."""
    world = VirtualWorld()
    anomalies: list[str] = []
    telco = SmppCarrier(smpp_settings(name=SMSC), world, anomalies.append, smsc.connect)
    fixture = NhnCloud()
    relay = fixture.relay
    secrets = [PASSWORD, relay.sms_secret_key, relay.talk_secret_key, relay.sms_app_key, relay.talk_app_key]
    shown: list[str] = []

    async def scenario() -> None:
        routes = {"sms": [SMSC], "lms": [SMSC, "relay"]}
        async with fixture.running(folder, others={SMSC: telco}, routes=routes, world=world) as env:
            call = await fixture.add_channel(env)
            for kind in faults:
                relay.inject_fault(kind, times=3)
            for transport in fixture.transports:
                transport.override = override
            await send_canaries(call)
            await env.wait(400)
            operator = await signed_in_browser(env, Role.OPERATOR)
            shown.append(TOKEN.sub("", (await operator.get("/console/operate")).text))
            answer = await Caller(env.service, None)("/metrics", method="GET")
            shown.append(answer.body.decode() if isinstance(answer.body, bytes) else str(answer.body))
            assert bool(anomalies) == (smsc.handlers[protocol.SUBMIT_SM] in ODD_HANDLERS), anomalies

    run_in_virtual_time(scenario())
    assert [find_canaries(page, *secrets) for page in shown] == [set(), set()]
    return secrets


SMSC_FAILURES: dict[str, dict[int, Handler]] = {
    "success": {protocol.SUBMIT_SM: accept_and_report},
    "refused bind": dict.fromkeys(BINDS, respond_with_status(protocol.RINVPASWD)),
    "no answer to binds": dict.fromkeys(BINDS, no_response),
    "refused submits": {protocol.SUBMIT_SM: respond_with_status(protocol.RINVDSTADR)},
    "unknown status": {protocol.SUBMIT_SM: respond_with_status(0x4FF)},
    "no answers": {protocol.SUBMIT_SM: no_response},
    "garbage": {protocol.SUBMIT_SM: report_garbage},
    "lost connection": {protocol.SUBMIT_SM: drop},
    "wrong responses": {protocol.SUBMIT_SM: respond},
}


@pytest.mark.first_case
@pytest.mark.parametrize("kind", SMSC_FAILURES)
def test_no_canary_is_logged_whatever_an_smsc_answers(tmp_path: Path, lines: list[io.StringIO], kind: str) -> None:
    smsc = ScriptedSmsc()
    smsc.handlers.update(SMSC_FAILURES[kind])

    secrets = run_with_carriers(tmp_path, smsc)

    assert smsc.connections
    check_no_secrets(lines, *secrets)


RELAY_FAILURES: dict[str, Any] = {
    "gateway page": answer_with(502, f"<html>{ECHO}</html>", "text/html"),
    "error 500 with the whole call": echo_request,
    "error 400 with text": answer_with(400, ECHO, "text/plain"),
    "error message with the whole call": echo_as_message,
    "error message with number and text": error_message(ECHO),
    "another shape": answer_with(200, f'{{"header": "{ECHO}", "body": [1]}}'),
}


@pytest.mark.first_case
@pytest.mark.parametrize("kind", RELAY_FAILURES)
def test_no_canary_is_logged_whatever_a_relay_answers(tmp_path: Path, lines: list[io.StringIO], kind: str) -> None:
    secrets = run_with_carriers(tmp_path, ScriptedSmsc(), override=RELAY_FAILURES[kind])

    check_no_secrets(lines, *secrets)


def test_no_canary_is_logged_when_calls_to_a_relay_fail_in_turn(tmp_path: Path, lines: list[io.StringIO]) -> None:
    faults = ("refuse", "lose request", "garbage", "html 502", "throttle", "system error", "lose answer")

    secrets = run_with_carriers(tmp_path, ScriptedSmsc(), faults=faults)

    check_no_secrets(lines, *secrets)
