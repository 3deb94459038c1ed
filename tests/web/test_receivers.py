"""Receivers and phone numbers of a send."""

from typing import Any

import pytest

from tests.fixtures.virtual import Caller
from tests.fixtures.web import (
    PHONE,
    list_messages,
    receivers_of,
    sms_body,
    summarize_refusal,
)


async def test_bad_receivers_refuse_the_whole_request_and_are_all_named(call: Caller) -> None:
    receivers = [
        {"phoneNumber": PHONE, "templateData": {"a": "x"}},
        {"phoneNumber": "02-123-4567", "templateData": {}},
        {"phoneNumber": 5, "templateData": {"a": "x"}},
        {"templateData": {"a": "가" * 46}},
        "010-1234-5678",
        {"phoneNumber": PHONE, "templateData": {"a": "x"}, "reference": "r" * 65},
        {"phoneNumber": "", "templateData": {"a": "x"}},
    ]

    answer = await call("message/sendSMS", sms_body(content="#{a}", receivers=receivers))

    assert summarize_refusal(answer) == (
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
    assert await list_messages(call) == []


async def test_at_most_a_hundred_bad_receivers_are_named(call: Caller) -> None:
    answer = await call("message/sendSMS", sms_body(*["119"] * 150))

    assert [error["field"] for error in answer.body["errors"]] == [
        f"receivers[{index}].phoneNumber" for index in range(100)
    ]


@pytest.mark.parametrize(
    ("receivers", "result"),
    [
        ([], "MISSING_PARAMETER"),
        (None, "MISSING_PARAMETER"),
        ({}, "INVALID_PARAMETER"),
        ("010-1234-5678", "INVALID_PARAMETER"),
        (receivers_of(*[PHONE] * 1000), "SUCCESS"),
        (receivers_of(*[PHONE] * 1001), "TOO_MANY_RECEIVERS"),
    ],
)
async def test_request_has_one_to_a_thousand_receivers(call: Caller, receivers: Any, result: str) -> None:
    answer = await call("message/sendSMS", sms_body(receivers=receivers))

    assert answer.result == result
    if result != "SUCCESS":
        assert summarize_refusal(answer).errors == {"receivers": result}


@pytest.mark.parametrize(
    ("sender", "result"),
    [
        ("1588-0000", "SUCCESS"),
        ("119", "INVALID_PHONE_NUMBER"),
        ("", "MISSING_PARAMETER"),
        (212345678, "INVALID_PARAMETER"),
    ],
)
async def test_sender_must_be_a_valid_sender_number(call: Caller, sender: Any, result: str) -> None:
    answer = await call("message/sendSMS", sms_body(sender=sender))

    assert answer.result == result
    if result != "SUCCESS":
        assert summarize_refusal(answer).errors == {"sender": result}
