"""What NHN Cloud's endpoints of KakaoTalk tell of messages: lists, single messages, results, cancelling."""

from typing import Any

import pytest

from pabal.carriers.nhncloud.codes import outcome_of
from pabal.compat.nhncloud.talk.codes import result_code, result_name
from pabal.domain.sends.message import Outcome
from tests.fixtures.nhncloud_calls import (
    NOT_A_USER,
    SENDER,
    SETTINGS,
    TalkCaller,
    day,
    find_undocumented,
    rows_of,
    talk_caller,
)
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import approve_template

pytestmark = pytest.mark.settings(**SETTINGS)
RESEND = {"isResend": True, "resendSendNo": SENDER, "resendContent": "대신 보내는 문자"}


async def prepare(env: Environment, call: Caller, sender_key: str) -> tuple[TalkCaller, dict[str, Any]]:
    """Return a caller, and the fields of an Alimtalk with one variable."""
    await approve_template(call, sender_key, templateCode="T2", content="#{name}님의 인증번호")
    return await talk_caller(env), {"senderKey": sender_key, "templateCode": "T2"}


def recipient(number: str, name: str = "길동", **fields: Any) -> dict[str, Any]:
    return {"recipientNo": number, "templateParameter": {"name": name}, **fields}


async def test_numbers_of_recipients_survive_refusals_and_splits(
    env: Environment, call: Caller, sender_key: str
) -> None:
    caller, template = await prepare(env, call, sender_key)
    recipients = [
        recipient("123"),
        recipient("01010000002", "둘", recipientGroupingKey="second"),
        recipient(NOT_A_USER, "셋", resendParameter=RESEND),
        recipient("01010000004", "넷"),
    ]
    body = {**template, "recipientList": recipients, "senderGroupingKey": "group", "createUser": "me"}
    sent = await caller.ok("POST", "messages", body)
    request_id = sent["message"]["requestId"]
    await env.wait(60)
    listed = await caller.ok("GET", "messages", query={"requestId": request_id})
    single = (await caller.ok("GET", f"messages/{request_id}/3"))["message"]
    results = await caller.ok("GET", "message-results", query=day(env, "Update"))

    rows = rows_of(listed)
    assert [(row["recipientSeq"], row["content"], row["resultCode"]) for row in rows] == [
        (2, "둘님의 인증번호", "1000"),
        (3, "셋님의 인증번호", "3019"),
        (4, "넷님의 인증번호", "1000"),
    ]
    assert {(row["requestId"], row["senderGroupingKey"], row["createUser"]) for row in rows} == {
        (request_id, "group", "me")
    }
    assert (rows[0]["recipientGroupingKey"], rows[1]["messageStatus"]) == ("second", "FAILED")
    assert [row["resendStatus"] for row in rows] == ["RSC01", "RSC04", "RSC01"]
    assert (single["recipientNo"], single["resultCode"], single["buttons"]) == (NOT_A_USER, "3019", [])
    assert sorted((row["recipientSeq"], row["resultCode"]) for row in results["messages"]) == [
        (2, "1000"),
        (3, "3019"),
        (4, "1000"),
    ]
    assert await caller.code("GET", f"messages/{request_id}/1") == -1016
    assert find_undocumented("POST", "/alimtalk/v2.3/appkeys/k/raw-messages", sent) == []


FILTERS: list[tuple[dict[str, str], list[int]]] = [
    ({}, [1, 2, 3]),
    ({"recipientNo": "010-1000-0002"}, [2]),
    ({"recipientGroupingKey": "b"}, [2]),
    ({"recipientGroupingKey": "c"}, []),
    ({"senderGroupingKey": "group"}, [1, 2, 3]),
    ({"senderGroupingKey": "other"}, []),
    ({"senderGroupingKey": "other", "recipientGroupingKey": "b"}, []),
    ({"messageStatus": "FAILED"}, [3]),
    ({"resultCode": "MRC01"}, [1, 2]),
    ({"templateCode": "T2"}, [1, 2, 3]),
    ({"templateCode": "T9"}, []),
    ({"senderKey": "x" * 40}, []),
    ({"pageSize": "2"}, [2, 3]),
    ({"pageSize": "2", "pageNum": "2"}, [1]),
    ({"pageSize": "2", "pageNum": "3"}, []),
]


