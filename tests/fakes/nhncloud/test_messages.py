"""The fake NHN Cloud: accepted and refused messages, and their results."""

import asyncio
import base64
from collections.abc import Coroutine
from typing import Any

import pytest

from tests.fakes.nhncloud.answers import MINUTES_FORMAT, format_seoul
from tests.fakes.nhncloud.calling import JPEG, Caller, ManualClock, alimtalk_body, result_code, sms_body
from tests.fakes.nhncloud.server import FakeNhnCloud
from tests.fakes.nhncloud.state import Message

CONVERT = {"X-Convert-To-Brand-Message": "true"}
PHONE = "01012345678"
AD = "(광고) 등대\n할인합니다\n무료 수신거부 080-123-4567"


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def relay(clock: ManualClock) -> FakeNhnCloud:
    return FakeNhnCloud(clock, seed=1)


@pytest.fixture
def caller(relay: FakeNhnCloud) -> Caller:
    return Caller(relay)


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


def results_of(answer: dict[str, Any]) -> list[int]:
    results = answer["body"]["data"]["sendResultList"] if "body" in answer else answer["message"]["sendResults"]
    return [each["resultCode"] for each in results]


@pytest.mark.parametrize(
    ("kind", "changes", "code"),
    [
        ("sms", {}, 0),
        ("sms", {"recipientList": []}, -2001),
        ("sms", {"recipientList": [{"recipientNo": PHONE}] * 1000}, 0),
        ("sms", {"recipientList": [{"recipientNo": PHONE}] * 1001}, -2016),
        ("sms", {"body": ""}, -2014),
        ("sms", {"body": "가" * 255}, 0),
        ("sms", {"body": "가" * 256}, -2015),
        ("sms", {"body": "좋아요 \U0001f600"}, -2023),
        ("sms", {"body": "좋아요 ✅"}, -2023),
        ("sms", {"body": "좋아요 ★♥"}, 0),
        ("sms", {"sendNo": "15881111"}, -2312),
        ("sms", {"bodi": "?"}, 4),
        ("sms", {"requestDate": "2026-11-15"}, -2000),
        ("sms", {"requestDate": "2026-11-15 11:59"}, -2022),
        ("sms", {"senderGroupingKey": "k" * 101}, 4),
        ("mms", {}, -2014),
        ("mms", {"title": "제목", "body": "가" * 4000}, 0),
        ("mms", {"title": "제목", "body": "가" * 4001}, -2015),
        ("mms", {"title": "가" * 121}, -2015),
        ("mms", {"title": "제목", "attachFileIdList": [77]}, -2004),
        ("ad-sms", {"body": AD}, 0),
        ("ad-sms", {"body": AD.replace("(광고)", "")}, -6003),
        ("ad-mms", {"title": "제목", "body": "(광고) 할인"}, -6003),
        ("ad-mms", {"title": "제목", "body": AD.replace("4567", "9999")}, -6004),
        ("ad-mms", {"title": "제목", "body": "(광고)\n할인\n[무료 수신거부]0801234567"}, 0),
        ("auth", {}, -9998),
    ],
)
def test_texts_are_accepted_or_refused_as_documented(
    caller: Caller, kind: str, changes: dict[str, Any], code: int
) -> None:
    assert result_code(run(caller.sms("POST", f"sender/{kind}", sms_body(PHONE, **changes)))) == code
    assert bool(caller.relay.messages) is (code == 0)


def test_keys_are_checked(caller: Caller, relay: FakeNhnCloud) -> None:
    wrong = {"X-Secret-Key": "wrong"}

    assert result_code(run(caller.sms("GET", "sendNos", headers=wrong))) == -1000
    assert result_code(run(caller.alimtalk("GET", "senders", headers=wrong))) == -1001
    assert result_code(run(caller.friendtalk("GET", "messages", headers=wrong))) == -1001
    other = FakeNhnCloud()
    other.sms_app_key = other.talk_app_key = "another"
    stranger = Caller(other, relay.transport())
    assert result_code(run(stranger.sms("GET", "sendNos"))) == -1000
    assert result_code(run(stranger.alimtalk("GET", "senders"))) == -1000


def test_bad_recipients_are_refused_one_by_one(caller: Caller, relay: FakeNhnCloud) -> None:
    answer = run(caller.sms("POST", "sender/sms", sms_body(PHONE, "12", "")))

    assert results_of(answer) == [0, -2019, -2018]
    assert [each.recipient_no for each in relay.messages] == [PHONE]


