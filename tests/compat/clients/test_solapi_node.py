"""Solapi's own client from npm, unchanged but for its address, against the running service."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pabal.testing.account import TemporaryAccount
from tests.compat.clients.conftest import Solapi
from tests.fakes.solapi.judge import ClientFailed, Judge, judging
from tests.fixtures import live
from tests.fixtures.pictures import JPEG, make_jpeg
from tests.fixtures.solapi_brand import BUBBLES

SENDER = "0212345678"
BUTTON = {
    "buttonType": "WL",
    "buttonName": "보기",
    "linkMo": "https://shop.example",
    "linkPc": "https://shop.example",
}
TOMORROW = (datetime.now(UTC) + timedelta(days=1)).replace(minute=0, second=30, microsecond=0)


@pytest.fixture(scope="module")
def client(relay: Solapi) -> Iterator[Judge]:
    with judging(relay) as judge:
        yield judge


def text(to: str | list[str], **fields: Any) -> dict[str, Any]:
    return {"to": to, "from": SENDER, "text": "안녕하세요", **fields}


def row_of(client: Judge, message_id: str) -> dict[str, Any]:
    """Return a message as the list has it, once it has ended."""

    def read() -> Any:
        return client.call("getMessages", {"messageId": message_id})["messageList"][message_id]

    row: dict[str, Any] = live.wait_until(read, lambda row: row["statusCode"] not in ("2000", "3000"))
    return row


def test_sent_message_is_delivered_with_its_custom_fields(client: Judge) -> None:
    fields = {"order": "0123", "한글": "값 #{x}"}
    sent = client.call("send", [text("010-2000-0001", customFields=fields)], {"showMessageList": True})
    (message,) = sent["messageList"]
    row = row_of(client, message["messageId"])
    count = sent["groupInfo"]["count"]

    assert sent["failedMessageList"] == []
    assert (message["statusCode"], message["customFields"]) == ("2000", fields)
    assert (count["total"], count["registeredSuccess"], count["registeredFailed"]) == (1, 1, 0)
    assert (row["statusCode"], row["customFields"], row["type"], row["to"]) == (
        "4000",
        fields,
        "SMS",
        "01020000001",
    )
    assert row["groupId"] == sent["groupInfo"]["groupId"]


def test_types_are_detected_and_texts_are_sent_as_they_are(client: Judge) -> None:
    given = [
        text("01020000011", text="안녕 #{이름}"),
        text("01020000012", text="가" * 46),
        text("01020000013", subject="알림"),
        text("01020000014", text="다른 글"),
    ]
    sent = client.call("send", given, {"showMessageList": True})
    rows = [row_of(client, each["messageId"]) for each in sent["messageList"]]

    assert [row["type"] for row in rows] == ["SMS", "LMS", "LMS", "SMS"]
    assert [row["text"] for row in rows] == [each["text"] for each in given]
    assert {row["groupId"] for row in rows} == {sent["groupInfo"]["groupId"]}


def test_refused_messages_cost_only_themselves(client: Judge) -> None:
    given = [
        text("01020000021"),
        text("01020000021"),
        text("12345"),
        text("01020000022", text="🙂"),
        text("01020000023", type="VOICE"),
        text("01020000024", imageId="ST01FJ0000"),
        text("01020000029", kakaoOptions={"pfId": "x", "bms": {"targeting": "I", "chatBubbleType": "TEXT"}}),
        text("01020000025", country="81"),
        text("01020000026", text=""),
        text("01020000027", customFields={"k": "v" * 101}),
        text("01020000028", type="SMS", text="가" * 46),
    ]
    sent = client.call("send", given)
    codes = {each["to"]: each["statusCode"] for each in sent["failedMessageList"]}

    assert codes == {
        "01020000021": "1026",
        "12345": "1011",
        "01020000022": "1029",
        "01020000023": "1025",
        "01020000024": "1034",
        "01020000029": "1041",
        "01020000025": "1011",
        "01020000026": "1010",
        "01020000027": "1032",
        "01020000028": "1031",
    }
    assert sent["groupInfo"]["count"]["registeredSuccess"] == 1


@pytest.mark.torture
def test_call_of_refused_messages_throws(client: Judge) -> None:
    with pytest.raises(ClientFailed) as caught:
        client.call("send", [text("12345")])

    assert caught.value.facts["name"] == "MessageNotReceivedError"
    assert [each["statusCode"] for each in caught.value.facts["failed"]] == ["1011"]


def test_schedule_is_listed_and_cancelled(client: Judge) -> None:
    sent = client.call("send", [text(["01020000031", "01020000032"])], {"scheduledDate": TOMORROW.isoformat()})
    group = sent["groupInfo"]["groupId"]
    before = client.call("getGroup", group)
    after = client.call("removeReservationToGroup", group)
    listed = client.call("getGroups", {"groupId": group})

    assert (sent["groupInfo"]["status"], before["status"], after["status"]) == ("SCHEDULED", "SCHEDULED", "FAILED")
    assert datetime.fromisoformat(before["scheduledDate"]) == TOMORROW + timedelta(seconds=30)  # never early
    assert (before["count"]["sentPending"], after["count"]["sentFailed"]) == (2, 2)
    assert listed["groupList"][group]["status"] == "FAILED"


def test_group_is_filled_and_sent(client: Judge) -> None:
    group = client.call("createGroup")
    added = client.call("addMessagesToGroup", group, [text("01020000071", customFields={"a": "b"}), text("1")])
    client.call("addMessagesToGroup", group, [text("01020000072", text="가" * 50)])
    filled = client.call("getGroup", group)
    sent = client.call("sendGroup", group)
    rows = client.call("getGroupMessages", group)["messageList"].values()

    assert (added["errorCount"], [each["statusCode"] for each in added["resultList"]]) == (1, ["2000", "1011"])
    assert (filled["status"], filled["count"]["total"]) == ("PENDING", 2)
    assert (sent["groupId"], sent["count"]["registeredSuccess"]) == (group, 2)
    assert sorted((row["to"], row["type"], row["groupId"]) for row in rows) == [
        ("01020000071", "SMS", group),
        ("01020000072", "LMS", group),
    ]
    with pytest.raises(ClientFailed, match="ResourceNotFound"):
        client.call("sendGroup", group)


@pytest.mark.torture
def test_group_is_scheduled_and_cancelled(client: Judge) -> None:
    group = client.call("createGroup")
    client.call("addMessagesToGroup", group, [text("01020000081")])
    scheduled = client.call("reserveGroup", group, TOMORROW.isoformat())

    assert scheduled["status"] == "SCHEDULED"
    assert client.call("removeReservationToGroup", group)["status"] == "FAILED"


@pytest.mark.torture
def test_group_is_deleted_unsent(client: Judge) -> None:
    group = client.call("createGroup")
    client.call("removeGroup", group)

    with pytest.raises(ClientFailed, match="ResourceNotFound"):
        client.call("getGroup", group)


@pytest.mark.torture
def test_groups_are_listed_newest_first(client: Judge) -> None:
    made = [client.call("send", [text(f"010200000{number}")])["groupInfo"]["groupId"] for number in (41, 42, 43)]
    first = client.call("getGroups", {"limit": 2})
    second = client.call("getGroups", {"limit": 1, "startKey": first["nextKey"]})

    assert list(first["groupList"]) == [made[2], made[1]]
    assert list(second["groupList"]) == [made[0]]


def test_picture_is_uploaded_and_sent(client: Judge, tmp_path: Path) -> None:
    picture = tmp_path / "picture.jpg"
    picture.write_bytes(JPEG)
    file = client.call("uploadFile", str(picture), "MMS")
    again = client.call("uploadFile", str(picture), "MMS")
    sent = client.call("send", [text("01020000051", imageId=file["fileId"])], {"showMessageList": True})
    row = row_of(client, sent["messageList"][0]["messageId"])

    assert file["fileId"] == again["fileId"]
    assert (row["type"], row["statusCode"]) == ("MMS", "4000")


def test_channels_and_templates_are_read_and_sent_with(client: Judge, relay: Solapi) -> None:
    with TemporaryAccount(relay.base_url, relay.own_key) as account:
        key = account.register_template("#{name}님, 환영합니다.")
    (channel,) = client.call("getKakaoChannels")["channelList"]
    (template,) = client.call("getKakaoAlimtalkTemplates", {"templateId": "T1"})["templateList"]
    shown = client.call("getKakaoAlimtalkTemplate", template["templateId"])
    options = {"pfId": channel["channelId"], "templateId": shown["templateId"], "variables": {"#{name}": "길동"}}
    given = {"to": "01020000061", "from": SENDER, "kakaoOptions": options}
    sent = client.call("send", [given], {"showMessageList": True})
    row = row_of(client, sent["messageList"][0]["messageId"])

    assert (channel["channelId"], template["status"]) == (key.senderKey, "APPROVED")
    assert [each["name"] for each in shown["variables"]] == ["name"]
    assert (row["type"], row["text"], row["statusCode"]) == ("ATA", "길동님, 환영합니다.", "4000")


def test_friend_talk_is_sent_and_replaced_where_it_fails(client: Judge, relay: Solapi) -> None:
    with TemporaryAccount(relay.base_url, relay.own_key) as account:
        key = account.register_template("#{name}님, 반갑습니다.", "T2")
    options = {"pfId": key.senderKey, "buttons": [BUTTON]}
    given = [text(each, kakaoOptions=options) for each in ("01020000091", "01000000004")]
    sent = client.call("send", given, {"showMessageList": True})
    first, second = (row_of(client, each["messageId"]) for each in sent["messageList"])

    def read() -> Any:
        return client.call("getGroupMessages", sent["groupInfo"]["groupId"])["messageList"].values()

    rows = live.wait_until(read, lambda rows: sorted(row["statusCode"] for row in rows) == ["3102", "4000", "4000"])
    assert [(each["type"], each["statusCode"]) for each in (first, second)] == [("CTA", "4000"), ("CTA", "3102")]
    assert [row["type"] for row in rows if row["replacement"]] == ["SMS"]


@pytest.mark.first_case
@pytest.mark.parametrize("bubble", BUBBLES)
def test_brand_message_of_each_type_is_delivered(client: Judge, relay: Solapi, bubble: str) -> None:
    content, parts = BUBBLES[bubble]
    options = {"pfId": sender_key_of(relay), "bms": {"targeting": "I", "chatBubbleType": bubble, **parts}}
    given = {"to": "01020000095", "from": SENDER, "kakaoOptions": options, **({"text": content} if content else {})}
    sent = client.call("send", [given], {"showMessageList": True})
    row = row_of(client, sent["messageList"][0]["messageId"])

    assert (row["type"], row["text"], row["statusCode"]) == ("BMS_FREE", content or "", "4000")


def sender_key_of(relay: Solapi) -> str:
    """Return the sender key of the account's channel, which has one at most."""
    with TemporaryAccount(relay.base_url, relay.own_key) as account:
        found = account.client.list_senders().items
        return str(found[0].senderKey) if found else account.register_channel()


