"""Results of NHN Cloud: polled, received by webhook, and stored once."""

import json
from typing import Any

import pytest

from pabal.carriers.nhncloud.client import NhnCloudClient
from tests.carriers.relay import delivery_fixture
from tests.carriers.relay.delivery_fixture import send_of
from tests.fakes.nhncloud.state import IN_PROGRESS, NO_CODE
from tests.fakes.relay_server import RelayTransport
from tests.fixtures.nhncloud import SENDER_KEY, NhnCloud
from tests.fixtures.relay_delivery import RELAY, SENDER
from tests.fixtures.virtual import ApiResponse, Caller, Environment
from tests.fixtures.web import call_ok, describe_outcome, get_message, sms_body

SIGNATURE = "a signature nobody guesses"
HOOK = f"/hooks/{RELAY}"
MANY = delivery_fixture.MANY[:50]
FIRST = MANY[0].replace("-", "")


async def tell(call: Caller, body: Any, signature: str | None = SIGNATURE, **options: Any) -> ApiResponse:
    """Post a webhook as the relay does."""
    headers = {} if signature is None else {"X-Toast-Webhook-Signature": signature}
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return await call(HOOK, raw, headers=headers, method="POST", **options)


def hook(fixture: NhnCloud, code: str = "1000", **changes: Any) -> dict[str, Any]:
    """Return the webhook body for the first message that the relay accepted."""
    one = fixture.accepted[0]
    row = {"requestId": one.request_id, "recipientSeq": one.recipient_seq, "resultCode": code}
    app_key = fixture.relay.sms_app_key if one.product == "sms" else fixture.relay.talk_app_key
    return {"hooksId": "1", "appKey": app_key, "event": "MESSAGE_RESULT_UPDATE", "hooks": [row], **changes}


@pytest.mark.settings(behavior={"receipt_after_s": 3000}, webhook_signature=SIGNATURE)
@pytest.mark.parametrize("kind", ["sms", "alimTalk"])
async def test_webhook_ends_a_message_at_once(kind: str, env: Environment, call: Caller, fixture: NhnCloud) -> None:
    await call_ok(call, *send_of(kind, SENDER_KEY, MANY[0]))
    await env.wait(6)
    assert describe_outcome(await get_message(call, MANY[0])) == "sending"
    answer = await tell(call, hook(fixture))

    assert (answer.status, answer.result) == (200, "SUCCESS")
    assert describe_outcome(await get_message(call, MANY[0])) == "completed 1000"


@pytest.mark.settings(behavior={"receipt_after_s": 3000}, webhook_signature=SIGNATURE)
async def test_webhook_with_a_wrong_signature_is_refused(env: Environment, call: Caller, fixture: NhnCloud) -> None:
    await call_ok(call, "message/sendSMS", sms_body(MANY[0]))
    await env.wait(6)
    body = hook(fixture)
    for signature in (None, "", "a signature nobody guesse", SIGNATURE + " ", "서명"):
        header = None if signature is None else signature.encode().decode("latin-1")
        assert (await tell(call, body, header)).result == "UNAUTHORIZED"
    assert (await tell(call, {**body, "appKey": "another"})).result == "UNAUTHORIZED"
    assert (await tell(call, {**body, "appKey": ""})).result == "UNAUTHORIZED"

    assert describe_outcome(await get_message(call, MANY[0])) == "sending"


@pytest.mark.settings(webhook_signature=SIGNATURE)
@pytest.mark.parametrize(
    "body",
    [b"{", b"[]", b"null", b"7", b'{"event": "MESSAGE_RESULT_UPDATE"}', b"\xff\xfe"],
)
async def test_invalid_webhook_body_is_refused(body: bytes, call: Caller) -> None:
    assert (await tell(call, body)).result == "INVALID_JSON"


