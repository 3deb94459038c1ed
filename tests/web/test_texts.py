"""Texts, subjects, values and images of SMS, LMS and MMS."""

import re
from typing import Any

import pytest

from tests.fixtures.cases import with_each
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import (
    PHONE,
    call_ok,
    friendtalk_body,
    get_message,
    image_body,
    list_messages,
    list_phone_messages,
    receivers_of,
    register_channel,
    sms_body,
    summarize_refusal,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ('"홍길동"', "홍길동"),
        ("1.50", "1.50"),
        ("12345678901234567890123", "12345678901234567890123"),
        ("true", "true"),
        ('"#{b}"', "#{b}"),
    ],
)
async def test_values_stand_in_the_text_as_json_spells_them(call: Caller, value: str, text: str) -> None:
    raw = (
        '{"content": "<#{a}>", "sender": "02-1234-5678", "receivers":'
        f' [{{"phoneNumber": "{PHONE}", "templateData": {{"a": {value}, "b": "no", "unused": [1]}}}}]}}'
    )

    await call_ok(call, "message/sendSMS", raw.encode())

    assert (await get_message(call))["content"] == f"<{text}>"


@with_each(
    ("data", "result"),
    [
        (None, "MISSING_VARIABLE"),
        ({}, "MISSING_VARIABLE"),
        ({"a": None}, "MISSING_VARIABLE"),
        ({"a": {"b": 1}}, "INVALID_PARAMETER"),
        ([], "INVALID_PARAMETER"),
        ("a", "INVALID_PARAMETER"),
        ({"a": "\0"}, "UNSUPPORTED_CHARACTER"),
    ],
)
async def test_variable_needs_a_plain_value_for_every_receiver(env: Environment, data: Any, result: str) -> None:
    call = await env.caller(language="en")
    good, bad = receivers_of(PHONE, "010-1111-2222", templateData={"a": "x"})
    body = sms_body(content="<#{a}>", receivers=[good, {**bad, "templateData": data}])

    answer = await call("message/sendSMS", body)

    assert summarize_refusal(answer) == (result, {"receivers[1].templateData": result})
    assert await list_messages(call) == []


@with_each(
    ("operation", "content", "result"),
    [
        ("message/sendSMS", "가" * 45, "SUCCESS"),
        ("message/sendSMS", "가" * 45 + "a", "CONTENT_TOO_LONG"),
        ("message/sendSMS", "\r\n" * 90, "SUCCESS"),
        ("message/sendSMS", "웃는 얼굴 😀", "UNSUPPORTED_CHARACTER"),
        ("message/sendLMS", "₩1,000", "UNSUPPORTED_CHARACTER"),
        ("message/sendMMS", "café", "UNSUPPORTED_CHARACTER"),
        ("message/sendSMS", "", "MISSING_PARAMETER"),
        ("message/sendSMS", None, "MISSING_PARAMETER"),
        ("message/sendSMS", 5, "INVALID_PARAMETER"),
    ],
)
async def test_text_is_counted_in_the_bytes_that_carriers_count(
    call: Caller, operation: str, content: Any, result: str
) -> None:
    answer = await call(operation, sms_body(content=content))

    assert answer.result == result
    if result != "SUCCESS":
        assert summarize_refusal(answer).errors == {"content": result}


async def test_too_long_text_is_reported_with_limit_size_and_receiver(env: Environment) -> None:
    call = await env.caller(language="en")
    short, long = receivers_of(PHONE, "010-1111-2222")
    short["templateData"], long["templateData"] = {"a": "가"}, {"a": "가" * 46}

    answer = await call("message/sendSMS", sms_body(content="#{a}", receivers=[short, long]))

    (error,) = answer.body["errors"]
    assert error["field"] == "receivers[1].content"
    assert error["code"] == "CONTENT_TOO_LONG"
    assert "90" in error["message"]
    assert "92" in error["message"]


@pytest.mark.parametrize(
    ("subject", "result"),
    [
        ("😀", "UNSUPPORTED_CHARACTER"),
        ("", "SUCCESS"),
        (None, "SUCCESS"),
    ],
)
async def test_subject_may_be_missing_and_has_what_phones_show(call: Caller, subject: Any, result: str) -> None:
    answer = await call("message/sendLMS", sms_body(subject=subject))

    assert answer.result == result


async def test_subject_is_personal_too(call: Caller) -> None:
    body = sms_body(subject="#{name}님께", receivers=receivers_of(PHONE, templateData={"name": "길동"}))

    await call_ok(call, "message/sendLMS", body)

    assert (await get_message(call))["subject"] == "길동님께"


