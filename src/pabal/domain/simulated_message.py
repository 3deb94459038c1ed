"""A message on its way to a simulated phone."""

from collections.abc import Sequence
from typing import NamedTuple

from pabal.domain.button import Button
from pabal.domain.dates import Instant
from pabal.domain.message import Outcome

TOKEN_KIND = "token"
"""The kind of a message that brings the token of a sender profile."""


class SimulatedMessage(NamedTuple):
    """What the simulator takes: where to, what, when it arrives if it does, and the receipts owed for it."""

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
