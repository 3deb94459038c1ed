"""A call of 1,000 receivers with one that Solapi does not take: the others are sent, whatever the error is."""

from collections.abc import Sequence

import pytest

from pabal.carriers.base import Accepted, Busy, Declined, NotSent, Rejected, Verdict
from pabal.domain.sends.message import Attempt, Product
from tests.carriers.relay.delivery_fixture import MANY, outcomes_for
from tests.fixtures.relay_delivery import RELAY, SENDER
from tests.fixtures.solapi import Solapi
from tests.fixtures.verdicts import submit
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import call_ok, sms_body

pytestmark = pytest.mark.slow

COUNT = 1000
REFUSALS = (
    *("1010", "1011", "1013", "1014", "1020", "1021", "1022", "1023", "1024", "1025", "1026", "1027", "1028"),
    *("1029", "1030", "1031", "1032", "1033", "1034", "1041", "1042", "1043", "1044", "1045", "1046", "1047"),
    *("1048", "1049", "1050", "1051", "1052", "1053", "1058", "1060", "1061", "1062", "1064", "1999"),
)
"""Every documented status code of a refused message (documents: message-status-codes.md), and one that is not."""
ABOUT_THE_ACCOUNT = ("1020", "1030")
CALL_ERRORS = [
    (400, "ValidationError"),
    (413, "RequestEntityTooLarge"),
    (400, "NobodyKnowsThisOne"),
    (403, "NobodyKnowsThisOne"),
    (404, "ResourceNotFound"),
    (409, "NobodyKnowsThisOne"),
    (422, ""),
    *(pytest.param(400, code, marks=pytest.mark.torture) for code in REFUSALS if code not in ABOUT_THE_ACCOUNT),
]
"""Errors of a whole call; they may have status codes: "공통적으로 리턴될 수 있는 코드는 Message Status Codes 를
참고하세요" (documents: api-reference/overview.md)."""
ACCOUNT_ERRORS = [
    (403, "InvalidAPIKey", NotSent),
    (403, "SignatureDoesNotMatch", NotSent),
    (403, "RequestTimeTooSkewed", NotSent),
    (403, "DuplicatedSignature", NotSent),
    (400, "1020", NotSent),
    (400, "1030", Busy),
    (402, "NotEnoughBalance", Busy),
    (403, "NobodyKnowsThisOne", NotSent),
]


def receiver(number: int) -> str:
    return f"0102{number:07}"


def texts(numbers: Sequence[int]) -> list[Attempt]:
    return [
        Attempt(number.to_bytes(16, "big"), 1, 1, Product.SMS, receiver(number), SENDER, None, "안녕하세요")
        for number in numbers
    ]


async def send(env: Environment, *numbers: int) -> list[Verdict]:
    return await submit(env.service.context.carriers[RELAY], texts(numbers))


async def test_every_refused_message_of_a_call_is_told_apart(env: Environment, fixture: Solapi) -> None:
    await env.wait(2)
    fixture.relay.behavior.refusals = {receiver(place): code for place, code in enumerate(REFUSALS)}
    verdicts = await send(env, *range(COUNT))

    assert fixture.calls("send-many") == [COUNT]
    assert {type(each) for each in verdicts[len(REFUSALS) :]} == {Accepted}
    for code, verdict in zip(REFUSALS, verdicts, strict=False):
        assert isinstance(verdict, Rejected | Declined | Busy), code
        assert verdict.code == code


@pytest.mark.parametrize(("status", "code"), CALL_ERRORS)
async def test_one_message_that_makes_its_call_an_error_is_lost_alone(
    env: Environment, fixture: Solapi, status: int, code: str
) -> None:
    await env.wait(2)
    for bad in (0, COUNT - 1):
        fixture.relay.behavior.call_errors = {receiver(bad): (status, code)}
        verdicts = await send(env, *range(COUNT))
        if isinstance(verdicts[bad], NotSent):  # until others were accepted it may have been the account
            (verdicts[bad],) = await send(env, bad)

        assert isinstance(verdicts.pop(bad), Rejected | Declined | Busy)
        assert {type(each) for each in verdicts} == {Accepted}
    assert env.service.context.carriers[RELAY].is_connected
    fixture.relay.messages.clear()  # it got the same ones twice


@pytest.mark.parametrize(("status", "code", "verdict"), ACCOUNT_ERRORS)
async def test_error_that_concerns_the_account_loses_none(
    env: Environment, fixture: Solapi, status: int, code: str, verdict: type[Verdict]
) -> None:
    await env.wait(2)
    fixture.relay.behavior.call_errors = {receiver(number): (status, code) for number in range(4)}
    verdicts = await send(env, *range(4))

    assert {type(each) for each in verdicts} == {verdict}


@pytest.mark.torture
async def test_message_that_is_forbidden_alone_ends_and_holds_up_none(
    env: Environment, call: Caller, fixture: Solapi
) -> None:
    fixture.relay.behavior.call_errors = {MANY[0].replace("-", ""): (403, "NobodyKnowsThisOne")}
    await call_ok(call, "message/sendSMS", sms_body(*MANY[:COUNT]))
    await env.wait(10)
    assert len(fixture.accepted) == COUNT - 1
    for _ in range(60):
        await call_ok(call, "message/sendSMS", sms_body(MANY[1]))
        await env.wait(60)

    assert await outcomes_for(call, MANY[0]) == ["sms fail 9999"]
    assert len(fixture.accepted) == COUNT - 1 + 60
