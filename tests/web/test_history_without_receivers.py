"""The history without a receiver: by request, by message and by period, page after page by cursor."""

from typing import Any

from pabal.service.history.history import MAX_TOTAL
from tests.fixtures.cases import once, with_each
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import PHONE, call_ok, list_messages, send_varied_messages, sms_body, summarize_refusal

TODAY = {"requestDate": "2026-11-15"}


async def follow_cursors(call: Caller, body: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """Return all messages of a search, page after page, and the answers."""
    answers = [await call_ok(call, "message/list", body)]
    while cursor := answers[-1].body.get("nextCursor"):
        answers.append(await call_ok(call, "message/list", {**body, "cursor": cursor}))
    return [each for answer in answers for each in answer.items], [answer.body for answer in answers]


@with_each(
    ("filters", "texts"),
    [
        ({}, ["나중", "친구", "알림", "긴 문자", "긴 문자", "문자"]),
        ({"messageProductType": "sms"}, ["나중", "문자"]),
        ({"sendingStatus": "completed"}, ["친구", "알림", "긴 문자", "긴 문자", "문자"]),
        ({"sendingStatus": "fail"}, []),
        ({"channelId": "@shop"}, ["알림"]),
        ({"templateCode": "T1"}, ["알림"]),
        ({"yyyyMM": "202612"}, ["나중"]),
        ({"scheduledDate": "2026-12-01"}, ["나중"]),
        ({"completeDate": "2026-11-15 12:02"}, ["알림"]),
        ({"requestDate": "2026-11-15 12:01"}, ["긴 문자", "긴 문자"]),
        ({"requestDate": "2026-11-15 12:03~"}, ["나중", "친구"]),
        ({"requestDate": "2026-10-16~2026-11-15"}, ["나중", "친구", "알림", "긴 문자", "긴 문자", "문자"]),
        ({"requestDate": "2026-11-16"}, []),
        ({"requestId": "no-such-id"}, []),
        ({"messageId": "0" * 32}, []),
    ],
)
@with_each("page_size", [1, 2, 100])
async def test_messages_of_a_period_are_found_page_by_page(
    env: Environment, filters: dict[str, str], texts: list[str], page_size: int
) -> None:
    call, _ = await once(env, send_varied_messages)

    found, answers = await follow_cursors(call, {**TODAY, **filters, "pageSize": page_size})

    assert [each["content"] for each in found] == texts
    assert {answer["totalCount"] for answer in answers} == {len(texts)}
    assert [answer["currentPage"] for answer in answers] == [*range(1, len(answers) + 1)]
    assert not any("totalCountIsCapped" in answer for answer in answers)


async def test_requests_and_messages_are_found_by_their_ids_alone(env: Environment) -> None:
    call, by_content = await send_varied_messages(env)
    sent = by_content["긴 문자"]

    (whole, _), (one, _), (outside, _) = [
        await follow_cursors(call, body)
        for body in (
            {"requestId": sent["requestId"], "pageSize": 1},
            {"messageId": sent["messageId"]},
            {"requestId": sent["requestId"], "requestDate": "2026-01-01~2026-06-30"},
        )
    ]

    assert [each["receiver"] for each in whole] == ["010-8888-8888", PHONE]
    assert one == [sent]
    assert outside == []


@with_each(
    ("body", "result", "field"),
    [
        ({}, "MISSING_PARAMETER", "receivers"),
        ({"receivers": "", "receiver": ""}, "MISSING_PARAMETER", "receivers"),
        ({"sendingStatus": "fail"}, "MISSING_PARAMETER", "receivers"),
        ({"scheduledDate": "2026-11-15"}, "MISSING_PARAMETER", "receivers"),
        ({"completeDate": "2026-11-15"}, "MISSING_PARAMETER", "receivers"),
        ({"yyyyMM": "202611"}, "MISSING_PARAMETER", "receivers"),
        ({"requestDate": "2026-10-15~2026-11-15"}, "INVALID_DATE", "requestDate"),
        ({"requestDate": "2026-10-01~"}, "INVALID_DATE", "requestDate"),
        ({"requestDate": "~2026-11-15"}, "INVALID_DATE", "requestDate"),
        ({"requestDate": "yesterday"}, "INVALID_DATE", "requestDate"),
        ({**TODAY, "page": 2}, "INVALID_PARAMETER", "page"),
        ({**TODAY, "cursor": "next"}, "INVALID_PARAMETER", "cursor"),
        ({**TODAY, "cursor": "0" * 51}, "INVALID_PARAMETER", "cursor"),
        ({**TODAY, "cursor": "0" * 54}, "INVALID_PARAMETER", "cursor"),
        ({**TODAY, "cursor": "F" * 52}, "INVALID_PARAMETER", "cursor"),
        ({**TODAY, "cursor": ""}, "INVALID_PARAMETER", "cursor"),
        ({**TODAY, "pageSize": 1001}, "INVALID_PARAMETER", "pageSize"),
        ({"receivers": PHONE, "cursor": "f" * 44}, "INVALID_PARAMETER", "cursor"),
    ],
)
async def test_search_without_a_bound_or_with_a_wrong_cursor_is_refused(
    call: Caller, body: dict[str, Any], result: str, field: str
) -> None:
    answer = await call("message/list", body)

    assert summarize_refusal(answer) == (result, {field: result})


async def test_totals_above_the_limit_are_capped_with_and_without_receivers(env: Environment, call: Caller) -> None:
    for _ in range(MAX_TOTAL // 1000):
        await call_ok(call, "message/sendSMS", sms_body(*[PHONE] * 1000))
    searches: list[dict[str, Any]] = [{"receivers": PHONE, "pageSize": 1000}, {**TODAY, "pageSize": 1000}]

    exact = [await call_ok(call, "message/list", body) for body in searches]
    await call_ok(call, "message/sendSMS", sms_body(PHONE, content="one more"))
    await env.wait(11)  # a large total is remembered for ten seconds
    capped = [await call_ok(call, "message/list", body) for body in searches]
    beyond = await call_ok(call, "message/list", {**searches[0], "page": 11})
    every, answers = await follow_cursors(call, searches[1])

    for answer in exact:
        assert (answer.body["totalCount"], answer.body.get("totalCountIsCapped")) == (MAX_TOTAL, None)
    for answer in (*capped, beyond):
        assert (answer.body["totalCount"], answer.body["totalCountIsCapped"]) == (MAX_TOTAL, True)
        assert answer.body["pageCount"] == 10
    assert len(beyond.items) == 1
    assert len({each["id"] for each in every}) == MAX_TOTAL + 1
    assert all(answer["totalCountIsCapped"] for answer in answers)


async def test_search_with_receivers_still_has_pages_and_no_cursor(env: Environment) -> None:
    call, by_content = await send_varied_messages(env)

    answer = await call_ok(call, "message/list", {"receivers": PHONE, "pageSize": 2, "page": 2})

    assert len(answer.items) == 2
    assert "nextCursor" not in answer.body
    assert len(await list_messages(call)) == len(by_content)
