"""The interface between the service and a carrier."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import ClassVar, NamedTuple, Protocol

from pabal.carriers.provider import ProfileProvider as ProfileProvider
from pabal.domain.base.codes import Code, Refused
from pabal.domain.content.image import LEAST_LIMITS, ImageLimits
from pabal.domain.people.opt_out import OptOutChange
from pabal.domain.sends.message import Attempt, Outcome, Product, tidy_code

DEFAULT_BATCH_SIZE = 200
"""The most messages in one call of `submit`, unless a carrier sets its own limit."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """The carrier accepted the message and will send a receipt for `reference`.

    Without a reference there is no receipt: the message counts as delivered.
    `other_references` are those of the other segments of a message that was split.
    """

    label: ClassVar[str] = "taken"
    """The verdict's name in the store and in metrics."""

    reference: str | None
    other_references: tuple[str, ...] = ()
    code: str | None = field(default=None, compare=False)
    """The carrier's own code of a result that is known already."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """The message cannot be delivered by any carrier; it ends with `outcome`."""

    label: ClassVar[str] = "rejected"

    outcome: Outcome
    code: str | None = field(default=None, compare=False)
    """The carrier's own code, for people; so has every verdict that a carrier may give a reason for."""


@dataclass(frozen=True, slots=True)
class Declined:
    """This carrier does not deliver such a message, but another may.

    The message ends with `outcome` where its route has no other carrier.
    """

    label: ClassVar[str] = "declined"

    outcome: Outcome
    code: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Busy:
    """The carrier does not accept the message now, but may accept it later."""

    label: ClassVar[str] = "busy"

    code: str | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class NotSent:
    """The message was not transmitted: the carrier is unreachable. It does not count as a try.

    With `retry_after_s` the carrier is there, but a quota of its is used up: the message goes to the next carrier
    of its route at once, or waits so long.
    """

    label: ClassVar[str] = "away"

    retry_after_s: float | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Unknown:
    """The message is in doubt: the carrier may have it or not.

    With `may_answer` the carrier may still say so: if it does, the attempt gets a second verdict.
    """

    label: ClassVar[str] = "unknown"

    may_answer: bool = False
    retry_after_s: float | None = field(default=None, compare=False)
    """When the carrier can find out; None: after the usual backoff."""


@dataclass(frozen=True, slots=True)
class Unmapped:
    """The carrier was not asked: its relay does not know the profile or the template. Another carrier may.

    Where the route has no other, the message goes back to `home`, if that one cannot be used at the moment.
    """

    label: ClassVar[str] = "unmapped"

    home: str | None
    """The carrier whose relay owns the profile."""


Verdict = Accepted | Rejected | Declined | Busy | NotSent | Unknown | Unmapped


@dataclass(frozen=True, slots=True)
class Receipt:
    """The final result of an accepted message, or of one segment of it."""

    reference: str
    outcome: Outcome
    in_doubt_reference: str | None = None
    """Finds a message in doubt, if the receipt allows to compute it (`identifiers.in_doubt_reference`)."""
    code: str | None = field(default=None, compare=False)
    """The carrier's own code of the result, for people."""


def code_of(verdict: Verdict) -> str | None:
    """Return the carrier's own code in a verdict, as it is stored."""
    return tidy_code(verdict.code) if isinstance(verdict, Accepted | Rejected | Declined | Busy) else None


OnReceipts = Callable[[Sequence[Receipt]], Awaitable[None]]
"""Stores receipts. They are durable when it returns; only then may a carrier acknowledge them."""


class InboundPart(NamedTuple):
    """Which part of a long inbound message it is."""

    reference: int
    """The same for all parts; a phone uses it again for later messages."""
    total: int
    number: int
    """From 1."""


class InboundMessage(NamedTuple):
    """A message that a subscriber has sent to a number of ours, or one part of it."""

    sender: str
    """Digits in national format, if it is a Korean number."""
    receiver: str
    content: str
    """Of a part, it may begin or end with half of a surrogate pair."""
    part: InboundPart | None = None


class RelayOptOut(NamedTuple):
    """A receiver who has opted out at a relay, by calling a number of its."""

    phone: str
    opt_out_number: str = ""
    """The number that was called, in the advertising that it holds for."""
    sender: str = ""
    """The sender number whose texts it holds for, where the relay says that instead."""


class Inbox(NamedTuple):
    """Stores what arrives beside receipts. It is durable when a call returns; only then may it be acknowledged."""

    on_messages: Callable[[Sequence[InboundMessage]], Awaitable[None]]
    on_opt_outs: Callable[[Sequence[RelayOptOut]], Awaitable[None]]


class RelayNumber(NamedTuple):
    """A sender number that is registered at a relay."""

    number: str
    """Digits."""
    is_usable: bool = True
    """False while the relay has blocked it, or it is out of use there."""