def test_attachments_are_jpeg_and_small(caller: Caller) -> None:
    async def upload(name: str, body: bytes) -> dict[str, Any]:
        given = {"fileName": name, "createUser": "me", "fileBody": base64.b64encode(body).decode()}
        return await caller.sms("POST", "attachfile/binaryUpload", given)

    assert result_code(run(upload("a.png", JPEG))) == -2003
    assert result_code(run(upload("a" * 42 + ".jpg", JPEG))) == -2002
    assert result_code(run(upload("a.jpg", bytes(300 * 1024 + 1)))) == -2005
    file_id = run(upload("a.jpg", JPEG))["body"]["data"]["fileId"]

    body = sms_body(PHONE, title="제목", attachFileIdList=[file_id])
    assert result_code(run(caller.sms("POST", "sender/mms", body))) == 0
    assert caller.relay.messages[0].kind == "MMS"


@pytest.mark.parametrize(
    ("content", "changes", "code"),
    [
        ("가람님, 안녕하세요.", {}, 0),
        ("가람님, 반갑습니다.", {}, -3010),
        ("가람님, 안녕하세요.", {"buttons": [{"ordering": 1, "type": "BK", "name": "예"}]}, -3011),
        ("가람님, 안녕하세요.", {"recipientNo": "12"}, -5000),
        ("가" * 1301, {}, -2000),
        ("", {}, -2001),
    ],
)
def test_alimtalk_must_match_its_template(
    caller: Caller, relay: FakeNhnCloud, content: str, changes: dict[str, Any], code: int
) -> None:
    body = alimtalk_body(relay, PHONE, PHONE)
    body["recipientList"][1] |= {"content": content, **changes}

    assert results_of(run(caller.alimtalk("POST", "raw-messages", body))) == [0, code]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({}, 0),
        ({"linkMo": "https://example.com/8"}, 0),
        ({"name": "열기"}, -3011),
        ({"type": "AL"}, -3011),
        ({"linkMo": "https://example.org/7"}, -3011),
        ({"linkPc": "https://example.com"}, -3011),
        ({"ordering": None}, -3011),
    ],
)
def test_alimtalk_buttons_must_match_its_template(
    caller: Caller, relay: FakeNhnCloud, changes: dict[str, Any], code: int
) -> None:
    body = alimtalk_body(relay, PHONE)
    button = {"ordering": 1, "type": "WL", "name": "보기", "linkMo": "https://example.com/#{번호}"}
    relay.add_template(body["senderKey"], "hello", "#{이름}님, 안녕하세요.", buttons=[button])
    body["recipientList"][0]["buttons"] = [{**button, "linkMo": "https://example.com/7", **changes}]

    assert results_of(run(caller.alimtalk("POST", "raw-messages", body))) == [code]


def test_alimtalk_with_another_title_fails_at_kakao(
    caller: Caller, relay: FakeNhnCloud, clock: ManualClock
) -> None:
    body = alimtalk_body(relay, PHONE, PHONE)
    title = {"templateEmphasizeType": "TEXT", "templateTitle": "#{금액}원", "templateSubtitle": "결제"}
    relay.add_template(body["senderKey"], "hello", "#{이름}님, 안녕하세요.", **title)
    body["recipientList"][0]["templateTitle"] = "100원"
    body["recipientList"][1]["templateTitle"] = "백 달러"
    run(caller.alimtalk("POST", "raw-messages", body))
    clock.advance_s(1)
    relay.process_due()

    assert [each.code for each in relay.messages] == ["1000", "3028"]


def test_undeliverable_alimtalk_has_a_reason_for_each_recipient(caller: Caller, relay: FakeNhnCloud) -> None:
    answer = run(caller.alimtalk("POST", "raw-messages", alimtalk_body(relay, PHONE, content="다른 말")))

    assert result_code(answer) == -1031
    assert results_of(answer) == [-3010]
    assert relay.messages == []


def test_profile_and_template_must_be_in_use(caller: Caller, relay: FakeNhnCloud) -> None:
    def sent(**changes: Any) -> int:
        return result_code(run(caller.alimtalk("POST", "raw-messages", alimtalk_body(relay, PHONE, **changes))))

    assert sent(senderKey="0" * 40) == -2017
    assert sent(templateCode="other") == -3003
    sender_key = next(iter(relay.profiles))
    relay.console.block_template(sender_key, "hello")
    assert sent() == -3005
    relay.console.block_profile(sender_key)
    assert sent() == -1027
    relay.console.block_profile(sender_key, False)
    relay.console.block_template(sender_key, "hello", False)
    assert sent() == 0


