"""The real service with third-party SMSCs."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.fakes.smsc.peer import PeerEvent, running_peer
from tests.fixtures.smpp_live import message_record, message_status, send, serve_with_smsc, wait_until

pytestmark = pytest.mark.slow
PHONE, SECOND, THIRD = "010-1234-5678", "010-1234-5679", "010-1234-5680"
HANGUL = "안녕하세요, 파발입니다. 똠방각하 펲시콜라"
LATIN = "Hello, [Pabal] costs {100} ~ ^5 @ 2_000 \\ $3 |"
LONG = "동해물과 백두산이 마르고 닳도록! " * 60 + "!" * 20
LONG_LATIN = ("The quick brown fox [jumps] over the lazy dog. " * 50)[:2000]
GSM, UCS_2, CP949 = 0, 8, 14
UDHI = 0x40
WRONG_PASSWORD = 0x0E


def _part_number(part: PeerEvent) -> int:
    return int(part["udh"][-2:], 16)


def _joined(parts: list[PeerEvent]) -> str:
    """Return the joined text of a segmented message; check its headers."""
    numbers = sorted(_part_number(part) for part in parts)
    assert numbers == list(range(1, len(parts) + 1))
    assert {part["esm_class"] for part in parts} == {UDHI}
    assert {part["udh"][:-2] for part in parts} == {parts[0]["udh"][:-2]}, (
        "all headers differ only in the segment number"
    )
    assert int(parts[0]["udh"][-4:-2], 16) == len(parts)
    return "".join(part["text"] for part in sorted(parts, key=_part_number))


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("encoding", "codings"), [("auto", [UCS_2, GSM, UCS_2]), ("ucs2", [UCS_2] * 3), ("cp949", [CP949] * 3)]
)
def test_texts_arrive_readable_and_receipts_complete_them(
    tmp_path: Path, encoding: str, codings: list[int]
) -> None:
    with (
        running_peer() as peer,
        serve_with_smsc(peer, tmp_path, encoding=encoding) as live,
        live.client() as client,
    ):
        send(client, "SMS", HANGUL, PHONE)
        send(client, "SMS", LATIN, SECOND)
        send(client, "LMS", LONG, THIRD, subject="제목")
        wait_until(
            lambda: [message_status(client, phone) for phone in (PHONE, SECOND, THIRD)], ["completed 1000"] * 3
        )

    by_phone = {event["destination"]: event for event in peer.submits}
    hangul, latin, long = (by_phone[phone.replace("-", "")] for phone in (PHONE, SECOND, THIRD))
    assert len(peer.submits) == 3
    assert [hangul["text"], latin["text"], long["text"]] == [HANGUL, LATIN, f"제목\n{LONG}"]
    assert [hangul["data_coding"], latin["data_coding"], long["data_coding"]] == codings
    assert [hangul["is_payload"], latin["is_payload"], long["is_payload"]] == [False, False, True]
    assert {event["source"] for event in peer.submits} == {"0212345678"}
    assert {event["registered_delivery"] for event in peer.submits} == {1}
    if encoding == "cp949":
        assert bytes.fromhex(hangul["raw"]).decode("cp949") == HANGUL


@pytest.mark.first_case
@pytest.mark.parametrize("encoding", ["auto", "cp949"])
def test_segmented_text_ends_when_every_segment_is_reported(tmp_path: Path, encoding: str) -> None:
    with (
        running_peer(withhold_part=2) as peer,
        serve_with_smsc(peer, tmp_path, encoding=encoding, long_messages="parts") as live,
        live.client() as client,
    ):
        send(client, "LMS", LONG, PHONE)
        send(client, "LMS", LONG_LATIN, SECOND)
        peer.wait_for(lambda event: event["event"] == "submit_sm" and event["destination"].endswith("5679"))
        wait_until(lambda: _has_all_parts(peer.submits), True)
        peer.wait_for_many("deliver_sm_resp", len(peer.submits) - 2)
        before = [message_status(client, phone) for phone in (PHONE, SECOND)]
        peer.send_command("release")
        wait_until(lambda: [message_status(client, phone) for phone in (PHONE, SECOND)], ["completed 1000"] * 2)

    assert before == ["sending", "sending"]
    assert _joined([event for event in peer.submits if event["destination"].endswith("5678")]) == LONG
    assert _joined([event for event in peer.submits if event["destination"].endswith("5679")]) == LONG_LATIN


def _has_all_parts(parts: list[PeerEvent]) -> bool:
    """Return whether both long texts are complete, by their headers."""
    wanted = {part["destination"]: int(part["udh"][-4:-2], 16) for part in parts}
    return len(wanted) == 2 and sum(wanted.values()) == len(parts)


@pytest.mark.first_case
@pytest.mark.parametrize(
    ("says", "carrier", "ended"),
    [
        ({"receipt": "tlv"}, {}, "completed 1000"),
        ({"stat": "UNDELIV", "err": "011"}, {}, "fail 3018"),
        ({"stat": "UNDELIV", "err": "011"}, {"errors": {"011": 3003}}, "fail 3003"),
        ({"stat": "EXPIRED", "receipt": "tlv"}, {}, "fail 2000"),
        ({"stat": "REJECTD", "receipt": "tlv", "err": "45"}, {"errors": {"45": 3012}}, "fail 3012"),
        ({"receipt_first": True}, {}, "completed 1000"),
        ({"hex_ids": True}, {"submit_ids": "hex", "receipt_ids": "decimal"}, "completed 1000"),
        ({"receipt": "none"}, {"receipts": False}, "completed 1000"),
    ],
)
def test_receipt_decides_how_a_message_ends(
    tmp_path: Path, says: dict[str, Any], carrier: dict[str, Any], ended: str
) -> None:
    with (
        running_peer(**says) as peer,
        serve_with_smsc(peer, tmp_path, **carrier) as live,
        live.client() as client,
    ):
        send(client, "SMS", HANGUL, PHONE)

        wait_until(lambda: message_status(client, PHONE), ended)

    (submit,) = peer.submits
    assert submit["registered_delivery"] == int(carrier.get("receipts", True))


def test_transmitter_and_receiver_work_like_a_transceiver(tmp_path: Path) -> None:
    with (
        running_peer() as peer,
        serve_with_smsc(peer, tmp_path, bind="pair", numbers="international") as live,
        live.client() as client,
    ):
        send(client, "SMS", HANGUL, PHONE)

        wait_until(lambda: message_status(client, PHONE), "completed 1000")

    assert sorted(event["kind"] for event in peer.events("bind")) == ["bind_receiver", "bind_transmitter"]
    assert [event["destination"] for event in peer.submits] == ["821012345678"]


def test_throttled_message_is_retried_and_arrives_once(tmp_path: Path) -> None:
    phones = [f"010-2000-{number:04}" for number in range(15)]
    with (
        running_peer(throttle_every=10) as peer,
        serve_with_smsc(peer, tmp_path) as live,
        live.client() as client,
    ):
        request = send(client, "SMS", HANGUL, *phones)

        wait_until(lambda: _completed(client, request), len(phones))

    assert len(peer.events("submit_sm")) > len(peer.submits)
    assert sorted(event["destination"] for event in peer.submits) == [phone.replace("-", "") for phone in phones]


def _completed(client: httpx.Client, request: str) -> int:
    """Return how many messages of a request have arrived."""
    answer = client.get("/api/message/request.v1.0", params={"requestId": request}).json()
    return int(answer["item"]["counts"]["completed"])


def test_with_a_wrong_password_messages_wait_and_the_service_stays_up(tmp_path: Path) -> None:
    with (
        running_peer(password="changed") as peer,
        serve_with_smsc(peer, tmp_path) as live,
        live.client() as client,
    ):
        send(client, "SMS", HANGUL, PHONE)
        refused = peer.wait_for(lambda event: event["event"] == "bind")
        peer.wait_for_many("bind", 2)
        before = message_record(client, PHONE)["sendingStatus"]["value"]
        ready = client.get("/readyz").status_code
        peer.kill()
        peer.start(password="secret")
        wait_until(lambda: message_status(client, PHONE), "completed 1000")
        stopped = live.stop()

    assert refused["status"] == WRONG_PASSWORD
    assert (before, ready) == ("waiting", 200)
    assert [event["text"] for event in peer.submits] == [HANGUL]
    assert stopped == 0
