"""Delivery by SMPP with a scripted SMSC: how messages end."""

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from pabal.carriers.smpp import pdu, protocol
from pabal.carriers.smpp.carrier import SmppCarrier
from pabal.carriers.smpp.pdu import Pdu
from pabal.domain.sends.message import Outcome, Product, Status
from tests.fakes.smsc.scripted import SUBMIT_SM_RESP, ScriptedSmsc, SmscConnection, accept, no_response, receipt
from tests.fixtures.service import PHONE, sms
from tests.fixtures.smpp import LONG, smpp_settings, wait_until
from tests.fixtures.virtual import (
    Environment,
    VirtualWorld,
    build_environment,
    open_store,
    settings_for,
    settings_of,
)
from tests.fixtures.web import AWAY, FailingStore

DONE = (Status.COMPLETED, Outcome.DELIVERED)
SENDING = (Status.SENDING, None)


@pytest.fixture
def smsc() -> ScriptedSmsc:
    return ScriptedSmsc()


@pytest.fixture
def env(
    smsc: ScriptedSmsc, tmp_path: Path, request: pytest.FixtureRequest
) -> AbstractAsyncContextManager[Environment]:
    """An environment that sends texts by SMPP, with the settings of the test's marks."""
    return running(tmp_path, smsc, **settings_of(request))


@asynccontextmanager
async def running(folder: Path, smsc: ScriptedSmsc, **carrier: Any) -> AsyncIterator[Environment]:
    world = VirtualWorld()
    routes = {"sms": ["telco"], "lms": ["telco"]}
    settings = dataclasses.replace(settings_for(folder, sms_timeout_hours=1), routes=routes)
    telco = SmppCarrier(smpp_settings(**carrier), world, lambda _: None, smsc.connect)
    store = FailingStore(open_store(folder, world))
    env = await build_environment(folder, world=world, store=store, carriers={"telco": telco}, settings=settings)
    try:
        await wait_until(lambda: telco.is_connected)
        yield env
    finally:
        await env.service.stop()


def report(*stats: str, before_response: bool = False) -> Callable[[SmscConnection, Pdu], None]:
    """Return a handler that accepts a message and sends receipts, before or after the response."""

    def handler(connection: SmscConnection, request: Pdu) -> None:
        name = f"id-{request.sequence}"

        def send_response() -> None:
            connection.send(SUBMIT_SM_RESP, request.sequence, pdu.encode_message_id(name))

        if not before_response:
            send_response()
        for stat in stats:
            connection.deliver(request.sequence, receipt(name, stat))
        if before_response:
            asyncio.get_running_loop().call_later(5, send_response)

    return handler


@pytest.mark.parametrize("before_response", [False, True])
@pytest.mark.parametrize(
    ("stats", "end"),
    [
        (["DELIVRD"], DONE),
        (["UNDELIV"], (Status.FAIL, Outcome.UNDELIVERABLE)),
        (["DELIVRD", "DELIVRD", "DELIVRD"], DONE),
        (["DELIVRD", "UNDELIV"], DONE),
        (["ENROUTE", "DELIVRD"], DONE),
    ],
)
async def test_first_final_receipt_decides_the_outcome(
    before_response: bool, stats: list[str], end: Any, env: Environment, smsc: ScriptedSmsc
) -> None:
    smsc.handlers[protocol.SUBMIT_SM] = report(*stats, before_response=before_response)
    request = await env.send(sms())
    await env.wait(2)
    assert await env.outcomes_of(request) == [SENDING if before_response else end]
    await env.wait(10)

    assert await env.outcomes_of(request) == [end]
    assert len(smsc.submits) == 1
    assert len(smsc.acknowledged) == len(stats)


def respond_after(seconds: float) -> Callable[[SmscConnection, Pdu], None]:
    """Return a handler that accepts a message after so many seconds."""

    def handler(connection: SmscConnection, request: Pdu) -> None:
        asyncio.get_running_loop().call_later(seconds, accept, connection, request)

    return handler


@pytest.mark.parametrize(
    "on_doubt", [pytest.param(each, marks=pytest.mark.settings(on_doubt=each)) for each in ("resend", "hold")]
)
async def test_smsc_that_responds_late_gets_each_message_once(
    on_doubt: str, env: Environment, smsc: ScriptedSmsc
) -> None:
    smsc.handlers[protocol.SUBMIT_SM] = respond_after(35)
    requests = [await env.send(sms()) for _ in range(5)]
    await env.wait(600)
    assert len(smsc.submits) == 5
    for number in range(1, 6):
        smsc.open_connection.deliver(number, receipt(str(number), "DELIVRD"))
    await env.wait(5)

    assert [await env.outcomes_of(each) for each in requests] == [[DONE]] * 5


@pytest.mark.first_case
@pytest.mark.parametrize(
    "max_resends", [pytest.param(each, marks=pytest.mark.settings(max_resends=each)) for each in (0, 1, 2)]
)
async def test_smsc_that_never_responds_gets_a_bounded_number_of_resends(
    max_resends: int, env: Environment, smsc: ScriptedSmsc
) -> None:
    smsc.handlers[protocol.SUBMIT_SM] = no_response
    request = await env.send(sms())
    await env.wait(1800)
    assert len(smsc.submits) == 1 + max_resends
    assert await env.outcomes_of(request) == [SENDING]
    await env.jump(3600)

    assert len(smsc.submits) == 1 + max_resends
    assert await env.outcomes_of(request) == [(Status.FAIL, Outcome.UNKNOWN)]


