"""Whatever is sent to Solapi's endpoints, the answer is one that Solapi documents, never a failure of ours."""

import base64
import json
from typing import Any

import pytest

from tests.fixtures.pictures import JPEG
from tests.fixtures.solapi_brand import BUBBLES
from tests.fixtures.solapi_calls import SENDER, SETTINGS, solapi_caller
from tests.fixtures.virtual import Environment
from tests.hostile.mutate import mutations

pytestmark = pytest.mark.settings(**SETTINGS)
ROUNDS = 300
KAKAO = {"pfId": "x", "templateId": "T1", "variables": {"#{name}": 1}, "disableSms": False, "buttons": [{"a": 1}]}
MESSAGE: dict[str, Any] = {
    "to": "01012345678",
    "from": SENDER,
    "text": "안녕 #{이름}",
    "type": "LMS",
    "subject": "제목",
    "country": "82",
    "customFields": {"a": "b"},
}
MESSAGES = [
    MESSAGE,
    {**MESSAGE, "to": ["01012345679"], "type": None},
    {**MESSAGE, "kakaoOptions": KAKAO, "type": "ATA"},
]
BRAND_MESSAGES = [
    {**MESSAGE, "type": None, "text": text, "kakaoOptions": {"pfId": "KEY", "bms": {"targeting": "I", **bms}}}
    for bubble, (text, parts) in BUBBLES.items()
    for bms in [{"chatBubbleType": bubble, **parts}]
]
WHEN = {"scheduledDate": "2026-01-05T10:00:00+09:00"}
BODIES = {
    "messages/v4/send": {"message": MESSAGE, **WHEN},
    "messages/v4/send-many/detail": {"messages": MESSAGES, "allowDuplicates": True, **WHEN},
    "storage/v1/files": {"file": base64.b64encode(JPEG).decode(), "type": "MMS", "name": "a.jpg"},
}


async def test_any_brand_message_gets_an_answer(env: Environment, sender_key: str) -> None:
    caller = await solapi_caller(env)
    corpus = [
        json.dumps({"messages": [each]}, ensure_ascii=False).replace("KEY", sender_key).encode()
        for each in BRAND_MESSAGES
    ]
    codes = set()
    for body in [*corpus, *mutations(corpus, 4, ROUNDS)]:
        answer = await caller("POST", "messages/v4/send-many/detail", body)
        assert answer.status in (200, 400, 413), (body, answer)
        codes |= {each["statusCode"] for each in answer.body.get("failedMessageList", [])}
    assert {"1011", "1044"} <= codes


@pytest.mark.parametrize("path", BODIES)
async def test_any_body_gets_an_answer(env: Environment, path: str) -> None:
    caller = await solapi_caller(env)
    corpus = [json.dumps(BODIES[path], ensure_ascii=escaped).encode() for escaped in (True, False)]
    for body in mutations(corpus, 1, ROUNDS):
        answer = await caller("POST", path, body)
        assert answer.status in (200, 400, 413), (body, answer)


@pytest.mark.parametrize(
    "path", ["messages/v4/list", "messages/v4/groups", "kakao/v2/channels", "kakao/v2/templates"]
)
async def test_any_query_gets_an_answer(env: Environment, path: str) -> None:
    caller = await solapi_caller(env)
    names = ("limit", "startKey", "startDate", "endDate", "dateType", "type", "to", "messageId", "status", "value")
    for number, value in enumerate(mutations([b"2026-01-05T00:00:00Z", b"M4V0", b"eq,eq"], 2, ROUNDS)):
        query = {names[number % len(names)]: value.decode("latin-1"), "criteria": "groupId", "cond": "eq"}
        answer = await caller("GET", path, query=query if number % 2 else {names[number % len(names)]: value})
        assert answer.status in (200, 400, 404), (query, answer)
