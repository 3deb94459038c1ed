"""Watches carriers and failure rates, and records when one becomes bad, and when a carrier is up again."""

import logging
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from zoneinfo import ZoneInfo

from pabal.domain.base import dates
from pabal.domain.base.dates import HOUR, Instant
from pabal.domain.events.event import EventType, make_event_id
from pabal.domain.events.notice import NoticeKind
from pabal.domain.sends.message import Product
from pabal.service.context import Context
from pabal.service.delivery.carrier.circuit_breaker import CarrierStatus
from pabal.store.engine.base import Reader, Tx, transaction
from pabal.store.events import events, notices, webhooks
from pabal.store.events.notices import Alert
from pabal.store.messages import statistics
from pabal.store.messages.statistics import AccountFailures, quarter_start
from pabal.store.queue import carriers
from pabal.store.queue.carriers import CarrierState

CARRIERS_INTERVAL_S = 15.0
FAILURES_INTERVAL_S = 60.0
"""How often to look at failure rates: statistics are counted once a minute."""
REPEAT_MS = 1 * HOUR
"""Least time between two tellings of the same condition, however often it begins."""
WINDOW_MS = 1 * HOUR
"""The failure rate is that of messages requested in the last hour, as statistics count: in quarters."""
NO_ACCOUNT = 0
"""Stands for the whole service in the ids of its notices."""

log = logging.getLogger("pabal.notices")


class CarrierChange(NamedTuple):
    """A carrier that is down, or up again."""

    carrier: str
    is_down: bool
    since: Instant
    products: Sequence[str]
    """The codes of the products that are routed to it."""


async def check_carriers(context: Context, seen: dict[str, Instant]) -> None:
    """Record carriers that have been down for long enough, and those that are up again.

    `seen` is since when each was not up: a carrier that is down has another state, and another time of it, once its
    circuit is open. Raises StoreUnavailable.
    """
    states, told = await context.store.read(_read_carriers)
    for name in context.carriers:
        found = [each for each in states if each.name == name]
        if not found or any(each.state == CarrierStatus.UP.value for each in found):
            seen.pop(name, None)
        else:
            seen[name] = min(seen.get(name, context.world.now()), max(each.since for each in found))
        change = _find_change(context, name, found, seen.get(name), told)
        if change is None:
            continue
        if await context.store.write(record_carrier, change, context.policy.zone, context.world.now()):
            context.new_events.set()
            log.info("users are told of a carrier", extra={"carrier": name, "is_down": change.is_down})


async def check_failures(context: Context) -> None:
    """Record accounts with too many failures, and forget those that have fewer again.

    Raises StoreUnavailable.
    """
    policy, now = context.policy.notices, context.world.now()
    since = quarter_start(now) - WINDOW_MS + statistics.QUARTER
    counts, told = await context.store.read(_read_failures, since)
    high = {
        str(each.account_id): each
        for each in counts
        if each.ended >= policy.failure_messages and each.failed * 100 >= each.ended * policy.failure_percent
    }
    for subject, found in high.items():
        if _may_tell(told.get(subject), now):
            await context.store.write(
                _record_failures, found, dates.format_timestamp(since, context.policy.zone), now
            )
            context.new_events.set()
            log.info("users are told of failures", extra={"account_id": found.account_id, "failed": found.failed})
    ended = [subject for subject, alert in told.items() if alert.is_on and subject not in high]
    if ended:
        await context.store.write(_turn_off, ended)


def record_carrier(tx: Tx, change: CarrierChange, zone: ZoneInfo, now: Instant) -> bool:
    """Record that a carrier is down, or up again, unless that was told; return whether it was recorded."""
    before = notices.get_alert(tx, NoticeKind.CARRIER, change.carrier)
    if change.is_down and not _may_tell(before, now):
        return False
    if not change.is_down and not (before and before.is_on):
        return False
    told_at = now if change.is_down or before is None else before.told_at
    notices.put_alert(tx, NoticeKind.CARRIER, change.carrier, Alert(change.is_down, told_at))
    data = {
        "carrier": change.carrier,
        "state": "down" if change.is_down else "up",
        "products": list(change.products),
        "since": dates.format_timestamp(change.since, zone),
    }
    key = f"{change.carrier} {now} {data['state']}"
    event_id = make_event_id(NO_ACCOUNT, EventType.CARRIER_STATUS, key)
    notices.add(tx, event_id, NoticeKind.CARRIER, None, data, now)
    for account_id in _list_subscribers(tx):
        events.record(tx, account_id, EventType.CARRIER_STATUS, key, data, now)
    return True


def _find_change(
    context: Context,
    name: str,
    states: Sequence[CarrierState],
    down_since: Instant | None,
    told: Mapping[str, Alert],
) -> CarrierChange | None:
    """Return a carrier's change of state to report: it is down if no worker sees it up."""
    now = context.world.now()
    products = [each.code for each in Product if name in context.policy.routes.carriers_for(each)]
    if down_since is None:
        ups = [each.since for each in states if each.state == CarrierStatus.UP.value]
        is_over = bool(ups) and name in told and told[name].is_on
        return CarrierChange(name, False, min(ups), products) if is_over else None
    if now - down_since < context.policy.notices.carrier_ms or not _may_tell(told.get(name), now):
        return None
    return CarrierChange(name, True, down_since, products)


def _may_tell(before: Alert | None, now: Instant) -> bool:
    """Return whether to report a condition that holds."""
    return before is None or (not before.is_on and not 0 <= now - before.told_at < REPEAT_MS)


def _list_subscribers(tx: Tx) -> list[int]:
    """Return the accounts with a webhook that wants to know about carriers."""
    return sorted(
        {each.account_id for each in webhooks.list_enabled(tx) if EventType.CARRIER_STATUS in each.events}
    )


def _record_failures(tx: Tx, found: AccountFailures, since: str, now: Instant) -> None:
    if not _may_tell(notices.get_alert(tx, NoticeKind.FAILURE, str(found.account_id)), now):
        return
    notices.put_alert(tx, NoticeKind.FAILURE, str(found.account_id), Alert(True, now))
    data = {
        "failed": found.failed,
        "ended": found.ended,
        "share": found.failed * 100 // found.ended,
        "since": since,
    }
    event_id = events.record(tx, found.account_id, EventType.FAILURE_HIGH, str(now), data, now)
    notices.add(tx, event_id, NoticeKind.FAILURE, found.account_id, data, now)


def _turn_off(tx: Tx, subjects: Sequence[str]) -> None:
    for subject in subjects:
        before = notices.get_alert(tx, NoticeKind.FAILURE, subject)
        if before:
            notices.put_alert(tx, NoticeKind.FAILURE, subject, before._replace(is_on=False))


@transaction(reader=Reader.BACKGROUND)
def _read_carriers(tx: Tx) -> tuple[list[CarrierState], dict[str, Alert]]:
    return carriers.list_states(tx), notices.list_alerts(tx, NoticeKind.CARRIER)


@transaction(reader=Reader.BACKGROUND)
def _read_failures(tx: Tx, since: Instant) -> tuple[list[AccountFailures], dict[str, Alert]]:
    return statistics.count_failures(tx, since), notices.list_alerts(tx, NoticeKind.FAILURE)
