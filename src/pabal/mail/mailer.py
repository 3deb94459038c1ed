"""A mail, as the bytes that a mail server takes, and what hands mails over."""

import email.policy
import unicodedata
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime
from enum import Enum
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from pabal.domain.base.dates import SECOND, Instant


class MailOutcome(Enum):
    """What came of a try to hand a mail over."""

    SENT = "sent"
    REFUSED = "refused"
    """The server does not take this mail, now or later."""
    DEFERRED = "deferred"
    """The server does not take this mail now."""
    UNAVAILABLE = "unavailable"
    """The server takes no mails: it cannot be reached, its TLS or our password is wrong, or it says so."""
    IN_DOUBT = "in_doubt"
    """The server had the whole mail, but its answer did not come."""


class MailResult(NamedTuple):
    """An outcome, and in English why it is no success."""

    outcome: MailOutcome
    detail: str = ""


class Mail(NamedTuple):
    """A mail to one address: plain text, and an id that a repeat has too."""

    id: str
    address: str
    subject: str
    text: str


@dataclass(frozen=True)
class SmtpServer:
    """Where mails are handed over, and how."""

    host: str
    port: int
    tls: Literal["starttls", "tls", "none"]
    user: str
    password: str = field(repr=False)
    sender: str
    timeout_s: float
    tls_ca: Path | None = None

    @property
    def name(self) -> str:
        """The host and port."""
        return f"{self.host}:{self.port}"


class Mailer(Protocol):
    """Hands mails over; simulations replace it."""

    @property
    def name(self) -> str:
        """The server's host and port."""

    @property
    def timeout_s(self) -> float:
        """How long handing one mail over may take."""

    async def send(self, mail: Mail) -> MailResult:
        """Hand a mail over; every failure is a result, too."""

    async def close(self) -> None:
        """End what is in flight."""


SENDER_NAME = "Pabal"
MAX_SUBJECT_CHARACTERS = 150
MAX_TEXT_CHARACTERS = 20_000
"""What is said by a mail is bounded before it gets here; this is the last limit."""
ELLIPSIS = "…"
_POLICY = email.policy.SMTP


def to_one_line(text: str, max_characters: int) -> str:
    """Return a text on one line, without control characters and with at most this many characters.

    What people have named may contain anything: line ends would begin a header, and marks of direction would show
    it as another text. Addresses of pages are spelled so that no program makes a link of them.
    """
    plain = "".join(" " if unicodedata.category(each)[0] in "CZ" else each for each in text[: 10 * max_characters])
    line = " ".join(plain.split()).replace("://", "[:]//")
    return line if len(line) <= max_characters else line[: max_characters - 1] + ELLIPSIS


def spell_mail(mail: Mail, sender: str, now: Instant) -> bytes:
    """Return a mail with its headers, every line ended by CRLF and none longer than a server takes."""
    message = EmailMessage(policy=_POLICY)
    domain = sender.rpartition("@")[2]
    message["From"] = Address(SENDER_NAME, addr_spec=sender)
    message["To"] = Address(addr_spec=mail.address)
    message["Subject"] = to_one_line(mail.subject, MAX_SUBJECT_CHARACTERS)
    message["Date"] = format_datetime(datetime.fromtimestamp(now / SECOND, UTC))
    message["Message-ID"] = f"<{mail.id}@{domain}>"
    message["Auto-Submitted"] = "auto-generated"
    message["X-Auto-Response-Suppress"] = "All"
    message.set_content(mail.text[:MAX_TEXT_CHARACTERS], charset="utf-8", cte="base64")
    return message.as_bytes()
