"""The settings of mails to users, and of what users are told."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pabal.domain.base.codes import Refused
from pabal.domain.events.notice import parse_address
from pabal.settings.field import BadSetting, read_setting_file, setting


@dataclass(frozen=True)
class MailSettings:
    """The mail server, and the thresholds of notices."""

    smtp_host: str = setting(
        "",
        "콘솔 사용자에게 알림을 보낼 메일 서버(SMTP)입니다. 비우면 메일을 보내지 않습니다.",
        "Mail server (SMTP) for notices to users of the console; empty: no mails.",
    )
    smtp_port: int = setting(
        587,
        "메일 서버의 포트입니다. starttls는 587, tls는 465를 씁니다.",
        "Port of the mail server: 587 with starttls, 465 with tls.",
        limits=(1, 65535),
    )
    smtp_tls: Literal["starttls", "tls", "none"] = setting(
        "starttls",
        "메일 서버 연결의 암호화 방식입니다. starttls와 tls는 암호화하지 못하면 보내지 않고 인증서를"
        " 확인하며, none은 같은 장비의 서버에 씁니다.",
        "How the connection to the mail server is encrypted: starttls and tls refuse to go on without it"
        " and check the certificate; none is for a server on the same machine.",
    )
    smtp_tls_ca: Path | None = setting(
        None,
        "메일 서버의 인증서를 발급한 인증 기관의 PEM 파일입니다. 설정하면 시스템의 인증 기관 대신 씁니다.",
        "PEM file of authorities that the mail server's certificate may be from, instead of the system's.",
    )
    smtp_user: str = setting(
        "",
        "메일 서버의 사용자 이름입니다. 서버가 요구하지 않으면 비워 둡니다.",
        "User name at the mail server; empty: it asks for none.",
        max_length=256,
    )
    smtp_password: str = setting("", "메일 서버의 비밀번호입니다.", "Password at the mail server.", is_secret=True)
    smtp_password_file: Path | None = setting(None, "그 비밀번호를 담은 파일입니다.", "File with that password.")
    smtp_sender: str = setting(
        "",
        "메일을 보내는 주소입니다(예: pabal@example.com).",
        "Address that mails come from, such as pabal@example.com.",
    )
    smtp_timeout_seconds: int = setting(
        30,
        "메일 한 통을 메일 서버에 넘기는 제한 시간(초)입니다.",
        "How long handing one mail to the mail server may take.",
        limits=(1, 300),
    )
    public_url: str = setting(
        "",
        "사용자가 콘솔을 여는 주소입니다. 메일과 NHN Cloud 형식 웹훅의 링크에 씁니다(예: https://pabal.example.com).",
        "Address at which users open the console, such as https://pabal.example.com, for the links in mails, and in"
        " webhooks as NHN Cloud has them.",
    )
    mail_pause_minutes: int = setting(
        10,
        "한 사용자에게 같은 종류의 메일을 보내는 최소 간격(분)입니다. 그동안 생긴 일은 다음 메일에 모읍니다.",
        "Least time between two mails of one kind to one user; what happens meanwhile is in the next one.",
        limits=(0, 1440),
    )
    notice_failure_percent: int = setting(
        20,
        "한 시간 동안의 실패율이 이 퍼센트 이상이면 계정에 알립니다.",
        "Percentage of failed messages in an hour from which an account is told.",
        limits=(1, 100),
    )
    notice_failure_messages: int = setting(
        100,
        "그 한 시간에 종료된 메시지가 이보다 적으면 실패율을 알리지 않습니다.",
        "Messages that must have ended in that hour before an account is told.",
        limits=(1, None),
    )
    notice_carrier_seconds: int = setting(
        60,
        "발송 경로 장애가 이 시간(초) 동안 이어지면 사용자에게 알립니다.",
        "How long a carrier must be down before users are told.",
        limits=(0, 86_400),
    )
    notice_quota_percent: int = setting(
        70,
        "한도를 이 퍼센트만큼 쓰면 계정에 알립니다. 100퍼센트에서 다시 알립니다.",
        "Percentage of a limit at which an account is told; it is told again at 100.",
        limits=(1, 99),
    )

    @property
    def has_mail(self) -> bool:
        """Whether mails are sent."""
        return bool(self.smtp_host)

    def read_smtp_password(self) -> str:
        """Return the password at the mail server.

        Raises BadSetting if its file cannot be read.
        """
        if self.smtp_password_file is None:
            return self.smtp_password
        return read_setting_file("smtp_password_file", self.smtp_password_file, "ascii").strip("\r\n")


def check_mail(settings: MailSettings) -> None:
    """Raise BadSetting for settings with which mails could not be sent, or not safely."""
    if settings.public_url:
        _check_url(settings.public_url)
    if settings.smtp_password and settings.smtp_password_file:
        raise BadSetting(
            "smtp_password: smtp_password와 smtp_password_file 중 하나만 설정하세요",
            "smtp_password: set either smtp_password or smtp_password_file",
        )
    if not settings.has_mail:
        return
    host = settings.smtp_host
    if not host.isascii() or not host.isprintable() or set(host) & set(" /@[]"):
        raise BadSetting(
            f"smtp_host: {host!r}은(는) 서버의 이름이나 주소가 아닙니다. 포트는 smtp_port에 적으세요",
            f"smtp_host: {host!r} is not the name or address of a server; the port is smtp_port",
        )
    if not settings.smtp_sender:
        raise BadSetting(
            "smtp_sender: 메일을 보내는 주소가 필요합니다", "smtp_sender: mails need an address that they come from"
        )
    try:
        parse_address(settings.smtp_sender)
    except Refused:
        given = settings.smtp_sender
        raise BadSetting(
            f"smtp_sender: {given!r}은(는) name@example.com 같은 주소가 아닙니다",
            f"smtp_sender: {given!r} is not an address such as name@example.com",
        ) from None
    if not settings.public_url:
        raise BadSetting(
            "public_url: 메일의 링크에 콘솔의 주소가 필요합니다",
            "public_url: mails need the address of the console for their links",
        )
    has_password = bool(settings.smtp_password or settings.smtp_password_file)
    if bool(settings.smtp_user) != has_password:
        raise BadSetting(
            "smtp_user: 사용자와 비밀번호를 함께 설정하거나 둘 다 비우세요",
            "smtp_user: set a user and a password, or neither",
        )
    for name, value in (("smtp_user", settings.smtp_user), ("smtp_password", settings.smtp_password)):
        if not value.isascii() or (value and not value.isprintable()):
            raise BadSetting(
                f"{name}: 메일 서버는 ASCII 문자만 받습니다", f"{name}: mail servers take ASCII characters only"
            )
    if settings.smtp_user and settings.smtp_tls == "none":
        raise BadSetting(
            'smtp_tls: 비밀번호는 TLS로만 보냅니다. "starttls" 또는 "tls"를 쓰세요',
            'smtp_tls: a password is sent only over TLS; use "starttls" or "tls"',
        )


def _check_url(url: str) -> None:
    try:
        split = urlsplit(url)
        is_right = split.scheme in ("http", "https") and bool(split.hostname) and split.path in ("", "/")
        is_right = is_right and not (split.query or split.fragment or split.username) and split.port != 0
    except ValueError:
        is_right = False
    if not is_right or not url.isascii() or not url.isprintable() or " " in url:
        raise BadSetting(
            f"public_url: {url!r}은(는) https://pabal.example.com 같은 주소가 아닙니다",
            f"public_url: {url!r} is not an address such as https://pabal.example.com",
        )
