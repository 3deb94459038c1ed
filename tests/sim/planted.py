"""Bugs that a simulation is given on purpose: its checks must find each of them."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from pabal.domain.base.dates import Instant
from pabal.service.delivery.outcome.finish import FinishResult
from pabal.service.delivery.outcome.settle import BatchVerdicts, settle
from pabal.service.delivery.receipts import receive
from pabal.service.open_attempts import InFlight
from pabal.service.policy import Policy
from pabal.service.upkeep.housekeeping import expire_overdue
from pabal.store.engine.base import Tx
from pabal.store.people import personal_data
from pabal.world import World

SPLIT_PAUSE_S = 0.5
"""Pause between the two halves of a transaction that was split."""


@dataclass
class PlantedBug:
    """What a simulation does wrong; nothing by default."""

    transactions: dict[Any, Any] = field(default_factory=dict)
    """Faulty versions of transactions."""
    split_write: Callable[..., Awaitable[Any]] | None = None
    in_flight: Callable[[World], InFlight] | None = None
    erase: Callable[[Tx], None] | None = None
    acknowledges_first: bool = False
    settles_first: bool = False


class ForgetfulInFlight(InFlight):
    """Knows of nothing in flight, so that only the wall clock decides when a lease ends."""

    def __contains__(self, attempt: object) -> bool:
        return False


def settle_without_fence(
    tx: Tx, verdicts: BatchVerdicts, policy: Policy, chance: float, now: Instant
) -> FinishResult:
    """Settle verdicts as if they were about the current attempts."""
    current: dict[bytes, int] = dict(tx.fetch_all("select id, attempt from jobs"))
    results = [
        (attempt._replace(number=current.get(attempt.message_id, attempt.number)), verdict)
        for attempt, verdict in verdicts.results
    ]
    return settle(tx, verdicts._replace(results=results), policy, chance, now)


def erase_all(tx: Tx) -> None:
    """Erase all requests, whether the queue still has messages of them or not."""
    for (request_id,) in tx.fetch_all("select id from requests"):
        personal_data.erase_request(tx, request_id)


async def add_fallbacks_later(
    write: Callable[..., Awaitable[Any]],
    check_access: Callable[[], Awaitable[None]],
    work: Any,
    *args: Any,
    **kw: Any,
) -> Any:
    """End messages in one transaction, and add their fallbacks in another."""
    if work not in (settle, receive, expire_overdue):
        return await write(work, *args, **kw)
    rows: dict[str, list[Any]] = {}

    def without_fallbacks(tx: Tx, *args: Any, **kw: Any) -> Any:
        before = {row[0] for row in tx.fetch_all("select id from messages")}
        result = work(tx, *args, **kw)
        added = [row for row in tx.fetch_all("select id from messages") if row[0] not in before]
        for table in ("jobs", "messages"):
            rows[table] = [tx.fetch_one(f"select * from {table} where id = ?", one) for one in added]
            for one in added:
                tx.execute(f"delete from {table} where id = ?", one)
        return result

    def add(tx: Tx) -> None:
        for table, some in rows.items():
            for row in filter(None, some):
                tx.execute(f"insert into {table} values ({','.join('?' * len(row))})", row)

    result = await write(without_fallbacks, *args, **kw)
    if any(rows.values()):
        await asyncio.sleep(SPLIT_PAUSE_S)
        await check_access()
        await write(add)
    return result


PLANTED_BUGS = {
    "settle before send": PlantedBug(settles_first=True),
    "no fence": PlantedBug(transactions={settle: settle_without_fence}),
    "receipt acknowledged before commit": PlantedBug(acknowledges_first=True),
    "fallback outside the transaction": PlantedBug(split_write=add_fallbacks_later),
    "blanking without looking at the queue": PlantedBug(erase=erase_all),
    "a lease by wall clock": PlantedBug(in_flight=ForgetfulInFlight),
}
