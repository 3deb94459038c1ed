"""Delivery by each relay: sent messages and their outcomes, also when something fails."""

from typing import Any

import pytest

from tests.carriers.relay.delivery_fixture import MANY, PRODUCTS, outcomes_for, send_of
from tests.fixtures.nhncloud import NhnCloud
from tests.fixtures.relay_delivery import RELAY, RelayFixture
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import FALLBACK, NO_USER, call_ok, image_body, sms_body

pytestmark = pytest.mark.slow

SHARED_FAULTS: dict[str, tuple[str, dict[str, Any]]] = {
    "request lost": ("lose request", {}),
    "answer lost": ("lose answer", {}),
    "no response in time": ("slow", {"seconds": 300}),
    "garbage": ("garbage", {}),
    "system error": ("system error", {}),
    "system error, but accepted": ("system error accepted", {}),
    "throttled": ("throttle", {}),
    "connection refused": ("refuse", {}),
}
FAULTS = {
    "nhncloud": {
        **SHARED_FAULTS,
        "accepted late": ("slow to accept", {"seconds": 55}),
        "answered twice": ("twice", {}),
        "service unreachable": ("gateway 502", {}),
        "service unreachable, but accepted": ("gateway 502 accepted", {}),
        "gateway's circuit open": ("gateway 503", {}),
        "gateway timeout": ("gateway 504", {}),
        "address not allowed": ("gateway 403", {}),
        "path not known": ("gateway 404", {}),
        "a page": ("html 502", {}),
        "a page, but accepted": ("html 502 accepted", {}),
    },
    "solapi": {
        **SHARED_FAULTS,
        "accepted late": ("slow to accept", {"seconds": 25}),
        "a page": ("unavailable", {}),
        "a page, but accepted": ("unavailable accepted", {}),
    },
}
QUICK = {("nhncloud", "sms"), ("nhncloud", "alimTalk"), ("nhncloud", "brandMessage"), ("solapi", "sms")}
CASES = [
    pytest.param(relay, kind, fault, marks=() if (relay, kind) in QUICK else pytest.mark.torture)
    for relay, faults in FAULTS.items()
    for kind in ("sms", "alimTalk", "mms", "friendTalkImage", "brandMessage")
    for fault in faults
]


@pytest.mark.parametrize("kind", PRODUCTS)
async def test_each_product_arrives(kind: str, env: Environment, call: Caller, fixture: RelayFixture) -> None:
    await call_ok(call, *send_of(kind, fixture.sender_key))
    await env.wait(10)

    assert await outcomes_for(call) == [f"{kind} completed 1000"]
    assert fixture.accepted_numbers == ["01012345678"]


@pytest.mark.parametrize(
    ("fixture", "receiver", "kind", "end"),
    [
        ("nhncloud", "010-0000-0001", "sms", "fail 3003"),
        ("nhncloud", "010-0000-0006", "sms", "fail 2000"),
        ("nhncloud", "010-0000-0007", "sms", "completed 1000"),
        ("nhncloud", "010-0000-0002", "alimTalk", "fail 9001"),
        ("nhncloud", "010-0000-0003", "alimTalk", "fail 3019"),
        ("solapi", "010-0000-0001", "sms", "fail 3001"),
        pytest.param("solapi", "010-0000-0006", "sms", "fail 2000", marks=pytest.mark.torture),
        ("solapi", "010-0000-0007", "sms", "completed 1000"),
        ("solapi", "010-0000-0003", "alimTalk", "fail 3019"),
    ],
    indirect=["fixture"],
)
async def test_relay_codes_become_outcomes(
    env: Environment, call: Caller, fixture: RelayFixture, receiver: str, kind: str, end: str
) -> None:
    await call_ok(call, *send_of(kind, fixture.sender_key, receiver))
    await env.wait(20)
    if end == "fail 2000":
        await env.jump(3680)

    assert await outcomes_for(call, receiver) == [f"{kind} {end}"]


