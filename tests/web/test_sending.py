"""Sending all five kinds, over the interface, and seeing what became of them."""

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pabal.store import accounts, profiles
from tests.virtual import Caller, Town, VirtualWorld, build_town, in_virtual_time
from tests.web.scenery import (
    PHONE,
    Play,
    accepted,
    alimtalk,
    approve_template,
    end,
    friendtalk,
    on_phone,
    open_channel,
    picture,
    product,
    record,
    records,
    sms,
    to,
    told,
    world_at,
)

LINK = {"mobileUrl": "https://shop.example/1"}


class Kind(NamedTuple):
    """A kind of message: how to send it, and how it looks on a phone."""

    operation: str
    fields: dict[str, Any]
    product: str
    on_phone: dict[str, Any]

    def body(self, sender_key: str, *numbers: str, **changes: Any) -> dict[str, Any]:
        shared = {"receivers": to(*numbers), **self.fields, **changes}
        return shared if "sender" in shared else {"senderKey": sender_key, **shared}


_TEXT = {"sender": "02-1234-5678", "content": "안녕하세요"}
_BUTTON = {"buttonType": "webLink", "name": "열기", **LINK}
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
        {**_TEXT, "subject": "사진", "image": picture()},
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
        {"from": "@shop", "content": "배송이 시작되었습니다.", "buttons": [_BUTTON], "image": False},
    ),
    "friend talk, text": Kind(
        "message/sendFriendtalk",
        {"content": "친구야"},
        "friendTalkText",
        {"from": "@shop", "content": "친구야", "buttons": [], "image": False},
    ),
    "friend talk, image": Kind(
        "message/sendFriendtalk",
        {"content": "친구야", "image": picture(), "imageLink": "https://shop.example", "buttons": [_BUTTON]},
        "friendTalkImage",
        {"from": "@shop", "content": "친구야", "buttons": [_BUTTON], "image": True},
    ),
    "friend talk, wide image": Kind(
        "message/sendFriendtalk",
        {"content": "친구야", "messageType": "friendTalkWideImage", "image": picture()},
        "friendTalkWideImage",
        {"from": "@shop", "content": "친구야", "buttons": [], "image": True},
    ),
}
each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


async def _ready(town: Town) -> tuple[Caller, str]:
    """Return a caller with a channel and an approved template T1."""
    call = await town.caller()
    sender_key = await open_channel(call)
    await approve_template(call, sender_key, buttons=[_BUTTON])
    return call, sender_key


@each_kind
def test_every_kind_is_delivered_now_and_seen_in_the_history_and_on_the_phone(play: Play, kind: Kind) -> None:
    async def scene(town: Town) -> None:
        call, sender_key = await _ready(town)

        sent = await call(kind.operation, kind.body(sender_key))
        await town.wait(2)

        found = await record(call)
        (arrived,) = await on_phone(call)
        assert found["requestId"] == sent.request_id
        assert found["id"] == found["messageId"]
        assert found["label"] == found["receiver"] == PHONE
        assert product(found) == kind.product
        assert end(found) == "completed 1000"
        assert found["requestDate"] == found["scheduledDate"] == "2026-11-15 12:00:00"
        assert found["completedDate"] in ("2026-11-15 12:00:00", "2026-11-15 12:00:01")
        assert found["yyyyMM"] == "202611"
        assert found["content"] == kind.on_phone["content"]
        assert found.get("subject") == kind.on_phone.get("subject")
        assert found.get("senderKey") == (sender_key if kind.on_phone["from"] == "@shop" else None)
        assert found.get("templateCode") == kind.fields.get("templateCode")
        assert arrived == {"time": arrived["time"], "kind": kind.product, **kind.on_phone}

    play(scene)


@each_kind
def test_every_kind_waits_for_its_minute_and_not_a_millisecond_less(play: Play, kind: Kind) -> None:
    async def scene(town: Town) -> None:
        call, sender_key = await _ready(town)
        await town.wait(30)
        body = kind.body(sender_key, sendDate="2026-11-15 12:10")

        await accepted(call, kind.operation, body)
        await town.wait(9 * 60 + 29.999)
        before, held = await record(call), await on_phone(call)
        await town.wait(0.01)
        begun = await record(call)
        await town.wait(1)

        after, (arrived,) = await record(call), await on_phone(call)
        assert (end(before), held) == ("waiting", [])
        assert "completedDate" not in before
        assert before["requestDate"] == "2026-11-15 12:00:30"
        assert before["scheduledDate"] == "2026-11-15 12:10:00"
        assert end(begun) == "sending"
        assert end(after) == "completed 1000"
        assert arrived["time"] == "2026-11-15 12:10:00"

    play(scene)


@pytest.mark.parametrize(
    ("send_date", "result"),
    [
        ("2026-11-15 12:00", "SUCCESS"),
        ("2026-11-15 11:59", "INVALID_DATE"),
        ("2026-11-15 12:01", "SUCCESS"),
        ("2027-01-14 12:00", "SUCCESS"),
        ("2027-01-14 12:01", "INVALID_DATE"),
        ("2026-11-15T12:10", "INVALID_DATE"),
        ("2026-11-15 12:10:00", "INVALID_DATE"),
        ("2026-11-15", "INVALID_DATE"),
        ("2026-02-30 12:10", "INVALID_DATE"),
        ("2026-11-15 24:00", "INVALID_DATE"),
        ("내일", "INVALID_DATE"),
        (20261115, "INVALID_PARAMETER"),
        (None, "SUCCESS"),
    ],
)
def test_a_send_date_lies_between_this_minute_and_sixty_days(play: Play, send_date: Any, result: str) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()
        await town.wait(0.5)

        answer = await call("message/sendSMS", sms(sendDate=send_date))

        assert answer.result == result
        if result != "SUCCESS":
            assert told(answer).errors == {"sendDate": result}

    play(scene)


