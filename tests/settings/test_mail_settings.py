"""Settings of mails: what cannot work, or not safely, is refused at the start."""

from pathlib import Path
from typing import Any

import pytest

from pabal.settings.field import BadSetting
from pabal.settings.settings import describe_settings, load

SET_UP = {
    "PABAL_SMTP_HOST": "mail.example.com",
    "PABAL_SMTP_SENDER": "pabal@example.com",
    "PABAL_PUBLIC_URL": "https://pabal.example.com/",
}
PASSWORD = "mail horse battery"


def load_with(**changes: Any) -> Any:
    return load({**SET_UP, **{f"PABAL_{name.upper()}": value for name, value in changes.items()}})


def test_mails_are_off_unless_a_server_is_named() -> None:
    settings = load({})

    assert not settings.has_mail
    assert (settings.smtp_tls, settings.smtp_port) == ("starttls", 587)


def test_password_is_never_shown() -> None:
    settings = load_with(smtp_user="pabal", smtp_password=PASSWORD)

    assert settings.read_smtp_password() == PASSWORD
    assert PASSWORD not in repr(settings)
    assert PASSWORD not in str(describe_settings(settings))


def test_password_is_read_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text(f"{PASSWORD}\n", encoding="utf-8")

    settings = load_with(smtp_user="pabal", smtp_password_file=str(file))

    assert settings.read_smtp_password() == PASSWORD
    file.unlink()
    with pytest.raises(BadSetting, match="smtp_password_file"):
        settings.read_smtp_password()


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"smtp_sender": ""}, "smtp_sender"),
        ({"smtp_sender": "Pabal <pabal@example.com>"}, "smtp_sender"),
        ({"smtp_sender": "a@example.com\r\nBcc: x@y.kr"}, "smtp_sender"),
        ({"public_url": ""}, "public_url"),
        ({"public_url": "pabal.example.com"}, "public_url"),
        ({"public_url": "https://pabal.example.com/console"}, "public_url"),
        ({"public_url": "https://user@pabal.example.com"}, "public_url"),
        ({"public_url": "javascript://pabal.example.com"}, "public_url"),
        ({"smtp_host": "mail.example.com/x"}, "smtp_host"),
        ({"smtp_host": "mail.example.com\r\n"}, "smtp_host"),
        ({"smtp_user": "pabal"}, "smtp_user"),
        ({"smtp_password": PASSWORD}, "smtp_user"),
        ({"smtp_user": "pabal", "smtp_password": PASSWORD, "smtp_tls": "none"}, "smtp_tls"),
        ({"smtp_user": "pabal", "smtp_password": PASSWORD, "smtp_password_file": "x"}, "smtp_password"),
        ({"smtp_user": "pabal", "smtp_password": "비밀"}, "smtp_password"),
        ({"smtp_tls": "ssl"}, "SMTP_TLS"),
        ({"notice_failure_percent": "0"}, "NOTICE_FAILURE_PERCENT"),
        ({"notice_quota_percent": "100"}, "NOTICE_QUOTA_PERCENT"),
    ],
)
def test_settings_that_cannot_work_are_refused(changes: dict[str, str], problem: str) -> None:
    with pytest.raises(BadSetting, match=problem) as refused:
        load_with(**changes)

    assert PASSWORD not in str(refused.value)
