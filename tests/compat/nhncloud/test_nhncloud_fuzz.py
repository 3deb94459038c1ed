"""Whatever is sent to NHN Cloud's SMS endpoints, the answer is a documented one, never a failure of ours."""

import json
from typing import Any

import pytest

from pabal.compat.nhncloud.sms.words import MESSAGES
from tests.fixtures.nhncloud_calls import SENDER, SETTINGS, UPLOAD, nhn_caller
from tests.fixtures.virtual import ApiResponse, Environment
from tests.hostile.mutate import mutations

pytestmark = pytest.mark.settings(**SETTINGS)
ROUNDS = 300
DOCUMENTED = {*MESSAGES, -9995, -9997, -9998}
RECIPIENTS = [
    {"recipientNo": "01012345678", "countryCode": "82", "templateParameter": {"a": 1}, "recipientGroupingKey": "k"},
    {"internationalRecipientNo": "821012345679"},
]
TEXT: dict[str, Any] = {
    "body": "인증번호 #{a} ##b##",
    "title": "제목",
    "sendNo": SENDER,
    "requestDate": "2026-01-05 10:00",
    "senderGroupingKey": "g",
    "recipientList": RECIPIENTS,
    "attachFileIdList": [],
    "userId": "u",
    "statsId": "",
    "originCode": "",
    "useConversion": False,
}
CALLS = {
    ("POST", "sender/sms"): TEXT,
    ("POST", "sender/mms"): {**TEXT, "attachFileIdList": [1]},
    ("POST", "sender/auth/sms"): TEXT,
    ("POST", "sender/ad-sms"): {**TEXT, "body": "(광고) 세일\n무료거부 0801234567"},
    ("POST", "attachfile/binaryUpload"): UPLOAD,
    ("PUT", "reservations/cancel"): {
        "reservationList": [{"requestId": "0" * 18, "recipientSeq": 1}],
        "updateUser": "me",
    },
}
NAMES = (
    *("requestId", "startRequestDate", "endRequestDate", "startCreateDate", "endCreateDate", "startResultDate"),
    *("endResultDate", "sendNo", "recipientNo", "msgStatus", "resultCode", "subResultCode", "senderGroupingKey"),
    *("recipientGroupingKey", "receiverRegion", "pageNum", "pageSize", "startUpdateDate", "endUpdateDate"),
    *("messageType", "recipientSeq", "useYn"),
)


def is_documented(answer: ApiResponse) -> bool:
    header = answer.body["header"]
    is_error = header["isSuccessful"] is False and header["resultCode"] in DOCUMENTED - {0}
    return answer.status == 200 and (is_error or (header["isSuccessful"] is True and header["resultCode"] == 0))


@pytest.mark.parametrize(("method", "path"), CALLS)
async def test_any_body_gets_an_answer(env: Environment, method: str, path: str) -> None:
    caller = await nhn_caller(env)
    corpus = [json.dumps(CALLS[method, path], ensure_ascii=escaped).encode() for escaped in (True, False)]
    for body in mutations(corpus, 1, ROUNDS):
        answer = await caller(method, path, body)
        assert is_documented(answer), (body, answer)


@pytest.mark.parametrize("path", ["sender/sms", "sender/mms", "sender/auth/sms/0", "message-results", "sendNos"])
async def test_any_query_gets_an_answer(env: Environment, path: str) -> None:
    caller = await nhn_caller(env)
    dates = {
        f"{edge}{kind}Date": f"2026-01-05 {hour}:00:00"
        for kind in ("Request", "Update")
        for edge, hour in (("start", "00"), ("end", "23"))
    }
    corpus = [b"2026-01-05 10:00:00", b"9999-12-31 23:59:59", b"0001-01-01 00:00:00", b"A" * 18, b"1", b"MTR1"]
    for number, value in enumerate(mutations(corpus, 2, ROUNDS)):
        given = {NAMES[number % len(NAMES)]: value.decode("latin-1")}
        answer = await caller("GET", path, query={**dates, **given} if number % 2 else given)
        assert is_documented(answer), (given, answer)


@pytest.mark.parametrize(
    "path",
    [
        "/sms",
        "/sms/v3.0",
        "/sms/v3.0/appKeys",
        "/sms/v3.0/appKeys/x",
        "/sms/v3.0/appKeys/x/",
        "/sms/v3.0/appKeys//sendNos",
        "/sms/v99999999999/appKeys/x/sendNos",
        "/sms/v3.0/appKeys/%00/sendNos",
        "/sms/v3.0/appKeys/한글/sendNos",
        "/sms/v3.0/appKeys/" + "x" * 5000 + "/sendNos",
        "/sms/v3.0/appKeys/x/sender/sms/" + "/" * 3000,
        "/../sms/v3.0/appKeys/x/sendNos",
        "/",
    ],
)
async def test_any_path_gets_an_answer(env: Environment, path: str) -> None:
    caller = (await nhn_caller(env))._caller
    answer = await caller(f"/compat/nhncloud{path}", None, method="GET", headers={"x-secret-key": "\xff" * 500})

    assert answer.status == 200
    assert answer.body["header"]["resultCode"] in (-1000, -9998, -9995)
