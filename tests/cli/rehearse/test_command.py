"""`pabal carrier rehearse`: its options, its question, and its exit status."""

import socket
from collections.abc import Iterator

import pytest

from tests.fakes.nhncloud.server import FakeNhnCloud, serving
from tests.fixtures.cli import CommandLine
from tests.fixtures.relay_thread import relay_in_thread

TO = ("--to", "010-1234-5678")
SETTINGS = """
[carriers.relay]
kind = "nhncloud"
sms_app_key = "{0.sms_app_key}"
sms_secret_key = "{0.sms_secret_key}"
sms_address = "{0.address}"
poll_seconds = 1
webhook_signature = "a-signature-of-webhooks"
[routes]
sms = ["relay"]
"""


@pytest.fixture
def relay(new_command_line: CommandLine) -> Iterator[FakeNhnCloud]:
    with relay_in_thread(serving, seed=1, receipt_after_s=0.05) as server:
        new_command_line.configure(SETTINGS.format(server))
        yield server


def test_command_sends_the_routed_kinds_and_reports(new_command_line: CommandLine, relay: FakeNhnCloud) -> None:
    words = ("carrier", "rehearse", "relay", *TO, "--sender", "1588-0000", "--yes", "--no-webhook")

    found = new_command_line(*words)

    assert (found.status, found.err) == (0, "")
    assert [line.partition(":")[0].strip() for line in found.out.splitlines()] == [
        "Rehearsal",
        "sms",
        "list of results",
        "look-up",
        "Webhooks were not tried",
        "Differences from the documents",
    ]
    assert [each.recipient_no for each in relay.messages] == ["01012345678"]
    assert not any(private in found.out for private in ("5678", "1588", relay.sms_app_key))
    assert new_command_line.files() == set()


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (("relay", *TO, "--sender", "15880000"), 2, "give --yes to send messages that cost money, 1 in all (sms)"),
        (("relay", *TO, "--yes"), 1, "sms: not sent: --sender is missing"),
        (("relay", *TO, "--only", "alimTalk", "--yes"), 2, "it sends: sms, lms, mms"),
        (("telco", *TO, "--yes"), 2, "telco is no relay of these settings, which have: relay"),
        (("relay", "--to", "02-123-4567", "--yes"), 2, "--to: A phone number is not valid"),
        (("relay", *TO, "--sender", "1", "--yes"), 2, "--sender: "),
        (("relay", *TO, "--image", "nothing.jpg", "--yes"), 2, "cannot read nothing.jpg"),
        (("relay", *TO, "--wait", "nan", "--yes"), 2, "--wait: more than 0"),
    ],
)
def test_nothing_is_sent_without_what_it_needs(
    new_command_line: CommandLine, relay: FakeNhnCloud, words: tuple[str, ...], status: int, says: str
) -> None:
    found = new_command_line("carrier", "rehearse", *words)

    assert found.status == status
    assert says in found.out + found.err
    assert relay.messages == []


def test_port_in_use_is_told_before_anything_is_sent(new_command_line: CommandLine, relay: FakeNhnCloud) -> None:
    with socket.create_server(("127.0.0.1", 0)) as service:
        port = service.getsockname()[1]
        words = ("carrier", "rehearse", "relay", *TO, "--sender", "15880000", "--port", port, "--yes")

        found = new_command_line(*words)

    assert found.status == 2
    assert "If the service is running, stop it meanwhile" in found.err
    assert relay.messages == []


def test_relay_that_refuses_is_named(new_command_line: CommandLine, relay: FakeNhnCloud) -> None:
    relay.sms_secret_key = "another"

    found = new_command_line(
        "carrier", "rehearse", "relay", *TO, "--sender", "15880000", "--yes", "--no-webhook", "--wait", "1"
    )

    assert found.status == 1
    assert "sms: not accepted (away)" in found.out
    assert "State of the relay: -1000 Invalid appKey." in found.out
