"""The seam between the service and a carrier."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from pabal.carriers.provider import Desk as Desk
from pabal.domain.codes import Code, Refused
from pabal.domain.message import Attempt, Outcome, Product

BATCH = 500
"""How many messages a carrier is handed at once, unless it says otherwise."""


class Taken(NamedTuple):
    """The carrier has it and will report on `reference`; None: it never reports, so this is its last word.

    Of a message that went in several parts, `further` are the references of the others.
    """

    reference: str | None
    further: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rejected:
    """The carrier will not deliver it, for good."""

    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Declined:
    """The carrier does not carry such a message, but another may; `outcome` is its end where there is none."""

    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Busy:
    """The carrier does not take it now; it may later."""


@dataclass(frozen=True, slots=True)
class Away:
    """It never left our hands: the carrier cannot be reached. This costs no try."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nobody can say whether the carrier has it."""


Verdict = Taken | Rejected | Declined | Busy | Away | Unknown


class Receipt(NamedTuple):
    """A carrier's word on how a message it took, or a part of it, has ended."""

    reference: str
    outcome: Outcome
    doubt: str | None = None
    """The name of the message as `identity.name_in_doubt` gives it, where the carrier has told it."""


HandOn = Callable[[Sequence[Receipt]], Awaitable[None]]
"""Hands receipts to the service; when it returns they are kept, and may be acknowledged."""

Tell = Callable[[Sequence[tuple[Attempt, Verdict]]], None]
"""Takes verdicts as they come, for each attempt one."""

Read = Callable[[], Awaitable[bytes]]
"""Reads the body of a call to us."""

Note = Callable[[str], None]
"""Tells the operator's counters of something odd that a carrier did, in a few fixed words."""


class Carrier(Protocol):
    """Someone who carries messages; what has a value here need not be said by those it suits."""

    name: str
    products: frozenset[Product]
    dedups: bool
    """Whether it knows a message it has had before, so that handing it over again does no harm."""
    window: int
    """How many messages may be in its hands without an answer."""
    batch: int = BATCH
    """How many messages it is handed at once at most."""
    holds_doubt: bool = False
    """Whether a message in doubt waits for its receipt instead of being handed over again."""
    asks: bool = False
    """Whether it can find out if it has a message in doubt: such a message goes to no other carrier meanwhile."""
    answer_s: float
    """How long it may take to answer."""
    patience_s: float = 60.0
    """How long it may be unreachable before its messages go to the next one of their route."""
    desk: Desk | None = None

    @property
    def is_connected(self) -> bool:
        """Whether it can be given anything now."""

    @property
    def rate(self) -> float:
        """How many a second it may be given; 0: as many as it takes."""
        return 0

    @property
    def ahead_s(self) -> float:
        """How long what it has been given will still take to go out at its rate."""
        return 0.0

    def keep_to(self, share: float) -> None:
        """Keep to so much of its rate from now on: other processes have the rest."""
        return None

    @property
    def trouble(self) -> str:
        """Why it is not connected, in words without secrets; empty where it is."""
        return ""

    async def send(self, attempts: Sequence[Attempt]) -> Sequence[Verdict]:
        """Hand over a batch and return a verdict for each, in order."""

    async def hand_over(self, attempts: Sequence[Attempt], tell: Tell) -> None:
        """Hand over a batch and tell each verdict when it is known.

        A carrier that answers messages one by one tells them so: one that is late must not hold up the others.
        For one that answers all at once, `send` is enough.
        """
        tell(list(zip(attempts, await self.send(attempts), strict=True)))

    async def hear(self, headers: Mapping[str, str], read: Read, hand_on: HandOn) -> None:
        """Hand on what it tells by a call to us, which is read once its headers show that it is from it.

        Raises Refused: NOT_FOUND where it makes no such calls, UNAUTHORIZED, INVALID_JSON.
        """
        raise Refused(Code.NOT_FOUND)

    async def run(self, hand_on: HandOn) -> None:
        """Hold the session, handing on receipts as they come, until cancelled."""
