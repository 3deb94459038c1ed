"""Parameters and paging of the history."""

from typing import Any
from urllib.parse import urlencode

import pytest

from tests.fixtures.cases import with_each
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import PHONE, call_ok, call_raw, send_varied_messages, sms_body

FORM = {"content-type": "application/x-www-form-urlencoded"}


async def test_alias_receiver_finds_the_same(env: Environment) -> None:
    call, by_content = await send_varied_messages(env)

    found = await call("message/list", {"receiver": PHONE})
    both = await call("message/list", {"receivers": PHONE, "receiver": PHONE})

    assert found.body["totalCount"] == both.body["totalCount"] == len(by_content)


async def test_parameters_may_come_in_the_body_the_query_or_a_form(env: Environment) -> None:
    given = {"receivers": "010-1234-5678", "pageSize": 2, "page": 2, "messageProductType": "", "unknown": "1"}
    call, _ = await send_varied_messages(env)
    in_body = {name: value for name, value in given.items() if value != ""}

    answers = [
        await call("message/list", in_body),
        await call("message/list", query=given),
        await call("message/list", urlencode(given).encode(), headers=FORM),
        await call("message/list", {"receivers": PHONE}, query={"pageSize": 2, "page": 2}),
        await call("message/list", {**in_body}, query=given),
        await call("message/list", urlencode(given).encode(), headers=FORM, query=given),
    ]

    for answer in answers:
        assert [each["content"] for each in answer.items] == ["알림", "긴 문자"]


@with_each(
    ("content_type", "body", "query"),
    [
        ("application/json", b'{"receivers": "010-1234-5678"}', b"receivers=010-1111-1111"),
        ("application/json", b'{"receivers": "010-1234-5678", "page": 1}', b"page=2"),
        ("application/json", b"", b"receivers=010-1234-5678&receivers=010-1111-1111"),
        (FORM["content-type"], b"receivers=010-1234-5678&receivers=010-1111-1111", b""),
        (FORM["content-type"], b"receivers=010-1234-5678", b"receivers=010-1111-1111"),
        ("application/json", b"", b"receivers=010-1234-5678&page=x"),
        ("application/json", b"", b"receivers=010-1234-5678&page=1e1"),
        ("application/json", b"", b"receivers=%FF"),
        ("application/json", b"", b"receivers=010-1234-5678" + b"&a=1" * 100),
        (FORM["content-type"], b"receivers=%FF", b""),
        (FORM["content-type"], "receivers=가".encode(), b""),
    ],
)
async def test_conflicting_or_unreadable_parameters_are_refused(
    env: Environment, call: Caller, content_type: str, body: bytes, query: bytes
) -> None:
    headers = [("apiKey", str(call.key)), ("Content-Type", content_type)]

    answer, _ = await call_raw(env, "/api/message/list.v1.0", headers=headers, chunks=[body], query=query)

    assert answer.result == "INVALID_PARAMETER"


async def test_repeated_equal_value_counts_once(env: Environment, call: Caller) -> None:
    headers = [("apiKey", str(call.key))]

    answer, _ = await call_raw(
        env,
        "/api/message/list.v1.0",
        headers=headers,
        chunks=[b'{"receivers": "010-1234-5678", "page": 1}'],
        query=b"receivers=010-1234-5678&page=1&page=1",
    )

    assert answer.result == "SUCCESS"


@pytest.mark.parametrize(
    ("paging", "expected"),
    [
        ({}, {"resultCount": 10, "pageSize": 10, "pageCount": 3, "currentPage": 1}),
        ({"page": None, "pageSize": None}, {"resultCount": 10, "pageSize": 10, "pageCount": 3, "currentPage": 1}),
        ({"page": 3}, {"resultCount": 5, "pageSize": 10, "pageCount": 3, "currentPage": 3}),
        ({"page": 4}, {"resultCount": 0, "pageSize": 10, "pageCount": 3, "currentPage": 4}),
        (
            {"page": 1_000_000, "pageSize": 1000},
            {"resultCount": 0, "pageSize": 1000, "pageCount": 1, "currentPage": 1_000_000},
        ),
        ({"pageSize": 25}, {"resultCount": 25, "pageSize": 25, "pageCount": 1, "currentPage": 1}),
        ({"pageSize": 1, "page": 25}, {"resultCount": 1, "pageSize": 1, "pageCount": 25, "currentPage": 25}),
    ],
)
async def test_history_is_paged(call: Caller, paging: dict[str, Any], expected: dict[str, int]) -> None:
    await call_ok(call, "message/sendSMS", sms_body(*[PHONE] * 25))

    answer = await call("message/list", {"receivers": PHONE, **paging})

    assert len(answer.items) == expected["resultCount"]
    assert {name: answer.body[name] for name in expected} == expected
    assert answer.body["totalCount"] == 25


async def test_empty_history_has_no_pages(call: Caller) -> None:
    answer = await call("message/list", {"receivers": PHONE})

    assert answer.items == []
    assert [answer.body[name] for name in ("totalCount", "resultCount", "pageCount", "currentPage")] == [
        0,
        0,
        0,
        1,
    ]
