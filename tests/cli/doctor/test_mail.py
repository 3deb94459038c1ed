"""`pabal doctor` says when mails cannot be sent, and why."""

import pytest

from pabal.domain.people.user import Role
from pabal.mail.mailer import MailOutcome, MailResult
from pabal.service.notices.dispatch import record_server
from pabal.store.engine.base import Tx
from pabal.store.events import mails
from pabal.store.events.mails import NewMail
from pabal.store.users import users
from tests.fixtures.cli import CommandLine
from tests.fixtures.mailers import MAIL_SETTINGS, RecordingMailer, confirm_directly
from tests.fixtures.virtual import NOON

SERVER = RecordingMailer.name
WRONG_CERTIFICATE = MailResult(MailOutcome.UNAVAILABLE, "the server's certificate is not valid")


@pytest.fixture(autouse=True)
def mail_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in MAIL_SETTINGS.items():
        monkeypatch.setenv(f"PABAL_{name.upper()}", value)


def refuse_mail(tx: Tx) -> None:
    """Have a mail to a user refused for good."""
    user_id = users.add(tx, None, "kim", Role.OPERATOR, "hash", NOON)
    assert user_id is not None
    confirm_directly(tx, "kim")
    mails.add(tx, NewMail(bytes(16), user_id, "quota", [{}]), NOON, NOON)
    claimed = mails.claim(tx, NOON, 1)
    assert claimed
    mails.give_up(tx, claimed, "550 no such user", NOON)


def test_doctor_says_since_when_and_why_mails_cannot_be_sent(command_line: CommandLine) -> None:
    command_line.run_in_store(refuse_mail)
    sound = command_line("doctor")
    command_line.run_in_store(record_server, SERVER, WRONG_CERTIFICATE, 0.5, NOON)

    found = command_line("doctor")

    assert sound.status == 0
    assert "mails go to mail.example.com:587, 0 wait" in sound.out
    assert "1 mails were given up in the last day, the last one to kim: 550 no such user" in sound.out
    assert found.status == 1
    assert "mails cannot be sent since 2026-11-15 12:00:00" in found.out
    assert WRONG_CERTIFICATE.detail in found.out


def test_doctor_names_a_password_file_that_cannot_be_read(
    command_line: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PABAL_SMTP_USER", "pabal")
    monkeypatch.setenv("PABAL_SMTP_PASSWORD_FILE", "/nonexistent/password")

    found = command_line("doctor")

    assert found.status == 1
    assert "smtp_password_file" in found.out
