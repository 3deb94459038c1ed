"""Whatever is sent to NHN Cloud's endpoints of KakaoTalk, the answer is a documented one, never a failure."""

import json
from typing import Any

import pytest

from tests.fixtures.nhncloud_calls import SENDER, SETTINGS, find_undocumented, talk_caller
from tests.fixtures.pictures import JPEG
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import BUTTON, approve_template, register_channel
from tests.hostile.mutate import mutations

pytestmark = pytest.mark.settings(**SETTINGS, opt_out_number="0801234567")
ROUNDS = 300
FAILURE = -9999
RESEND = {
    "isResend": True,
    "resendType": "LMS",
    "resendTitle": "@shop",
    "resendContent": "문자",
    "resendSendNo": SENDER,
}
LINKS = {"linkMo": "https://shop.example/1"}
SHOWN = {
    "content": "길동님께",
    "templateTitle": "제목",
    "templateHeader": "머리",
    "templateItem": {
        "list": [{"title": "가", "description": "나"}],
        "summary": {"title": "합", "description": "1"},
    },
    "templateItemHighlight": {"title": "가", "description": "나", "imageUrl": "https://a.example"},
    "templateRepresentLink": LINKS,
    "buttons": [{"ordering": 1, "type": "WL", "name": "열기", **LINKS}],
    "quickReplies": [{"ordering": 1, "type": "BK", "name": "묻기"}],
}
OWN: dict[str, dict[str, Any]] = {
    "alimtalk/v2.3/messages": {
        "templateParameter": {"name": "길동"},
        "buttons": [{"ordering": 1, "target": "out"}],
    },
    "alimtalk/v2.3/raw-messages": SHOWN,
    "alimtalk/v2.3/auth/raw-messages": SHOWN,
    "friendtalk/v2.4/messages": {"content": "친구야", "imageUrl": "x", "buttons": SHOWN["buttons"], "isAd": True},
    "brand-message/v1.0/freestyle-messages": {"targeting": "I", "unsubscribeNo": "080-123-4567"},
    "brand-message/v1.0/basic-messages": {"targeting": "I", "templateParameter": {"name": "길동"}},
}
PLAIN: dict[str, dict[str, Any]] = {
    "alimtalk/v2.3/raw-messages": {name: SHOWN[name] for name in ("content", "buttons")},
    "alimtalk/v2.3/auth/raw-messages": {name: SHOWN[name] for name in ("content", "buttons")},
    "friendtalk/v2.4/messages": {"content": "친구야"},
    "brand-message/v1.0/freestyle-messages": {},
}
FREE = {
    "image": {"imageUrl": "https://a.example/1.jpg"},
    "buttons": [{"name": "보기", "type": "WL", **LINKS}],
    "coupon": {"title": "10% 할인 쿠폰", "description": "새 회원만", **LINKS},
    "carousel": {"list": [{"header": "가"}], "tail": LINKS},
}
UNDOCUMENTED_SHAPES = ("alimtalk/v2.3/messages", "brand-message/v1.0/basic-messages")
"""Those that our carrier does not call; their shape is that of the others."""


def body_of(path: str, sender_key: str, own: dict[str, Any]) -> dict[str, Any]:
    """Return the body of a call; with the plain fields of a recipient it is accepted."""
    more: dict[str, Any] = {}
    if "freestyle" in path:
        more = {"chatBubbleType": "TEXT", "content": "새 상품"} | (FREE if own else {})
    recipients = [
        {"recipientNo": number, "resendParameter": RESEND, "recipientGroupingKey": "a", **own}
        for number in ("01012345678", "010-1234-5679")
    ]
    return {
        "senderKey": sender_key,
        "templateCode": "T2",
        "requestDate": "2026-11-16 10:00",
        "senderGroupingKey": "g",
        "createUser": "u",
        "recipientList": recipients,
        **more,
    }