@pytest.mark.first_case
@pytest.mark.parametrize(("fixture", "kind", "fault_name"), CASES, indirect=["fixture"])
async def test_every_message_ends_and_none_is_sent_twice(
    env: Environment,
    call: Caller,
    fixture: RelayFixture,
    kind: str,
    fault_name: str,
    request: pytest.FixtureRequest,
) -> None:
    what, more = FAULTS[request.node.callspec.params["fixture"]][fault_name]
    fault = fixture.relay.inject_fault(what, fixture.submit_path(kind), times=2, **more)
    await call_ok(call, *send_of(kind, fixture.sender_key, *MANY[:20]))
    await env.wait(300)

    assert fault.done
    assert {tuple(await outcomes_for(call, number)) for number in MANY[:20]} == {(f"{kind} completed 1000",)}
    assert len(fixture.accepted_numbers) == 20


@pytest.mark.first_case
@pytest.mark.settings(routes={"sms": [RELAY, "telco"]}, failover_seconds=60)
async def test_message_in_doubt_waits_while_others_use_the_next_carrier(
    env: Environment, call: Caller, fixture: RelayFixture
) -> None:
    await env.wait(10)
    fixture.relay.inject_fault("lose answer", "POST")
    await call_ok(call, "message/sendSMS", sms_body(MANY[0]))
    await env.wait(0.1)
    fixture.set_reachable(False)
    await call_ok(call, "message/sendSMS", sms_body(MANY[1]))
    await env.wait(600)
    by_telco = [each.receiver for _, each in fixture.telco.submitted]
    assert (len(fixture.accepted_numbers), by_telco) == (1, [MANY[1].replace("-", "")])
    fixture.set_reachable(True)
    await env.wait(60)

    assert await outcomes_for(call, MANY[0]) == ["sms completed 1000"]
    assert len(fixture.telco.submitted) == 1


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("fixture", "kind", "lag_s"),
    [("nhncloud", "sms", 10), ("nhncloud", "alimTalk", 10), ("solapi", "sms", 40)],
    indirect=["fixture"],
)
async def test_lagging_lists_cause_no_duplicates(
    env: Environment, call: Caller, fixture: RelayFixture, kind: str, lag_s: float
) -> None:
    fixture.relay.behavior.lists_lag_s = lag_s
    fixture.relay.inject_fault("lose answer", fixture.submit_path(kind), times=3)
    await call_ok(call, *send_of(kind, fixture.sender_key, *MANY[:20]))
    await env.wait(600)

    assert {tuple(await outcomes_for(call, number)) for number in MANY[:20]} == {(f"{kind} completed 1000",)}
    assert len(fixture.accepted_numbers) == 20


async def test_own_fallback_is_sent_and_the_relay_sends_none(
    env: Environment, call: Caller, fixture: RelayFixture
) -> None:
    if isinstance(fixture, NhnCloud):
        fixture.relay.profiles[fixture.sender_key].resends = True
    await call_ok(call, *send_of("alimTalk", fixture.sender_key, NO_USER, **FALLBACK))
    await env.wait(20)

    assert await outcomes_for(call, NO_USER) == ["alimTalk fail 3019", "sms completed 1000"]
    assert len(fixture.accepted_numbers) == 2
    if isinstance(fixture, NhnCloud):
        assert {each.resend_status for each in fixture.accepted} == {"RSC01"}
    else:
        assert fixture.relay.messages[0].kakao["disableSms"] is True


async def test_picture_is_uploaded_once_for_all_receivers(
    env: Environment, call: Caller, fixture: RelayFixture
) -> None:
    await call_ok(call, "message/sendMMS", sms_body(*MANY, image=image_body(3000)))
    await env.wait(20)

    files = fixture.relay.attachments if isinstance(fixture, NhnCloud) else fixture.relay.files
    assert [len(each.body) for each in files.values()] == [3000]
    if isinstance(fixture, NhnCloud):
        used = {number for each in fixture.accepted for number in each.call.attachFileIdList}
    else:
        used = {each.image_id for each in fixture.relay.messages}
    assert used == set(files)
    assert len(fixture.accepted_numbers) == len(MANY)
