"""Spells a mail as the bytes that a mail server takes."""

import email.policy
import unicodedata
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime

from pabal.domain.base.dates import SECOND, Instant
from pabal.mail.mailer import Mail

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