def test_a_send_date_within_the_current_minute_is_sent_now(play: Play) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()
        await town.wait(42)

        await accepted(call, "message/sendSMS", sms(sendDate="2026-11-15 12:00"))
        await town.wait(1)

        found = await record(call)
        assert end(found) == "completed 1000"
        assert found["scheduledDate"] == found["requestDate"] == "2026-11-15 12:00:42"

    play(scene)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ('"홍길동"', "홍길동"),
        ("1.50", "1.50"),
        ("1e5", "1e5"),
        ("42", "42"),
        ("-7", "-7"),
        ("12345678901234567890123", "12345678901234567890123"),
        ("true", "true"),
        ("false", "false"),
        ('""', ""),
        ('"#{b}"', "#{b}"),
        ('"가"', "가"),
    ],
)
def test_values_stand_in_the_text_as_json_spells_them(play: Play, value: str, text: str) -> None:
    raw = (
        '{"content": "<#{a}>", "sender": "02-1234-5678", "receivers":'
        f' [{{"phoneNumber": "{PHONE}", "templateData": {{"a": {value}, "b": "no", "unused": [1]}}}}]}}'
    )

    async def scene(town: Town) -> None:
        call = await town.caller()

        await accepted(call, "message/sendSMS", raw.encode())

        assert (await record(call))["content"] == f"<{text}>"

    play(scene)


def test_keys_may_be_spelled_with_their_braces_or_decomposed(play: Play) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()
        data = {"#{이름}": "길동", "\u1102\u1161\u110b\u1175": 20}
        body = sms(content="#{이름} #{나이}", receivers=to(PHONE, templateData=data))

        await accepted(call, "message/sendSMS", body)

        assert (await record(call))["content"] == "길동 20"

    play(scene)


@pytest.mark.parametrize(
    ("data", "result"),
    [
        (None, "MISSING_VARIABLE"),
        ({}, "MISSING_VARIABLE"),
        ({"a": None}, "MISSING_VARIABLE"),
        ({"A": "x"}, "MISSING_VARIABLE"),
        ({"a": {"b": 1}}, "INVALID_PARAMETER"),
        ({"a": [1]}, "INVALID_PARAMETER"),
        ([], "INVALID_PARAMETER"),
        ("a", "INVALID_PARAMETER"),
        ({"a": "\0"}, "UNSUPPORTED_CHARACTER"),
    ],
)
def test_a_variable_needs_a_plain_value_for_every_receiver(play: Play, data: Any, result: str) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller(language="en")
        good, bad = to(PHONE, "010-1111-2222", templateData={"a": "x"})
        body = sms(content="<#{a}>", receivers=[good, {**bad, "templateData": data}])

        answer = await call("message/sendSMS", body)

        assert told(answer) == (result, {"receivers[1].templateData": result})
        assert await records(call) == []

    play(scene)


def test_a_missing_variable_is_named(play: Play) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller(language="en")

        answer = await call("message/sendSMS", sms(content="#{first} #{second}"))

        assert answer.body["errors"][0]["message"].endswith("Variables: first, second")

    play(scene)


@pytest.mark.parametrize(
    ("operation", "content", "result"),
    [
        ("message/sendSMS", "가" * 45, "SUCCESS"),
        ("message/sendSMS", "가" * 45 + "a", "CONTENT_TOO_LONG"),
        ("message/sendLMS", "가" * 1000, "SUCCESS"),
        ("message/sendLMS", "가" * 1000 + "a", "CONTENT_TOO_LONG"),
        ("message/sendMMS", "가" * 1000, "SUCCESS"),
        ("message/sendMMS", "가" * 1000 + "a", "CONTENT_TOO_LONG"),
        ("message/sendSMS", "\r\n" * 90, "SUCCESS"),
        ("message/sendSMS", "뷁" * 45, "SUCCESS"),
        ("message/sendSMS", "웃는 얼굴 😀", "UNSUPPORTED_CHARACTER"),
        ("message/sendLMS", "₩1,000", "UNSUPPORTED_CHARACTER"),
        ("message/sendMMS", "café", "UNSUPPORTED_CHARACTER"),
        ("message/sendSMS", "", "MISSING_PARAMETER"),
        ("message/sendSMS", None, "MISSING_PARAMETER"),
        ("message/sendSMS", 5, "INVALID_PARAMETER"),
    ],
)
def test_a_text_is_counted_in_the_bytes_that_carriers_count(
    play: Play, operation: str, content: Any, result: str
) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()

        answer = await call(operation, sms(content=content))

        assert answer.result == result
        if result != "SUCCESS":
            assert told(answer).errors == {"content": result}

    play(scene)


def test_a_text_too_long_for_one_receiver_says_limit_size_and_index(play: Play) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller(language="en")
        short, long = to(PHONE, "010-1111-2222")
        short["templateData"], long["templateData"] = {"a": "가"}, {"a": "가" * 46}

        answer = await call("message/sendSMS", sms(content="#{a}", receivers=[short, long]))

        (error,) = answer.body["errors"]
        assert error["field"] == "receivers[1].content"
        assert error["code"] == "CONTENT_TOO_LONG"
        assert "90" in error["message"]
        assert "92" in error["message"]

    play(scene)


@pytest.mark.parametrize(
    ("subject", "result"),
    [
        ("가" * 20, "SUCCESS"),
        ("가" * 20 + "a", "CONTENT_TOO_LONG"),
        ("😀", "UNSUPPORTED_CHARACTER"),
        ("", "SUCCESS"),
        (None, "SUCCESS"),
    ],
)
def test_a_subject_has_forty_bytes(play: Play, subject: Any, result: str) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()

        answer = await call("message/sendLMS", sms(subject=subject))

        assert answer.result == result

    play(scene)


def test_a_subject_is_personal_too(play: Play) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()
        body = sms(subject="#{name}님께", receivers=to(PHONE, templateData={"name": "길동"}))

        await accepted(call, "message/sendLMS", body)

        assert (await record(call))["subject"] == "길동님께"

    play(scene)


def test_characters_that_texts_cannot_hold_are_named(play: Play) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller(language="en")
        body = sms(content="₩#{price} é", receivers=to(PHONE, templateData={"price": "5😀"}))

        answer = await call("message/sendSMS", body)

        assert answer.result == "UNSUPPORTED_CHARACTER"
        for named in ("₩ (U+20A9)", "é (U+00E9)", "😀 (U+1F600)"):
            assert named in answer.body["resultMessage"]

    play(scene)


