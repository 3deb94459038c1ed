"""Messages that subscribers write, sent to the real service by third-party SMSCs."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.fakes.smsc.peer import Peer, running_peer
from tests.fixtures.live import run
from tests.fixtures.smpp_live import SENDER, message_status, send, serve_with_smsc, wait_until

pytestmark = pytest.mark.slow
PHONE = "010-1234-5678"
LONG = "안녕하세요. 지난주에 주문한 물건이 아직 오지 않아서 문의드립니다 😀 " * 4


def write(peer: Peer, text: str) -> None:
    given = {"source": "01012345678", "destination": "0212345678", "text": text}
    peer.send_command(f"write {json.dumps(given)}")


def list_inbound(client: httpx.Client, **query: Any) -> Any:
    return client.get("/api/message/inbound.v1.0", params=query).json()


def test_written_messages_are_listed_and_a_refusal_opts_out(tmp_path: Path) -> None:
    with running_peer() as peer, serve_with_smsc(peer, tmp_path) as live, live.client() as client:
        run("number", "add", SENDER, "--account", "first", data=tmp_path / "data")
        send(client, "SMS", "안녕하세요", PHONE)
        wait_until(lambda: message_status(client, PHONE), "completed 1000")
        acknowledged = len(peer.events("deliver_sm_resp"))
        for text in ("Hello?", LONG, "수신 거부."):
            write(peer, text)
        wait_until(lambda: len(list_inbound(client).get("items", [])), 3)
        found = {each["content"]: each for each in list_inbound(client)["items"]}
        listed = client.get("/api/optOut/list.v1.0").json()["items"]
        answers = peer.wait_for_many("deliver_sm_resp", acknowledged + 3)

    assert set(found) == {"Hello?", LONG, "수신 거부."}
    assert {(each["sender"], each["receiver"]) for each in found.values()} == {(PHONE, SENDER)}
    assert [each["optOut"] for each in found.values() if each["content"].startswith("수신")] == [True]
    assert [(each["phoneNumber"], each["senderNumber"], each["source"]["value"]) for each in listed] == [
        (PHONE, SENDER, "reply")
    ]
    assert {each["status"] for each in answers} == {0}
