"""Whatever is sent to Solapi's endpoints, the answer is one that Solapi documents, never a failure of ours."""

import json
from typing import Any

import pytest

from tests.fixtures.solapi_brand import BUBBLES
from tests.fixtures.solapi_calls import SENDER, SETTINGS, solapi_caller
from tests.fixtures.virtual import Environment
from tests.hostile.mutate import mutations

pytestmark = pytest.mark.settings(**SETTINGS)
ROUNDS = 300
MESSAGE: dict[str, Any] = {
    "to": "01012345678",
    "from": SENDER,
    "text": "안녕 #{이름}",
    "type": "LMS",
    "subject": "제목",
    "country": "82",
    "customFields": {"a": "b"},
}
BRAND_MESSAGES = [
    {**MESSAGE, "type": None, "text": text, "kakaoOptions": {"pfId": "KEY", "bms": {"targeting": "I", **bms}}}
    for bubble, (text, parts) in BUBBLES.items()
    for bms in [{"chatBubbleType": bubble, **parts}]
]


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
