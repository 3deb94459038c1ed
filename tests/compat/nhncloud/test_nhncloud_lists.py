"""What NHN Cloud's SMS endpoints show: lists by request, date and name, single texts, results, sender numbers."""

from typing import Any

import pytest

from pabal.domain.base.codes import Code
from pabal.domain.people.phone import NumberState
from pabal.store.accounts import numbers
from tests.fixtures.cases import once, with_each
from tests.fixtures.nhncloud_calls import SENDER, SETTINGS, NhnCaller, nhn_caller
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import set_clock

pytestmark = pytest.mark.settings(**SETTINGS)
PHONE, UNASSIGNED = "01012345678", "01000000001"
TODAY = {"startRequestDate": "2026-11-16 00:00:00", "endRequestDate": "2026-11-16 23:59:59"}
CREATED = {name.replace("Request", "Create"): value for name, value in TODAY.items()}
UPDATED = {name.replace("Request", "Update"): value for name, value in TODAY.items()}


async def prepare(env: Environment) -> tuple[NhnCaller, dict[str, Any]]:
    """Return a caller that has sent a text to two numbers at noon, and what it was answered."""
    set_clock(env, "2026-11-16 12:00")
    caller = await nhn_caller(env)
    named = {"recipientNo": PHONE, "recipientGroupingKey": "member 1"}
    data = await caller.send("sms", named, UNASSIGNED, senderGroupingKey="batch 1", userId="tester")
    await env.wait(60)
    return caller, data


async def refusal(caller: NhnCaller, path: str, **query: Any) -> int:
    answer = await caller("GET", path, query=query)
    assert answer.body["header"]["isSuccessful"] is False
    return int(answer.body["header"]["resultCode"])


async def test_row_has_all_documented_fields(env: Environment) -> None:
    caller, data = await prepare(env)
    failed, delivered = await caller.list("sms", requestId=data["requestId"])
    dates = {name: delivered.pop(name) for name in ("requestDate", "resultDate")}

    assert all(value.startswith("2026-11-16 12:00:") and value[-2] == "." for value in dates.values())
    assert delivered == {
        "requestId": data["requestId"],
        "templateId": None,
        "templateName": None,
        "categoryId": None,
        "categoryName": None,
        "body": "안녕하세요",
        "sendNo": SENDER,
        "countryCode": "82",
        "recipientNo": PHONE,
        "msgStatus": "3",
        "msgStatusName": "성공",
        "resultCode": "1000",
        "resultCodeName": "성공",
        "telecomCode": None,
        "telecomCodeName": None,
        "recipientSeq": 1,
        "sendType": "0",
        "messageType": "SMS",
        "messageCount": 1,
        "userId": "tester",
        "adYn": "N",
        "resultMessage": "",
        "senderGroupingKey": "batch 1",
        "recipientGroupingKey": "member 1",
    }
    assert [failed[name] for name in ("msgStatus", "resultCode", "recipientGroupingKey")] == ["0", "3003", None]


@with_each(
    ("query", "found"),
    [
        (TODAY, 2),
        (CREATED, 2),
        ({**TODAY, "startCreateDate": "2020-01-01 00:00:00", "endCreateDate": "2020-01-02 00:00:00"}, 0),
        ({**TODAY, "recipientNo": "010-1234-5678"}, 1),
        ({**TODAY, "recipientNo": "nobody"}, 0),
        ({**TODAY, "sendNo": "02-1234-5678"}, 2),
        ({**TODAY, "sendNo": "0299999999"}, 0),
        ({**TODAY, "msgStatus": "3"}, 1),
        ({**TODAY, "msgStatus": "0"}, 1),
        ({**TODAY, "msgStatus": "6"}, 0),
        ({**TODAY, "msgStatus": "5"}, 0),
        ({**TODAY, "resultCode": "MTR2"}, 1),
        ({**TODAY, "resultCode": "MTR1", "msgStatus": "0"}, 0),
        ({**TODAY, "senderGroupingKey": "batch 1"}, 2),
        ({**TODAY, "senderGroupingKey": "batch 2"}, 0),
        ({**TODAY, "recipientGroupingKey": "member 1"}, 1),
        ({**TODAY, "recipientGroupingKey": "member 2"}, 0),
        ({**CREATED, "senderGroupingKey": "batch 1", "recipientGroupingKey": "member 1"}, 1),
        ({**TODAY, "startResultDate": "2026-11-16 13:00:00", "endResultDate": "2026-11-16 14:00:00"}, 0),
        ({**TODAY, "templateId": "T1"}, 0),
        ({**TODAY, "receiverRegion": "INTERNATIONAL"}, 0),
        ({**TODAY, "receiverRegion": "DOMESTIC", "countryCode": "82"}, 2),
        ({"requestId": "x"}, 0),
    ],
)
async def test_list_is_filtered(env: Environment, query: dict[str, str], found: int) -> None:
    caller, _ = await once(env, prepare)

    assert len(await caller.list("sms", **query)) == found


