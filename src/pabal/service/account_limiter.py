"""Holds accounts to their limits: each process reserves shares ahead, so that most sends need no transaction."""

import asyncio
import logging
from collections.abc import Sequence
from types import TracebackType
from typing import NamedTuple

from pabal.domain.base import dates
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.base.dates import SECOND, Instant
from pabal.domain.events.event import EventType
from pabal.domain.events.notice import NoticeKind
from pabal.domain.sends.account import NO_LIMITS, QUOTAS, AccountLimits, Limit
from pabal.domain.sends.price import HUNDREDTHS_PER_WON, Hundredths, format_won
from pabal.service.metrics import Metrics
from pabal.service.policy import Policy
from pabal.service.setup_cache import SetupCache, SetupChanges
from pabal.store.accounts import account_limits
from pabal.store.accounts.account_limits import QuotaGrant, QuotaReturn, QuotaWant, RateShare
from pabal.store.engine.base import NodeUnavailable, Priority, Tx, transaction
from pabal.store.events import events, notices

MAX_CACHED_ACCOUNTS = 10_000
RATE_SHARE_TTL_S = 1.0
"""A reserved share of a rate that is not used for this long is dropped."""
CAMPAIGN_PAUSE_S = 30.0
"""How often a campaign tries again after its account has reached a limit."""
EXHAUSTED_TTL_S = 1.0
"""How long a limit that was found exhausted is not looked up again."""
_NO_PERIOD = dates.Period(0, 0)
"""That of a rate, which is not counted in a period."""

log = logging.getLogger("pabal.limits")


