"""The third-party SMSCs themselves, tested with the client of smpplib."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from smpplib import consts
from smpplib.client import Client
from smpplib.exceptions import PDUError

from tests.fakes.smsc.peer import KINDS, Peer, running_peer

pytestmark = pytest.mark.slow
HANGUL = "안녕하세요, 파발입니다."
GSM, UCS_2, CP949 = 0, 8, 14
UDHI = 0x40
THROTTLED, WRONG_PASSWORD, WRONG_SYSTEM_ID, WRONG_BIND_STATE = 0x58, 0x0E, 0x0F, 0x04
Dial = Callable[..., Client]


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """The kind of SMSC."""
    return str(request.param)


@pytest.fixture
def dial() -> Iterator[Dial]:
    """Connect and bind to an SMSC: `dial(peer, bind="receiver")`; disconnects at the end."""
    clients: list[Client] = []

    def connect(peer: Peer, bind: str = "transceiver", **changes: Any) -> Client:
        client = Client("127.0.0.1", peer.port, timeout=10, allow_unknown_opt_params=True)
        clients.append(client)
        client.set_error_pdu_handler(lambda pdu: None)
        client.connect()
        getattr(client, f"bind_{bind}")(**{"system_id": "pabal", "password": "secret", **changes})
        return client

    yield connect
    for each in clients:
        each.state = consts.SMPP_CLIENT_STATE_OPEN
        each.disconnect()


def _submit(client: Client, octets: bytes, data_coding: int = UCS_2, **changes: Any) -> Any:
    """Submit one message and return the response."""
    fields = {"source_addr": "0212345678", "destination_addr": "01012345678", "registered_delivery": 1}
    client.send_message(**fields | {"short_message": octets, "data_coding": data_coding} | changes)
    return _next(client, "submit_sm_resp")


def _next(client: Client, command: str) -> Any:
    """Return the next PDU of one kind, answering receipts on the way."""
    while True:
        pdu = client.read_pdu()
        if pdu.command == "deliver_sm":
            client._message_received(pdu)
        if pdu.command == command:
            return pdu


def test_submitted_message_is_reported_readably(kind: str, dial: Dial) -> None:
    with running_peer(kind) as peer:
        client = dial(peer)
        client.set_message_received_handler(lambda pdu: None)

        first = _submit(client, HANGUL.encode("utf-16-be"))
        _submit(client, b"Hi \x1b\x3cyou\x1b\x3e \x00", GSM)
        _submit(client, HANGUL.encode("cp949"), CP949)
        _submit(client, b"", message_payload=(HANGUL * 50).encode("utf-16-be"))
        _submit(client, bytes.fromhex("050003070201") + HANGUL.encode("utf-16-be"), esm_class=UDHI)
        events = peer.wait_for_many("submit_sm", 5)

    texts = [HANGUL, "Hi [you] @", HANGUL, HANGUL * 50, HANGUL]
    assert [event["text"] for event in events] == texts
    assert [event["data_coding"] for event in events] == [UCS_2, GSM, CP949, UCS_2, UCS_2]
    assert [event["is_payload"] for event in events] == [False, False, False, True, False]
    assert [event["udh"] for event in events] == [None, None, None, None, "0003070201"]
    assert bytes.fromhex(events[2]["raw"]).decode("cp949") == HANGUL
    assert (events[0]["source"], events[0]["destination"]) == ("0212345678", "01012345678")
    assert (events[0]["registered_delivery"], events[4]["esm_class"]) == (1, UDHI)
    assert events[0]["message_id"] == first.message_id.decode()
    assert events[0]["sequence"] == first.sequence


@pytest.mark.parametrize(("receipt", "hex_ids"), [("text", False), ("text", True), ("tlv", False)])
def test_receipt_has_the_requested_form(kind: str, dial: Dial, receipt: str, hex_ids: bool) -> None:
    got: list[Any] = []
    with running_peer(
        kind, receipt=receipt, stat="UNDELIV", err="011", hex_ids=hex_ids, echo_reference=True
    ) as peer:
        client = dial(peer)
        client.set_message_received_handler(lambda pdu: got.append(pdu))
        message_id = _submit(client, b"x", GSM, user_message_reference=4711).message_id.decode()
        if not got:
            _next(client, "deliver_sm")
        peer.wait_for(lambda event: event["event"] == "deliver_sm_resp" and event["status"] == 0)

    (report,) = got
    decimal = f"{int(message_id, 16):020}" if hex_ids else message_id
    assert (report.esm_class, report.user_message_reference) == (0x04, 4711)
    assert (report.source_addr, report.destination_addr) == (b"01012345678", b"0212345678")
    if receipt == "text":
        assert report.short_message.startswith(f"id:{decimal} sub:001 ".encode())
        assert b"stat:UNDELIV err:011 " in report.short_message
    else:
        assert (report.receipted_message_id.decode(), report.message_state) == (message_id, 5)
        assert report.network_error_code == b"\x03\x00\x0b"


def test_receipt_may_come_before_the_submit_response(kind: str, dial: Dial) -> None:
    with running_peer(kind, receipt_first=True) as peer:
        client = dial(peer)
        client.send_message(source_addr="1", destination_addr="2", registered_delivery=1, short_message=b"x")

        commands = [client.read_pdu().command for _ in range(2)]

    assert commands == ["deliver_sm", "submit_sm_resp"]


def test_wrong_credentials_are_refused_with_the_right_status(kind: str, dial: Dial) -> None:
    with running_peer(kind) as peer:
        with pytest.raises(PDUError) as wrong_password:
            dial(peer, password="guess")
        with pytest.raises(PDUError) as wrong_name:
            dial(peer, system_id="nobody")
        receiver = dial(peer, "receiver")
        receiver.state = consts.SMPP_CLIENT_STATE_BOUND_TRX
        wrong_state = _submit(receiver, b"x")

    assert wrong_password.value.args[1] == WRONG_PASSWORD
    assert wrong_name.value.args[1] == WRONG_SYSTEM_ID
    assert wrong_state.status == WRONG_BIND_STATE


def test_every_nth_submit_is_throttled(kind: str, dial: Dial) -> None:
    with running_peer(kind, throttle_every=3, receipt="none") as peer:
        client = dial(peer)

        statuses = [_submit(client, b"x", GSM).status for _ in range(6)]

    assert statuses == [0, 0, THROTTLED, 0, 0, THROTTLED]


def test_receipts_wait_for_the_receiver_of_a_pair(kind: str, dial: Dial) -> None:
    got: list[Any] = []
    with running_peer(kind) as peer:
        transmitter = dial(peer, "transmitter")
        message_id = _submit(transmitter, b"x", GSM).message_id
        receiver = dial(peer, "receiver")
        receiver.set_message_received_handler(lambda pdu: got.append(pdu))

        _next(receiver, "deliver_sm")

    assert b"id:%b " % message_id in got[0].short_message


def test_pending_receipts_survive_a_crash(kind: str, dial: Dial, tmp_path: Path) -> None:
    got: list[Any] = []
    with running_peer(kind, log=str(tmp_path / "log")) as peer:
        message_id = _submit(dial(peer, "transmitter"), b"x", GSM).message_id
        port = peer.port
        peer.kill()
        with (tmp_path / "log").open("a") as log:
            log.write('{"ev')  # as after a kill during a write
        peer.start()
        client = dial(peer)
        client.set_message_received_handler(lambda pdu: got.append(pdu))
        _next(client, "deliver_sm")
        peer.wait_for(lambda event: event["event"] == "deliver_sm_resp")

        peer.kill()
        peer.start()
        again = _submit(dial(peer, "transmitter"), b"x", GSM).message_id

    assert peer.port == port
    assert b"id:%b " % message_id in got[0].short_message
    assert again != message_id
    assert len(peer.events("deliver_sm_resp")) == 1


def test_segment_is_reported_only_when_released(kind: str, dial: Dial) -> None:
    got: list[Any] = []
    with running_peer(kind, withhold_part=1) as peer:
        client = dial(peer)
        client.set_message_received_handler(lambda pdu: got.append(pdu))
        ids = [
            _submit(client, bytes((5, 0, 3, 7, 2, part)) + b"x", GSM, esm_class=UDHI).message_id for part in (1, 2)
        ]
        if not got:
            _next(client, "deliver_sm")
        before = [pdu.short_message.split()[0] for pdu in got]
        peer.send_command("release")
        _next(client, "deliver_sm")

    assert before == [b"id:" + ids[1]]
    assert got[1].short_message.split()[0] == b"id:" + ids[0]
