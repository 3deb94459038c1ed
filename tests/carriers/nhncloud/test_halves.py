"""One receiver that NHN Cloud refuses with the error of a whole call: all others get their message."""

import pytest

from pabal.carriers.nhncloud.client import TOO_LARGE
from tests.carriers.relay.delivery_fixture import MANY, NAMED, outcomes_for, send_of
from tests.fixtures.nhncloud import SENDER_KEY, NhnCloud
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import call_ok, receivers_of, sms_body

pytestmark = pytest.mark.slow

OF_TEXTS = {
    "3003": (-2018, -2019),
    "3006": (-6001,),
    "3018": (-2014, -2024, -2044, -2045, -2046, TOO_LARGE),
    "9999": (4, -2016, -2048, -2053, -9997, 4000007, -12345),
}
"""SMS ko/error-code.md, "API 결과 코드": what may concern one receiver, and codes that it does not have."""
OF_TALKS = {
    "3003": (-4019, -5000),
    "3006": (-3301,),
    "3012": (-8008,),
    "3016": (-3010, -3011, -3033, -3042, -3043, -3046, -3049, -3299, -3324, -3344, -3347),
    "3018": (
        -1028,
        -2000,
        -2001,
        -2018,
        -2019,
        -2035,
        -2504,
        -3000,
        -3004,
        -3009,
        -3026,
        -3048,
        -3053,
        -3101,
        -3327,
    ),
    "9999": (4, -1002, -1003, -1019, -2002, -2003, -2004, -2005, -2502, -3002, -4000, -4200, -9994, -9997, -12345),
}
"""Alimtalk ko/error-code.md, "API 응답 코드": the same."""
RECEIVERS = 4


@pytest.mark.parametrize(
    ("kind", "ends"),
    [
        ("sms", OF_TEXTS),
        ("alimTalk", OF_TALKS),
        pytest.param("brandMessage", OF_TALKS, marks=pytest.mark.torture),
    ],
)
@pytest.mark.settings(behavior={"refuses_whole_calls": True})
async def test_bad_receiver_fails_alone_whatever_the_error_of_its_call_is(
    kind: str, ends: dict[str, tuple[int, ...]], env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    expected = {code: f"{kind} fail {end}" for end, codes in ends.items() for code in codes}
    sends = {code: MANY[first * RECEIVERS :][:RECEIVERS] for first, code in enumerate(expected)}
    bad = {code: numbers[code % RECEIVERS] for code, numbers in sends.items()}
    fixture.relay.behavior.refusals = {number.replace("-", ""): code for code, number in bad.items()}
    for numbers in sends.values():
        await call_ok(call, *send_of(kind, SENDER_KEY, *numbers))
    await env.wait(60)

    assert {code: (await outcomes_for(call, number))[0] for code, number in bad.items()} == expected
    others = {each for numbers in sends.values() for each in numbers} - set(bad.values())
    assert sorted(fixture.accepted_numbers) == sorted(number.replace("-", "") for number in others)


@pytest.mark.settings(behavior={"refuses_whole_calls": True})
async def test_value_that_a_brand_template_does_not_take_fails_alone(
    env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    """A template has links, prices and coupons, in which values of its receivers may be filled in."""
    fixture.relay.brand_templates[SENDER_KEY, "B1"] = "#{name}님"
    bad = {MANY[0]: -3304, MANY[4]: -3310, MANY[8]: -3313}
    fixture.relay.behavior.refusals = {number.replace("-", ""): code for number, code in bad.items()}
    for first in (0, 4, 8):
        receivers = receivers_of(*MANY[first : first + 4], **NAMED)
        body = {"senderKey": SENDER_KEY, "templateCode": "B1", "receivers": receivers}
        await call_ok(call, "message/sendBrandMessage", body)
    await env.wait(60)

    assert [await outcomes_for(call, number) for number in bad] == [["brandMessage fail 3018"]] * 3
    assert len(fixture.accepted) == 9


@pytest.mark.settings(behavior={"refuses_whole_calls": True})
async def test_one_bad_receiver_of_a_thousand_costs_twenty_calls(
    env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    fixture.relay.behavior.refusals = {MANY[0].replace("-", ""): -12345}
    await call_ok(call, "message/sendSMS", sms_body(*MANY))
    await env.wait(12)

    assert await outcomes_for(call, MANY[0]) == ["sms fail 9999"]
    assert len(fixture.accepted) == 999
    assert fixture.anomalies == ["code -12345"]
    assert len(fixture.calls("/sender/sms")) <= 1 + 2 * 10
