"""Divides carriers' rates among workers by their slots; workers with little to send lend a part of their share.

A worker lowers its own rate before it publishes what it lends, and takes it back only when the borrower must have
seen that. So all workers together never exceed a rate, and no clocks are compared.
"""

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from pabal.carriers.base import Carrier
from pabal.service.context import Context

INCREASE_DELAY_S = 1.0
"""Delay before a carrier gets a larger share of its rate: the previous worker still submits what it claimed."""
LENT_FRACTION = 0.75
"""The part of its share that a worker lends at most: with the rest it sends new messages at once."""
SPARE_FACTOR = 2.0
"""A worker keeps this many times what it has used in any of the last WATCHED_BEATS heartbeats."""
WATCHED_BEATS = 5
"""A worker whose rate was too low in any of this many heartbeats does not lend."""
BORROWED_S = 2.0
"""How long a borrowed share may be used after the heartbeat that has seen the offer."""
RECLAIM_S = BORROWED_S + 1.0
"""When a worker uses again what it has lent: the borrower has seen the end of the offer by then, or given up."""


class Published(NamedTuple):
    """What workers tell each other about a carrier."""

    wants_more: bool
    lent: dict[str, float]
    """Shares of the rate by worker."""


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, Published]).decode


class RateShares:
    """This worker's shares of the rates of all carriers."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._shares = {name: _CarrierShare(each) for name, each in context.carriers.items()}
        self._others: Mapping[bytes, str] = {}

    def offer(self, began_at: float) -> str:
        """Lower rates by what can be lent to those who want more; return what the heartbeat publishes."""
        wanting: dict[str, list[str]] = {}
        for worker, text in self._others.items():
            for name, published in _decode(text).items():
                if published.wants_more:
                    wanting.setdefault(name, []).append(worker.hex())
        found = {
            name: share.offer(self._context, wanting.get(name, ()), began_at)
            for name, share in self._shares.items()
            if share.carrier.rate
        }
        return _encode(found).decode()

    def update(self, base: float, worker: bytes | None, published: Mapping[bytes, str], began_at: float) -> None:
        """Use this share of the rates by slots, and what others lent to this worker when the heartbeat began."""
        self._others = {one: text for one, text in published.items() if text and one != worker}
        me = worker.hex() if worker else ""
        borrowed: dict[str, float] = {}
        for text in self._others.values():
            for name, each in _decode(text).items():
                borrowed[name] = borrowed.get(name, 0.0) + each.lent.get(me, 0.0)
        for name, share in self._shares.items():
            share.update(self._context, base, borrowed.get(name, 0.0), began_at)


class _CarrierShare:
    """This worker's share of one carrier's rate."""

    def __init__(self, carrier: Carrier) -> None:
        self.carrier = carrier
        self._base = 0.0
        self._lent: dict[str, float] = {}
        self._reclaimed = 0.0, 0.0
        """What was lent last, and until when others may still use it."""
        self._borrowed = 0.0
        self._in_force = self._target = 0.0
        self._increase: asyncio.TimerHandle | None = None
        self._end_of_loan: asyncio.TimerHandle | None = None
        self._uses: deque[float] = deque(maxlen=WATCHED_BEATS)
        """Which share of the whole rate was used during the last heartbeats; more than all where it was too low."""

    def offer(self, context: Context, wanting: Sequence[str], now: float) -> Published:
        """Decide what to lend to whom, and lower the own rate by it at once.

        Where somebody else wants it, or less is left to lend, everything is taken back first.
        """
        use = context.rate_use.take(self.carrier.name)
        whole = self.carrier.rate / self._in_force if self._in_force else 0.0
        self._uses.append(float("inf") if use.was_limited else use.cost / whole if whole else 0.0)
        spare = self._base - max(self._base * (1 - LENT_FRACTION), SPARE_FACTOR * max(self._uses))
        if self._lent and (set(self._lent) != set(wanting) or self._lent_share > spare):
            self._reclaimed = self._lent_share, now + RECLAIM_S - INCREASE_DELAY_S
            self._lent = {}
        elif not self._lent and not self._reclaimed_at(now) and spare > 0:
            self._lent = {one: spare / len(wanting) for one in wanting}
        self._apply(now)
        return Published(use.was_limited, self._lent)

    @property
    def _lent_share(self) -> float:
        return sum(self._lent.values())

    def _reclaimed_at(self, now: float) -> float:
        """Return what was lent and may still be used by others."""
        share, until = self._reclaimed
        return share if now < until else 0.0

    def update(self, context: Context, base: float, borrowed: float, now: float) -> None:
        self._base, self._borrowed = base, borrowed
        if self._end_of_loan:
            self._end_of_loan.cancel()
        if borrowed:
            left_s = now + BORROWED_S - context.world.monotonic()
            self._end_of_loan = asyncio.get_running_loop().call_later(max(0.0, left_s), self._end_loan, context)
        self._apply(now)

    def _end_loan(self, context: Context) -> None:
        self._borrowed = 0.0
        self._apply(context.world.monotonic())

    def _apply(self, now: float) -> None:
        """Use the share that is due: a smaller one at once, a larger one after a delay."""
        target = max(0.0, self._base - self._lent_share - self._reclaimed_at(now)) + self._borrowed
        if target == self._target:
            return
        self._target = target
        if self._increase:
            self._increase.cancel()
        if target > self._in_force > 0:
            self._increase = asyncio.get_running_loop().call_later(INCREASE_DELAY_S, self._use, target)
        else:
            self._use(target)

    def _use(self, share: float) -> None:
        self._in_force = share
        self.carrier.set_rate_share(share)