async def test_receipt_with_an_unknown_id_is_acknowledged_and_counted(env: Environment, smsc: ScriptedSmsc) -> None:
    request = await env.send(sms())
    await wait_until(lambda: smsc.submits)
    smsc.open_connection.deliver(1, receipt("someone-elses"))
    await wait_until(lambda: smsc.acknowledged)
    await env.wait(5)

    assert await env.outcomes_of(request) == [SENDING]
    assert env.metric_value("pabal_receipts_unmatched_total", carrier="telco") == 1


@pytest.mark.settings(long_messages="parts")
async def test_segmented_text_is_completed_when_every_segment_is(env: Environment, smsc: ScriptedSmsc) -> None:
    request = await env.send(sms(product=Product.LMS, content=LONG))
    await wait_until(lambda: len(smsc.submits) == 4)
    for number in ("1", "3", "4"):
        smsc.open_connection.deliver(int(number), receipt(number))
    await env.wait(5)
    assert await env.outcomes_of(request) == [SENDING]
    smsc.open_connection.deliver(2, receipt("2"))
    await env.wait(5)

    assert await env.outcomes_of(request) == [DONE]
    assert len(smsc.submits) == 4


@pytest.mark.settings(long_messages="parts")
async def test_segmented_text_fails_when_one_segment_fails(env: Environment, smsc: ScriptedSmsc) -> None:
    request = await env.send(sms(product=Product.LMS, content=LONG))
    await wait_until(lambda: len(smsc.submits) == 4)
    smsc.open_connection.deliver(1, receipt("1"))
    smsc.open_connection.deliver(3, receipt("3", "EXPIRED"))
    await env.wait(5)

    assert await env.outcomes_of(request) == [(Status.FAIL, Outcome.TIMED_OUT)]


async def test_unreachable_smsc_costs_no_attempt(env: Environment, smsc: ScriptedSmsc) -> None:
    smsc.is_down = True
    smsc.open_connection.pipe.reset()
    request = await env.send(sms())
    await env.wait(1200)
    assert smsc.submits == []
    smsc.is_down = False
    smsc.handlers[protocol.SUBMIT_SM] = report("DELIVRD")
    await env.wait(30)

    assert await env.outcomes_of(request) == [DONE]
    assert len(smsc.submits) == 1


@pytest.mark.settings(on_doubt="resend")
async def test_message_in_doubt_is_resent_after_a_reset(env: Environment, smsc: ScriptedSmsc) -> None:
    smsc.handlers[protocol.SUBMIT_SM] = no_response
    request = await env.send(sms())
    await wait_until(lambda: smsc.submits)
    smsc.handlers[protocol.SUBMIT_SM] = report("DELIVRD")
    smsc.open_connection.pipe.reset()
    await env.wait(60)

    assert await env.outcomes_of(request) == [DONE]
    assert len(smsc.submits) == 2


@pytest.mark.first_case
@pytest.mark.settings(on_doubt="hold")
@pytest.mark.parametrize("has_arrived", [True, False])
async def test_held_message_in_doubt_is_never_resent_after_a_reset(
    has_arrived: bool, env: Environment, smsc: ScriptedSmsc
) -> None:
    smsc.handlers[protocol.SUBMIT_SM] = no_response
    request = await env.send(sms())
    await wait_until(lambda: smsc.submits)
    (submit,) = smsc.submits
    reference = int.from_bytes(submit.tlvs[protocol.USER_MESSAGE_REFERENCE], "big")
    smsc.handlers[protocol.SUBMIT_SM] = accept
    smsc.open_connection.pipe.reset()
    await env.wait(60)
    assert await env.outcomes_of(request) == [SENDING]
    if has_arrived:
        smsc.open_connection.deliver(1, receipt("an-id-we-never-heard", phone=PHONE, reference=reference))
        await env.wait(5)
    else:
        await env.wait(3600 + 60)

    assert await env.outcomes_of(request) == [DONE if has_arrived else (Status.FAIL, Outcome.UNKNOWN)]
    assert len(smsc.submits) == 1


@pytest.mark.settings(window=50)
async def test_receipts_wait_unacknowledged_while_the_store_is_unavailable(
    env: Environment, smsc: ScriptedSmsc
) -> None:
    request = await env.send(sms(*(f"0103{number:07}" for number in range(200))))
    await wait_until(lambda: len(smsc.submits) == 200)
    await env.wait(1)
    store = cast(FailingStore, env.store)
    store.write_error = AWAY
    for number in range(1, 201):
        smsc.open_connection.deliver(number, receipt(str(number)))
    await env.wait(600)
    assert (smsc.acknowledged, len(smsc.connections)) == ([], 1)
    store.write_error = None
    await wait_until(lambda: len(smsc.acknowledged) == 200)

    assert await env.outcomes_of(request) == [DONE] * 200
