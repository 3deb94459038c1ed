"""Handing mails to real servers: TLS, AUTH, refusals, and servers that hang."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from pabal.mail.mailer import MailOutcome, MailResult
from tests.fixtures.certificates import TLS, server_context
from tests.fixtures.mail_servers import (
    MAIL,
    PASSWORD,
    USER,
    Mailbox,
    answering,
    hand_over,
    read_texts,
    serving_mail,
    serving_script,
)

pytestmark = pytest.mark.real_time
PATIENCE_S = 60.0

EHLO = b"250-localhost\r\n250 SIZE 1000000\r\n"
OK = b"250 OK\r\n"
BEFORE_DATA = (b"220 ready\r\n", EHLO, OK, OK, b"354 go ahead\r\n")
UNAVAILABLE, IN_DOUBT = MailOutcome.UNAVAILABLE, MailOutcome.IN_DOUBT


async def exchange(box: Mailbox, options: dict[str, Any], **changes: Any) -> MailResult:
    async with serving_mail(box, **options) as port:
        return await hand_over(port, **changes)


async def test_mail_arrives_as_it_was_written() -> None:
    box = Mailbox()

    result = await exchange(box, {})

    assert result == MailResult(MailOutcome.SENT)
    (mail,) = box.mails
    assert (mail["Subject"], mail["To"], mail["From"]) == (MAIL.subject, MAIL.address, "Pabal <pabal@example.com>")
    assert read_texts(box.mails) == [MAIL.text]
    assert box.recipients == [MAIL.address]


@pytest.mark.parametrize("tls", ["tls", "starttls"])
async def test_mail_is_handed_over_with_tls_and_password(tls: str) -> None:
    box = Mailbox()
    options = {"implicit": server_context()} if tls == "tls" else {"starttls": server_context(), "auth": True}
    user = {} if tls == "tls" else {"user": USER, "password": PASSWORD}

    result = await exchange(box, options, tls=tls, **user)

    assert result == MailResult(MailOutcome.SENT)
    assert len(box.mails) == 1


async def test_wrong_password_sends_nothing_and_is_not_in_the_reason() -> None:
    box = Mailbox()
    options = {"starttls": server_context(), "auth": True}

    result = await exchange(box, options, tls="starttls", user=USER, password="wrong horse")

    assert result.outcome is UNAVAILABLE
    assert "refuses user or password" in result.detail
    assert "wrong horse" not in result.detail
    assert box.mails == []


async def test_nothing_is_sent_without_encryption_when_starttls_is_stripped() -> None:
    box = Mailbox()

    result = await exchange(box, {}, tls="starttls")

    assert result.outcome is UNAVAILABLE
    assert "no STARTTLS" in result.detail
    assert box.mails == []


async def test_answers_injected_before_starttls_do_not_count() -> None:
    injected = b"220 go ahead\r\n250-localhost\r\n250 AUTH PLAIN\r\n"

    script = answering(b"220 ready\r\n", b"250-localhost\r\n250 STARTTLS\r\n", injected)
    async with serving_script(script) as port:
        result = await hand_over(port, tls="starttls", timeout_s=0.5)

    assert result.outcome is UNAVAILABLE


@pytest.mark.parametrize("tls", ["tls", "starttls"])
@pytest.mark.parametrize("changes", [{"tls_ca": TLS / "stranger.pem"}, {"host": "127.0.0.1"}, {"tls_ca": None}])
async def test_wrong_certificate_is_refused(tls: str, changes: dict[str, Any]) -> None:
    box = Mailbox()
    options = {"implicit" if tls == "tls" else "starttls": server_context()}

    result = await exchange(box, options, tls=tls, **changes)

    assert result.outcome is UNAVAILABLE
    assert "certificate is not valid" in result.detail
    assert box.mails == []


@pytest.mark.parametrize(
    ("command", "answer", "outcome"),
    [
        ("RCPT", "450 4.2.1 mailbox busy", MailOutcome.DEFERRED),
        ("RCPT", "550 5.1.1 no such user", MailOutcome.REFUSED),
        ("RCPT", "421 closing", MailOutcome.UNAVAILABLE),
        ("DATA", "452 4.3.1 disk full", MailOutcome.DEFERRED),
        ("DATA", "554 5.7.1 spam", MailOutcome.REFUSED),
        ("MAIL", "550 5.7.1 not your address", MailOutcome.UNAVAILABLE),
        ("MAIL", "451 later", MailOutcome.UNAVAILABLE),
    ],
)
async def test_refusals_are_told_apart(command: str, answer: str, outcome: MailOutcome) -> None:
    box = Mailbox()
    box.answers[command] = answer

    result = await exchange(box, {})

    assert result.outcome is outcome
    assert answer in result.detail
    assert box.mails == []


@pytest.mark.parametrize(
    ("answers", "outcome"),
    [
        ((b"",), UNAVAILABLE),
        ((b"220 ready\r\n", b"250-localhost\r\n"), UNAVAILABLE),
        ((b"220 ready\r\n", EHLO, OK, b""), UNAVAILABLE),
        ((*BEFORE_DATA, b""), IN_DOUBT),
        ((b"554 no service\r\n",), UNAVAILABLE),
        ((b"not smtp at all\r\n" * 3,), UNAVAILABLE),
    ],
)
async def test_server_that_hangs_is_given_up_in_time(answers: tuple[bytes, ...], outcome: MailOutcome) -> None:
    async with serving_script(answering(*answers)) as port, asyncio.timeout(PATIENCE_S):
        result = await hand_over(port, timeout_s=3 if outcome is IN_DOUBT else 1)  # that far it has to come in time

    assert result.outcome is outcome


async def test_server_that_answers_byte_by_byte_is_given_up_in_time() -> None:
    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ended = asyncio.ensure_future(reader.read(1))
        while not ended.done():
            writer.write(b"2")
            await asyncio.wait([ended], timeout=0.05)

    async with serving_script(drip) as port, asyncio.timeout(PATIENCE_S):
        result = await hand_over(port, timeout_s=0.4)

    assert result == MailResult(UNAVAILABLE, "the server did not answer in time")


async def test_connection_lost_after_the_mail_leaves_it_in_doubt() -> None:
    async def script(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(BEFORE_DATA[0])
        for answer in BEFORE_DATA[1:]:
            await reader.readline()
            writer.write(answer)
        await reader.readuntil(b"\r\n.\r\n")

    async with serving_script(script) as port:
        result = await hand_over(port)

    assert result.outcome is IN_DOUBT


async def test_server_that_is_not_there_is_unavailable(tmp_path: Path) -> None:
    async with serving_script(answering(b"")) as port:
        pass
    result = await hand_over(port)

    assert result.outcome is UNAVAILABLE
    assert "no connection" in result.detail


async def test_huge_mail_and_lines_of_dots_arrive_whole() -> None:
    box = Mailbox()
    text = ".\n" * 5000 + "가" * 5000 + "\n"

    result = await exchange(box, {}, mail=MAIL._replace(text=text))

    assert result == MailResult(MailOutcome.SENT)
    assert read_texts(box.mails) == [text]