def test_characters_that_texts_cannot_hold_are_replaced_if_so_set(play: Play) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()
        body = sms(content="₩#{price} é", receivers=to(PHONE, templateData={"price": "5😀"}))

        await accepted(call, "message/sendLMS", {**body, "subject": "☺"})
        await town.wait(1)

        (arrived,) = await on_phone(call)
        assert (arrived["subject"], arrived["content"]) == ("?", "?5? ?")
        assert (await record(call))["content"] == "?5? ?"

    play(scene, unsupported_characters="replace")


@pytest.mark.parametrize(
    ("image", "errors"),
    [
        (picture(51_200), {}),
        (picture(51_201), {"image.body": "INVALID_IMAGE"}),
        (picture(contentType="image/jpg"), {}),
        (picture(contentType="image/vnd.wap.sis", body="AAAA"), {}),
        (picture(contentType="image,vnd.wap.sis", body="AAAA"), {}),
        (picture(contentType="image/png"), {"image.contentType": "INVALID_IMAGE"}),
        (picture(body="AAAA"), {"image.body": "INVALID_IMAGE"}),
        (picture(body="/9j/4A"), {"image.body": "INVALID_IMAGE"}),
        (picture(body="/9j/\n4AAA"), {"image.body": "INVALID_IMAGE"}),
        (picture(body="가"), {"image.body": "INVALID_IMAGE"}),
        (picture(body=""), {"image.body": "MISSING_PARAMETER"}),
        (picture(fileName=None), {"image.fileName": "MISSING_PARAMETER"}),
        ({}, dict.fromkeys(("image.contentType", "image.fileName", "image.body"), "MISSING_PARAMETER")),
        ("photo.jpg", {"image": "INVALID_PARAMETER"}),
        (None, {}),
    ],
)
def test_an_image_is_a_jpeg_of_at_most_fifty_kilobytes_decoded(
    play: Play, image: Any, errors: dict[str, str]
) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()

        answer = await call("message/sendMMS", sms(image=image))

        assert answer.result == next(iter(errors.values()), "SUCCESS")
        assert told(answer).errors == errors

    play(scene)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, "friendTalkText"),
        ({"image": picture()}, "friendTalkImage"),
        ({"messageType": "friendTalkText"}, "friendTalkText"),
        ({"messageType": "FT"}, "friendTalkText"),
        ({"messageType": "friendTalkImage", "image": picture()}, "friendTalkImage"),
        ({"messageType": "FI", "image": picture()}, "friendTalkImage"),
        ({"messageType": "friendTalkWideImage", "image": picture()}, "friendTalkWideImage"),
        ({"messageType": "FW", "image": picture()}, "friendTalkWideImage"),
        ({"messageType": None, "image": None}, "friendTalkText"),
    ],
)
def test_a_friend_talk_is_of_the_type_named_or_shown(play: Play, fields: dict[str, Any], expected: str) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()
        sender_key = await open_channel(call)

        await accepted(call, "message/sendFriendtalk", friendtalk(sender_key, **fields))

        assert product(await record(call)) == expected

    play(scene)


@pytest.mark.parametrize(
    ("fields", "errors"),
    [
        ({"messageType": "FI"}, {"image": "MISSING_PARAMETER"}),
        ({"messageType": "friendTalkWideImage", "image": None}, {"image": "MISSING_PARAMETER"}),
        ({"messageType": "sms"}, {"messageType": "INVALID_PARAMETER"}),
        ({"messageType": "ft"}, {"messageType": "INVALID_PARAMETER"}),
        ({"content": None}, {"content": "MISSING_PARAMETER"}),
        ({"content": ""}, {"content": "MISSING_PARAMETER"}),
        ({"content": "가" * 1000}, {}),
        ({"content": "가" * 1001}, {"content": "CONTENT_TOO_LONG"}),
        ({"content": "가" * 400, "image": picture()}, {}),
        ({"content": "가" * 401, "image": picture()}, {"content": "CONTENT_TOO_LONG"}),
        ({"content": "가" * 76, "messageType": "FW", "image": picture()}, {}),
        ({"content": "가" * 77, "messageType": "FW", "image": picture()}, {"content": "CONTENT_TOO_LONG"}),
        ({"content": "웃는 얼굴 😀"}, {}),
        ({"imageLink": "ftp://shop.example"}, {"imageLink": "INVALID_PARAMETER"}),
        ({"adFlag": "Y"}, {"adFlag": "INVALID_PARAMETER"}),
        ({"resend": True}, {"resendPhoneNumber": "MISSING_PARAMETER"}),
        ({"resend": True, "resendPhoneNumber": ""}, {"resendPhoneNumber": "MISSING_PARAMETER"}),
        ({"resend": True, "resendPhoneNumber": "119"}, {"resendPhoneNumber": "INVALID_PHONE_NUMBER"}),
        ({"resend": False, "resendPhoneNumber": None}, {}),
        ({"senderKey": None}, {"senderKey": "MISSING_PARAMETER"}),
    ],
)
def test_a_friend_talk_keeps_to_the_limits_of_its_type(
    play: Play, fields: dict[str, Any], errors: dict[str, str]
) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()
        sender_key = await open_channel(call)

        answer = await call("message/sendFriendtalk", friendtalk(sender_key, **fields))

        assert answer.result == next(iter(errors.values()), "SUCCESS")
        assert told(answer).errors == errors

    play(scene)


def test_a_receiver_of_a_friend_talk_may_have_its_own_text(play: Play) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()
        sender_key = await open_channel(call)
        shared, own = to("010-1111-1111", "010-2222-2222", templateData={"name": "길동"})
        own["content"] = "#{name}님만 보세요"

        await accepted(call, "message/sendFriendtalk", friendtalk(sender_key, receivers=[shared, own]))
        await town.wait(1)

        assert [item["content"] for item in await on_phone(call, "010-1111-1111")] == ["친구야"]
        assert [item["content"] for item in await on_phone(call, "010-2222-2222")] == ["길동님만 보세요"]

    play(scene)


def test_without_a_shared_text_every_receiver_of_a_friend_talk_needs_its_own(play: Play) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()
        sender_key = await open_channel(call)
        own, none = to("010-1111-1111", "010-2222-2222")
        own["content"] = "나만"

        some = await call("message/sendFriendtalk", friendtalk(sender_key, content=None, receivers=[own, none]))
        every = await call("message/sendFriendtalk", friendtalk(sender_key, content=None, receivers=[own]))

        assert told(some) == ("MISSING_PARAMETER", {"content": "MISSING_PARAMETER"})
        assert every.result == "SUCCESS"

    play(scene)