@pytest.mark.parametrize("path", OWN)
async def test_any_body_gets_a_documented_answer(env: Environment, call: Caller, path: str) -> None:
    sender_key = await register_channel(call)
    await approve_template(call, sender_key, templateCode="T2", content="#{name}님께", buttons=[BUTTON])
    caller = await talk_caller(env)
    service, _, rest = path.rpartition("/") if "auth" not in path else ("alimtalk/v2.3", "", "auth/raw-messages")
    shape = "alimtalk/v2.3/appkeys/k/raw-messages"
    if path not in UNDOCUMENTED_SHAPES:
        shape = f"{service}/appkeys/k/{rest}"
    whole, plain = body_of(path, sender_key, OWN[path]), body_of(path, sender_key, PLAIN.get(path, OWN[path]))
    corpus = [
        json.dumps(each, ensure_ascii=escaped).encode() for each in (whole, plain) for escaped in (True, False)
    ]
    codes = set()
    for body in [*corpus, *mutations(corpus, 1, ROUNDS)]:
        answer = await caller("POST", rest, body, service=service)
        assert (answer.status, answer.body["header"]["resultCode"] == FAILURE) == (200, False), (body, answer)
        assert find_undocumented("POST", f"/{shape}", answer.body) == [], (body, answer)
        codes.add(answer.body["header"]["resultCode"])
    assert 0 in codes, codes


LISTS = ("alimtalk/v2.3/messages", "friendtalk/v2.4/messages", "brand-message/v1.0/messages")
RESULTS = tuple(each.replace("messages", "message-results") for each in LISTS)


@pytest.mark.parametrize("path", [*LISTS, *RESULTS, "alimtalk/v2.3/senders", "alimtalk/v2.3/senders/x/templates"])
async def test_any_query_gets_an_answer(env: Environment, path: str) -> None:
    caller = await talk_caller(env)
    family, version, rest = path.split("/", 2)
    names = [f"{side}{name}Date" for side in ("start", "end") for name in ("Request", "Create", "Update")]
    names += ["requestId", "recipientNo", "senderKey", "templateCode", "senderGroupingKey", "recipientGroupingKey"]
    names += ["messageStatus", "resultCode", "pageNum", "pageSize", "alimtalkMessageType", "status", "plusFriendId"]
    values = (
        "",
        "0",
        "-1",
        "9" * 30,
        "x" * 5000,
        "가",
        "\0",
        "\ud800",
        "2026-11-15 10:00",
        "99999-01-01 00:00",
        "²",
    )
    for name in names:
        for value in values:
            query = {"startRequestDate": "2026-11-15 00:00", "endRequestDate": "2026-11-15 23:59"}
            query |= {"startUpdateDate": "2026-11-15 00:00", "endUpdateDate": "2026-11-15 23:59"}
            query[name] = value.encode("utf-8", "surrogatepass")  # type: ignore[assignment]
            answer = await caller("GET", rest, service=f"{family}/{version}", query=query)
            assert answer.status == 200, (name, value, answer)
            assert answer.body["header"]["resultCode"] != FAILURE, (name, value)


async def test_any_path_gets_an_answer(env: Environment) -> None:
    caller = await talk_caller(env)
    for part in ("x", "%00", "%2e%2e", "가", "0" * 18, "z" * 18, "1" * 500, "%ff"):
        for path in (f"messages/{part}", f"messages/{part}/{part}", f"senders/{part}/templates/{part}"):
            for method in ("GET", "DELETE", "POST", "PUT"):
                answer = await caller(method, path)
                assert answer.status == 200, (method, path, answer)
                assert answer.body["header"]["resultCode"] not in (0, FAILURE), (method, path)


@pytest.mark.parametrize("service", ["friendtalk/v2.4", "brand-message/v1.0"])
async def test_any_form_gets_an_answer(env: Environment, service: str) -> None:
    caller = await talk_caller(env)
    head = '--b\r\nContent-Disposition: form-data; name="{}"{}\r\n\r\n'
    corpus = [
        (head.format("imageType", "") + "IMAGE\r\n" + head.format("image", '; filename="a.jpg"')).encode()
        + JPEG
        + b"\r\n--b--\r\n"
    ]
    for body in [*corpus, *mutations(corpus, 1, ROUNDS)]:
        answer = await caller("POST", "images", body, service=service)
        assert (answer.status, answer.body["header"]["resultCode"] == FAILURE) == (200, False), (body, answer)
        assert find_undocumented("POST", f"/{service}/appkeys/k/images", answer.body) == [], (body, answer)