@pytest.mark.parametrize("by", ["Create", "Request"])
async def test_list_is_filtered(env: Environment, call: Caller, sender_key: str, by: str) -> None:
    caller, template = await prepare(env, call, sender_key)
    recipients = [
        recipient("01010000001", recipientGroupingKey="a"),
        recipient("01010000002", recipientGroupingKey="b"),
        recipient(NOT_A_USER),
    ]
    await caller.ok("POST", "messages", {**template, "recipientList": recipients, "senderGroupingKey": "group"})
    await env.wait(60)

    for query, found in FILTERS:
        answer = await caller.ok("GET", "messages", query={**day(env, by), **query})
        assert sorted(row["recipientSeq"] for row in rows_of(answer)) == found, query
        if "pageSize" in query:
            assert answer["messageSearchResultResponse"]["totalCount"] == 3


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({}, -4103),
        ({"startRequestDate": "2026-01-01 00:00"}, -4103),
        ({"startRequestDate": "2026-01-01", "endRequestDate": "2026-01-02"}, -4000),
        ({"startRequestDate": "2026-01-02 00:00", "endRequestDate": "2026-01-01 00:00"}, -4000),
        ({"startRequestDate": "2026-01-01 00:00", "endRequestDate": "2026-03-01 00:00"}, -4003),
        ({"requestId": "x", "pageSize": "1001"}, 4),
        ({"requestId": "x", "pageNum": "0"}, 4),
        ({"requestId": "x", "pageNum": "21", "pageSize": "1000"}, -2005),
        ({"requestId": "x", "recipientNo": "x"}, -5000),
        ({"requestId": "x", "messageStatus": "SOON"}, -4000),
        ({"requestId": "x", "messageStatus": "FAILED", "resultCode": "MRC01"}, -4000),
        ({"requestId": "x", "createUser": "me"}, -4000),
        ({"requestId": "x"}, 0),
    ],
)
async def test_wrong_query_is_refused(env: Environment, query: dict[str, str], code: int) -> None:
    assert await (await talk_caller(env)).code("GET", "messages", query=query) == code


@pytest.mark.parametrize("query", [{}, {"startUpdateDate": "2026-01-01 00:00"}])
async def test_results_need_a_period(env: Environment, query: dict[str, str]) -> None:
    assert await (await talk_caller(env)).code("GET", "message-results", query=query) == -2001


async def test_codes_are_listed_apart(env: Environment, call: Caller, sender_key: str) -> None:
    caller, template = await prepare(env, call, sender_key)
    await caller.ok("POST", "messages", {**template, "recipientList": [recipient("01010000001")]})
    codes = [recipient(f"010200000{number:02}", "1234") for number in range(12)]
    sent = await caller.ok("POST", "auth/messages", {**template, "recipientList": codes})
    await env.wait(60)
    by_kind = {
        kind: await caller.ok("GET", "message-results", query={**day(env, "Update"), "alimtalkMessageType": kind})
        for kind in ("AUTH", "NORMAL")
    }
    listed = await caller.ok("GET", "auth/messages", query=day(env, "Create"))
    counted = await caller.ok("GET", "message-results/count", query=day(env, "Update"))

    rows = rows_of(await caller.ok("GET", "auth/messages", query={"requestId": sent["message"]["requestId"]}))
    assert [row["recipientSeq"] for row in rows] == list(range(1, 13))
    assert {row["content"] for row in rows} == {"••••님의 인증번호"}
    assert {kind: len(answer["messages"]) for kind, answer in by_kind.items()} == {"AUTH": 12, "NORMAL": 1}
    assert (listed["messageSearchResultResponse"]["totalCount"], counted["totalCount"]) == (12, 13)
    assert len(rows_of(await caller.ok("GET", "messages", query=day(env, "Create")))) == 1


async def test_scheduled_messages_are_cancelled_by_number(env: Environment, call: Caller, sender_key: str) -> None:
    caller, template = await prepare(env, call, sender_key)
    recipients = [recipient("1"), *(recipient(f"0101000000{number}") for number in range(1, 4))]
    tomorrow = day(env, "Request", 1)["startRequestDate"]
    sent = await caller.ok("POST", "messages", {**template, "requestDate": tomorrow, "recipientList": recipients})
    path = f"messages/{sent['message']['requestId']}"
    await caller.ok("DELETE", path, query={"recipientSeq": "2,4"})
    again = await caller.code("DELETE", path, query={"recipientSeq": "1,2"})
    listed = await caller.ok("GET", "messages", query=day(env, "Request", 1))

    assert again == -2029
    assert sorted((row["recipientSeq"], row["messageStatus"]) for row in rows_of(listed)) == [
        (2, "CANCEL"),
        (3, "READY"),
        (4, "CANCEL"),
    ]
    await caller.ok("DELETE", path)
    assert await caller.code("DELETE", path) == await caller.code("DELETE", "messages/x") == -2029


NEAREST = {"3008", "3018", "3020", "4131", "4143", "9999"}
"""Codes that stand for outcomes which NHN Cloud does not tell apart."""


@pytest.mark.parametrize("outcome", Outcome)
def test_results_are_read_by_our_carrier_as_they_were_meant(outcome: Outcome) -> None:
    code = result_code(outcome)

    assert outcome_of(code, is_text=False) is outcome or code in NEAREST
    assert result_name(code)


async def test_templates_are_found_by_their_name(env: Environment, call: Caller, sender_key: str) -> None:
    caller, _ = await prepare(env, call, sender_key)
    await approve_template(call, sender_key, templateCode="T3", name="완료")
    path = f"senders/{sender_key}/templates"
    found = [
        (await caller.ok("GET", path, query={"templateName": name}))["templateListResponse"]["templates"]
        for name in ("완료", "없음")
    ]

    assert [[each["templateCode"] for each in rows] for rows in found] == [["T3"], []]