def test_an_own_text_that_is_too_long_names_its_receiver(play: Play) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()
        sender_key = await open_channel(call)
        receivers = [*to("010-1111-1111"), *to("010-2222-2222", content="가" * 1001)]

        answer = await call("message/sendFriendtalk", friendtalk(sender_key, receivers=receivers))

        assert told(answer) == ("CONTENT_TOO_LONG", {"receivers[1].content": "CONTENT_TOO_LONG"})

    play(scene)


@pytest.mark.parametrize(
    ("button", "field"),
    [
        (LINK, None),
        ({"buttonType": "webLink", **LINK, "target": "out", "orderNo": 3}, None),
        ({"buttonType": "appLink", "androidUrl": "shop://1", "iosUrl": "shop://1"}, None),
        ({"buttonType": "appLink", "androidUrl": "shop://1", **LINK}, None),
        ({"buttonType": "channelAddition"}, None),
        ({"buttonType": "botKeyword"}, None),
        ({"buttonType": "messageDelivery"}, None),
        ({"buttonType": "counselingTalkConversion", "chatExtra": "x"}, None),
        ({"buttonType": "botConversion", "chatExtra": "x", "chatEvent": "y"}, None),
        ({"buttonType": "deliveryTracking"}, None),
        ({"buttonType": "telephone"}, "buttonType"),
        ({"buttonType": 7}, "buttonType"),
        ({"name": "가" * 14, **LINK}, None),
        ({"name": "가" * 15, **LINK}, "name"),
        ({"buttonType": "webLink"}, "mobileUrl"),
        ({"mobileUrl": "shop.example"}, "mobileUrl"),
        ({"mobileUrl": "https://shop.example/" + "a" * 2000}, "mobileUrl"),
        ({**LINK, "pcUrl": "ftp://shop.example"}, "pcUrl"),
        ({**LINK, "androidUrl": "javascript:alert(1)"}, "androidUrl"),
        ({**LINK, "iosUrl": "DATA:text/html,x"}, "iosUrl"),
        ({"buttonType": "appLink", "androidUrl": "shop://1"}, "iosUrl"),
        ({"buttonType": "appLink", **LINK}, "androidUrl"),
        ({"buttonType": "counselingTalkConversion"}, "chatExtra"),
        ({"buttonType": "botConversion", "chatExtra": "x"}, "chatEvent"),
        ({"buttonType": "botConversion", "chatEvent": "x"}, "chatExtra"),
        ({**LINK, "orderNo": "1"}, "orderNo"),
        ({**LINK, "orderNo": 1.5}, "orderNo"),
        ({**LINK, "orderNo": 10**30}, "orderNo"),
        ({**LINK, "name": "a\0b"}, "name"),
        ("webLink", ""),
        (None, ""),
    ],
)
def test_a_wrong_button_is_refused_by_the_name_of_its_field(play: Play, button: Any, field: str | None) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()
        sender_key = await open_channel(call)

        answer = await call("message/sendFriendtalk", friendtalk(sender_key, buttons=[LINK, button]))

        if field is None:
            assert answer.result == "SUCCESS", answer.body
        else:
            place = f"buttons[1].{field}" if field else "buttons[1]"
            assert told(answer) == ("INVALID_BUTTON", {place: "INVALID_BUTTON"})

    play(scene)


@pytest.mark.parametrize(
    ("fields", "count", "result"),
    [
        ({}, 5, "SUCCESS"),
        ({}, 6, "INVALID_BUTTON"),
        ({"messageType": "FW", "image": picture()}, 2, "SUCCESS"),
        ({"messageType": "FW", "image": picture()}, 3, "INVALID_BUTTON"),
    ],
)
def test_a_friend_talk_has_five_buttons_and_a_wide_image_two(
    play: Play, fields: dict[str, Any], count: int, result: str
) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()
        sender_key = await open_channel(call)

        answer = await call("message/sendFriendtalk", friendtalk(sender_key, buttons=[LINK] * count, **fields))

        assert answer.result == result

    play(scene)


def test_buttons_arrive_in_their_order_with_their_names_and_personal_links(play: Play) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()
        sender_key = await open_channel(call)
        buttons = [
            {"name": "둘째", "mobileUrl": "https://shop.example/#{id}", "orderNo": 2},
            {"buttonType": "channelAddition", "orderNo": 1},
        ]
        body = friendtalk(sender_key, buttons=buttons, receivers=to(PHONE, templateData={"id": 7}))

        await accepted(call, "message/sendFriendtalk", body)
        await town.wait(1)

        (arrived,) = await on_phone(call)
        assert arrived["buttons"] == [
            {"buttonType": "channelAddition", "name": "채널 추가", "orderNo": 1},
            {"buttonType": "webLink", "name": "둘째", "mobileUrl": "https://shop.example/7", "orderNo": 2},
        ]

    play(scene)


def test_a_link_that_a_value_spoils_is_a_wrong_button_of_that_receiver(play: Play) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()
        sender_key = await open_channel(call)
        good, bad = to(PHONE, PHONE)
        good["templateData"], bad["templateData"] = {"link": "https://shop.example"}, {"link": "javascript:x"}
        body = friendtalk(sender_key, buttons=[{"mobileUrl": "#{link}"}], receivers=[good, bad])

        answer = await call("message/sendFriendtalk", body)

        assert told(answer) == ("INVALID_BUTTON", {"receivers[1].templateData": "INVALID_BUTTON"})

    play(scene)


def test_an_advertisement_is_marked_and_the_mark_counts(play: Play) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()
        sender_key = await open_channel(call)
        receivers = [*to("010-1111-1111"), *to("010-2222-2222", content="나만"), *to("010-3333-3333")]
        receivers[2]["content"] = "(광고)이미"

        async def send(**fields: Any) -> str:
            return (await call("message/sendFriendtalk", friendtalk(sender_key, adFlag=True, **fields))).result

        results = [
            await send(receivers=receivers),
            await send(content="가" * 996, receivers=to("010-4444-4444")),
            await send(content="가" * 997, receivers=to("010-4444-4444")),
            await send(content="(광고)" + "가" * 996, receivers=to("010-4444-4444")),
        ]

        texts = [(await record(call, f"010-{n * 4}-{n * 4}"))["content"] for n in "123"]
        assert results == ["SUCCESS", "SUCCESS", "CONTENT_TOO_LONG", "SUCCESS"]
        assert texts == ["(광고)친구야", "(광고)나만", "(광고)이미"]

    play(scene)


