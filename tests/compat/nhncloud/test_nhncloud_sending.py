"""What NHN Cloud's SMS endpoints send: in the documented shapes, recipient by recipient, and once for each key."""

import base64
from typing import Any

import pytest

from pabal.domain.sends.account import AccountLimits
from pabal.store.accounts import account_limits
from tests.fixtures.cases import once, with_each
from tests.fixtures.nhncloud_calls import SENDER, SETTINGS, UPLOAD, NhnCaller, nhn_caller
from tests.fixtures.pictures import JPEG
from tests.fixtures.service import count_rows
from tests.fixtures.virtual import Environment
from tests.fixtures.web import set_clock

pytestmark = pytest.mark.settings(**SETTINGS)
PHONE = "01012345678"
AD = "(광고) 세일\n무료거부 080-123-4567"
KEY = "X-NC-API-IDEMPOTENCY-KEY"


async def rows_of(caller: NhnCaller, kind: str, data: dict[str, Any]) -> list[dict[str, Any]]:
    rows = await caller.list(kind, requestId=data["requestId"])
    return sorted(rows, key=lambda row: int(row["recipientSeq"]))


async def test_documented_call_gets_the_documented_answer(env: Environment) -> None:
    caller = await nhn_caller(env)
    body = {
        "body": "본문",
        "sendNo": SENDER,
        "senderGroupingKey": "SenderGroupingKey",
        "recipientList": [
            {"recipientNo": "01000000010", "recipientGroupingKey": "RecipientGroupingKey"},
            {"recipientNo": "01000000011", "templateParameter": {}, "countryCode": "82"},
            {"internationalRecipientNo": "821000000012"},
        ],
        "userId": "UserId",
    }
    answer = await caller("POST", "sender/sms", body)
    data = answer.body["body"]["data"]
    result = {"resultCode": 0, "resultMessage": "SUCCESS"}

    assert answer.body["header"] == {"isSuccessful": True, "resultCode": 0, "resultMessage": "SUCCESS"}
    assert data.pop("requestId").isalnum()
    assert data == {
        "statusCode": "2",
        "senderGroupingKey": "SenderGroupingKey",
        "sendResultList": [
            {
                "recipientNo": "01000000010",
                **result,
                "recipientSeq": 1,
                "recipientGroupingKey": "RecipientGroupingKey",
            },
            {"recipientNo": "01000000011", **result, "recipientSeq": 2, "recipientGroupingKey": None},
            {"recipientNo": "821000000012", **result, "recipientSeq": 3, "recipientGroupingKey": None},
        ],
    }


async def test_request_id_fits_into_their_columns(env: Environment) -> None:
    data = await (await nhn_caller(env)).send("sms", PHONE)

    assert len(data["requestId"]) <= 25


@pytest.mark.parametrize(
    ("kind", "fields", "listed", "shown"),
    [
        ("sms", {}, "sms", ("SMS", "0", "N")),
        ("mms", {"title": "제목"}, "mms", ("LMS", "1", "N")),
        ("auth/sms", {"body": "인증번호 123456"}, "auth/sms", ("AUTH", "2", "N")),
        ("ad-sms", {"body": AD}, "sms", ("SMS", "0", "Y")),
        ("ad-mms", {"body": AD, "title": "세일"}, "mms", ("LMS", "1", "Y")),
    ],
)
async def test_every_kind_arrives_and_is_listed_where_it_belongs(
    env: Environment, kind: str, fields: dict[str, Any], listed: str, shown: tuple[str, ...]
) -> None:
    set_clock(env, "2026-11-16 12:00")
    caller = await nhn_caller(env)
    data = await caller.send(kind, PHONE, **fields)
    await env.wait(60)
    (row,) = await rows_of(caller, listed, data)
    others = [await rows_of(caller, each, data) for each in {"sms", "mms", "auth/sms"} - {listed}]

    assert (row["messageType"], row["sendType"], row["adYn"]) == shown
    assert (row["msgStatus"], row["msgStatusName"], row["resultCode"]) == ("3", "성공", "1000")
    assert others == [[], []]


async def test_attachments_are_sent(env: Environment) -> None:
    caller = await nhn_caller(env)
    first = await caller("POST", "attachfile/binaryUpload", UPLOAD)
    signed = {**UPLOAD, "fileBody": [each - 256 if each > 127 else each for each in JPEG]}
    again = await caller("POST", "attachfile/binaryUpload", signed)
    file_id = first.body["body"]["data"]["fileId"]
    data = await caller.send("mms", PHONE, title="제목", attachFileIdList=[file_id])
    (row,) = await rows_of(caller, "mms", data)

    assert 0 < file_id == again.body["body"]["data"]["fileId"] < 2**31
    assert row["messageType"] == "MMS"


