"""The seam between the service and a carrier."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

from pabal.carriers.provider import ProfileProvider as ProfileProvider
from pabal.domain.codes import Code, Refused
from pabal.domain.message import Attempt, Outcome, Product

DEFAULT_BATCH_SIZE = 500
"""How many messages a carrier is handed at once, unless it says otherwise."""


class Accepted(NamedTuple):
    """The carrier has it and will report on `reference`; None: it never reports, so this is its last word.

    Of a message that went in several parts, `further` are the references of the others.
    """

    reference: str | None
    other_references: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """How the verdict is called in the store and in metrics."""
        return "taken"


@dataclass(frozen=True, slots=True)
class Rejected:
    """The carrier will not deliver it, for good."""

    label: ClassVar[str] = "rejected"

    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Declined:
    """The carrier does not carry such a message, but another may; `outcome` is its end where there is none."""

    label: ClassVar[str] = "declined"

    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Busy:
    """The carrier does not take it now; it may later."""

    label: ClassVar[str] = "busy"


@dataclass(frozen=True, slots=True)
class NotSent:
    """It never left our hands: the carrier cannot be reached. This costs no try."""

    label: ClassVar[str] = "away"


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nobody can say whether the carrier has it."""

    label: ClassVar[str] = "unknown"


Verdict = Accepted | Rejected | Declined | Busy | NotSent | Unknown


class Receipt(NamedTuple):
    """A carrier's word on how a message it took, or a part of it, has ended."""

    reference: str
    outcome: Outcome
    in_doubt_reference: str | None = None
    """The name of the message as `identity.name_in_doubt` gives it, where the carrier has told it."""


OnReceipts = Callable[[Sequence[Receipt]], Awaitable[None]]
"""Hands receipts to the service; when it returns they are kept, and may be acknowledged."""

OnVerdicts = Callable[[Sequence[tuple[Attempt, Verdict]]], None]
"""Takes verdicts as they come, for each attempt one."""

ReadBody = Callable[[], Awaitable[bytes]]
"""Reads the body of a call to us."""

OnAnomaly = Callable[[str], None]
"""Tells the operator's counters of something odd that a carrier did, in a few fixed words."""


class Carrier(Protocol):
    """Someone who carries messages; what has a value here need not be said by those it suits."""

    name: str
    products: frozenset[Product]
    dedups: bool
    """Whether it knows a message it has had before, so that handing it over again does no harm."""
    window: int
    """How many messages may be in its hands without an answer."""
    batch_size: int = DEFAULT_BATCH_SIZE
    """How many messages it is handed at once at most."""
    holds_in_doubt: bool = False
    """Whether a message in doubt waits for its receipt instead of being handed over again."""
    can_look_up: bool = False
    """Whether it can find out if it has a message in doubt: such a message goes to no other carrier meanwhile."""
    timeout_s: float
    """How long it may take to answer."""
    failover_after_s: float = 60.0
    """How long it may be unreachable before its messages go to the next one of their route."""
    provider: ProfileProvider | None = None

    @property
    def is_connected(self) -> bool:
        """Whether it can be given anything now."""

    @property
    def rate(self) -> float:
        """How many a second it may be given; 0: as many as it takes."""
        return 0

    @property
    def backlog_s(self) -> float:
        """How long what it has been given will still take to go out at its rate."""
        return 0.0

    def set_rate_share(self, share: float) -> None:
        """Keep to so much of its rate from now on: other processes have the rest."""
        return None

    @property
    def problem(self) -> str:
        """Why it is not connected, in words without secrets; empty where it is."""
        return ""

    async def send(self, attempts: Sequence[Attempt]) -> Sequence[Verdict]:
        """Hand over a batch and return a verdict for each, in order."""

    async def submit(self, attempts: Sequence[Attempt], on_verdicts: OnVerdicts) -> None:
        """Hand over a batch and tell each verdict when it is known.

        A carrier that answers messages one by one tells them so: one that is late must not hold up the others.
        For one that answers all at once, `send` is enough.
        """
        on_verdicts(list(zip(attempts, await self.send(attempts), strict=True)))

    async def handle_webhook(
        self, headers: Mapping[str, str], read_body: ReadBody, on_receipts: OnReceipts
    ) -> None:
        """Hand on what it tells by a call to us, which is read once its headers show that it is from it.

        Raises Refused: NOT_FOUND where it makes no such calls, UNAUTHORIZED, INVALID_JSON.
        """
        raise Refused(Code.NOT_FOUND)

    async def run(self, on_receipts: OnReceipts) -> None:
        """Hold the session, handing on receipts as they come, until cancelled."""
