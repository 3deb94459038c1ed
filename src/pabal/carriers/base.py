"""The seam between the service and a carrier."""

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, Protocol

from pabal.domain.message import Attempt, Outcome, Product
from pabal.domain.template import Design, Review


class Taken(NamedTuple):
    """The carrier has it and will report on `reference`; None: it never reports, so this is its last word."""

    reference: str | None


class Rejected(NamedTuple):
    """The carrier will not deliver it, for good."""

    outcome: Outcome


class Busy(NamedTuple):
    """The carrier does not take it now; it may later."""


class Unknown(NamedTuple):
    """Nobody can say whether the carrier has it."""


Verdict = Taken | Rejected | Busy | Unknown


class Receipt(NamedTuple):
    """A carrier's word on how a message it took has ended."""

    reference: str
    outcome: Outcome


HandOn = Callable[[Sequence[Receipt]], Awaitable[None]]
"""Hands receipts to the service; when it returns they are kept, and may be acknowledged."""


class Desk(Protocol):
    """The part of some carriers that looks after sender profiles and templates."""

    async def send_token(self, account_id: int, cellphone: str, channel_id: str, token: str) -> None:
        """Bring a token to a channel administrator's phone."""

    async def review(self, design: Design) -> Review | None:
        """Take a template in for review; return the decision where it falls at once."""


class Carrier(Protocol):
    """Someone who carries messages."""

    name: str
    products: frozenset[Product]
    dedups: bool
    """Whether it knows a message it has had before, so that handing it over again does no harm."""
    window: int
    """How many messages may be in its hands without an answer."""
    answer_s: float
    """How long it may take to answer."""
    desk: Desk | None

    @property
    def is_connected(self) -> bool:
        """Whether it can be given anything now."""

    async def send(self, attempts: Sequence[Attempt]) -> Sequence[Verdict]:
        """Hand over a batch and return a verdict for each, in order."""

    async def run(self, hand_on: HandOn) -> None:
        """Hold the session, handing on receipts as they come, until cancelled."""