async def test_attachments_are_kept_for_a_week_from_their_last_upload(env: Environment) -> None:
    set_clock(env, "2026-11-01 12:00")
    caller = await nhn_caller(env)
    file_id = (await caller("POST", "attachfile/binaryUpload", UPLOAD)).body["body"]["data"]["fileId"]
    codes = []
    for day in (7, 13, 21):
        set_clock(env, f"2026-11-{day:02} 12:00")
        await env.wait(60)
        sent = await caller.send("mms", PHONE, title="제목", attachFileIdList=[file_id])
        codes.append(sent.get("resultCode", 0))
        if day == 7:
            await caller("POST", "attachfile/binaryUpload", UPLOAD)

    assert codes == [0, 0, -2004]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"fileName": "a.png"}, -2003),
        ({"fileName": ""}, -2002),
        ({"fileName": "a" * 42 + ".jpg"}, -2002),
        ({"createUser": None}, 4),
        ({"fileBody": None}, -2009),
        ({"fileBody": [1000]}, -2009),
        ({"fileBody": "한"}, -2005),
        ({"fileBody": base64.b64encode(JPEG[:-20]).decode()}, -2005),
    ],
)
async def test_bad_upload_is_refused(env: Environment, changes: dict[str, Any], code: int) -> None:
    answer = await (await nhn_caller(env))("POST", "attachfile/binaryUpload", UPLOAD | changes)

    assert answer.body["header"]["resultCode"] == code


async def test_text_is_sent_as_it_is(env: Environment) -> None:
    caller = await nhn_caller(env)
    text = "#{이름} #{#} ##a## {x} #"
    data = await caller.send("sms", PHONE, {"recipientNo": "01000000011", "templateParameter": {}}, body=text)

    assert [row["body"] for row in await rows_of(caller, "sms", data)] == [text, text]


async def test_refused_recipients_are_named_and_the_others_sent(env: Environment) -> None:
    caller = await nhn_caller(env)
    data = await caller.send(
        "sms",
        "0212345678",
        "010-1234-5678",
        {"recipientNo": ""},
        {"recipientNo": "01012345679", "countryCode": "1"},
        {"internationalRecipientNo": "819012345678"},
        {"recipientNo": "01012345670", "recipientGroupingKey": "k" * 101},
        {"recipientNo": "01012345671", "recipientGroupingKey": "k" * 100},
    )
    results = data["sendResultList"]
    rows = await rows_of(caller, "sms", data)

    assert [each["resultCode"] for each in results] == [-2019, 0, -2018, -2044, -2044, 4, 0]
    assert [each["recipientSeq"] for each in results] == [3, 1, 4, 5, 6, 7, 2]
    assert [row["recipientNo"] for row in rows] == ["01012345678", "01012345671"]


async def test_call_whose_recipients_are_all_refused_has_failed(env: Environment) -> None:
    caller = await nhn_caller(env)
    data = await caller.send("sms", "1", "2")

    assert data["statusCode"] == "3"
    assert [each["resultCode"] for each in data["sendResultList"]] == [-2019, -2019]
    assert (await rows_of(caller, "sms", data), await count_rows(env, "messages")) == ([], 0)


@with_each(
    ("kind", "fields", "code"),
    [
        ("sms", {"recipientList": None}, -2001),
        ("sms", {"recipientList": []}, -2001),
        ("sms", {"recipientList": [{"recipientNo": PHONE}] * 1001}, -2016),
        ("sms", {"body": ""}, -2014),
        ("mms", {}, -2014),
        ("mms", {"title": "가" * 21}, -2015),
        ("sms", {"body": "가" * 46}, -2015),
        ("sms", {"body": "#{" + "가" * 45}, -2015),
        ("sms", {"body": "😀"}, -2023),
        ("sms", {"body": "#{a} 😀"}, -2023),
        ("sms", {"sendNo": None}, -2312),
        ("sms", {"sendNo": "123"}, -2312),
        ("sms", {"requestDate": "tomorrow"}, -2000),
        ("sms", {"requestDate": "2020-01-01 10:00"}, -2022),
        ("sms", {"requestDate": "2099-01-01 10:00"}, -2000),
        ("sms", {"templateId": "T1"}, -2110),
        ("sms", {"statsId": "s"}, -2704),
        ("sms", {"useConversion": True}, -2050),
        ("sms", {"attachFileIdList": [1]}, 4),
        ("mms", {"title": "t", "attachFileIdList": [1]}, -2004),
        ("mms", {"title": "t", "attachFileIdList": [2**40]}, -2004),
        ("mms", {"title": "t", "attachFileIdList": [1] * 4}, 4),
        ("sms", {"originCode": "123456789"}, 4),
        ("sms", {"senderGroupingKey": "k" * 101}, 4),
        ("sms", {"userId": "k" * 101}, 4),
        ("ad-sms", {"body": "세일"}, -6003),
        ("ad-sms", {"body": "(광고) 세일"}, -6003),
        ("auth/sms", {"body": "번호 123456"}, -8000),
        ("auth/sms", {"body": "인증 1", "recipientList": [{"recipientNo": PHONE}] * 11}, -2016),
        ("sms", {"body": 1}, 4),
        (
            "sms",
            {"body": "##a##", "recipientList": [{"recipientNo": PHONE, "templateParameter": {"a": 1}}]},
            -2111,
        ),
        ("call", {}, -9998),
    ],
)
async def test_what_cannot_be_sent_is_refused_as_a_whole(
    env: Environment, kind: str, fields: dict[str, Any], code: int
) -> None:
    refused = await (await once(env, nhn_caller)).send(kind, PHONE, **fields)

    assert (refused.get("resultCode"), refused.get("isSuccessful")) == (code, False), refused
    assert await count_rows(env, "messages") == 0


