"""The fake NHN Cloud: sender profiles and templates."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from tests.fakes.nhncloud.calling import JPEG, Caller, ManualClock, alimtalk_body, result_code
from tests.fakes.nhncloud.server import FakeNhnCloud

CHANNEL = {"plusFriendId": "@lighthouse", "phoneNo": "01012345678", "categoryCode": "00100010001"}
BUTTON = {"ordering": 1, "type": "WL", "name": "보기", "linkMo": "https://example.com/#{번호}"}
DAY_S = 24 * 3600


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def relay(clock: ManualClock) -> FakeNhnCloud:
    return FakeNhnCloud(clock, seed=1)


@pytest.fixture
def caller(relay: FakeNhnCloud) -> Caller:
    return Caller(relay)


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


def template(**changes: Any) -> dict[str, Any]:
    return {"templateCode": "t1", "templateName": "주문", "templateContent": "#{이름}님의 주문입니다.", **changes}


def test_profile_is_registered_verified_listed_and_deleted(caller: Caller, relay: FakeNhnCloud) -> None:
    assert result_code(run(caller.alimtalk("POST", "senders", CHANNEL))) == 0
    [waiting] = run(caller.alimtalk("GET", "senders"))["senders"]
    assert (waiting["status"], waiting["senderKey"], waiting["kakaoStatus"]) == ("YSC02", None, None)

    wrong = {"plusFriendId": "@lighthouse", "token": relay.last_token ^ 1}
    assert result_code(run(caller.alimtalk("POST", "sender/token", wrong))) == -7000
    verified = run(caller.alimtalk("POST", "sender/token", {**wrong, "token": relay.last_token}))["sender"]
    assert verified["status"] == "YSC03"
    key = verified["senderKey"]
    assert len(key) == 40

    assert result_code(run(caller.alimtalk("POST", "senders", CHANNEL))) == -7000
    assert run(caller.alimtalk("GET", f"senders/{key}"))["sender"]["kakaoStatus"] == "A"
    relay.console.block_profile(key)
    listed = run(caller.alimtalk("GET", "senders", params={"status": "YSC03"}))
    assert [(each["block"], each["kakaoStatus"]) for each in listed["senders"]] == [(True, "S")]
    relay.console.block_profile(key, False)
    run(caller.alimtalk("POST", f"senders/{key}/templates", template()))
    assert result_code(run(caller.alimtalk("DELETE", f"senders/{key}"))) == 0
    assert result_code(run(caller.alimtalk("GET", f"senders/{key}"))) == -2017
    assert relay.templates == {}


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"plusFriendId": "@" + "가" * 30}, -2000),
        ({"plusFriendId": " "}, -2001),
        ({"phoneNo": None}, -2002),
        ({"categoryCode": "99999999999"}, -4000),
        ({"channel": "@lighthouse"}, -3002),
    ],
)
def test_registration_must_be_complete(caller: Caller, changes: dict[str, Any], code: int) -> None:
    assert result_code(run(caller.alimtalk("POST", "senders", CHANNEL | changes))) == code


def test_categories_are_trees(caller: Caller) -> None:
    [first, _] = run(caller.alimtalk("GET", "sender/categories"))["categories"]
    assert first["subCategories"][0]["subCategories"][0]["code"] == "0001"
    groups = run(caller.alimtalk("GET", "template/categories"))["categories"]
    assert groups[0]["subCategories"][0] | {"inclusion": ""} == {
        "code": "001001",
        "name": "회원가입",
        "groupName": "회원",
        "inclusion": "",
        "exclusion": "",
    }


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({}, 0),
        ({"templateCode": "t" * 21}, -2000),
        ({"templateContent": "가" * 1301}, -2000),
        ({"templateName": None}, -2002),
        ({"templateMessageType": "EX"}, -3018),
        ({"templateMessageType": "MI"}, -3020),
        ({"templateExtra": "덧붙임"}, -3028),
        ({"templateEmphasizeType": "TEXT", "templateTitle": "제목"}, -3016),
        ({"templateTitle": "제목"}, -3027),
        ({"templateEmphasizeType": "IMAGE"}, -3032),
        ({"templateMessageType": "AD"}, -3050),
        ({"buttons": [{"ordering": 1, "type": "AC", "name": "채널 추가"}]}, -3024),
        ({"templateMessageType": "AD", "buttons": [{"ordering": 1, "type": "AC", "name": "채널 추가"}]}, 0),
        ({"templateMessageType": "AD", "buttons": [BUTTON, {"ordering": 2, "type": "AC", "name": "추가"}]}, -3025),
        ({"templateMessageType": "AD", "buttons": [{"ordering": 1, "type": "AC", "name": "추가"}]}, -3026),
        ({"buttons": [BUTTON]}, 0),
        ({"buttons": [BUTTON] * 6}, -2004),
        ({"buttons": [BUTTON | {"type": "XX"}]}, -2018),
        ({"buttons": [BUTTON | {"linkMo": None}]}, -3000),
        ({"buttons": [BUTTON | {"linkMo": "example.com"}]}, -3006),
        ({"buttons": [BUTTON | {"type": "AL"}]}, -3007),
        ({"buttons": [BUTTON | {"name": "#{이름}"}]}, -3008),
        ({"categoryCode": "000000"}, -4000),
    ],
)
def test_template_must_be_as_documented(
    caller: Caller, relay: FakeNhnCloud, changes: dict[str, Any], code: int
) -> None:
    key = relay.add_profile().sender_key

    assert result_code(run(caller.alimtalk("POST", f"senders/{key}/templates", template(**changes)))) == code
    assert bool(relay.templates) is (code == 0)


class TemplateClient:
    """The templates of one profile."""

    def __init__(self, relay: FakeNhnCloud, caller: Caller) -> None:
        self._caller = caller
        self.key = relay.add_profile().sender_key
        self._path = f"senders/{self.key}/templates"

    def register(self, **changes: Any) -> int:
        return result_code(run(self._caller.alimtalk("POST", self._path, template(**changes))))

    def change(self, **changes: Any) -> int:
        body = template(**changes)
        code = body.pop("templateCode")
        return result_code(run(self._caller.alimtalk("PUT", f"{self._path}/{code}", body)))

    def delete(self, code: str = "t1") -> int:
        return result_code(run(self._caller.alimtalk("DELETE", f"{self._path}/{code}")))

    def comment(self, content: str, code: str = "t1") -> int:
        return result_code(
            run(self._caller.alimtalk("POST", f"{self._path}/{code}/comments", {"comment": content}))
        )

    def show(self, code: str = "t1") -> dict[str, Any]:
        return dict(run(self._caller.alimtalk("GET", f"{self._path}/{code}"))["templates"])

    def list_changes(self, code: str = "t1") -> list[dict[str, Any]]:
        answer = run(self._caller.alimtalk("GET", f"{self._path}/{code}/modifications"))
        return list(answer["templateModificationsResponse"]["templates"])

    def listed(self, **query: str) -> list[str]:
        answer = run(self._caller.alimtalk("GET", self._path, params=query))["templateListResponse"]
        return [each["templateCode"] for each in answer["templates"]]


@pytest.fixture
def client(relay: FakeNhnCloud, caller: Caller) -> TemplateClient:
    return TemplateClient(relay, caller)


def test_review_is_decided_by_the_name(client: TemplateClient, clock: ManualClock) -> None:
    for code, name in (("t1", "주문"), ("t2", "반려할 것"), ("t3", "보류할 것")):
        assert client.register(templateCode=code, templateName=name) == 0
    assert [client.show(code)["status"] for code in ("t1", "t2", "t3")] == ["TSC01"] * 3
    clock.advance_s(0.5)
    assert [client.show(code)["status"] for code in ("t1", "t2", "t3")] == ["TSC02"] * 3
    clock.advance_s(0.5)

    assert [client.show(code)["status"] for code in ("t1", "t2", "t3")] == ["TSC03", "TSC04", "TSC02"]
    assert client.show("t2")["comments"][0]["status"] == "REJ"
    assert client.listed(templateStatus="TSC03") == ["t1"]
    assert client.register(templateCode="t1", templateName="다른 이름") == -3001
    assert client.register(templateCode="t4", templateName="주문") == -3001


def test_apverified_text_stays_until_its_change_is_apverified(
    client: TemplateClient, relay: FakeNhnCloud, clock: ManualClock
) -> None:
    client.register()
    assert client.change(templateContent="새 글") == -3012
    clock.advance_s(1)
    relay.behavior.review_after_s = None
    assert client.change(templateContent="새 글") == 0
    assert client.change(templateContent="더 새 글") == -3013
    assert (client.show()["status"], client.show()["templateContent"]) == ("TSC03", "#{이름}님의 주문입니다.")
    assert [(each["status"], each["activated"]) for each in client.list_changes()] == [("TSC01", False)]

    relay.console.reject(client.key, "t1", "안 됩니다")
    assert client.show()["templateContent"] == "#{이름}님의 주문입니다."
    assert client.list_changes()[0]["comments"][0]["content"] == "안 됩니다"
    client.change(templateContent="더 새 글")
    relay.console.approve(client.key, "t1")
    assert client.show()["templateContent"] == "더 새 글"
    assert [(each["status"], each["activated"]) for each in client.list_changes()] == [
        ("TSC04", False),
        ("TSC03", True),
    ]
    relay.behavior.lists_newest_change_first = True
    assert [each["status"] for each in client.list_changes()] == ["TSC03", "TSC04"]


def test_rejected_template_may_be_commented_or_replaced(client: TemplateClient, clock: ManualClock) -> None:
    client.register(templateName="반려")
    assert client.comment("왜죠?") == -3100
    clock.advance_s(1)
    assert client.show()["status"] == "TSC04"
    assert client.comment("왜죠?") == 0
    assert client.show()["status"] == "TSC02"
    assert [each["status"] for each in client.show()["comments"]] == ["REJ", "INQ"]

    client.register(templateCode="t2", templateName="반려 둘")
    clock.advance_s(1)
    assert client.show("t2")["status"] == "TSC04"
    assert client.change(templateCode="t2", templateName="주문 둘") == 0
    clock.advance_s(1)
    assert client.show("t2")["status"] == "TSC03"


def test_used_template_stays_for_three_days(
    client: TemplateClient, relay: FakeNhnCloud, caller: Caller, clock: ManualClock
) -> None:
    body = alimtalk_body(relay, "01012345678")
    run(caller.alimtalk("POST", "raw-messages", body))

    clock.advance_s(3 * DAY_S - 1)
    assert client.delete("hello") == -3034
    clock.advance_s(1)
    assert client.delete("hello") == 0
    assert client.delete("hello") == -3003


def test_images_of_templates_are_stored(client: TemplateClient, caller: Caller) -> None:
    def upload(name: str, body: bytes) -> dict[str, Any]:
        return dict(run(caller.alimtalk("POST", "template-image", files={"file": (name, body, "image/jpeg")})))

    assert result_code(upload("a.gif", JPEG)) == -4009
    assert result_code(upload("a.jpg", b"none")) == -8001
    stored = upload("a.jpg", JPEG)["templateImage"]
    assert client.register(templateEmphasizeType="IMAGE", **stored) == 0
    assert client.show()["templateImageUrl"] == stored["templateImageUrl"]
