"""The simulator: numbers with fixed outcomes, and the messages of simulated phones."""

from typing import Any

import pytest

from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import (
    PHONE,
    call_ok,
    sms_body,
    summarize_refusal,
)


async def test_phone_lists_its_messages_newest_first_in_pages(env: Environment, call: Caller) -> None:
    for text in ("하나", "둘", "셋"):
        await call_ok(call, "message/sendSMS", sms_body(content=text))
        await env.wait(2)

    whole = await call("simulator/phone", query={"phoneNumber": PHONE})
    page = await call("simulator/phone", query={"phoneNumber": "01012345678", "page": 2, "pageSize": 2})
    beyond = await call("simulator/phone", query={"phoneNumber": PHONE, "page": 3, "pageSize": 2})

    assert [each["content"] for each in whole.items] == ["셋", "둘", "하나"]
    assert whole.items[0]["time"] == "2026-11-15 12:00:04"
    assert [each["content"] for each in page.items] == ["하나"]
    assert [page.body[name] for name in ("totalCount", "pageCount", "currentPage")] == [3, 2, 2]
    assert beyond.items == []


@pytest.mark.parametrize(
    ("query", "result", "field"),
    [
        ({}, "MISSING_PARAMETER", "phoneNumber"),
        ({"phoneNumber": "119"}, "INVALID_PHONE_NUMBER", "phoneNumber"),
        ({"phoneNumber": "02-123-4567"}, "INVALID_PHONE_NUMBER", "phoneNumber"),
        ({"phoneNumber": PHONE, "page": 0}, "INVALID_PARAMETER", "page"),
        ({"phoneNumber": PHONE, "pageSize": 1001}, "INVALID_PARAMETER", "pageSize"),
    ],
)
async def test_phone_needs_a_mobile_number(call: Caller, query: dict[str, Any], result: str, field: str) -> None:
    answer = await call("simulator/phone", query=query)

    assert summarize_refusal(answer) == (result, {field: result})
