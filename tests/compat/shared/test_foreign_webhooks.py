"""Webhooks in the shapes of other relays: what their programs read, and how they know who calls."""

import hashlib
import json
from typing import Any

import pytest
from solapi.model.webhook.single_report import SingleReport, SingleReportPayload

from pabal.webhooks.poster import PostResult
from tests.fixtures.posters import ReceivedPost
from tests.fixtures.solapi_calls import SENDER, SETTINGS, solapi_caller
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import call_ok, sms_body
from tests.fixtures.webhook_calls import create, get_only, poster_of, verify

pytestmark = pytest.mark.settings(**SETTINGS)
NOT_ASSIGNED = "01000000001"
RESULTS: dict[str, Any] = {"events": ["message.result"]}


def reports_of(post: ReceivedPost) -> list[SingleReport]:
    """Return what Solapi's own client for Python reads in a post."""
    reports: list[SingleReport] = SingleReportPayload.model_validate_json(post.body).root
    return reports


async def test_solapi_report_has_both_shapes_and_the_ids_of_the_call(env: Environment, call: Caller) -> None:
    made = await create(call, **RESULTS, format="solapi")
    caller = await solapi_caller(env)
    answer = await caller.send({"to": "01012345678", "customFields": {"order": "1"}}, {"to": NOT_ASSIGNED})
    await env.wait(5)
    (post,) = poster_of(env).received
    reports = {each.data.message_id: each for each in reports_of(post)}
    flat = {each["messageId"]: each for each in json.loads(post.body)}
    first, second = (each["messageId"] for each in answer.body["messageList"])
    delivered = reports[first].data

    assert (delivered.status_code, delivered.custom_fields) == ("4000", {"order": "1"})
    assert (delivered.to, delivered.from_, delivered.type) == ("01012345678", SENDER, "SMS")
    assert delivered.group_id == answer.body["groupInfo"]["groupId"]
    assert (reports[second].data.status_code, reports[second].data.status_message) == ("3010", "결번")
    assert [flat[one]["statusCode"] for one in (first, second)] == ["4000", "3010"]
    assert len({each.event_data_id for each in reports.values()}) == 2
    assert "안녕하세요" not in post.body.decode()
    assert post.headers["x-solapi-event-name"] == "SINGLE-REPORT"
    assert (
        post.headers["x-solapi-secret"] == hashlib.sha1(made["secret"].encode(), usedforsecurity=False).hexdigest()
    )
    assert verify(made["secret"], post)  # whoever can verifies our own signature as well


async def test_solapi_report_of_a_message_that_our_own_api_sent(env: Environment, call: Caller) -> None:
    await create(call, **RESULTS, format="solapi")
    sent = await call_ok(call, "message/sendSMS", sms_body("010-1234-5678"))
    await env.wait(5)
    ((report,),) = [reports_of(each) for each in poster_of(env).received]

    assert (report.data.to, report.data.status_code, report.data.custom_fields) == ("01012345678", "4000", {})
    assert sent.item["requestId"] is not None


async def test_retry_keeps_the_shape_that_its_body_was_made_in(env: Environment, call: Caller) -> None:
    made = await create(call, **RESULTS, format="solapi")
    poster_of(env).results.append(PostResult(500, b"", 5))
    await call_ok(call, "message/sendSMS", sms_body("010-1234-5678"))
    await env.wait(4)
    await call_ok(call, "webhook/update", {"webhookId": made["webhookId"], "format": "pabal"})
    await call_ok(call, "message/sendSMS", sms_body("010-1234-5678"))
    await env.wait(60)
    posts = poster_of(env).received

    assert [("x-solapi-secret" in each.headers, each.body[:1]) for each in posts] == [
        (True, b"["),
        *sorted([(True, b"["), (False, b"{")], key=lambda each: posts[1].body[:1] != each[1]),
    ]
    assert posts[0].body in {each.body for each in posts[1:]}


@pytest.mark.parametrize("name", ["solapi", "nhncloud"])
async def test_test_delivers_a_result_of_no_message(env: Environment, call: Caller, name: str) -> None:
    made = await create(call, **RESULTS, format=name)
    tried = (await call_ok(call, "webhook/test", {"webhookId": made["webhookId"]})).item
    (post,) = poster_of(env).received
    body = json.loads(post.body)

    assert tried["status"] == 204
    if name == "solapi":
        (report,) = reports_of(post)
        assert (report.data.status_code, report.data.to) == ("4000", "01000000000")
    else:
        assert (body["event"], body["hooks"][0]["resultCode"]) == ("MESSAGE_RESULT_UPDATE", "1000")


async def test_nhn_hooks_are_divided_by_service(env: Environment, call: Caller, alimtalk_key: str) -> None:
    made = await create(call, **RESULTS, format="nhncloud")
    sent = await call_ok(call, "message/sendSMS", sms_body("010-1234-5678", "010-0000-0001"))
    await call_ok(
        call,
        "message/sendAlimtalk",
        {
            "senderKey": alimtalk_key,
            "templateCode": "T1",
            "receivers": [{"phoneNumber": "010-0000-0003", "templateData": {"name": "길동"}}],
        },
    )
    await env.wait(5)
    bodies = {body["productName"]: body for body in (json.loads(each.body) for each in poster_of(env).received)}
    texts = sorted(bodies["SMS"]["hooks"], key=lambda each: each["recipientSeq"])
    (talk,) = bodies["KakaoTalk Bizmessage"]["hooks"]

    assert {each["event"] for each in bodies.values()} == {"MESSAGE_RESULT_UPDATE"}
    assert [(each["recipientNo"], each["resultCode"], each["messageStatus"]) for each in texts] == [
        ("01012345678", "1000", "COMPLETED"),
        ("01000000001", "3003", "FAILED"),
    ]
    assert [each["recipientSeq"] for each in texts] == [1, 2]
    assert len(texts[0]["requestId"]) <= 25
    assert len({each["hookId"] for each in (*texts, talk)}) == 3
    assert (texts[0]["senderType"], texts[0]["receiveDate"][:11]) == ("NORMAL_SMS", "2026-11-15T")
    assert (talk["kakaoMessageType"], talk["resultCode"]) == ("ALIMTALK_NORMAL", "3019")
    assert {each.headers["x-toast-webhook-signature"] for each in poster_of(env).received} == {made["secret"]}
    assert sent.item["requestId"]


async def test_format_that_cannot_tell_an_event_is_refused(env: Environment, call: Caller) -> None:
    refused = await call(
        "webhook/create",
        {"url": "https://a.example", "events": ["message.result", "optOut.added"]} | {"format": "solapi"},
    )
    made = await create(call, events=["message.result", "limit.near"])
    changed = await call("webhook/update", {"webhookId": made["webhookId"], "format": "nhncloud"})
    listed = await get_only(call)

    for answer in (refused, changed):
        assert (answer.result, answer.body["errors"][0]["field"]) == ("INVALID_PARAMETER", "events")
    assert (listed["format"], listed["events"]) == ("pabal", ["message.result", "limit.near"])