class Charge(NamedTuple):
    """What a send has taken of its account's limits."""

    taken: Sequence[tuple["_Share", int, Instant]] = ()
    """The share, how much of it, and its period: what was taken in an earlier one is not given back."""

    def __enter__(self) -> "Charge":
        """Give everything back if the block, which stores the send, fails and has certainly stored nothing."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Refused) or (isinstance(error, NodeUnavailable) and not error.is_uncertain):
            self.refund()

    def refund(self) -> None:
        """Give everything back to this process: nothing was stored."""
        for share, amount, period in self.taken:
            if share.period == period:
                share.held += amount

    def refund_cost(self, amount: Hundredths) -> None:
        """Give back what was reserved for messages that end without being sent."""
        for share, _, period in self.taken:
            if share.limit is Limit.BUDGET and share.period == period:
                share.held += amount


NO_CHARGE = Charge()


class _Share:
    """The unused part of a limit that this process has reserved, and what it knows of the rest."""

    def __init__(self, limit: Limit) -> None:
        self.limit = limit
        self.is_rate = limit is Limit.PER_SECOND
        self.last_period: dates.Period | None = None
        """The day or month of the last send: finding it costs more than the rest."""
        self.value = 0
        self.period: Instant = 0
        self.held = 0
        self.used = 0
        """How much all processes had reserved when it was last looked up."""
        self.checked_at = float("-inf")
        """When it was last looked up, or filled."""
        self.was_refused = False
        """Whether too little was left when it was last looked up."""


class _AccountShares:
    def __init__(self) -> None:
        self.by_limit = {limit: _Share(limit) for limit in Limit}
        self.limits: AccountLimits = NO_LIMITS
        self.charged: list[tuple[_Share, int]] = []
        """The limits that count, each with its value."""
        self.waiting = 0
        """Receivers of sends that wait for a share."""
        self.refill_lock = asyncio.Lock()
        self.refused_at = float("-inf")
        self.refused_limits: AccountLimits | None = None
        """The limits under which a send was last refused as too much."""


class _Want(NamedTuple):
    """How much a send takes of a limit."""

    share: _Share
    value: int
    period: dates.Period
    amount: int


class AccountLimiter:
    """The limits of all accounts in use; those without any cost a look-up in memory."""

    def __init__(self, changes: SetupChanges, policy: Policy, metrics: Metrics) -> None:
        self._store = changes.store
        self._world = changes.world
        self._policy = policy
        self._metrics = metrics
        self._limits: SetupCache[int, AccountLimits] = SetupCache(
            changes, account_limits.get, lambda account_id, _: account_id, MAX_CACHED_ACCOUNTS
        )
        self._shares: dict[int, _AccountShares] = {}

    async def limits_of(self, account_id: int) -> AccountLimits:
        """Return the limits of an account, at most about a second old."""
        return self._limits.get_cached(account_id) or await self._limits.get(account_id) or NO_LIMITS

    async def charge(self, account_id: int, receivers: int, cost: Hundredths) -> Charge:
        """Take a send from its account's limits, with what it costs at most: from all of them, or from none.

        Raises Refused: RATE_LIMITED, LIMIT_EXCEEDED. Raises StoreUnavailable.
        """
        limits = self._limits.get_cached(account_id) or await self.limits_of(account_id)
        if not limits.has_any or not receivers:
            return NO_CHARGE
        account = self._shares.get(account_id)
        if account is None:
            account = self._shares[account_id] = _AccountShares()
        wants = self._wants(account, limits, receivers, cost)
        account.waiting += receivers
        try:
            if not self._covers_all(wants):
                async with account.refill_lock:
                    await self._refill(account_id, account, wants)
            for want in wants:
                want.share.held -= want.amount
        except Refused as refused:
            if refused.code is Code.LIMIT_EXCEEDED:
                account.refused_at, account.refused_limits = self._world.monotonic(), limits
            raise
        finally:
            account.waiting -= receivers
        return Charge([(want.share, want.amount, want.share.period) for want in wants])

    async def may_try(self, account_id: int) -> bool:
        """Return whether a campaign may try to send more: not right after a refusal, unless limits have changed."""
        limits, account = await self.limits_of(account_id), self._shares.get(account_id)
        if account is None or account.refused_limits != limits:
            return True
        return self._world.monotonic() - account.refused_at >= CAMPAIGN_PAUSE_S

    async def give_back(self) -> None:
        """Give back what this process has reserved and not used; it stops.

        Raises StoreUnavailable; what is not given back is lost until the limit resets.
        """
        returns = [
            QuotaReturn(account_id, limit, share.period, share.held)
            for account_id, account in self._shares.items()
            for limit, share in account.by_limit.items()
            if limit in QUOTAS and share.held
        ]
        self._shares.clear()
        if returns:
            await self._store.write(account_limits.give_back, returns)

    def _wants(
        self, account: _AccountShares, limits: AccountLimits, receivers: int, cost: Hundredths
    ) -> list[_Want]:
        now = self._world.now()
        if account.limits is not limits:
            account.limits, account.charged = limits, self._find_charged(account, limits)
        return [
            _Want(share, value, self._period_of(share, now), amount)
            for share, value in account.charged
            if (amount := cost if share.limit is Limit.BUDGET else receivers)
        ]

    def _find_charged(self, account: _AccountShares, limits: AccountLimits) -> list[tuple[_Share, int]]:
        return [
            (share, limits.get(limit) * (HUNDREDTHS_PER_WON if limit is Limit.BUDGET else 1))
            for limit, share in account.by_limit.items()
            if limits.get(limit)
        ]

    def _period_of(self, share: _Share, now: Instant) -> dates.Period:
        if share.is_rate:
            return _NO_PERIOD
        period = share.last_period
        if period is None or not period.contains(now):
            period = share.last_period = share.limit.period(now, self._policy.zone)
        return period

    def _covers_all(self, wants: Sequence[_Want]) -> bool:
        """Return whether this process has reserved enough, and may still use it."""
        for share, value, period, amount in wants:
            if share.held < amount or share.value != value or share.period != period.start:
                return False
            if share.is_rate and self._world.monotonic() - share.checked_at >= RATE_SHARE_TTL_S:
                return False
        return True

    async def _refill(self, account_id: int, account: _AccountShares, wants: Sequence[_Want]) -> None:
        """Reserve what the shares lack; when this returns, all of them cover what is wanted.

        Raises Refused: RATE_LIMITED, LIMIT_EXCEEDED.
        """
        while lacking := [want for want in wants if not self._covers_all([want])]:
            for want in lacking:
                if want.share.limit is Limit.PER_SECOND:
                    await self._refill_rate(account_id, account, want)
            quotas = [want for want in lacking if want.share.limit in QUOTAS]
            if quotas and await self._refill_quotas(account_id, account, quotas):
                return

    async def _refill_rate(self, account_id: int, account: _AccountShares, want: _Want) -> None:
        share, now = want.share, self._world.monotonic()
        if share.value != want.value or now - share.checked_at >= RATE_SHARE_TTL_S:
            share.held = 0
        grant: RateShare = await self._store.write_relaxed(
            self._reserve_rate, account_id, want.value, want.amount - share.held, account.waiting
        )
        if not grant.granted:
            wait_ms = max(1, grant.free_at - self._world.now())
            raise Refused(
                Code.RATE_LIMITED, want.share.limit.code, _describe_rate(want.value), retry_after_s=wait_ms / SECOND
            )
        share.held += grant.granted
        share.value, share.checked_at = want.value, self._world.monotonic()

    @transaction(priority=Priority.PROMPT)
    def _reserve_rate(self, tx: Tx, account_id: int, rate: int, need: int, waiting: int) -> RateShare:
        return account_limits.reserve_rate(
            tx, account_id, rate, need, waiting, self._policy.max_receivers, self._world.now()
        )

    async def _refill_quotas(self, account_id: int, account: _AccountShares, wants: Sequence[_Want]) -> bool:
        """Reserve shares of quotas; return whether other processes count in a later period already."""
        clock = self._world.monotonic()
        for want in wants:
            self._raise_if_exhausted(want, clock)
        asked = [self._ask(want, account.waiting) for want in wants]
        for want in wants:
            want.share.held = 0  # it is on its way back, and lost if the store does not answer
        grants = await self._store.write(reserve_and_record, account_id, asked, self._world.now())
        for want, grant in zip(wants, grants, strict=True):
            share = want.share
            share.held += grant.granted
            share.value, share.period, share.used, share.checked_at = want.value, grant.period, grant.used, clock
            if grant.newly_near:
                self._tell(account_id, want, grant)
        for want in wants:
            want.share.was_refused = want.share.held < want.amount
        for want in wants:
            if want.share.was_refused:
                raise self._refusal(want)
        return any(grant.period != want.period.start for want, grant in zip(wants, grants, strict=True))

    def _ask(self, want: _Want, waiting: int) -> QuotaWant:
        share = want.share
        returned = share.held if share.period == want.period.start else 0
        per_receiver = 1 if share.limit is not Limit.BUDGET else 0
        assert want.period.start is not None
        return QuotaWant(
            share.limit,
            want.value,
            want.period.start,
            want.amount,
            waiting * per_receiver,
            returned,
            self._policy.near_percent,
        )

    def _raise_if_exhausted(self, want: _Want, clock: float) -> None:
        """Refuse without asking the store again where it said a moment ago that too little is left."""
        share = want.share
        is_current = share.value == want.value and share.period == want.period.start
        if share.was_refused and is_current and clock - share.checked_at < EXHAUSTED_TTL_S:
            left = max(0, share.value - share.used) + share.held
            if left < want.amount:
                raise self._refusal(want)

    def _refusal(self, want: _Want) -> Refused:
        share, end = want.share, want.period.end
        assert end is not None
        resets = dates.format_timestamp(end, self._policy.zone)
        limit, used, need = (
            format_won(amount) if share.limit is Limit.BUDGET else f"{amount:,}"
            for amount in (share.value, max(0, share.used - share.held), want.amount)
        )
        detail = Text(
            f"{share.limit.label.ko}: 한도 {limit}, 사용 {used}, 이번 요청 {need}. {resets}에 초기화됩니다.",
            f"{share.limit.label.en}: limit {limit}, used {used}, this request {need}. It resets at {resets}.",
        )
        return Refused(Code.LIMIT_EXCEEDED, share.limit.code, detail)

    def _tell(self, account_id: int, want: _Want, grant: QuotaGrant) -> None:
        """Report that an account has come near a limit."""
        limit = want.share.limit
        self._metrics.limits_near.add(1, limit.code, str(grant.newly_near))
        log.warning(
            "account is near a limit; raise it if that is expected",
            extra={
                "event": "limit.near",
                "account_id": account_id,
                "limit": limit.code,
                "share": grant.newly_near,
                "used": grant.used,
                "of": want.value,
            },
        )


def _describe_rate(rate: int) -> Text:
    return Text(
        f"계정의 초당 수신자 한도는 {rate:,}명입니다.", f"The account may send to {rate:,} receivers per second."
    )


@transaction(exclusive=True, priority=Priority.PROMPT)
def reserve_and_record(tx: Tx, account_id: int, asked: Sequence[QuotaWant], now: Instant) -> list[QuotaGrant]:
    """Reserve shares of an account's limits, and record those that it comes near by that."""
    grants = account_limits.reserve(tx, account_id, asked)
    for want, grant in zip(asked, grants, strict=True):
        if grant.newly_near:
            unit = HUNDREDTHS_PER_WON if want.limit is Limit.BUDGET else 1
            data = {
                "limit": want.limit.code,
                "value": want.value // unit,
                "used": grant.used // unit,
                "share": grant.newly_near,
            }
            key = f"{want.limit.code} {grant.period} {want.value} {grant.newly_near}"
            event_id = events.record(tx, account_id, EventType.LIMIT_NEAR, key, data, now)
            notices.add(tx, event_id, NoticeKind.QUOTA, account_id, data, now)
    return grants