def test_idempotency_key_of_an_accepted_call_holds_ten_minutes(
    caller: Caller, relay: FakeNhnCloud, clock: ManualClock
) -> None:
    key = {"X-NC-API-IDEMPOTENCY-KEY": "one"}

    def sent(**changes: Any) -> int:
        return result_code(
            run(caller.alimtalk("POST", "raw-messages", alimtalk_body(relay, PHONE, **changes), headers=key))
        )

    assert sent(content="다른 말") == -1031
    assert sent() == 0
    clock.advance_s(599)
    assert sent() == -1005
    clock.advance_s(1)
    assert sent() == 0
    assert relay.duplicates() == {f"key-{PHONE}": 2}


def test_template_parameters_are_filled_in(caller: Caller, relay: FakeNhnCloud) -> None:
    body = alimtalk_body(relay, PHONE, PHONE)
    body["recipientList"] = [
        {"recipientNo": PHONE, "templateParameter": {"이름": "가람"}},
        {"recipientNo": PHONE, "templateParameter": {}},
    ]

    assert results_of(run(caller.alimtalk("POST", "messages", body))) == [0, -3004]
    assert [each.content for each in relay.messages] == ["가람님, 안녕하세요."]


def friend(relay: FakeNhnCloud, **changes: Any) -> dict[str, Any]:
    body = alimtalk_body(relay, PHONE)
    del body["templateCode"]
    body["recipientList"][0] |= {"content": "소식입니다", **changes}
    return body


def picture(relay: FakeNhnCloud, caller: Caller, **more: Any) -> str:
    relay.profiles or relay.add_profile()
    answer = run(caller.friendtalk("POST", "images", files={"image": ("a.jpg", JPEG, "image/jpeg")}, **more))
    return str(answer["image"]["imageUrl"])


def test_friendtalk_is_accepted_only_as_a_brand_message(caller: Caller, relay: FakeNhnCloud) -> None:
    assert result_code(run(caller.friendtalk("POST", "messages", friend(relay)))) == -9992
    assert result_code(run(caller.friendtalk("POST", "messages", friend(relay), headers=CONVERT))) == 0
    assert relay.messages[0].is_ad


@pytest.mark.parametrize(
    ("image", "length", "buttons", "code"),
    [
        (None, 1000, 5, 0),
        (None, 1001, 0, -2024),
        (None, 10, 6, -3217),
        ("usual", 400, 5, 0),
        ("usual", 401, 0, -2023),
        ("wide", 76, 2, 0),
        ("wide", 77, 0, -2030),
        ("wide", 10, 3, -2031),
        ("unknown", 10, 0, -8002),
    ],
)
def test_friendtalk_has_limits_by_its_image(
    caller: Caller, relay: FakeNhnCloud, image: str | None, length: int, buttons: int, code: int
) -> None:
    changes: dict[str, Any] = {"content": "가" * length}
    changes["buttons"] = [{"ordering": each, "type": "MD", "name": "예"} for each in range(1, buttons + 1)]
    if image:
        more = {"data": {"wide": "true"}} if image == "wide" else {}
        address = picture(relay, caller, **more)
        changes["imageUrl"] = "http://relay.invalid/none.jpg" if image == "unknown" else address

    answer = run(caller.friendtalk("POST", "messages", friend(relay, **changes), headers=CONVERT))

    assert results_of(answer) == [code]


OUTCOMES = {
    "01000000001": ("3003", "3008", "3008"),
    "01000000002": ("2003", "3005", "3005"),
    "01000000003": ("1000", "3019", "3019"),
    "01000000004": ("1000", "3020", "3018"),
    "01000000006": (None, None, None),
    "01012345678": ("1000", "1000", "1000"),
}


def test_recipients_have_fixed_outcomes(caller: Caller, relay: FakeNhnCloud, clock: ManualClock) -> None:
    run(caller.sms("POST", "sender/sms", sms_body(*OUTCOMES)))
    run(caller.alimtalk("POST", "raw-messages", alimtalk_body(relay, *OUTCOMES)))
    body = alimtalk_body(relay, *OUTCOMES)
    del body["templateCode"]
    run(caller.friendtalk("POST", "messages", body, headers=CONVERT))

    def codes() -> list[tuple[str | None, ...]]:
        relay.process_due()
        found = [each.code for each in relay.messages]
        return list(zip(found[:6], found[6:12], found[12:], strict=True))

    assert codes() == [(None, None, None)] * 6
    clock.advance_s(0.3)
    assert codes() == list(OUTCOMES.values())


