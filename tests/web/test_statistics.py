"""Statistics: numbers of messages by hour, day or month, and by what they have in common."""

from typing import Any

from tests.fixtures.cases import once, with_each
from tests.fixtures.console import signed_in_browser
from tests.fixtures.console_send import send
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import (
    PHONE,
    SENDER,
    alimtalk_body,
    approve_template,
    call_ok,
    register_channel,
    sms_body,
    summarize_refusal,
)

REJECTED, NO_USER = "010-0000-0001", "010-0000-0003"
TODAY = {"from": "2026-11-15"}


async def send_messages(env: Environment) -> Caller:
    """Send two texts at 12:00, one of which is rejected, and at 13:30 two Alimtalk, one of which has a fallback."""
    call = await env.caller()
    sender_key = await register_channel(call)
    await approve_template(call, sender_key)
    await call_ok(call, "message/sendSMS", sms_body(PHONE, REJECTED))
    await env.wait(5)
    env.world.move_clock(90 * 60)
    resend = {"resend": True, "resendPhoneNumber": "02-9999-0000"}
    await call_ok(call, "message/sendAlimtalk", alimtalk_body(sender_key, PHONE, NO_USER, **resend))
    await env.wait(5)
    return call


async def list_statistics(call: Caller, **query: str) -> list[dict[str, Any]]:
    """Return the rows of a query."""
    return list((await call_ok(call, "statistics/list", query={**TODAY, **query})).items)


def brief(row: dict[str, Any], *names: str) -> tuple[Any, ...]:
    """Return some values of a row; of labelled ones, the value."""
    return tuple(
        value["value"] if isinstance(value, dict) and "value" in value else value
        for value in (row.get(name) for name in names)
    )


async def test_without_groups_a_day_is_one_row_with_all_numbers(env: Environment) -> None:
    call = await send_messages(env)

    answer = await call_ok(call, "statistics/list", query=TODAY)

    assert answer.items == [
        {
            "date": "2026-11-15 00:00:00",
            "count": 5,
            "counts": {"waiting": 0, "sending": 0, "completed": 3, "fail": 2, "cancel": 0},
            "deliveredShare": 0.6,
            "fallbacks": 1,
            "reached": 3,
            "reachedShare": 0.75,
        }
    ]
    assert answer.body["item"]["countedDate"].startswith("2026-11-15 13:3")
    assert (answer.body["totalCount"], answer.body["pageCount"]) == (1, 1)


@with_each(
    ("group", "rows"),
    [
        ("product", [("sms", 3), ("alimTalk", 2)]),
        ("status", [("completed", 3), ("fail", 2)]),
        ("resultCode", [("1000", 3), ("3003", 1), ("3019", 1)]),
        ("templateCode", [(None, 3), ("T1", 2)]),
        ("sender", [("02-1234-5678", 2), ("02-9999-0000", 1), ("@shop", 2)]),
        ("carrier", [("simulator", 5)]),
    ],
)
async def test_messages_are_counted_by_each_group(
    env: Environment, group: str, rows: list[tuple[str | None, int]]
) -> None:
    call = await once(env, send_messages)

    found = await list_statistics(call, groupBy=group)

    assert {brief(row, group, "count") for row in found} == set(rows)


async def test_keys_are_named_and_console_sends_have_a_user(env: Environment) -> None:
    call = await send_messages(env)
    browser = await signed_in_browser(env)
    await send(browser, {"kind": "sms", "sender": SENDER, "content": "안녕", "receivers": PHONE})
    await env.wait(70)

    by_console, by_key = await list_statistics(call, groupBy="key,user")

    assert (by_key["count"], by_console["count"]) == (5, 1)
    assert by_key["key"]["value"].isdigit()
    assert by_key["key"]["label"]
    assert "user" not in by_key
    assert "key" not in by_console
    assert by_console["user"]["label"] == "owner-of-acme"