@pytest.mark.parametrize(
    ("clock", "send_date", "is_night"),
    [
        ("2026-11-15 20:49:59", None, False),
        ("2026-11-15 20:50", None, True),
        ("2026-11-16 07:59:59", None, True),
        ("2026-11-16 08:00", None, False),
        ("2026-11-15 12:00", "2026-11-15 20:49", False),
        ("2026-11-15 12:00", "2026-11-15 20:50", True),
        ("2026-11-15 12:00", "2026-11-16 00:00", True),
        ("2026-11-15 12:00", "2026-11-16 07:59", True),
        ("2026-11-15 12:00", "2026-11-16 08:00", False),
        ("2026-11-15 23:00", "2026-11-16 09:00", False),
    ],
)
def test_an_advertisement_is_not_taken_for_the_night_and_other_messages_are(
    play: Play, clock: str, send_date: str | None, is_night: bool
) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()
        sender_key = await open_channel(call)
        body = friendtalk(sender_key, sendDate=send_date)

        advertisement = await call("message/sendFriendtalk", {**body, "adFlag": True})
        other = await call("message/sendFriendtalk", {**body, "adFlag": False})

        assert advertisement.result == ("NIGHT_AD_RESTRICTED" if is_night else "SUCCESS")
        assert other.result == "SUCCESS"

    play(scene, world=world_at(clock))


@pytest.mark.parametrize(
    ("clock", "send_date", "scheduled"),
    [
        ("2026-11-15 20:50", None, "2026-11-16 08:00:00"),
        ("2026-11-16 00:30", None, "2026-11-16 08:00:00"),
        ("2026-11-15 12:00", "2026-11-20 23:00", "2026-11-21 08:00:00"),
        ("2026-11-15 20:49", None, "2026-11-15 20:49:00"),
    ],
)
def test_an_advertisement_for_the_night_is_moved_to_the_morning_if_so_set(
    play: Play, clock: str, send_date: str | None, scheduled: str
) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()
        sender_key = await open_channel(call)
        body = friendtalk(sender_key, adFlag=True, sendDate=send_date)

        await accepted(call, "message/sendFriendtalk", body)

        assert (await record(call))["scheduledDate"] == scheduled

    play(scene, world=world_at(clock), night_ads="move")


def test_an_advertisement_that_comes_due_at_night_by_delay_waits_for_the_morning(play: Play) -> None:
    world = world_at("2026-11-15 20:49:59")
    busy_at_first = "010-0000-0005"

    async def scene(town: Town) -> None:
        call = await town.caller()
        sender_key = await open_channel(call)
        body = friendtalk(sender_key, busy_at_first, adFlag=True)

        await accepted(call, "message/sendFriendtalk", body)
        await town.wait(31)
        world.leap(11 * 3600 + 9 * 60)
        await town.wait(29)
        at_night = await record(call, busy_at_first)
        await town.wait(10)
        in_the_morning = await record(call, busy_at_first)

        assert end(at_night) == "sending"
        assert end(in_the_morning) == "completed 1000"
        assert in_the_morning["completedDate"] >= "2026-11-16 08:00:00"

    play(scene, world=world)


def test_an_advertisement_that_a_stop_delayed_into_the_night_waits_for_the_morning(tmp_path: Path) -> None:
    async def scene() -> None:
        evening = await build_town(tmp_path, world=world_at("2026-11-15 20:40"))
        call = await evening.caller()
        sender_key = await open_channel(call)
        body = friendtalk(sender_key, adFlag=True, sendDate="2026-11-15 20:45")
        await accepted(call, "message/sendFriendtalk", body)
        await evening.service.stop()

        world = world_at("2026-11-15 21:00", seed=1)
        night = await build_town(tmp_path, world=world)
        call = Caller(night.service, call.key)
        await night.wait(10)
        at_night = await record(call)
        world.leap(11 * 3600)
        await night.wait(31)
        in_the_morning = await record(call)
        await night.service.stop()

        assert end(at_night) == "waiting"
        assert end(in_the_morning) == "completed 1000"
        assert in_the_morning["completedDate"] >= "2026-11-16 08:00:00"

    in_virtual_time(scene())


FALLBACK = {"resend": True, "resendPhoneNumber": "02-1234-5678"}
NO_USER = "010-0000-0003"
NEVER_REPORTED = "010-0000-0006"


@pytest.mark.parametrize(
    ("fields", "kind", "subject", "content"),
    [
        ({}, "sms", None, "친구야"),
        ({"content": "가" * 45}, "sms", None, "가" * 45),
        ({"content": "가" * 46}, "lms", "@shop", "가" * 46),
        (
            {"buttons": [{"name": "열기", "mobileUrl": "https://a.example/#{id}"}, {"buttonType": "botKeyword"}]},
            "sms",
            None,
            "친구야\n열기: https://a.example/7",
        ),
        ({"resendContent": "문자로 #{name}님께"}, "sms", None, "문자로 길동님께"),
        ({"resendContent": ""}, "sms", None, "친구야"),
        ({"adFlag": True}, "sms", None, "(광고)친구야"),
    ],
)
def test_a_failed_friend_talk_falls_back_to_a_text(
    play: Play, fields: dict[str, Any], kind: str, subject: str | None, content: str
) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()
        sender_key = await open_channel(call)
        receivers = to(NO_USER, templateData={"name": "길동", "id": 7}, reference="주문-1")
        body = friendtalk(sender_key, **FALLBACK, **{"receivers": receivers, **fields})

        sent = await accepted(call, "message/sendFriendtalk", body)
        await town.wait(3)

        fallback, origin = await records(call, NO_USER)
        (arrived,) = await on_phone(call, NO_USER)
        assert end(origin) == "fail 3019"
        assert "originMessageId" not in origin
        assert (product(fallback), end(fallback)) == (kind, "completed 1000")
        assert fallback["requestId"] == origin["requestId"] == sent.request_id
        assert fallback["originMessageId"] == origin["messageId"]
        assert fallback["requestDate"] == origin["requestDate"]
        assert fallback["scheduledDate"] == origin["scheduledDate"]
        assert (fallback.get("subject"), fallback["content"]) == (subject, content)
        assert (arrived["kind"], arrived["from"]) == (kind, "02-1234-5678")
        assert (arrived.get("subject"), arrived["content"]) == (subject, content)

    play(scene)


