"""Commands beside a running service on SQLite: it tells callers soon of what they do, though nobody wakes it."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.fakes.webhooks.receiver import Receiver, running_receiver
from tests.fixtures.certificates import AUTHORITY
from tests.fixtures.cli import CommandLine, add_template_under_review
from tests.fixtures.live import serving

SOON_S = 25.0
"""Five seconds and much patience with a busy machine; without the service's attention it would be thirty."""
EVENTS = ("template.status", "sender.auth", "message.result")


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with running_receiver() as found:
        yield found


def wait_for_items(receiver: Receiver, type: str) -> list[Any]:
    """Return the items of the first post of this type."""
    found: list[Any] = receiver.wait_for(lambda event: event.get("type") == type, SOON_S)["items"]
    return found


def test_what_commands_do_is_posted_soon(command_line: CommandLine, receiver: Receiver) -> None:
    command_line.run_in_context(add_template_under_review)
    key = command_line("key", "create", "--account", "acme").out.strip()
    body = {
        "content": "안녕하세요",
        "sender": "02-123-4567",
        "receivers": [{"phoneNumber": "010-2222-3333"}],
        "sendDate": (datetime.now(UTC) + timedelta(days=2)).strftime("%Y-%m-%d %H:%M"),
    }
    options: dict[str, Any] = {"webhook_allow": f"acme@localhost:{receiver.port}", "webhook_tls_ca": AUTHORITY}

    with serving(command_line.data, **options) as live, live.client(key) as client:
        sent = client.post("/api/message/sendSMS.v1.0", json=body).json()
        words = [word for each in EVENTS for word in ("--event", each)]
        made = command_line("webhook", "create", receiver.url, "--account", "acme", *words)
        receiver.change(secret=made.rows[0][1])
        done = [
            command_line("template", "approve", 1),
            command_line("profile", "disable", 1),
            command_line("privacy", "erase", "010-2222-3333", "--account", "acme"),
        ]

        posted = {each: wait_for_items(receiver, each) for each in EVENTS}
        listed = client.get("/api/message/results.v1.0").json()["items"]

    assert [each.status for each in done] == [0, 0, 0]
    assert [item["status"]["value"] for item in posted["template.status"]] == ["approved"]
    assert [item["disabledReason"]["value"] for item in posted["sender.auth"]] == ["operator"]
    assert [item["sendingStatus"]["value"] for item in posted["message.result"]] == ["cancel"]
    assert [item["requestId"] for item in listed] == [sent["item"]["requestId"]]
