"""The context of the service: what every function of it works with."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from pabal.carriers.base import Carrier
from pabal.carriers.provider import ProfileProvider, RelayProvider
from pabal.domain.base.codes import Code, Refused, Text, require
from pabal.domain.base.newest import Newest
from pabal.domain.kakao.profile import Category, Profile
from pabal.domain.sends.message import Outcome, Product
from pabal.openid.provider import OpenIdProvider
from pabal.service.account_limiter import AccountLimiter
from pabal.service.delayed_writes import DifferenceCounts
from pabal.service.fair_queue import FairQueue
from pabal.service.metrics import Metrics
from pabal.service.open_attempts import InFlight, RateUse
from pabal.service.outgoing import OutgoingMails, OutgoingWebhooks
from pabal.service.policy import Policy
from pabal.service.setup_cache import AccountSetup
from pabal.service.slots import Nodes, Slots
from pabal.store.engine.base import Store
from pabal.webhooks.secrets import SecretBox
from pabal.world import World

MAX_WAITING_PER_ACCOUNT = 200
RETRY_AFTER_S = 5.0
LARGE_TOTAL = 10_000
"""Totals from here on are remembered: counting them takes long, and a few messages more or less hardly matter."""
TOTAL_TTL_S = 10.0
MAX_TOTALS = 1000
TOO_MANY_SEARCHES = Text(
    "이 계정의 조회가 너무 많이 밀려 있습니다. 앞선 조회가 끝난 뒤 다시 시도하세요.",
    "Too many searches of this account are waiting. Try again when they are done.",
)


class _AccountSearches:
    """The searches that one account may run, and how many run or wait."""

    def __init__(self, most: int) -> None:
        self.free = asyncio.Semaphore(most)
        self.users = 0


class Searches:
    """The running searches by account, and the large totals of recent ones."""

    def __init__(self, world: World, max_per_account: int = 1) -> None:
        self._world = world
        self._max_per_account = max_per_account
        self._searches: dict[int, _AccountSearches] = {}
        self._totals: Newest[Hashable, tuple[float, int]] = Newest(MAX_TOTALS)

    @contextlib.asynccontextmanager
    async def acquire(self, account_id: int) -> AsyncIterator[None]:
        """Wait until the account may search, and count as one of its searches while the block runs.

        Raises Refused(RATE_LIMITED) where too many wait already.
        """
        searches = self._searches.setdefault(account_id, _AccountSearches(self._max_per_account))
        if searches.users >= MAX_WAITING_PER_ACCOUNT:
            raise Refused(Code.RATE_LIMITED, "", TOO_MANY_SEARCHES, retry_after_s=RETRY_AFTER_S)
        searches.users += 1
        try:
            async with searches.free:
                yield
        finally:
            searches.users -= 1
            if not searches.users:
                del self._searches[account_id]

    def known_total(self, search: Hashable) -> int | None:
        """Return the total of a search that was counted a moment ago, None if it must be counted."""
        counted_at, total = self._totals.get(search, (0.0, None))
        is_recent = total is not None and self._world.monotonic() - counted_at < TOTAL_TTL_S
        return total if is_recent else None

    def remember_total(self, search: Hashable, total: int) -> None:
        """Remember a total that was just counted, if it is large."""
        if total >= LARGE_TOTAL:
            self._totals[search] = (self._world.monotonic(), total)


class CarrierProvider(NamedTuple):
    """A provider of profiles and templates, and the carrier that has it."""

    carrier: str
    provider: ProfileProvider

    @property
    def relay_name(self) -> str | None:
        """The carrier, if it is a relay, which stores profiles and templates itself."""
        return self.carrier if isinstance(self.provider, RelayProvider) else None


@dataclass(frozen=True)
class Context:
    """The store, carriers, policy, clock and metrics of one running service."""

    store: Store
    world: World
    policy: Policy
    carriers: Mapping[str, Carrier]
    metrics: Metrics
    sender_categories: Mapping[str, Category]
    template_categories: Mapping[str, Category]
    limiter: AccountLimiter
    setup: AccountSetup
    fair_queue: FairQueue
    secrets: SecretBox
    """Encrypts the secrets of webhooks in the store."""
    webhooks: OutgoingWebhooks
    mail: OutgoingMails
    openid: OpenIdProvider | None = None
    """The OpenID Connect provider that users may sign in with."""
    slots: Slots = field(default_factory=Slots)
    wake_events: dict[str, asyncio.Event] = field(default_factory=dict)
    new_events: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when this process has recorded events, which wait for their numbers."""
    open_circuits: set[str] = field(default_factory=set)
    """The carriers whose circuit is open: others of the route come first."""
    rate_use: RateUse = field(default_factory=RateUse)
    """What this process uses of carriers' rates."""
    max_searches_per_account: int = 1

    async def close_connections(self) -> None:
        """Close the connections to callers' servers, the mail server and the OpenID Connect provider, if any."""
        await self.mail.close()
        await self.webhooks.close()
        if self.openid:
            await self.openid.close()

    @cached_property
    def searches(self) -> Searches:
        """What accounts search now."""
        return Searches(self.world, self.max_searches_per_account)

    @cached_property
    def differences(self) -> DifferenceCounts:
        """How calls of other relays' endpoints differ from what happens here."""
        return DifferenceCounts(self.store, self.world, self.policy.zone)

    @cached_property
    def nodes(self) -> Nodes:
        """Where each slot is, if the store is distributed."""
        return Nodes(self.store, self.slots.numbers)

    @cached_property
    def in_flight(self) -> InFlight:
        """The messages that this process must not claim now."""
        return InFlight(self.world)

    def wake(self, carriers: Iterable[str]) -> None:
        """Wake the deliverers of these carriers: they have new messages."""
        for name in carriers:
            if name in self.wake_events:
                self.wake_events[name].set()

    def count_ended(self, ended: Sequence[tuple[Product, Outcome]]) -> None:
        """Count messages that ended, and have their ends numbered."""
        if ended:
            self.metrics.count_ended(ended)
            self.new_events.set()

    def count_cancelled(self, count: int) -> None:
        """Count messages that were cancelled, and have their ends numbered."""
        if count:
            self.metrics.messages_cancelled.add(count)
            self.new_events.set()

    def choose_carrier(self, product: Product, *, is_scheduled: bool = False) -> str:
        """Return the first carrier of a product's route whose circuit is not open, or the first one if all are.

        A scheduled message goes to the first carrier of its route: circuits may have closed by then.

        Raises Refused(PRODUCT_NOT_AVAILABLE).
        """
        name = require(self.policy.routes.first(product), Code.PRODUCT_NOT_AVAILABLE)
        if name in self.open_circuits and not is_scheduled:
            return next(
                (each for each in self.policy.routes.carriers_for(product) if each not in self.open_circuits), name
            )
        return name

    def provider(self) -> CarrierProvider:
        """Return the provider of profiles and templates: the first one in the written route of Alimtalk.

        Prices do not matter here: profiles stay where they are registered. Raises Refused(PRODUCT_NOT_AVAILABLE).
        """
        for name in self.policy.routes.as_written(Product.ALIMTALK):
            provider = self.carriers[name].provider
            if provider is not None:
                return CarrierProvider(name, provider)
        raise Refused(Code.PRODUCT_NOT_AVAILABLE)

    def provider_of(self, profile: Profile) -> ProfileProvider:
        """Return the provider of a profile and its templates.

        Raises Refused: PRODUCT_NOT_AVAILABLE if its relay is no longer configured; INVALID_STATE for a profile
        that is stored only here while a relay stores all others.
        """
        if profile.carrier is not None:
            return self.relay_of(profile.carrier)
        default = self.provider()
        if default.relay_name is not None:
            raise Refused(Code.INVALID_STATE, "senderKey", _NOT_AT_RELAY)
        return default.provider

    def relay_of(self, carrier: str) -> RelayProvider:
        """Return a carrier's relay.

        Raises Refused(PRODUCT_NOT_AVAILABLE).
        """
        relay = self.relays.get(carrier)
        if relay is None:
            detail = Text(
                f"발신 프로필이 등록된 발송 경로 {carrier}가 설정에 없습니다.",
                f"The profile is registered at the carrier {carrier}, which is not configured.",
            )
            raise Refused(Code.PRODUCT_NOT_AVAILABLE, detail=detail)
        return relay

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each configured carrier."""
        return {name: each.kind for name, each in self.carriers.items()}

    @property
    def relays(self) -> dict[str, RelayProvider]:
        """The relays by carrier: they store profiles and templates themselves."""
        return {
            name: each.provider for name, each in self.carriers.items() if isinstance(each.provider, RelayProvider)
        }


_NOT_AT_RELAY = Text(
    "이 발신 프로필은 중계사에 등록되어 있지 않습니다. 삭제하고 채널을 다시 등록하세요.",
    "This profile is not registered at the relay: delete it, and register the channel again.",
)
