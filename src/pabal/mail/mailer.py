"""Hands mails to a mail server, and says how that ended."""

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Literal, NamedTuple, Protocol


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