@pytest.mark.parametrize(("number", "code"), [(NO_USER, "3019"), ("010-0000-0004", "3020")])
def test_a_failed_alimtalk_falls_back_to_a_text_once(play: Play, number: str, code: str) -> None:
    async def scene(town: Town) -> None:
        call, sender_key = await _ready(town)

        await accepted(call, "message/sendAlimtalk", alimtalk(sender_key, number, **FALLBACK))
        await town.wait(60)

        fallback, origin = await records(call, number)
        assert [end(origin), end(fallback)] == [f"fail {code}", "completed 1000"]
        assert fallback["content"] == "배송이 시작되었습니다.\n열기: https://shop.example/1"
        assert "templateCode" not in fallback
        assert len(await on_phone(call, number)) == 1

    play(scene)


@pytest.mark.parametrize(
    ("number", "fields"),
    [
        (NO_USER, {}),
        (NO_USER, {"resend": False, "resendPhoneNumber": "02-1234-5678"}),
        (PHONE, FALLBACK),
    ],
)
def test_no_text_follows_unless_the_message_failed_and_one_was_asked_for(
    play: Play, number: str, fields: dict[str, Any]
) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()
        sender_key = await open_channel(call)

        await accepted(call, "message/sendFriendtalk", friendtalk(sender_key, number, **fields))
        await town.wait(60)

        assert product(await record(call, number)) == "friendTalkText"

    play(scene)


@pytest.mark.parametrize("fields", [{"content": "😀"}, {"resendContent": "가" * 1001}])
def test_a_fallback_that_no_text_can_hold_is_recorded_as_failed(play: Play, fields: dict[str, Any]) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()
        sender_key = await open_channel(call)

        await accepted(call, "message/sendFriendtalk", friendtalk(sender_key, NO_USER, **FALLBACK, **fields))
        await town.wait(3)

        fallback, origin = await records(call, NO_USER)
        assert end(fallback) == "fail 9002"
        assert fallback["originMessageId"] == origin["messageId"]
        assert fallback["completedDate"]
        assert await on_phone(call, NO_USER) == []

    play(scene)


def test_the_fallback_of_an_advertisement_waits_for_the_morning(play: Play) -> None:
    world = world_at("2026-11-15 20:49:59.900")

    async def scene(town: Town) -> None:
        call = await town.caller()
        sender_key = await open_channel(call)
        body = friendtalk(sender_key, NO_USER, adFlag=True, **FALLBACK)

        await accepted(call, "message/sendFriendtalk", body)
        await town.wait(31)
        world.leap(11 * 3600 + 9 * 60)
        at_night = [end(each) for each in await records(call, NO_USER)]
        await town.wait(31)

        in_the_morning = [end(each) for each in await records(call, NO_USER)]
        assert at_night == ["waiting", "fail 3019"]
        assert in_the_morning == ["completed 1000", "fail 3019"]

    play(scene, world=world)


@pytest.mark.parametrize(("within_minutes", "ends"), [(60, ["fail 2000"]), (62, ["sending", "fail 2000"])])
def test_no_text_follows_long_after_the_scheduled_time(play: Play, within_minutes: int, ends: list[str]) -> None:
    world = world_at("2026-11-15 12:00")

    async def scene(town: Town) -> None:
        call = await town.caller()
        sender_key = await open_channel(call)

        await accepted(call, "message/sendFriendtalk", friendtalk(sender_key, NEVER_REPORTED, **FALLBACK))
        await town.wait(1)
        world.leap(3600)
        await town.wait(30)

        assert [end(each) for each in await records(call, NEVER_REPORTED)] == ends

    play(scene, world=world, other_timeout_hours=1, fallback_within_minutes=within_minutes)


def test_a_number_that_is_given_twice_gets_two_messages(play: Play) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()

        await accepted(call, "message/sendSMS", sms(PHONE, "01012345678"))
        await town.wait(2)

        found = await records(call)
        assert [end(each) for each in found] == ["completed 1000"] * 2
        assert len({each["messageId"] for each in found}) == 2
        assert len(await on_phone(call)) == 2

    play(scene)


def test_one_bad_receiver_refuses_the_whole_request_and_every_bad_one_is_named(play: Play) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()
        receivers = [
            {"phoneNumber": PHONE, "templateData": {"a": "x"}},
            {"phoneNumber": "02-123-4567", "templateData": {}},
            {"phoneNumber": 5, "templateData": {"a": "x"}},
            {"templateData": {"a": "가" * 46}},
            "010-1234-5678",
            {"phoneNumber": PHONE, "templateData": {"a": "x"}, "reference": "r" * 65},
            {"phoneNumber": "", "templateData": {"a": "x"}},
        ]

        answer = await call("message/sendSMS", sms(content="#{a}", receivers=receivers))

        assert told(answer) == (
            "INVALID_PHONE_NUMBER",
            {
                "receivers[1].phoneNumber": "INVALID_PHONE_NUMBER",
                "receivers[1].templateData": "MISSING_VARIABLE",
                "receivers[2].phoneNumber": "INVALID_PARAMETER",
                "receivers[3].phoneNumber": "MISSING_PARAMETER",
                "receivers[3].content": "CONTENT_TOO_LONG",
                "receivers[4]": "INVALID_PARAMETER",
                "receivers[5].reference": "INVALID_PARAMETER",
                "receivers[6].phoneNumber": "MISSING_PARAMETER",
            },
        )
        assert await records(call) == []

    play(scene)


def test_at_most_a_hundred_bad_receivers_are_named(play: Play) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()

        answer = await call("message/sendSMS", sms(*["119"] * 150))

        assert [error["field"] for error in answer.body["errors"]] == [
            f"receivers[{index}].phoneNumber" for index in range(100)
        ]

    play(scene)


