"""Errors of the gateway in front of NHN Cloud: what was taken, what was not, and what an operator sees."""

import logging

import pytest

from tests.carriers.relay.delivery_fixture import MANY, outcomes_for, send_of
from tests.fixtures.circuit_breaker import stored_states
from tests.fixtures.nhncloud import SENDER_KEY, NhnCloud
from tests.fixtures.relay_delivery import RELAY
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import call_ok, friendtalk_body, read_metrics, sms_body

pytestmark = pytest.mark.slow


@pytest.mark.settings(friend_talk="compatible")
async def test_call_over_ten_megabytes_is_halved(env: Environment, call: Caller, fixture: NhnCloud) -> None:
    """A thousand messages, each with a long text of its own, are larger than the gateway allows."""
    link = "https://example.com/" + "가" * 400
    buttons = [{"buttonType": "webLink", "name": f"{n}", "mobileUrl": link, "pcUrl": link} for n in range(3)]
    body = friendtalk_body(SENDER_KEY, *MANY, content="가" * 980, buttons=buttons)
    await call_ok(call, "message/sendFriendtalk", body)
    await env.wait(30)

    assert [(each.status, each.recipient_count) for each in fixture.relay.calls if each.method == "POST"] == [
        (413, 0),
        (200, 500),
        (200, 500),
    ]
    ends = await env.store.read(lambda tx: tx.fetch_all("select outcome, count(*) from messages group by 1"))
    assert [tuple(each) for each in ends] == [(1000, 1000)]


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("gateway 403", "HTTP 403 (4031007 Request IP not allowed)"),
        ("gateway 404", "HTTP 404 (4041007 URL Not Found)"),
        ("gateway 503", "HTTP 503 (5030001 Upstream Service Unavailable (CircuitBreaker is open))"),
    ],
)
async def test_refusal_of_all_calls_by_the_gateway_is_told_and_nothing_is_lost(
    kind: str, words: str, env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    fault = fixture.relay.inject_fault(kind, times=1e9)
    await env.wait(10)
    await call_ok(call, "message/sendSMS", sms_body(*MANY[:3]))
    await env.wait(600)
    carrier = env.context.carriers[RELAY]
    assert (carrier.is_connected, carrier.problem) == (False, words)
    assert fixture.accepted == []
    fault.times = 0
    await env.wait(60)

    assert carrier.problem == ""
    assert {tuple(await outcomes_for(call, number)) for number in MANY[:3]} == {("sms completed 1000",)}


async def test_unanswered_sends_are_told_while_the_service_is_reachable(
    env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    await env.wait(10)
    fault = fixture.relay.inject_fault("gateway 503", "POST", times=1e9)
    await call_ok(call, "message/sendSMS", sms_body(*MANY[:3]))
    await env.wait(10)
    carrier = env.context.carriers[RELAY]
    assert carrier.is_connected
    assert carrier.problem.startswith("calls that submit messages are not answered: HTTP 503 (5030001")
    fault.times = 0
    await env.wait(400)

    assert carrier.problem == ""
    assert {tuple(await outcomes_for(call, number)) for number in MANY[:3]} == {("sms completed 1000",)}


async def test_total_failure_without_reasons_ends_each_message(
    env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    """Alimtalk ko/alimtalk-api-guide.md: with -1031, `message` and its `requestId` may be null."""
    fixture.relay.templates[SENDER_KEY, "T1"].current.fields["templateContent"] = "다른 글"
    for explains in (True, False):
        fixture.relay.behavior.explains_total_failure = explains
        await call_ok(call, *send_of("alimTalk", SENDER_KEY, MANY[explains]))
        await env.wait(20)

    assert await outcomes_for(call, MANY[True]) == ["alimTalk fail 3016"]
    assert await outcomes_for(call, MANY[False]) == ["alimTalk fail 3018"]


async def test_wrong_secret_of_one_service_is_told_as_partly_up(
    env: Environment, fixture: NhnCloud, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "pabal.deliver")
    secret, reason = fixture.relay.sms_secret_key, "sms: -1000 Invalid appKey."

    def last_log() -> tuple[str, str, str]:
        last = [each for each in caplog.records if each.name == "pabal.deliver"][-1]
        return last.levelname, last.getMessage().partition(";")[0], vars(last)["reason"]

    await env.wait(10)
    fixture.relay.sms_secret_key = "another one"
    await env.wait(10)

    assert last_log() == ("WARNING", "carrier is partly up", reason)
    shown = (await stored_states(env))[RELAY]
    assert (shown.state, shown.shown_state, shown.reason) == ("up", "partly", reason)
    state = 'pabal_carrier_state{carrier="%s",state="%s",worker=""}'
    metrics = await read_metrics(Caller(env.service, None))
    assert metrics[state % (RELAY, "partly")] == 1
    assert state % (RELAY, "up") not in metrics

    fixture.relay.talk_secret_key = "another one"
    await env.wait(10)
    assert last_log()[:2] == ("WARNING", "carrier is down")

    fixture.relay.sms_secret_key = secret
    await env.wait(10)
    assert last_log()[:2] == ("WARNING", "carrier is partly up")
    assert (await stored_states(env))[RELAY].reason.endswith(": -1001 Invalid secretKey.")