def test_picture_of_a_brand_message_is_uploaded_and_sent(client: Judge, relay: Solapi, tmp_path: Path) -> None:
    picture = tmp_path / "picture.jpg"
    picture.write_bytes(make_jpeg(800, 400))
    file = client.call("uploadFile", str(picture), "BMS_WIDE")["fileId"]
    bms = {"targeting": "I", "chatBubbleType": "WIDE", "imageId": file}
    given = text("01020000096", kakaoOptions={"pfId": sender_key_of(relay), "bms": bms})
    sent = client.call("send", [given], {"showMessageList": True})

    assert row_of(client, sent["messageList"][0]["messageId"])["statusCode"] == "4000"
    with pytest.raises(ClientFailed, match="ValidationError"):
        client.call("uploadFile", str(picture), "BMS_CAROUSEL_FEED_LIST")


def test_friend_talk_with_a_picture_is_delivered(client: Judge, relay: Solapi, tmp_path: Path) -> None:
    picture = tmp_path / "picture.jpg"
    picture.write_bytes(make_jpeg(800, 400))
    file = client.call("uploadFile", str(picture), "KAKAO")["fileId"]
    given = text("01020000097", kakaoOptions={"pfId": sender_key_of(relay), "imageId": file})
    sent = client.call("send", [given], {"showMessageList": True})
    row = row_of(client, sent["messageList"][0]["messageId"])

    assert (row["type"], row["statusCode"]) == ("CTI", "4000")


@pytest.mark.torture
def test_balance_is_answered(client: Judge) -> None:
    assert client.call("getBalance")["balance"] > 0


def test_wrong_secret_is_refused(relay: Solapi) -> None:
    with judging(relay, secret="x" * 32) as judge, pytest.raises(ClientFailed, match="SignatureDoesNotMatch"):
        judge.call("getBalance")