@with_each(
    ("query", "rows"),
    [
        ({"interval": "hour"}, [("2026-11-15 12:00:00", 2, 1), ("2026-11-15 13:00:00", 3, 2)]),
        ({"interval": "day"}, [("2026-11-15 00:00:00", 5, 3)]),
        ({"interval": "month"}, [("2026-11-01 00:00:00", 5, 3)]),
        ({"interval": "hour", "from": "2026-11-15 13:10"}, [("2026-11-15 13:00:00", 3, 2)]),
        ({"interval": "hour", "to": "2026-11-15 12:59"}, [("2026-11-15 12:00:00", 2, 1)]),
        ({"from": "20261114", "to": "20261114"}, []),
        ({"from": "2026-11-14", "to": "2026-11-16"}, [("2026-11-15 00:00:00", 5, 3)]),
        ({"from": "2027-01-01"}, []),
        ({"from": "9999-12-31"}, []),
        ({"from": "2025-01-01", "interval": "month"}, [("2026-11-01 00:00:00", 5, 3)]),
    ],
)
async def test_periods_are_whole_hours_days_or_months(
    env: Environment, query: dict[str, str], rows: list[tuple[str, int, int]]
) -> None:
    call = await once(env, send_messages)

    found = await list_statistics(call, **query)

    assert [brief(row, "date", "count", "reached") for row in found] == rows


async def test_groups_combine_and_pages_follow_each_other(env: Environment) -> None:
    call = await send_messages(env)
    query = {"groupBy": "product, status ,resultCode", "interval": "hour"}

    every = await list_statistics(call, **query)
    pages = [await list_statistics(call, **query, pageSize="2", page=str(page)) for page in (1, 2, 3, 4)]

    names = ("date", "product", "status", "resultCode", "count", "reached", "fallbacks")
    assert [brief(row, *names) for row in every] == [
        ("2026-11-15 12:00:00", "sms", "completed", "1000", 1, 1, 0),
        ("2026-11-15 12:00:00", "sms", "fail", "3003", 1, 0, 0),
        ("2026-11-15 13:00:00", "sms", "completed", "1000", 1, 0, 1),
        ("2026-11-15 13:00:00", "alimTalk", "completed", "1000", 1, 1, 0),
        ("2026-11-15 13:00:00", "alimTalk", "fail", "3019", 1, 1, 0),
    ]
    assert [row for page in pages for row in page] == every
    assert [len(page) for page in pages] == [2, 2, 1, 0]


@with_each(
    ("query", "result", "field"),
    [
        ({}, "MISSING_PARAMETER", "from"),
        ({"from": ""}, "MISSING_PARAMETER", "from"),
        ({"from": "today"}, "INVALID_DATE", "from"),
        ({"from": "2026-11-01~2026-11-15"}, "INVALID_DATE", "from"),
        ({**TODAY, "to": "x"}, "INVALID_DATE", "to"),
        ({**TODAY, "to": "2026-11-14"}, "INVALID_DATE", "to"),
        ({**TODAY, "interval": "week"}, "INVALID_PARAMETER", "interval"),
        ({**TODAY, "groupBy": "receiver"}, "INVALID_PARAMETER", "groupBy"),
        ({**TODAY, "groupBy": "product,product"}, "INVALID_PARAMETER", "groupBy"),
        ({**TODAY, "groupBy": "product,status,key,carrier"}, "INVALID_PARAMETER", "groupBy"),
        ({**TODAY, "groupBy": "product," * 1000 + "x"}, "INVALID_PARAMETER", "groupBy"),
        ({"from": "2026-10-14", "interval": "hour"}, "INVALID_DATE", "from"),
        ({"from": "2026-08-01"}, "INVALID_DATE", "from"),
        ({"from": "2026-08-01", "to": "2026-08-02", "interval": "hour"}, "INVALID_DATE", "from"),
        ({"from": "2016-01-01", "interval": "month"}, "INVALID_DATE", "from"),
        ({"from": "0001-01-01", "interval": "month"}, "INVALID_DATE", "from"),
        ({**TODAY, "page": "0"}, "INVALID_PARAMETER", "page"),
        ({**TODAY, "pageSize": "1001"}, "INVALID_PARAMETER", "pageSize"),
    ],
)
async def test_statistics_of_a_wrong_query_are_refused(
    call: Caller, query: dict[str, str], result: str, field: str
) -> None:
    answer = await call("statistics/list", query=query)

    assert summarize_refusal(answer) == (result, {field: result})
