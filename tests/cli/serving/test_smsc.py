"""`pabal smsc` serves an independent SMPP client: binds, messages, receipts and refusals."""

import contextlib
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from smpplib.client import Client
from smpplib.exceptions import PDUError
from smpplib.gsm import make_parts

from pabal.carriers.smpp import protocol
from pabal.carriers.smpp.pdu import encode_pdu
from tests.fixtures.cli import run_command
from tests.fixtures.smsc_process import SmscProcess, running_smsc

LONG = "긴 한글 문자는 여러 조각으로 나누어 보냅니다." * 5


@pytest.fixture
def smsc() -> Iterator[SmscProcess]:
    with running_smsc() as running:
        yield running


@contextlib.contextmanager
def bound(smsc: SmscProcess, kind: str = "transceiver", **credentials: str) -> Iterator[Client]:
    client = Client("127.0.0.1", smsc.port, allow_unknown_opt_params=True)
    client.connect()
    try:
        getattr(client, f"bind_{kind}")(**{"system_id": "shop", "password": "secret"} | credentials)
        yield client
    finally:
        client.disconnect()


def send(client: Client, text: str) -> list[str]:
    """Send a text, in parts if it is long; return the ids that were answered."""
    ids: list[str] = []
    parts, coding, esm_class = make_parts(text)
    for part in parts:
        client.send_message(
            source_addr="0212345678",
            destination_addr="01012345678",
            short_message=part,
            data_coding=coding,
            esm_class=esm_class,
            registered_delivery=True,
        )
        client.set_message_sent_handler(lambda pdu: ids.append(pdu.message_id.decode()))
        client.read_once()
    return ids


def read_receipts(client: Client, count: int) -> list[str]:
    receipts: list[str] = []
    client.set_message_received_handler(lambda pdu: receipts.append(pdu.short_message.decode()))
    while len(receipts) < count:
        client.read_once()
    return receipts


@pytest.mark.parametrize("text", ["Hello", "안녕하세요", LONG], ids=["gsm", "ucs2", "long"])
def test_client_gets_an_id_and_a_receipt_for_each_message(smsc: SmscProcess, text: str) -> None:
    with bound(smsc) as client:
        ids = send(client, text)
        receipts = read_receipts(client, len(ids))

    assert [each.partition(" ")[0] for each in receipts] == [f"id:{each}" for each in ids]
    assert all("dlvrd:001" in each and "stat:DELIVRD err:000" in each for each in receipts)
    assert smsc.read_line() == "bind_transceiver shop: ESME_ROK"
    shown = [smsc.read_line().partition(": ") for _ in ids]
    assert [head for head, _, _ in shown] == [f"submit_sm {each} 0212345678 -> 01012345678" for each in ids]
    assert "".join(told for _, _, told in shown) == text
    assert [smsc.read_line() for _ in ids] == [f"deliver_sm {each} acknowledged: ESME_ROK" for each in ids]


def test_receipts_wait_for_a_receiver(smsc: SmscProcess) -> None:
    with bound(smsc, "transmitter") as sender:
        (message_id,) = send(sender, "Hello")
        with bound(smsc, "receiver", system_id="other") as other, bound(smsc, "receiver") as receiver:
            (receipt,) = read_receipts(receiver, 1)
            with pytest.raises(PDUError):  # it may not submit
                send(other, "Hello")

    assert receipt.startswith(f"id:{message_id} ")


def test_every_message_fails_if_so_told() -> None:
    with running_smsc("--stat", "UNDELIV", "--err", "011") as smsc, bound(smsc) as client:
        send(client, "Hello")
        (receipt,) = read_receipts(client, 1)

    assert "dlvrd:000" in receipt
    assert "stat:UNDELIV err:011" in receipt


def test_other_credentials_are_refused_if_some_are_given() -> None:
    with running_smsc("--system-id", "shop", "--password", "secret") as smsc:
        for wrong, status in (
            ({"system_id": "other"}, "ESME_RINVSYSID"),
            ({"password": "wrong"}, "ESME_RINVPASWD"),
        ):
            with pytest.raises(PDUError), bound(smsc, **wrong):
                pass
            assert smsc.read_line() == f"bind_transceiver {wrong.get('system_id', 'shop')}: {status}"
        with bound(smsc):
            assert smsc.read_line() == "bind_transceiver shop: ESME_ROK"


@pytest.mark.parametrize(
    "octets", [b"GET / HTTP/1.1\r\n\r\n", encode_pdu(protocol.BIND_TRANSCEIVER, 1, b"no end")], ids=["http", "body"]
)
def test_what_is_no_smpp_ends_its_connection_only(smsc: SmscProcess, octets: bytes) -> None:
    with socket.create_connection(("127.0.0.1", smsc.port), timeout=10) as stranger:
        stranger.sendall(octets)
        with contextlib.suppress(ConnectionResetError):
            assert stranger.recv(100) == b""

    assert smsc.read_line().startswith("closing a connection that does not speak SMPP 3.4")
    with bound(smsc) as client:
        assert send(client, "Hello")


def test_unknown_command_is_named_as_such(smsc: SmscProcess) -> None:
    with bound(smsc) as client:
        client.query_message(message_id="1", source_addr_ton=0, source_addr_npi=0, source_addr="0212345678")
        with pytest.raises(PDUError) as refused:
            client.read_once()

    assert refused.value.args[1] == protocol.RINVCMDID


def test_port_in_use_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done: Any = run_command(capsys, "smsc", "--port", str(taken.getsockname()[1]))

    assert done.status == 2
    assert "give another with --port" in done.err
