"""Adds, removes and lists the opt-outs of accounts."""

from collections.abc import Sequence

from pabal.domain.base.dates import Instant
from pabal.domain.events.event import EventType
from pabal.domain.people.opt_out import KEY_BYTES, to_record
from pabal.domain.people.opt_out import OptOut as OptOut
from pabal.domain.people.opt_out import OptOutSource as OptOutSource
from pabal.service.context import Context
from pabal.service.policy import Policy
from pabal.store.accounts import audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Reader, Store, Tx, transaction
from pabal.store.events import events
from pabal.store.events.events import NewEvent
from pabal.store.people import opt_outs
from pabal.store.people.hash_keys import HashKeys
from pabal.store.people.opt_outs import NewOptOuts as NewOptOuts
from pabal.store.people.opt_outs import OptOutEntry as OptOutEntry
from pabal.world import World

ADD_ACTION = "opt_out.add"
REMOVE_ACTION = "opt_out.remove"
IMPORT_ACTION = "opt_out.import"
EXPORT_ACTION = "opt_out.export"


def new_hash_key(world: World) -> bytes:
    """Return a random key for the hashes of numbers, which the first opt-out of a store needs."""
    return world.random_bits(KEY_BYTES * 8).to_bytes(KEY_BYTES, "big")


def add_opt_outs(
    tx: Tx, new: NewOptOuts, new_key: bytes, policy: Policy, now: Instant, audit_entry: AuditEntry | None = None
) -> list[OptOut]:
    """Add opt-outs and their events, with an audit entry where there is one; return those that were not there."""
    added = opt_outs.add(tx, policy.hash_keys, new, new_key, now)
    if new.source is not OptOutSource.RELAY:
        whole = [each.phone for each in added if not each.sender]
        opt_outs.add_changes(tx, new.account_id, whole, is_removed=False, now=now)
    events.record_many(
        tx,
        new.account_id,
        EventType.OPT_OUT_ADDED,
        [NewEvent(str(each.id), to_record(each, policy.zone), each.phone) for each in added],
        now,
    )
    if audit_entry:
        audit_log.add(tx, audit_entry)
    return added


def remove_opt_outs(
    tx: Tx,
    keys: HashKeys,
    account_id: int,
    phones: Sequence[str],
    sender: str,
    now: Instant,
    audit_entry: AuditEntry | None = None,
) -> int:
    """Remove opt-outs of a sender number, or of everything where it is empty; return how many there were."""
    removed = opt_outs.remove(tx, keys, account_id, phones, sender)
    if removed and not sender:
        opt_outs.add_changes(tx, account_id, phones, is_removed=True, now=now)
    if audit_entry and removed:
        audit_log.add(tx, audit_entry)
    return removed


async def add(context: Context, new: NewOptOuts, audit_entry: AuditEntry | None = None) -> int:
    """Add opt-outs; return how many were not there. Advertising accepted from now on does not reach them."""
    key = new_hash_key(context.world)
    added = await context.store.write(add_opt_outs, new, key, context.policy, context.world.now(), audit_entry)
    if added:
        context.new_events.set()
    return len(added)


async def remove(
    context: Context, account_id: int, phones: Sequence[str], sender: str, audit_entry: AuditEntry | None = None
) -> int:
    """Remove opt-outs of a sender number, or of everything where it is empty; return how many there were."""
    keys, now = context.policy.hash_keys, context.world.now()
    return await context.store.write(remove_opt_outs, keys, account_id, phones, sender, now, audit_entry)


async def remove_one(context: Context, account_id: int, opt_out_id: int, audit_entry: AuditEntry) -> bool:
    """Remove one opt-out of an account; return whether it was there."""
    return await context.store.write(_remove_one, account_id, opt_out_id, audit_entry)


@transaction(reader=Reader.SEARCHES)
def _list_page(
    tx: Tx, keys: HashKeys, account_id: int, phone: str | None, sender: str | None, page: int, page_size: int
) -> tuple[int, list[OptOut]]:
    return opt_outs.list_page(tx, keys, account_id, phone, sender, (page - 1) * page_size, page_size)


async def find(
    context: Context, account_id: int, phone: str | None, sender: str | None, page: int, page_size: int
) -> tuple[int, list[OptOut]]:
    """Return how many opt-outs fit, and those of one page, newest first; `phone` and `sender` None: any.

    Raises Refused: RATE_LIMITED, and SERVICE_UNAVAILABLE for a list that takes too long.
    """
    async with context.searches.acquire(account_id):
        keys = context.policy.hash_keys
        return await context.store.read(_list_page, keys, account_id, phone, sender, page, page_size)


async def list_some(store: Store, account_id: int, after: int, limit: int) -> list[OptOut]:
    """Return some opt-outs of an account, oldest first, after an id."""
    return await store.read(opt_outs.list_after, account_id, after, limit)


def _remove_one(tx: Tx, account_id: int, opt_out_id: int, audit_entry: AuditEntry) -> bool:
    removed = opt_outs.remove_by_id(tx, account_id, opt_out_id)
    if removed is None:
        return False
    if not removed.sender and removed.phone:
        opt_outs.add_changes(tx, account_id, [removed.phone], is_removed=True, now=audit_entry.created_at)
    audit_log.add(tx, audit_entry)
    return True