def test_results_are_listed_by_their_time(caller: Caller, relay: FakeNhnCloud, clock: ManualClock) -> None:
    run(caller.sms("POST", "sender/sms", sms_body(PHONE, "01000000008")))
    run(caller.alimtalk("POST", "raw-messages", alimtalk_body(relay, PHONE)))
    run(caller.friendtalk("POST", "messages", friend(relay), headers=CONVERT))
    clock.advance_s(1)
    span = {"startUpdateDate": "2026-11-15 12:00:00", "endUpdateDate": "2026-11-15 12:00:10"}
    minutes = {"startUpdateDate": "2026-11-15 12:00", "endUpdateDate": "2026-11-15 12:01"}

    rows = run(caller.sms("GET", "message-results", params=span))["body"]["data"]
    assert [(each["recipientSeq"], each["resultCode"]) for each in rows] == [(1, "1000"), (2, "1000")]
    assert rows[0]["updateDate"] == "2026-11-15 12:00:00.0"
    assert rows[0]["recipientGroupingKey"] == f"key-{PHONE}"
    clock.advance_s(1)
    rows = run(caller.sms("GET", "message-results", params=span))["body"]["data"]
    assert [(each["recipientSeq"], each["resultCode"]) for each in rows] == [(1, "1000"), (2, "2001")]
    [row] = run(caller.alimtalk("GET", "message-results", params=minutes))["messages"]
    assert row["resultCode"] == "1000"
    assert "recipientGroupingKey" not in row
    found = run(caller.friendtalk("GET", "message-results", params=minutes))["messageSearchResultResponse"]
    assert found["totalCount"] == 1


def test_lists_are_searched_by_group_and_shown_in_pages(
    caller: Caller, relay: FakeNhnCloud, clock: ManualClock
) -> None:
    run(caller.sms("POST", "sender/sms", sms_body(*[f"0101234{each:04}" for each in range(5)])))
    run(caller.sms("POST", "sender/sms", sms_body(PHONE, senderGroupingKey="other")))
    run(caller.alimtalk("POST", "raw-messages", alimtalk_body(relay, PHONE)))
    when = {"startCreateDate": "2026-11-15 11:59:00", "endCreateDate": "2026-11-15 12:00:00"}
    query = {**when, "senderGroupingKey": "group", "pageSize": "2", "pageNum": "3"}

    page = run(caller.sms("GET", "sender/sms", params=query))["body"]
    assert (page["totalCount"], len(page["data"])) == (5, 1)
    assert result_code(run(caller.sms("GET", "sender/sms"))) == -2011
    assert result_code(run(caller.sms("GET", "sender/sms", params={**query, "pageSize": "1001"}))) == 4
    assert run(caller.sms("GET", "sender/mms", params=query))["body"]["totalCount"] == 0

    span = {f"{end}CreateDate": format_seoul(clock.at, MINUTES_FORMAT) or "" for end in ("start", "end")}
    found = run(caller.alimtalk("GET", "messages", params={**span, "senderGroupingKey": "group"}))
    [row] = found["messageSearchResultResponse"]["messages"]
    assert row["recipientGroupingKey"] == f"key-{PHONE}"
    assert row["messageStatus"] == "COMPLETED"
    assert row["resultCode"] is None
    assert result_code(run(caller.alimtalk("GET", "messages"))) == -4103
    one = run(caller.alimtalk("GET", f"messages/{row['requestId']}/1"))["message"]
    assert one["content"] == "가람님, 안녕하세요."


def test_advertisements_fail_at_night(relay: FakeNhnCloud, caller: Caller, clock: ManualClock) -> None:
    clock.advance_s(9 * 3600)
    run(caller.sms("POST", "sender/ad-sms", sms_body(PHONE, body=AD)))
    run(caller.friendtalk("POST", "messages", friend(relay), headers=CONVERT))
    run(caller.sms("POST", "sender/sms", sms_body(PHONE)))
    clock.advance_s(1)
    relay.process_due()

    assert [each.code for each in relay.messages] == ["E919", "3022", "1000"]


def test_relay_fallback_is_sent_unless_disabled_for_a_message(
    relay: FakeNhnCloud, caller: Caller, clock: ManualClock
) -> None:
    body = alimtalk_body(relay, "01000000003", "01000000003")
    body["recipientList"][1]["resendParameter"] = {"isResend": False}
    next(iter(relay.profiles.values())).resends = True
    run(caller.alimtalk("POST", "raw-messages", body))
    clock.advance_s(1)
    relay.process_due()

    def state(message: Message) -> tuple[str | None, str]:
        return message.code, message.resend_status

    assert [state(each) for each in relay.messages] == [("3019", "RSC04"), ("3019", "RSC01")]
