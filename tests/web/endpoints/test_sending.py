"""Sending all five kinds of message, and their records."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pabal.store.accounts import accounts, numbers
from pabal.store.kakao import profiles
from tests.fixtures.cases import with_each
from tests.fixtures.virtual import Caller, Environment, VirtualWorld, build_environment, run_in_virtual_time
from tests.fixtures.web import (
    BUTTON,
    FALLBACK,
    PHONE,
    alimtalk_body,
    approve_template,
    call_ok,
    describe_outcome,
    friendtalk_body,
    get_message,
    image_body,
    list_messages,
    list_phone_messages,
    product_of,
    receivers_of,
    register_channel,
    set_up_sender,
    sms_body,
    summarize_refusal,
)


class Kind(NamedTuple):
    """A kind of message: how to send it, and how it looks on a phone."""

    operation: str
    fields: dict[str, Any]
    product: str
    on_phone: dict[str, Any]

    def body(self, sender_key: str, *numbers: str, **changes: Any) -> dict[str, Any]:
        shared = {"receivers": receivers_of(*numbers), **self.fields, **changes}
        return shared if "sender" in shared else {"senderKey": sender_key, **shared}


_TEXT = {"sender": "02-1234-5678", "content": "안녕하세요"}


KINDS = {
    "sms": Kind(
        "message/sendSMS",
        _TEXT,
        "sms",
        {"from": "02-1234-5678", "content": "안녕하세요", "buttons": [], "image": False},
    ),
    "lms": Kind(
        "message/sendLMS",
        {**_TEXT, "subject": "안내"},
        "lms",
        {
            "from": "02-1234-5678",
            "subject": "안내",
            "content": "안녕하세요",
            "buttons": [],
            "image": False,
        },
    ),
    "mms": Kind(
        "message/sendMMS",
        {**_TEXT, "subject": "사진", "image": image_body()},
        "mms",
        {
            "from": "02-1234-5678",
            "subject": "사진",
            "content": "안녕하세요",
            "buttons": [],
            "image": True,
        },
    ),
    "mms without an image": Kind(
        "message/sendMMS",
        _TEXT,
        "mms",
        {"from": "02-1234-5678", "content": "안녕하세요", "buttons": [], "image": False},
    ),
    "alimtalk": Kind(
        "message/sendAlimtalk",
        {"templateCode": "T1"},
        "alimTalk",
        {"from": "@shop", "content": "배송이 시작되었습니다.", "buttons": [BUTTON], "image": False},
    ),
    "friend talk, text": Kind(
        "message/sendFriendtalk",
        {"content": "친구야"},
        "friendTalkText",
        {"from": "@shop", "content": "친구야", "buttons": [], "image": False},
    ),
    "friend talk, image": Kind(
        "message/sendFriendtalk",
        {"content": "친구야", "image": image_body(), "imageLink": "https://shop.example", "buttons": [BUTTON]},
        "friendTalkImage",
        {"from": "@shop", "content": "친구야", "buttons": [BUTTON], "image": True},
    ),
    "friend talk, wide image": Kind(
        "message/sendFriendtalk",
        {"content": "친구야", "messageType": "friendTalkWideImage", "image": image_body()},
        "friendTalkWideImage",
        {"from": "@shop", "content": "친구야", "buttons": [], "image": True},
    ),
}


each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


@each_kind
async def test_every_kind_is_delivered_and_shown_in_history_and_on_the_phone(
    env: Environment, call: Caller, alimtalk_key: str, kind: Kind
) -> None:
    sent = await call(kind.operation, kind.body(alimtalk_key))
    await env.wait(2)

    found = await get_message(call)
    (arrived,) = await list_phone_messages(call)
    assert found["requestId"] == sent.request_id
    assert found["id"] == found["messageId"]
    assert found["label"] == found["receiver"] == PHONE
    assert product_of(found) == kind.product
    assert describe_outcome(found) == "completed 1000"
    assert found["requestDate"] == found["scheduledDate"] == "2026-11-15 12:00:00"
    assert found["completedDate"] in ("2026-11-15 12:00:00", "2026-11-15 12:00:01")
    assert found["yyyyMM"] == "202611"
    assert found["content"] == kind.on_phone["content"]
    assert found.get("subject") == kind.on_phone.get("subject")
    assert found.get("senderKey") == (alimtalk_key if kind.on_phone["from"] == "@shop" else None)
    assert found.get("templateCode") == kind.fields.get("templateCode")
    images = int(kind.on_phone["image"])
    assert arrived == {"time": arrived["time"], "kind": kind.product, "images": images, **kind.on_phone}


@pytest.mark.first_case
@each_kind
async def test_every_kind_is_sent_exactly_at_its_scheduled_minute(
    env: Environment, call: Caller, alimtalk_key: str, kind: Kind
) -> None:
    await env.wait(30)
    body = kind.body(alimtalk_key, sendDate="2026-11-15 12:10")

    await call_ok(call, kind.operation, body)
    await env.wait(9 * 60 + 29.999)
    before, held = await get_message(call), await list_phone_messages(call)
    await env.wait(0.01)
    begun = await get_message(call)
    await env.wait(1)

    after, (arrived,) = await get_message(call), await list_phone_messages(call)
    assert (describe_outcome(before), held) == ("waiting", [])
    assert "completedDate" not in before
    assert before["requestDate"] == "2026-11-15 12:00:30"
    assert before["scheduledDate"] == "2026-11-15 12:10:00"
    assert describe_outcome(begun) == "sending"
    assert describe_outcome(after) == "completed 1000"
    assert arrived["time"] == "2026-11-15 12:10:00"


@with_each(
    ("send_date", "result"),
    [
        ("2026-11-15 12:00", "SUCCESS"),
        ("2026-11-15 11:59", "INVALID_DATE"),
        ("2027-01-14 12:00", "SUCCESS"),
        ("2027-01-14 12:01", "INVALID_DATE"),
        ("내일", "INVALID_DATE"),
        (20261115, "INVALID_PARAMETER"),
        (None, "SUCCESS"),
    ],
)
async def test_send_date_is_from_this_minute_to_sixty_days_ahead(
    env: Environment, call: Caller, send_date: Any, result: str
) -> None:
    await env.wait(0.5)

    answer = await call("message/sendSMS", sms_body(sendDate=send_date))

    assert answer.result == result
    if result != "SUCCESS":
        assert summarize_refusal(answer).errors == {"sendDate": result}


async def test_send_date_within_the_current_minute_is_sent_now(env: Environment, call: Caller) -> None:
    await env.wait(42)

    await call_ok(call, "message/sendSMS", sms_body(sendDate="2026-11-15 12:00"))
    await env.wait(1)

    found = await get_message(call)
    assert describe_outcome(found) == "completed 1000"
    assert found["scheduledDate"] == found["requestDate"] == "2026-11-15 12:00:42"


async def test_unknown_fields_are_ignored_and_null_is_absent(call: Caller, alimtalk_key: str) -> None:
    receivers = [{"phoneNumber": PHONE, "name": "길동", "templateData": None, "reference": None}]
    optional = dict.fromkeys(
        ("sendDate", "adFlag", "messageType", "image", "imageLink", "resend", "resendPhoneNumber", "buttons")
    )
    unknown = {"scheduled": False, "extra": {"deep": [1, None]}}
    body = {**friendtalk_body(alimtalk_key), **optional, **unknown, "receivers": receivers}

    friend = await call("message/sendFriendtalk", body)
    alim = await call("message/sendAlimtalk", {**body, "templateCode": "T1"})
    text = await call("message/sendMMS", {**body, "sender": "1588-0000", "subject": None})

    assert [friend.result, alim.result, text.result] == ["SUCCESS"] * 3


@pytest.mark.settings(check_sender_numbers=True)
async def test_sender_and_fallback_numbers_must_be_registered_if_configured(
    env: Environment, call: Caller, alimtalk_key: str
) -> None:
    account = (await env.store.read(accounts.list_accounts))[0]
    resent = alimtalk_body(alimtalk_key, **FALLBACK)

    text = await call("message/sendSMS", sms_body())
    talk = await call("message/sendAlimtalk", resent)
    await env.store.write(numbers.add, account.id, "0212345678", env.world.now())
    texted = await call("message/sendSMS", sms_body())
    talked = await call("message/sendAlimtalk", resent)

    code = "SENDER_NUMBER_NOT_REGISTERED"
    assert summarize_refusal(text) == (code, {"sender": code})
    assert summarize_refusal(talk) == (code, {"resendPhoneNumber": code})
    assert [texted.result, talked.result] == ["SUCCESS", "SUCCESS"]


async def test_disabled_profile_sends_nothing(env: Environment, call: Caller, alimtalk_key: str) -> None:
    (profile,) = (await call("sender/list")).items
    await env.store.write(profiles.set_enabled, int(profile["id"]), False, env.world.now())

    alim = await call("message/sendAlimtalk", alimtalk_body(alimtalk_key))
    friend = await call("message/sendFriendtalk", friendtalk_body(alimtalk_key))

    assert [alim.result, friend.result] == ["SENDER_NOT_APPROVED"] * 2
    assert (await call("sender/list")).items[0]["enable"] is False


async def test_template_belongs_to_its_profile(env: Environment) -> None:
    call, _ = await set_up_sender(env)
    other_key = await register_channel(call, channelId="@other", cellphone="010-9999-1111")

    answer = await call("message/sendAlimtalk", alimtalk_body(other_key))

    assert answer.result == "TEMPLATE_NOT_FOUND"


async def test_alimtalk_is_the_template_filled_in(env: Environment, call: Caller, sender_key: str) -> None:
    button = {"name": "보기", "mobileUrl": "https://shop.example/#{order}"}
    await approve_template(call, sender_key, content="#{name}님 😀", buttons=[button])
    data = {"name": "길동", "order": 7}

    await call_ok(
        call,
        "message/sendAlimtalk",
        alimtalk_body(sender_key, receivers=receivers_of(PHONE, templateData=data)),
    )
    lacking = await call(
        "message/sendAlimtalk",
        alimtalk_body(sender_key, receivers=receivers_of(PHONE, templateData={"name": "길동"})),
    )
    too_long = await call(
        "message/sendAlimtalk",
        alimtalk_body(sender_key, receivers=receivers_of(PHONE, templateData={**data, "name": "가" * 1300})),
    )
    long_link = await call(
        "message/sendAlimtalk",
        alimtalk_body(sender_key, receivers=receivers_of(PHONE, templateData={**data, "order": "7" * 480})),
    )
    await env.wait(1)

    (arrived,) = await list_phone_messages(call)
    assert arrived["content"] == "길동님 😀"
    assert arrived["buttons"][0]["mobileUrl"] == "https://shop.example/7"
    assert summarize_refusal(lacking) == ("MISSING_VARIABLE", {"receivers[0].templateData": "MISSING_VARIABLE"})
    assert summarize_refusal(too_long) == ("CONTENT_TOO_LONG", {"receivers[0].content": "CONTENT_TOO_LONG"})
    assert summarize_refusal(long_link).result == "INVALID_BUTTON"


async def test_template_code_is_the_same_composed_and_decomposed(call: Caller, sender_key: str) -> None:
    await approve_template(call, sender_key, templateCode="가")

    answer = await call("message/sendAlimtalk", alimtalk_body(sender_key, templateCode="\u1100\u1161"))

    assert answer.result == "SUCCESS"
    assert (await get_message(call))["templateCode"] == "가"


def test_send_date_of_now_is_the_request_date_even_as_the_clock_ticks_on(tmp_path: Path) -> None:
    class Ticking(VirtualWorld):
        ticks = 0

        def now(self) -> int:
            self.ticks += 1
            return super().now() + 400 * self.ticks

    async def scenario() -> None:
        env = await build_environment(tmp_path, world=Ticking())
        call = await env.caller()

        for _ in range(20):
            await call_ok(call, "message/sendSMS", sms_body())

        found = await list_messages(call)
        await env.service.stop()
        assert found[0]["requestDate"] > found[-1]["requestDate"]
        assert [each["scheduledDate"] for each in found] == [each["requestDate"] for each in found]

    run_in_virtual_time(scenario())
