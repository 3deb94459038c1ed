"""Runs the program of the page about codes for signing in against a running service."""

import re

from pabal.client import ListMessages
from pabal.testing.account import TemporaryAccount
from pabal.testing.plugin import pabal, pabal_service
from tests.fixtures.pages import blocks, section

__all__ = ["pabal", "pabal_service"]

(PROGRAM,) = blocks(section("one-time-codes"), "python")
PHONE = "010-1234-5678"


def test_program_sends_a_code_and_accepts_it_once(pabal: TemporaryAccount) -> None:
    names: dict[str, object] = {"__name__": "example"}
    exec(compile(PROGRAM, "one-time-codes.md", "exec"), names)  # noqa: S102
    send_code, check_code = names["send_code"], names["check_code"]
    assert callable(send_code)
    assert callable(check_code)

    assert send_code(pabal.client, PHONE)
    assert not send_code(pabal.client, PHONE)  # too soon
    (accepted,) = pabal.client.list_messages(ListMessages(receivers=PHONE)).items
    (sent,) = pabal.wait_until_ended(accepted.requestId)
    (code,) = re.findall(r"\d{6}", pabal.list_received(PHONE)[0].content)

    assert (sent.purpose, re.findall(r"\d{6}", sent.content)) == ("code", [])
    assert not check_code(PHONE, "x")
    assert check_code(PHONE, code)
    assert not check_code(PHONE, code)
