"""Runs every example of the page about the Python client against a running service."""

import json
from typing import Any

import pytest

from pabal.client import Client
from pabal.domain.events.event import EventType
from pabal.testing.account import TemporaryAccount
from pabal.testing.plugin import pabal, pabal_clock, pabal_service
from pabal.testing.service import Clock
from pabal.web.api_document.example_answers import post_example
from pabal.webhooks.poster import format_secret, sign
from pabal.world import RealWorld
from tests.fixtures.pages import blocks, section

__all__ = ["pabal", "pabal_clock", "pabal_service"]

FIRST, ERRORS, LISTS, WEBHOOKS, TESTS, MORE_TESTS = blocks(section("python-client"), "python")
SECRET = b"s" * 32


def _run(block: str, account: TemporaryAccount, **names: Any) -> dict[str, Any]:
    """Run an example with the names that the page uses."""
    source = block.replace("http://127.0.0.1:8080", account.base_url).replace("pb_…", account.api_key)
    found = {"client": account.client, **names}
    exec(compile(source, "python-client.md", "exec"), found)  # noqa: S102
    return found


def test_first_example_sends(pabal: TemporaryAccount, capsys: pytest.CaptureFixture[str]) -> None:
    _run(FIRST, pabal)

    (message,) = pabal.wait_until_ended(capsys.readouterr().out.strip())
    assert message.content == "홍길동님, 안녕하세요"


def test_example_of_errors_tells_fields_and_codes(
    pabal: TemporaryAccount, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = _run(FIRST, pabal)["sms"]
    wrong.receivers[0].phoneNumber = "1"
    _run(ERRORS, pabal, sms=wrong)
    with Client(pabal.base_url, "pb_wrong") as stranger:
        _run(ERRORS, pabal, sms=wrong, client=stranger)

    _, by_field, by_code = capsys.readouterr().out.splitlines()
    assert "receivers[0].phoneNumber" in by_field
    assert by_code.startswith("UNAUTHORIZED")


def test_example_of_lists_goes_on_from_its_cursor(pabal: TemporaryAccount) -> None:
    _run(FIRST, pabal)
    handled: list[Any] = []

    found = _run(LISTS, pabal, cursor=None, handle=handled.append)

    assert found["cursor"]


def test_example_of_webhooks_accepts_signed_posts_only(pabal: TemporaryAccount) -> None:
    stored: list[tuple[str, str]] = []
    receive = _run(WEBHOOKS, pabal, store_once=lambda *item: stored.append(item))["receive"]
    body = json.dumps(post_example(EventType.MESSAGE_RESULT)).encode()
    headers = sign([SECRET], "msg_1", RealWorld().now(), body)

    assert receive(format_secret(SECRET), headers, body) == 204
    assert receive(format_secret(SECRET), headers, body + b" ") == 401
    assert [status for _, status in stored] == ["completed"]


def test_examples_of_tests_pass(pabal: TemporaryAccount) -> None:
    receive = _run(WEBHOOKS, pabal, store_once=lambda *_item: None)["receive"]

    _run(TESTS, pabal)["test_customer_gets_a_message"](pabal)
    _run(MORE_TESTS, pabal, receive=receive)["test_result_reaches_the_shop"](pabal)


def test_example_of_a_test_with_a_clock_passes(pabal: TemporaryAccount, pabal_clock: Clock) -> None:
    _run(MORE_TESTS, pabal)["test_reminder_is_sent_on_the_evening_before"](pabal, pabal_clock)