@pytest.mark.parametrize(
    ("receivers", "result"),
    [
        ([], "MISSING_PARAMETER"),
        (None, "MISSING_PARAMETER"),
        ({}, "INVALID_PARAMETER"),
        ("010-1234-5678", "INVALID_PARAMETER"),
        (to(*[PHONE] * 1000), "SUCCESS"),
        (to(*[PHONE] * 1001), "TOO_MANY_RECEIVERS"),
    ],
)
def test_a_request_has_one_to_a_thousand_receivers(play: Play, receivers: Any, result: str) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()

        answer = await call("message/sendSMS", sms(receivers=receivers))

        assert answer.result == result
        if result != "SUCCESS":
            assert told(answer).errors == {"receivers": result}

    play(scene)


def test_the_operator_sets_how_many_receivers_a_request_may_have(play: Play) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()

        two = await call("message/sendSMS", sms(PHONE, PHONE))
        three = await call("message/sendSMS", sms(PHONE, PHONE, PHONE))

        assert [two.result, three.result] == ["SUCCESS", "TOO_MANY_RECEIVERS"]

    play(scene, max_receivers=2)


def test_unknown_fields_are_ignored_and_null_is_absent(play: Play) -> None:
    async def scene(town: Town) -> None:
        call, sender_key = await _ready(town)
        receivers = [{"phoneNumber": PHONE, "name": "길동", "templateData": None, "reference": None}]
        optional = dict.fromkeys(
            ("sendDate", "adFlag", "messageType", "image", "imageLink", "resend", "resendPhoneNumber", "buttons")
        )
        unknown = {"scheduled": False, "extra": {"deep": [1, None]}}
        body = {**friendtalk(sender_key), **optional, **unknown, "receivers": receivers}

        friend = await call("message/sendFriendtalk", body)
        alim = await call("message/sendAlimtalk", {**body, "templateCode": "T1"})
        text = await call("message/sendMMS", {**body, "sender": "1588-0000", "subject": None})

        assert [friend.result, alim.result, text.result] == ["SUCCESS"] * 3

    play(scene)


@pytest.mark.parametrize("spelling", ["010-1234-5678", "01012345678", "010 1234 5678", "+82 10-1234-5678"])
def test_a_number_is_read_in_any_usual_spelling_and_answered_with_hyphens(play: Play, spelling: str) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()

        await accepted(call, "message/sendSMS", sms(spelling))

        assert (await record(call))["receiver"] == "010-1234-5678"

    play(scene)


@pytest.mark.parametrize(
    ("sender", "result"),
    [
        ("1588-0000", "SUCCESS"),
        ("070-7000-0000", "SUCCESS"),
        ("02-1588-0000", "INVALID_PHONE_NUMBER"),
        ("119", "INVALID_PHONE_NUMBER"),
        ("", "MISSING_PARAMETER"),
        (212345678, "INVALID_PARAMETER"),
    ],
)
def test_a_sender_is_a_number_that_texts_may_come_from(play: Play, sender: Any, result: str) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()

        answer = await call("message/sendSMS", sms(sender=sender))

        assert answer.result == result
        if result != "SUCCESS":
            assert told(answer).errors == {"sender": result}

    play(scene)


def test_sender_and_fallback_numbers_must_be_registered_if_so_set(play: Play) -> None:
    async def scene(town: Town) -> None:
        call, sender_key = await _ready(town)
        account = (await town.store.read(accounts.accounts))[0]
        resent = alimtalk(sender_key, **FALLBACK)

        text = await call("message/sendSMS", sms())
        talk = await call("message/sendAlimtalk", resent)
        await town.store.write(accounts.add_number, account.id, "0212345678", town.world.now())
        texted = await call("message/sendSMS", sms())
        talked = await call("message/sendAlimtalk", resent)

        code = "SENDER_NUMBER_NOT_REGISTERED"
        assert told(text) == (code, {"sender": code})
        assert told(talk) == (code, {"resendPhoneNumber": code})
        assert [texted.result, talked.result] == ["SUCCESS", "SUCCESS"]

    play(scene, check_sender_numbers=True)


def test_a_profile_out_of_use_sends_nothing(play: Play) -> None:
    async def scene(town: Town) -> None:
        call, sender_key = await _ready(town)
        (profile,) = (await call("sender/list")).items
        await town.store.write(profiles.set_enabled, int(profile["id"]), False, town.world.now())

        alim = await call("message/sendAlimtalk", alimtalk(sender_key))
        friend = await call("message/sendFriendtalk", friendtalk(sender_key))

        assert [alim.result, friend.result] == ["SENDER_NOT_APPROVED"] * 2
        assert (await call("sender/list")).items[0]["enable"] is False

    play(scene)


def test_a_template_belongs_to_its_profile(play: Play) -> None:
    async def scene(town: Town) -> None:
        call, _ = await _ready(town)
        other_key = await open_channel(call, channelId="@other", cellphone="010-9999-1111")

        answer = await call("message/sendAlimtalk", alimtalk(other_key))

        assert answer.result == "TEMPLATE_NOT_FOUND"

    play(scene)


def test_an_alimtalk_is_the_template_filled_in(play: Play) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()
        sender_key = await open_channel(call)
        button = {"name": "보기", "mobileUrl": "https://shop.example/#{order}"}
        await approve_template(call, sender_key, content="#{name}님 😀", buttons=[button])
        data = {"name": "길동", "order": 7}

        await accepted(call, "message/sendAlimtalk", alimtalk(sender_key, receivers=to(PHONE, templateData=data)))
        lacking = await call(
            "message/sendAlimtalk", alimtalk(sender_key, receivers=to(PHONE, templateData={"name": "길동"}))
        )
        too_long = await call(
            "message/sendAlimtalk",
            alimtalk(sender_key, receivers=to(PHONE, templateData={**data, "name": "가" * 1000})),
        )
        await town.wait(1)

        (arrived,) = await on_phone(call)
        assert arrived["content"] == "길동님 😀"
        assert arrived["buttons"][0]["mobileUrl"] == "https://shop.example/7"
        assert told(lacking) == ("MISSING_VARIABLE", {"receivers[0].templateData": "MISSING_VARIABLE"})
        assert told(too_long) == ("CONTENT_TOO_LONG", {"receivers[0].content": "CONTENT_TOO_LONG"})

    play(scene)