@pytest.mark.settings(webhook_signature=SIGNATURE)
@pytest.mark.parametrize("rows", [None, 7, [None], [7], [{"requestId": "a", "resultCode": "1000"}]])
async def test_invalid_webhook_rows_are_refused(
    rows: Any, env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    await call_ok(call, "message/sendSMS", sms_body(MANY[0]))
    await env.wait(6)
    assert (await tell(call, hook(fixture, hooks=rows))).result == "INVALID_JSON"


@pytest.mark.settings(webhook_signature=SIGNATURE)
async def test_other_events_are_accepted_and_ignored(call: Caller, fixture: NhnCloud) -> None:
    body = {
        "appKey": fixture.relay.sms_app_key,
        "event": "CONVERSION_BLOCK",
        "hooks": [{"countryCode": "1"}],
    }
    assert (await tell(call, body)).result == "SUCCESS"


@pytest.mark.settings(behavior={"receipt_after_s": 3000}, webhook_signature=SIGNATURE)
@pytest.mark.parametrize("signature", [SIGNATURE, None])
async def test_address_can_be_verified_by_the_relays_console(
    signature: str | None, env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    """SMS ko/console-guide.md, "웹훅 관리", step 4: an address is verified, by a call that is not documented."""

    assert (await call(HOOK, method="GET")).result == "SUCCESS"
    for body in (b"", b"{}", b'{"test": true}'):
        assert (await tell(call, body, signature)).result == "SUCCESS"
    await call_ok(call, "message/sendSMS", sms_body(MANY[0]))
    await env.wait(6)

    result = hook(fixture)
    for one in (result, {"hooks": result["hooks"]}, {"event": ""}, {**result, "more": "x" * 2000}):
        assert (await tell(call, one, None)).result == "UNAUTHORIZED"
    assert describe_outcome(await get_message(call, MANY[0])) == "sending"


@pytest.mark.settings(
    behavior={"outcomes": {("alimtalk", FIRST): ((1.0, NO_CODE),), ("sms", FIRST): ()}}, webhook_signature=SIGNATURE
)
@pytest.mark.parametrize("kind", ["alimTalk", "webhook"])
async def test_message_that_failed_without_a_result_code_ends(
    kind: str, env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    """Alimtalk ko/alimtalk-api-guide.md: `resultCode` may be null in every row, `messageStatus` may not."""

    await call_ok(call, *send_of("sms" if kind == "webhook" else kind, SENDER_KEY, MANY[0]))
    await env.wait(6)
    if kind == "webhook":
        one = fixture.accepted[0]
        row = {"requestId": one.request_id, "recipientSeq": one.recipient_seq, "messageStatus": "FAILED_AD"}
        assert (await tell(call, hook(fixture, hooks=[row]))).result == "SUCCESS"
    await env.wait(130)

    assert describe_outcome(await get_message(call, MANY[0])) == "fail 3018"


@pytest.mark.settings(behavior={"outcomes": {("alimtalk", FIRST): ((1.0, IN_PROGRESS), (30.0, "1000"))}})
async def test_message_in_progress_has_no_result_yet(env: Environment, call: Caller) -> None:
    """Alimtalk ko/error-code.md: 4161 is a message that is being processed."""
    await call_ok(call, *send_of("alimTalk", SENDER_KEY, MANY[0]))
    await env.wait(20)
    assert describe_outcome(await get_message(call, MANY[0])) == "sending"
    await env.wait(30)

    assert describe_outcome(await get_message(call, MANY[0])) == "completed 1000"


async def test_webhooks_need_a_configured_signature(call: Caller) -> None:
    assert (await tell(call, {}, "")).result == "NOT_FOUND"
    assert (await call("/hooks/nobody", b"{}", method="POST")).result == "NOT_FOUND"
    assert (await call(HOOK, method="GET")).result == "NOT_FOUND"
    assert (await call("/hooks/nobody", method="GET")).result == "NOT_FOUND"
    assert (await call(HOOK, method="PUT")).result == "METHOD_NOT_ALLOWED"


@pytest.mark.settings(behavior={"result_copies": 3, "shuffles_results": True})
async def test_repeated_results_in_any_order_are_stored_once(env: Environment, call: Caller) -> None:
    await call_ok(call, "message/sendSMS", sms_body(*MANY))
    await call_ok(call, *send_of("alimTalk", SENDER_KEY, *MANY))
    await env.wait(60)

    for number in MANY:
        items = (await call("message/list", {"receivers": number})).items
        assert [describe_outcome(each) for each in items] == ["completed 1000"] * 2
    assert env.metric_value("pabal_receipts_unmatched_total", carrier=RELAY) == 0


async def test_results_of_foreign_messages_are_ignored(env: Environment, call: Caller, fixture: NhnCloud) -> None:
    relay = fixture.relay
    someone = NhnCloudClient(
        "http://127.0.0.1", relay.sms_app_key, relay.sms_secret_key, transport=RelayTransport(relay)
    )
    body = {"body": "남의 글", "sendNo": SENDER, "recipientList": [{"recipientNo": "01012341234"}]}
    await someone.request("POST", "/sms/v3.0/appKeys/{appkey}/sender/sms", body=body, timeout_s=1)
    await call_ok(call, "message/sendSMS", sms_body(MANY[0]))
    await env.wait(20)

    assert describe_outcome(await get_message(call, MANY[0])) == "completed 1000"
    assert env.metric_value("pabal_receipts_unmatched_total", carrier=RELAY) == 1


@pytest.mark.settings(webhook_signature=SIGNATURE)
async def test_results_are_polled_if_webhooks_get_lost(env: Environment, call: Caller) -> None:
    await call_ok(call, "message/sendSMS", sms_body(MANY[0]))
    await env.wait(130)

    assert describe_outcome(await get_message(call, MANY[0])) == "completed 1000"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sms", "brandMessage"])
@pytest.mark.settings(behavior={"receipt_after_s": 20, "results_per_page": 20}, poll_seconds=60)
async def test_results_on_pages_shorter_than_asked_for_are_read(kind: str, env: Environment, call: Caller) -> None:
    await call_ok(call, *send_of(kind, SENDER_KEY, *MANY))
    await env.wait(70)

    assert [describe_outcome(await get_message(call, number)) for number in MANY] == ["completed 1000"] * 50


@pytest.mark.parametrize("minutes", [-90, -3, 3, 90])
async def test_results_are_read_by_the_relays_clock(
    minutes: int, env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    fixture.set_clock(minutes)
    await env.wait(10)
    await call_ok(call, "message/sendSMS", sms_body(MANY[0]))
    await env.wait(15)

    assert describe_outcome(await get_message(call, MANY[0])) == "completed 1000"


@pytest.mark.first_case
@pytest.mark.slow
@pytest.mark.parametrize(("kind", "limit"), [("sms", 30), ("alimTalk", 50)])
async def test_results_are_seldom_read_again(
    kind: str, limit: int, env: Environment, call: Caller, fixture: NhnCloud
) -> None:
    await env.wait(10)
    many = [f"010-20{number // 1000:02}-{number % 10_000:04}" for number in range(3000)]
    for place in range(0, len(many), 1000):
        await call_ok(call, *send_of(kind, SENDER_KEY, *many[place : place + 1000]))
    await env.wait(300)

    path = "/sms/" if kind == "sms" else "/alimtalk/"
    pages = sum(path in each.path and "message-results" in each.path for each in fixture.relay.calls)
    assert describe_outcome(await get_message(call, many[-1])) == "completed 1000"
    rounds = 62
    assert rounds < pages <= rounds + limit, "some rounds have three pages more; dates are to the minute for talks"