class TemplateReads(NamedTuple):
    """How often the messages of a template that were sent on one day were read, and clicked."""

    day: str
    """2026-11-15, in Korea."""
    template_code: str
    read: int
    clicked: int


OnVerdicts = Callable[[Sequence[tuple[Attempt, Verdict]]], None]
"""Receives verdicts as they become known: one for each attempt, and a second one if Unknown was followed by an
answer, which may be long after `submit` has returned."""

ReadBody = Callable[[], Awaitable[bytes]]
"""Reads the body of a webhook call."""

OnAnomaly = Callable[[str], None]
"""Counts something that a carrier should not have done, by one of a few fixed descriptions."""


class Carrier(Protocol):
    """Delivers messages. Values and method bodies here are defaults; override where they differ."""

    name: str
    kind: str = "custom"
    """What it is called in the settings. Only messages of a simulator go to a simulator."""
    products: frozenset[Product]
    window: int
    """The most messages that may be submitted without a verdict."""
    batch_size: int = DEFAULT_BATCH_SIZE
    """The most messages in one call of `submit`."""
    campaign_batch_size: int = DEFAULT_BATCH_SIZE // 2
    """The most of them that are of campaigns: single sends wait while these are stored."""
    max_resends: int = 1
    """How often a message in doubt is submitted again; after that it waits for its receipt."""
    can_look_up: bool = False
    """Whether the carrier can find out if it has a message in doubt. Such a message goes to no other carrier."""
    timeout_s: float
    """How long a call of `submit` may take."""
    failover_after_s: float = 60.0
    """How long the carrier may be unreachable before its messages go to the next carrier of their route."""
    has_webhooks: bool = False
    """Whether it sends receipts to /hooks/NAME."""
    provider: ProfileProvider | None = None
    keeps_opt_outs: bool = False
    """Whether it has a list of its own of receivers who have opted out."""
    sends_friend_talk_as_brand: bool = False
    """Whether friend talk goes out as a brand message: it is advertising then, whatever its caller says."""

    @property
    def is_connected(self) -> bool:
        """Whether the carrier can accept messages now."""

    def image_limits(self, product: Product) -> ImageLimits:
        """Return which images of a product it takes."""
        return LEAST_LIMITS

    @property
    def rate(self) -> float:
        """The most messages per second; 0: no limit."""
        return 0

    @property
    def backlog_s(self) -> float:
        """How long the messages submitted so far will take to go out at this rate."""
        return 0.0

    def cost(self, attempts: Sequence[Attempt]) -> int:
        """Return how many places in its rate a batch takes: one a message, unless some go in several parts."""
        return len(attempts)

    def set_rate_share(self, share: float) -> None:
        """Use only this share of the rate; other processes use the rest."""
        return None

    @property
    def exhausted_quotas(self) -> Mapping[str, int]:
        """How many holders, such as profiles, have used up each quota; by fixed names."""
        return {}

    @property
    def problem(self) -> str:
        """Why the carrier, or a part of it, is not connected; without secrets; empty if all is well."""
        return ""

    async def submit(self, attempts: Sequence[Attempt], on_verdicts: OnVerdicts) -> None:
        """Submit a batch, and report each verdict as soon as it is known: a late one must not delay the others."""

    async def handle_webhook(
        self, headers: Mapping[str, str], read_body: ReadBody, on_receipts: OnReceipts
    ) -> None:
        """Store the receipts of a webhook call. The body is read only if the headers authenticate the caller.

        Raises Refused: NOT_FOUND where the carrier has no webhooks, UNAUTHORIZED, INVALID_JSON.
        """
        raise Refused(Code.NOT_FOUND)

    async def update_opt_outs(self, changes: Sequence[OptOutChange]) -> Sequence[OptOutChange]:
        """Apply changes of opt-outs to the relay's own list, in order; return those that need not be repeated."""
        return changes

    async def list_sender_numbers(self) -> Sequence[RelayNumber] | None:
        """Return every sender number that the relay knows; None if the carrier has no such list.

        Raises NotProcessed, NoResponse, Throttled, ErrorAnswer.
        """
        return None

    async def list_template_reads(self, sender_key: str, first: date, last: date) -> Sequence[TemplateReads]:
        """Return how often messages of a profile were read, for templates and days of which that is known.

        Raises NotProcessed, NoResponse, Throttled, ErrorAnswer.
        """
        return ()

    def attach_inbox(self, inbox: Inbox) -> None:
        """Store inbound messages and opt-outs there from now on; for carriers that have neither, nothing."""
        return None

    async def close(self) -> None:
        """Close the connections; for callers that use the carrier without running it."""
        return None

    async def run(self, on_receipts: OnReceipts) -> None:
        """Stay connected and store receipts as they arrive, until cancelled."""