async def test_unsupported_characters_are_named(env: Environment) -> None:
    call = await env.caller(language="en")
    receivers = receivers_of(PHONE, templateData={"price": "5😀"})

    shared = await call("message/sendSMS", sms_body(content="₩#{price} é", receivers=receivers))
    own = await call("message/sendSMS", sms_body(content="#{price}", receivers=receivers))

    assert shared.result == own.result == "UNSUPPORTED_CHARACTER"
    assert shared.body["resultMessage"].endswith("₩ (U+20A9), é (U+00E9) (content)")
    assert own.body["resultMessage"].endswith("😀 (U+1F600) (receivers[0].content)")


async def test_all_unsupported_characters_of_a_text_and_of_values_are_named(env: Environment) -> None:
    """Also those around a combining character beside a variable, which no text message can contain anyway."""
    call = await env.caller(language="en")
    receivers = receivers_of(PHONE, templateData={"a": "\u0301é#{a}\u11a8", "b": "😀"})

    shared = await call("message/sendSMS", sms_body(content="é#{a}\u0301😀", receivers=receivers))
    own = await call("message/sendSMS", sms_body(content="가#{a} #{b}", receivers=receivers))

    assert re.findall(r"U\+\w+", shared.body["resultMessage"]) == ["U+00E9", "U+0301", "U+1F600"]
    assert re.findall(r"U\+\w+", own.body["resultMessage"]) == ["U+0301", "U+00E9", "U+11A8", "U+1F600"]


async def test_value_may_contain_what_looks_like_a_variable_with_an_accent(call: Caller) -> None:
    """Values are not filled in, so nothing merges with what follows."""
    receivers = receivers_of(PHONE, templateData={"a": "#{a}\u0301"})

    await call_ok(
        call,
        "message/sendFriendtalk",
        friendtalk_body(await register_channel(call), content="#{a}", receivers=receivers),
    )

    assert (await get_message(call))["content"] == "#{a}\u0301"


@pytest.mark.settings(unsupported_characters="replace")
async def test_combining_characters_beside_variables_are_replaced_if_configured(call: Caller) -> None:
    body = sms_body(content="#{a}\u0301", receivers=receivers_of(PHONE, templateData={"a": "\u11a8가"}))

    await call_ok(call, "message/sendSMS", body)

    assert (await get_message(call))["content"] == "?가?"


@pytest.mark.settings(unsupported_characters="replace")
async def test_unsupported_characters_are_replaced_if_configured(env: Environment, call: Caller) -> None:
    body = sms_body(content="₩#{price} é", receivers=receivers_of(PHONE, templateData={"price": "5😀"}))

    await call_ok(call, "message/sendLMS", {**body, "subject": "☺"})
    await env.wait(1)

    (arrived,) = await list_phone_messages(call)
    assert (arrived["subject"], arrived["content"]) == ("?", "?5? ?")
    assert (await get_message(call))["content"] == "?5? ?"


@pytest.mark.settings(unsupported_characters="replace")
async def test_names_of_variables_are_not_replaced(call: Caller) -> None:
    data = {"이름😀": "길동", "₩": "500"}
    body = sms_body(content="😀#{이름😀}님 #{₩}₩", receivers=receivers_of(PHONE, templateData=data))

    await call_ok(call, "message/sendLMS", {**body, "subject": "#{₩}é"})

    message = await get_message(call)
    assert (message["subject"], message["content"]) == ("500?", "?길동님 500?")


@with_each(
    ("image", "errors"),
    [
        (image_body(307_200), {}),
        (image_body(307_201), {"image.body": "INVALID_IMAGE"}),
        (image_body(contentType="image/vnd.wap.sis", body="AAAA"), {}),
        (image_body(contentType="image/png"), {"image.contentType": "INVALID_IMAGE"}),
        (image_body(body="AAAA"), {"image.body": "INVALID_IMAGE"}),
        (image_body(body=""), {"image.body": "MISSING_PARAMETER"}),
        (image_body(fileName=None), {"image.fileName": "MISSING_PARAMETER"}),
        ({}, dict.fromkeys(("image.contentType", "image.fileName", "image.body"), "MISSING_PARAMETER")),
        ("photo.jpg", {"image": "INVALID_PARAMETER"}),
        (None, {}),
    ],
)
async def test_image_is_a_jpeg_within_the_limits_of_its_route(
    call: Caller, image: Any, errors: dict[str, str]
) -> None:
    answer = await call("message/sendMMS", sms_body(image=image))

    assert answer.result == next(iter(errors.values()), "SUCCESS")
    assert summarize_refusal(answer).errors == errors
