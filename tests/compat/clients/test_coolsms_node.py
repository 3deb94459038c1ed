"""CoolSMS's older client from npm, coolsms-node-sdk, unchanged but for its address, against the running service."""

from collections.abc import Iterator
from typing import Any

import pytest

from pabal.testing.account import TemporaryAccount
from tests.compat.clients.conftest import Solapi
from tests.fakes.solapi.judge import ClientFailed, Judge, judging
from tests.fixtures import live

SENDER = "0212345678"


@pytest.fixture(scope="module")
def client(relay: Solapi) -> Iterator[Judge]:
    with judging(relay, client="coolsms-node-sdk") as judge:
        yield judge


def text(to: str, **fields: Any) -> dict[str, Any]:
    return {"to": to, "from": SENDER, "text": "안녕하세요", **fields}


def test_one_message_is_sent_and_delivered(client: Judge) -> None:
    sent = client.call("sendOne", text("01050000001"))

    def read() -> Any:
        return client.call("getMessages", {"messageId": sent["messageId"]})["messageList"][sent["messageId"]]

    row = live.wait_until(read, lambda row: row["statusCode"] not in ("2000", "3000"))
    assert (sent["statusCode"], sent["to"], row["statusCode"], row["groupId"]) == (
        *("2000", "01050000001", "4000"),
        sent["groupId"],
    )


@pytest.mark.torture
def test_refused_message_throws_its_code(client: Judge) -> None:
    with pytest.raises(ClientFailed) as caught:
        client.call("sendOne", text("12345"))

    assert caught.value.facts["name"] == "1011"


def test_many_are_sent_as_a_group(client: Judge) -> None:
    given = [text(f"0105{number:07}") for number in range(100, 103)]
    sent = client.call("sendMany", [*given, text("12345")])
    shown = client.call("getGroupMessages", sent["groupId"], {"limit": 10})
    groups = client.call("getGroups", {"limit": 1})

    assert (sent["count"]["registeredSuccess"], sent["count"]["registeredFailed"]) == (3, 1)
    assert sorted(row["to"] for row in shown["messageList"].values()) == [each["to"] for each in given]
    assert list(groups["groupList"]) == [sent["groupId"]]


@pytest.mark.torture
def test_group_is_filled_sent_and_another_deleted(client: Judge) -> None:
    group, other = client.call("createGroup"), client.call("createGroup")
    added = client.call("addMessagesToGroup", group, [text("01050000031"), text("1")])
    sent = client.call("sendGroup", group)
    client.call("removeGroup", other)

    assert (added["errorCount"], sent["groupId"], sent["count"]["total"]) == (1, group, 1)
    with pytest.raises(ClientFailed, match="ResourceNotFound"):
        client.call("sendGroup", other)


def test_thousands_are_listed_by_pages_of_a_thousand(client: Judge) -> None:
    receivers = [f"0108{number:07}" for number in range(1500)]
    group = client.call("sendMany", [text(each) for each in receivers])["groupId"]
    first = client.call("getGroupMessages", group, {"limit": 1000})
    second = client.call("getGroupMessages", group, {"limit": 1000, "startKey": first["nextKey"]})
    pages = [first["messageList"], second["messageList"]]

    assert ([len(each) for each in pages], second["nextKey"]) == ([1000, 500], None)
    assert sorted(row["to"] for page in pages for row in page.values()) == receivers


def test_alimtalk_and_friend_talk_are_sent(client: Judge, relay: Solapi) -> None:
    with TemporaryAccount(relay.base_url, relay.own_key) as account:
        key = account.register_template("#{name}님, 또 오세요.", "T4")
    alimtalk = {"pfId": key.senderKey, "templateId": "T4", "variables": {"#{name}": "길동"}}
    given = [
        {"to": "01050000051", "from": SENDER, "kakaoOptions": alimtalk},
        text("01050000052", kakaoOptions={"pfId": key.senderKey}),
        text("01050000053", subject="알림"),
    ]
    group = client.call("sendMany", given)["groupId"]
    rows = client.call("getGroupMessages", group)["messageList"].values()

    assert sorted((row["type"], row["text"]) for row in rows) == [
        ("ATA", "길동님, 또 오세요."),
        ("CTA", "안녕하세요"),
        ("LMS", "안녕하세요"),
    ]


@pytest.mark.torture
def test_balance_is_read(client: Judge) -> None:
    assert client.call("getBalance")["balance"] > 0


@pytest.mark.torture
@pytest.mark.parametrize("call", [("getStatistics", {}), ("removeGroupMessages", "G4V0", ["M4V0"])])
def test_what_is_not_offered_is_not_found(client: Judge, call: tuple[Any, ...]) -> None:
    with pytest.raises(ClientFailed, match="ResourceNotFound"):
        client.call(*call)
