"""A message to a simulated phone."""

from collections.abc import Sequence
from typing import NamedTuple

from pabal.domain.base.dates import Instant
from pabal.domain.brand.message import BrandMessage
from pabal.domain.content.button import Button
from pabal.domain.kakao.template_parts import NO_PARTS, TemplateParts
from pabal.domain.sends.message import Outcome

TOKEN_KIND = "token"
"""The kind of a message with the token of a sender profile."""


class DueReceipt(NamedTuple):
    """A receipt that the simulator sends when it is due."""

    due_at: Instant
    message_id: bytes
    outcome: Outcome


class SimulatedMessage(NamedTuple):
    """A message that the simulator accepted; `arrives_at` is None where it never arrives."""

    message_id: bytes | None
    account_id: int
    phone: str
    accepted_at: Instant
    arrives_at: Instant | None
    kind: str
    sender: str
    subject: str | None
    content: str
    buttons: Sequence[Button] = ()
    has_image: bool = False
    receipts: Sequence[tuple[Instant, Outcome]] = ()
    brand: BrandMessage | None = None
    parts: TemplateParts = NO_PARTS