def test_a_template_code_means_the_same_composed_and_decomposed(play: Play) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()
        sender_key = await open_channel(call)
        await approve_template(call, sender_key, templateCode="가")

        answer = await call("message/sendAlimtalk", alimtalk(sender_key, templateCode="\u1100\u1161"))

        assert answer.result == "SUCCESS"
        assert (await record(call))["templateCode"] == "가"

    play(scene)


NO_KEY = {"apikey": ""}
TEXT_TYPE = {"content-type": "text/plain"}
HUGE = {"content-length": str(2**30)}


@pytest.mark.parametrize(
    ("operation", "body", "options", "result", "field"),
    [
        ("/api/message/sendFax.v1.0", sms(), {"headers": NO_KEY, "method": "PUT"}, "NOT_FOUND", None),
        ("message/sendSMS", None, {"method": "PUT", "headers": HUGE}, "METHOD_NOT_ALLOWED", None),
        ("message/sendSMS", None, {"headers": {**NO_KEY, **HUGE}}, "PAYLOAD_TOO_LARGE", None),
        ("message/sendSMS", b"{", {"headers": {**NO_KEY, **TEXT_TYPE}}, "UNAUTHORIZED", None),
        ("message/sendSMS", b"{", {"headers": TEXT_TYPE}, "UNSUPPORTED_MEDIA_TYPE", None),
        ("message/sendSMS", b"{", {"headers": {"idempotency-key": ""}}, "INVALID_JSON", None),
        ("message/sendLMS", sms(subject="😀", content=""), {}, "UNSUPPORTED_CHARACTER", "subject"),
        ("message/sendSMS", sms(content="", sendDate="x"), {}, "MISSING_PARAMETER", "content"),
        ("message/sendSMS", sms(content="가" * 46, sendDate="x"), {}, "CONTENT_TOO_LONG", "content"),
        ("message/sendSMS", sms(sendDate="x", sender="119"), {}, "INVALID_DATE", "sendDate"),
        ("message/sendSMS", sms(sendDate=5, sender=None), {}, "INVALID_PARAMETER", "sendDate"),
        ("message/sendSMS", sms("119", sender="119"), {}, "INVALID_PHONE_NUMBER", "sender"),
        ("message/sendMMS", sms(sender="119", image={}), {}, "INVALID_PHONE_NUMBER", "sender"),
        ("message/sendMMS", sms("119", image={}), {}, "MISSING_PARAMETER", "image.contentType"),
        ("message/sendSMS", sms(*["119"] * 1001), {}, "TOO_MANY_RECEIVERS", "receivers"),
        ("message/sendAlimtalk", {"receivers": []}, {}, "MISSING_PARAMETER", "senderKey"),
        ("message/sendAlimtalk", alimtalk("x", sendDate="x", resend=5), {}, "INVALID_DATE", "sendDate"),
        ("message/sendAlimtalk", alimtalk("x", "119", resend=True), {}, "MISSING_PARAMETER", "resendPhoneNumber"),
        ("message/sendAlimtalk", alimtalk("x", "119"), {}, "INVALID_PHONE_NUMBER", "receivers[0].phoneNumber"),
        ("message/sendAlimtalk", alimtalk("x", templateCode="y"), {}, "SENDER_NOT_FOUND", "senderKey"),
        ("message/sendAlimtalk", alimtalk("KEY", templateCode="y", **FALLBACK), {}, "TEMPLATE_NOT_FOUND", None),
        ("message/sendFriendtalk", friendtalk("x", messageType="x", image={}), {}, "INVALID_PARAMETER", None),
        ("message/sendFriendtalk", friendtalk("x", buttons=[{}], receivers=[]), {}, "INVALID_BUTTON", None),
        ("message/sendFriendtalk", friendtalk("x", "119"), {}, "INVALID_PHONE_NUMBER", None),
        ("message/sendFriendtalk", friendtalk("x", **FALLBACK), {}, "SENDER_NOT_FOUND", "senderKey"),
    ],
)
def test_of_two_faults_the_one_that_is_checked_first_is_the_result(
    play: Play, operation: str, body: Any, options: dict[str, Any], result: str, field: str | None
) -> None:
    async def scene(town: Town) -> None:
        call, sender_key = await _ready(town)
        if isinstance(body, dict) and body.get("senderKey") == "KEY":
            body["senderKey"] = sender_key

        answer = await call(operation, body, **options)

        assert answer.result == result
        if field is not None:
            assert next(iter(told(answer).errors)) == field

    play(scene, check_sender_numbers=True)


def test_an_address_is_checked_before_the_rate_and_the_rate_before_the_body(play: Play) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller(allow=["10.0.0.0/8"], rate=1)

        outside = [await call("message/sendSMS", b"{") for _ in range(2)]
        inside = [await call("message/sendSMS", b"{", headers=TEXT_TYPE, peer="10.1.2.3") for _ in range(2)]

        assert [answer.result for answer in outside] == ["FORBIDDEN", "FORBIDDEN"]
        assert [answer.result for answer in inside] == ["UNSUPPORTED_MEDIA_TYPE", "RATE_LIMITED"]

    play(scene)


def test_receivers_are_told_by_index_whatever_is_wrong_with_them(play: Play) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()
        lacking, wrong = {"phoneNumber": PHONE}, {"phoneNumber": 5}

        answer = await call("message/sendSMS", sms(content="#{a}", receivers=[lacking, wrong]))

        assert list(told(answer).errors) == [
            "receivers[0].templateData",
            "receivers[1].phoneNumber",
            "receivers[1].templateData",
        ]

    play(scene)


def test_a_send_date_of_now_is_the_request_date_even_as_the_clock_ticks_on(tmp_path: Path) -> None:
    class Ticking(VirtualWorld):
        ticks = 0

        def now(self) -> int:
            self.ticks += 1
            return super().now() + 400 * self.ticks

    async def scene() -> None:
        town = await build_town(tmp_path, world=Ticking())
        call = await town.caller()

        for _ in range(20):
            await accepted(call, "message/sendSMS", sms())

        found = await records(call)
        await town.service.stop()
        assert found[0]["requestDate"] > found[-1]["requestDate"]
        assert [each["scheduledDate"] for each in found] == [each["requestDate"] for each in found]

    in_virtual_time(scene())
