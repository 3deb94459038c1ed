"""The fake Solapi, judged by Solapi's own client from npm: it accepts every answer, and throws at every error."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.solapi.judge import ClientFailed, Judge, judging
from tests.fakes.solapi.server import FakeSolapi
from tests.fakes.solapi.server import serving as serving_solapi
from tests.fixtures.relay_thread import relay_in_thread

SENDER = "0212345678"
JPEG = b"\xff\xd8\xff\xe0" + bytes(100)
LONG_AGO = "2020-01-01T00:00:00+09:00"


@pytest.fixture(scope="module")
def relay() -> Iterator[FakeSolapi]:
    """The server; a message has its result at once."""
    with relay_in_thread(serving_solapi, seed=1, receipt_after_s=0.0, review_after_s=None) as relay:
        relay.numbers.add(SENDER)
        yield relay


@pytest.fixture(scope="module")
def client(relay: FakeSolapi) -> Iterator[Judge]:
    with judging(relay) as judge:
        yield judge


def text(to: str | list[str], **fields: Any) -> dict[str, Any]:
    return {"to": to, "from": SENDER, "text": "안녕하세요", **fields}


def failure(client: Judge, method: str, *arguments: Any) -> dict[str, Any]:
    """Return the error that a call throws."""
    with pytest.raises(ClientFailed) as caught:
        client.call(method, *arguments)
    return caught.value.facts


def test_sent_message_comes_back_with_its_custom_fields(client: Judge) -> None:
    fields = {"pabal": "0123"}
    sent = client.call("send", [text("01020000001", customFields=fields)], {"showMessageList": True})
    (message,) = sent["messageList"]
    listed = client.call("getMessages", {"messageId": message["messageId"]})

    assert sent["failedMessageList"] == []
    assert (message["statusCode"], message["customFields"]) == ("2000", fields)
    assert sent["groupInfo"]["count"]["registeredSuccess"] == 1
    row = listed["messageList"][message["messageId"]]
    assert (row["statusCode"], row["customFields"], row["type"]) == ("4000", fields, "SMS")


def test_refused_message_is_told_apart_and_others_are_sent(client: Judge) -> None:
    sent = client.call("send", [text("01020000021"), text("01020000022", **{"from": "0299999999"})])

    (failed,) = sent["failedMessageList"]
    assert (failed["to"], failed["statusCode"]) == ("01020000022", "1062")
    assert sent["groupInfo"]["count"]["registeredFailed"] == 1


def test_client_throws_if_all_messages_are_refused(client: Judge) -> None:
    error = failure(client, "send", [text("01020000041", text="🙂")])

    assert error["name"] == "MessageNotReceivedError"
    assert [one["statusCode"] for one in error["failed"]] == ["1029"]


def test_list_is_read_page_by_page(client: Judge, relay: FakeSolapi) -> None:
    client.call("send", [text(f"0102000005{number}") for number in range(5)])
    query = {"dateType": "UPDATED", "startDate": LONG_AGO, "limit": 2}
    found: list[str] = []
    key = None
    for _ in range(100):
        page = client.call("getMessages", query if key is None else {**query, "startKey": key})
        assert page["limit"] == 2
        found += page["messageList"]
        if (key := page["nextKey"]) is None:
            break

    assert len(found) == len(set(found)) == len(relay.messages)


def test_picture_is_uploaded_and_sent(client: Judge, tmp_path: Path) -> None:
    picture = tmp_path / "picture.jpg"
    picture.write_bytes(JPEG)
    file = client.call("uploadFile", str(picture), "MMS", "picture.jpg")
    sent = client.call("send", [text("01020000071", imageId=file["fileId"], type="MMS")])

    assert sent["failedMessageList"] == []
    assert failure(client, "send", [text("01020000072", imageId="none", type="MMS")])["name"] == (
        "MessageNotReceivedError"
    )


def test_channel_and_template_are_registered_and_used(client: Judge, relay: FakeSolapi) -> None:
    channel = {"searchId": "@judge", "phoneNumber": "01012345678"}
    category = client.call("getKakaoChannelCategories")[0]["code"]
    assert client.call("requestKakaoChannelToken", channel) == {"success": True}
    whole = {**channel, "categoryCode": category}
    assert failure(client, "createKakaoChannel", {**whole, "token": "none"})["code"] == "InvalidToken"
    created = client.call("createKakaoChannel", {**whole, "token": relay.last_token})
    pf_id = created["channelId"]
    content = {"name": "환영", "content": "#{이름}님, 환영합니다.", "categoryCode": "999999", "channelId": pf_id}
    template = client.call("createKakaoAlimtalkTemplate", content)
    template_id = template["templateId"]
    options: dict[str, Any] = {"pfId": pf_id, "templateId": template_id, "disableSms": True}
    message = {"to": "01020000081", "kakaoOptions": options}

    assert client.call("getKakaoChannels", {"searchId": "@judge"})["channelList"][0]["channelId"] == pf_id
    assert template["status"] == "PENDING"
    assert failure(client, "send", [message])["failed"][0]["statusCode"] == "1042"
    relay.decide("환영", is_approved=True)
    filled = {**options, "variables": {"이름": "길동"}}
    assert client.call("send", [{**message, "kakaoOptions": filled}])["failedMessageList"] == []
    assert relay.messages[-1].text == "길동님, 환영합니다."
    assert client.call("send", [{**message, "text": "나리님, 환영합니다."}])["failedMessageList"] == []
    assert failure(client, "send", [{**message, "text": "다른 글"}])["failed"][0]["statusCode"] == "1043"
    assert failure(client, "updateKakaoAlimtalkTemplate", template_id, {"content": "새 글"})["code"] == (
        "InvalidTemplateStatus"
    )
    (listed,) = client.call("getKakaoAlimtalkTemplates", {"channelId": pf_id, "name": "환영"})["templateList"]
    assert (listed["templateId"], listed["status"]) == (template_id, "APPROVED")
    assert listed["variables"] == [{"name": "이름"}]
    assert client.call("createKakaoAlimtalkTemplate", content)["name"] == "환영", "names need not be unique"
    assert client.call("removeKakaoChannel", pf_id)["searchId"] == "@judge"
    assert failure(client, "getKakaoAlimtalkTemplate", template_id)["code"] == "ResourceNotFound"


def test_brand_message_is_sent_with_text_and_picture(client: Judge, relay: FakeSolapi, tmp_path: Path) -> None:
    pf_id = relay.add_channel("@brand").channel_id
    picture = tmp_path / "picture.jpg"
    picture.write_bytes(JPEG)
    file = client.call("uploadFile", str(picture), "BMS")["fileId"]
    button = {"linkType": "WL", "name": "보기", "linkMobile": "https://example.com"}
    bubbles = [
        {"targeting": "I", "chatBubbleType": "TEXT", "buttons": [button]},
        {"targeting": "I", "chatBubbleType": "IMAGE", "imageId": file},
    ]
    messages = [
        {
            "to": f"0102000009{number}",
            "text": "새 상품",
            "type": "BMS_FREE",
            "kakaoOptions": {"pfId": pf_id, "bms": bms},
        }
        for number, bms in enumerate(bubbles)
    ]

    assert client.call("send", messages)["failedMessageList"] == []
    bubbles[1]["imageId"] = "none"
    assert failure(client, "send", messages[1:])["failed"][0]["statusCode"] == "1051"


def test_wrong_secret_is_refused(relay: FakeSolapi) -> None:
    with judging(relay, secret="wrong") as stranger:
        error = failure(stranger, "getMessages", {})

    assert (error["name"], error["code"]) == ("ClientError", "SignatureDoesNotMatch")


def test_opt_outs_are_listed_page_by_page(client: Judge, relay: FakeSolapi) -> None:
    relay.denials |= {(SENDER, f"0102000900{number}"): relay.clock() for number in range(3)}

    first = client.call("getBlacks", {"senderNumber": SENDER, "startDate": LONG_AGO, "limit": 2})
    second = client.call("getBlacks", {"startKey": first["nextKey"], "limit": 2})
    refused = client.call("send", [text("01020009000"), text("01020009009")])["failedMessageList"]

    assert [row["recipientNumber"] for row in first["blackList"]] == ["01020009000", "01020009001"]
    assert [row["recipientNumber"] for row in second["blackList"]] == ["01020009002"]
    assert second["nextKey"] is None
    assert [row["statusCode"] for row in refused] == ["1061"]