@pytest.mark.parametrize(
    ("body", "code"), [(b"{", -9997), (b"\xff", -9997), (b"", -2001), (b'{"body": "\\u0000"}', 4)]
)
async def test_wrong_body_sends_nothing(env: Environment, body: bytes, code: int) -> None:
    answer = await (await nhn_caller(env))("POST", "sender/sms", body)

    assert (answer.status, answer.body["header"]["resultCode"]) == (200, code)
    assert await count_rows(env, "messages") == 0


async def test_idempotency_key_is_used_once_in_ten_minutes(env: Environment) -> None:
    caller = await nhn_caller(env)
    codes = []
    for wait_s in (0, 0, 599, 2, 1, 601):
        await env.wait(wait_s)
        codes.append((await caller.send("sms", PHONE, headers={KEY: "order-1"})).get("resultCode", 0))
    other = await caller.send("sms", PHONE, body="other", headers={KEY: "order-1"})
    fresh = await caller.send("sms", PHONE, headers={KEY: "order-2"})

    assert codes == [0, -1005, -1005, 0, -1005, 0]
    assert (other["resultCode"], "requestId" in fresh, await count_rows(env, "messages")) == (-1005, True, 4)


async def test_refused_call_does_not_use_its_idempotency_key_up(env: Environment) -> None:
    caller = await nhn_caller(env)
    refused = await caller.send("sms", PHONE, body="", headers={KEY: "order-1"})
    sent = await caller.send("sms", PHONE, headers={KEY: "order-1"})

    assert (refused["resultCode"], sent["statusCode"]) == (-2014, "2")


async def test_scheduled_text_is_sent_in_korean_time_or_cancelled(env: Environment) -> None:
    set_clock(env, "2026-11-16 12:00")
    caller = await nhn_caller(env)
    data = await caller.send("sms", PHONE, "01012345679", requestDate="2026-11-16 13:00")
    request_id = data["requestId"]
    waiting = [row["msgStatus"] for row in await rows_of(caller, "sms", data)]
    given = [{"requestId": request_id, "recipientSeq": 2}, {"requestId": request_id, "recipientSeq": 9}]
    cancelled = await caller(
        "PUT", "reservations/cancel", {"reservationList": [*given, {"requestId": "x", "recipientSeq": 1}]}
    )
    await env.jump(3700)
    rows = await rows_of(caller, "sms", data)

    assert waiting == ["1", "1"]
    assert cancelled.body["body"]["data"] == {"requestedCount": 3, "canceledCount": 1}
    assert [(row["msgStatus"], row["requestDate"]) for row in rows] == [
        ("3", "2026-11-16 13:00:00.0"),
        ("4", "2026-11-16 13:00:00.0"),
    ]


async def test_limit_of_the_account_is_their_quota(env: Environment) -> None:
    caller = await nhn_caller(env)
    await env.store.write(account_limits.save, await env.account_id(), AccountLimits(receivers_per_day=2))
    refused = await caller.send("sms", PHONE, "01012345679", "01012345670")

    assert (refused["resultCode"], await count_rows(env, "messages")) == (-2052, 0)


async def test_text_that_was_sent_already_is_kept_as_a_duplicate(env: Environment) -> None:
    caller = await nhn_caller(env)
    await env.store.write(account_limits.save, await env.account_id(), AccountLimits(duplicate_minutes=10))
    await caller.send("sms", PHONE)
    again = await caller.send("sms", PHONE, "01012345679")
    await env.wait(60)
    rows = await rows_of(caller, "sms", again)

    assert [each["resultCode"] for each in again["sendResultList"]] == [0, 0]
    assert [(row["msgStatus"], row["resultCode"]) for row in rows] == [("5", "E915"), ("3", "1000")]


async def test_thousand_recipients_are_one_campaign(env: Environment) -> None:
    caller = await nhn_caller(env)
    data = await caller.send("sms", *[f"010{number:08}" for number in range(20_000_000, 20_001_000)])
    await caller.send("sms", PHONE)
    lanes = await env.store.read(
        lambda tx: tx.fetch_all("select lane, count(*) from jobs group by lane order by lane")
    )

    assert [each["recipientSeq"] for each in data["sendResultList"]] == list(range(1, 1001))
    assert [tuple(each) for each in lanes] == [(0, 1), (1, 1000)]