async def test_pages_show_every_row_once(env: Environment) -> None:
    caller, _ = await prepare(env)
    await caller.send(
        "sms", *[f"010{number:08}" for number in range(20_000_000, 20_000_033)], senderGroupingKey="b"
    )
    pages = [
        (await caller("GET", "sender/sms", query={**TODAY, "pageNum": number, "pageSize": 20})).body["body"]
        for number in (1, 2, 3)
    ]
    default = (await caller("GET", "sender/sms", query=TODAY)).body["body"]
    rows = [(row["requestId"], row["recipientSeq"]) for page in pages for row in page["data"]]

    assert [(page["pageNum"], page["pageSize"], page["totalCount"]) for page in pages] == [
        (number, 20, 35) for number in (1, 2, 3)
    ]
    assert (len(rows), len(set(rows)), len(default["data"])) == (35, 35, 15)


async def test_calls_of_one_name_are_listed_together(env: Environment) -> None:
    caller, _ = await prepare(env)
    for name in ("batch 1", "batch 2"):
        await caller.send("sms", PHONE, senderGroupingKey=name)

    assert len(await caller.list("sms", senderGroupingKey="batch 1", **TODAY)) == 3


async def test_single_text_is_shown_by_request_and_sequence(env: Environment) -> None:
    caller, data = await prepare(env)
    path = f"sender/sms/{data['requestId']}"
    shown = (await caller("GET", path, query={"recipientSeq": 2})).body["body"]["data"]

    assert (shown["recipientNo"], shown["resultCode"], shown["originCode"]) == (UNASSIGNED, "3003", None)
    assert await refusal(caller, path) == -2012
    assert await refusal(caller, path, recipientSeq="x") == 4
    assert await refusal(caller, path, recipientSeq=3) == -2012
    assert await refusal(caller, "sender/sms/x", recipientSeq=1) == -2008
    assert await refusal(caller, path.replace("sms", "mms"), recipientSeq=1) == -2012


async def test_first_versions_call_the_sequence_by_another_name(env: Environment) -> None:
    caller, data = await prepare(env)
    path, query = f"sender/sms/{data['requestId']}", {"mtPr": 2}
    shown = {
        version: (await caller("GET", path, query=query, root=f"sms/v{version}/appKeys")).body["body"]["data"]
        for version in ("2.2", "2.3", "2.4")
    }

    assert [each["recipientNo"] for each in shown.values()] == [UNASSIGNED] * 3
    assert [each.get("mtPr") for each in shown.values()] == ["2", "2", None]


@with_each(
    ("path", "query", "code"),
    [
        ("sender/sms", {}, -2011),
        ("sender/sms", {"startRequestDate": "2026-11-16 00:00:00"}, -2011),
        ("sender/sms", {**TODAY, "startRequestDate": "2026-11-16T00:00"}, -2000),
        ("sender/sms", {**TODAY, "startRequestDate": "2026-11-17 00:00:00"}, -1005),
        ("sender/sms", {**TODAY, "startRequestDate": "2026-10-01 00:00:00"}, -4000),
        ("sender/sms", {**TODAY, "msgStatus": "9"}, -1005),
        ("sender/sms", {**TODAY, "resultCode": "1000"}, -1005),
        ("sender/sms", {**TODAY, "subResultCode": "MTR2_1"}, -1005),
        ("sender/sms", {**TODAY, "pageSize": "1001"}, 4),
        ("sender/sms", {**TODAY, "pageNum": "0"}, 4),
        ("sendNos", {"pageNum": "x"}, 4),
        ("message-results", {}, -2000),
        ("message-results", {**UPDATED, "endUpdateDate": "2026-11-18 00:00:00"}, -1005),
        ("message-results", {**UPDATED, "messageType": "FAX"}, -1006),
    ],
)
async def test_wrong_query_is_refused(env: Environment, path: str, query: dict[str, str], code: int) -> None:
    assert await refusal(await once(env, nhn_caller), path, **query) == code


async def test_results_are_listed_by_the_time_when_they_became_known(env: Environment) -> None:
    caller, data = await prepare(env)
    await caller.send("auth/sms", PHONE, body="인증번호 123456")
    await caller.send("mms", PHONE, title="제목")
    await env.wait(60)

    async def results(**query: Any) -> list[dict[str, Any]]:
        answer = await caller("GET", "message-results", query={**UPDATED, "pageSize": 1000, **query})
        rows: list[dict[str, Any]] = answer.body["body"]["data"]
        assert answer.body["body"]["totalCount"] == len(rows)
        return rows

    rows = await results()
    earlier = await results(endUpdateDate="2026-11-16 12:00:59")
    by_type = {each: len(await results(messageType=each)) for each in ("SMS", "LMS", "MMS", "AUTH")}

    assert (len(rows), len(earlier)) == (4, 2)
    assert by_type == {"SMS": 2, "LMS": 1, "MMS": 0, "AUTH": 1}
    assert {(row["requestId"], row["recipientSeq"], row["resultCode"]) for row in earlier} == {
        (data["requestId"], 1, "1000"),
        (data["requestId"], 2, "3003"),
    }
    assert {row["senderGroupingKey"] for row in earlier} == {"batch 1"}
    assert all(row["updateDate"] >= row["resultDate"][:19] for row in rows)


async def test_pages_of_results_show_every_one_once(env: Environment) -> None:
    caller, _ = await prepare(env)
    await caller.send("sms", *[f"010{number:08}" for number in range(20_000_000, 20_000_023)])
    await env.wait(60)
    pages = [
        (await caller("GET", "message-results", query={**UPDATED, "pageNum": number, "pageSize": 10})).body["body"]
        for number in (1, 2, 3)
    ]
    rows = {(row["requestId"], row["recipientSeq"]) for page in pages for row in page["data"]}

    assert ([len(page["data"]) for page in pages], len(rows)) == ([10, 10, 5], 25)


async def test_sender_numbers_are_those_of_the_account(env: Environment) -> None:
    caller = await nhn_caller(env)
    account_id, now = await env.account_id(), env.world.now()
    await env.store.write(numbers.add, account_id, "0212345678", now)
    await env.store.write(numbers.add, account_id, "0212345679", now, NumberState.PENDING)

    async def shown(**query: str) -> list[tuple[str, str]]:
        rows = (await caller("GET", "sendNos", query=query)).body["body"]["data"]
        return [(row["sendNo"], row["useYn"]) for row in rows]

    assert await shown() == [("0212345678", "Y"), ("0212345679", "N")]
    assert await shown(useYn="Y") == await shown(sendNo="0212345678") == [("0212345678", "Y")]
    assert await shown(blockYn="Y") == []


async def test_digits_of_a_code_are_hidden_once_it_has_ended(env: Environment) -> None:
    set_clock(env, "2026-11-16 12:00")
    caller = await nhn_caller(env)
    data = await caller.send("auth/sms", PHONE, body="인증번호 123456")
    await env.wait(60)
    (row,) = await caller.list("auth/sms", requestId=data["requestId"])

    assert row["body"] == "인증번호 ••••••"


async def test_erased_number_leaves_no_name_behind(env: Environment, call: Caller) -> None:
    caller, data = await prepare(env)
    erased = await call("privacy/erase", {"phoneNumber": PHONE})
    await env.wait(60)
    rows = await caller.list("sms", requestId=data["requestId"])
    names = await env.store.read(lambda tx: tx.fetch_all("select count(*) from compat_names"))

    assert erased.body["result"] == Code.SUCCESS.name
    assert [row["recipientGroupingKey"] for row in rows] == [None, None]
    assert (names[0][0], await caller.list("sms", recipientGroupingKey="member 1", **TODAY)) == (0, [])
