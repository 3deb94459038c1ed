"""Adds, removes and lists the opt-outs of accounts, and keeps the key that their numbers are hashed by."""

from collections.abc import Sequence
from enum import Enum

from pabal.domain.base.dates import Instant
from pabal.domain.events.event import EventType
from pabal.domain.people.opt_out import KEY_BYTES, to_record
from pabal.domain.people.opt_out import OptOut as OptOut
from pabal.domain.people.opt_out import OptOutSource as OptOutSource
from pabal.service.context import Context
from pabal.service.policy import Policy
from pabal.settings.field import BadSetting
from pabal.store.accounts import audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Reader, Store, Tx, transaction
from pabal.store.events import events
from pabal.store.events.events import NewEvent
from pabal.store.people import hash_keys, opt_outs
from pabal.store.people.hash_keys import HashKeys
from pabal.store.people.opt_outs import NewOptOuts as NewOptOuts
from pabal.store.people.opt_outs import OptOutEntry as OptOutEntry
from pabal.webhooks.secrets import UnreadableSecret
from pabal.world import World, random_bytes

ADD_ACTION = "opt_out.add"
REMOVE_ACTION = "opt_out.remove"
IMPORT_ACTION = "opt_out.import"
EXPORT_ACTION = "opt_out.export"


def new_hash_key(world: World) -> bytes:
    """Return a random key for the hashes of numbers, which the first opt-out of a store needs."""
    return random_bytes(world, KEY_BYTES)


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


def remove_one(tx: Tx, account_id: int, opt_out_id: int, audit_entry: AuditEntry) -> bool:
    """Remove one opt-out of an account; return whether it was there."""
    removed = opt_outs.remove_by_id(tx, account_id, opt_out_id)
    if removed is None:
        return False
    if not removed.sender and removed.phone:
        opt_outs.add_changes(tx, account_id, [removed.phone], is_removed=True, now=audit_entry.created_at)
    audit_log.add(tx, audit_entry)
    return True


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


class KeyState(Enum):
    """How the key is stored."""

    ABSENT = "absent"
    """Nobody has opted out yet."""
    CURRENT = "current"
    """As a new one would be."""
    OTHER = "other"
    """With another key, or without one."""
    UNREADABLE = "unreadable"
    """No key that is set can decrypt it."""


async def get_state(context: Context) -> KeyState:
    """Return how the key is stored."""
    stored = await context.store.read(hash_keys.get_stored)
    if stored is None:
        return KeyState.ABSENT
    try:
        context.policy.hash_keys.seal_again(stored)
    except UnreadableSecret:
        return KeyState.UNREADABLE
    return KeyState.CURRENT if context.secrets.is_current(stored) else KeyState.OTHER


async def check(context: Context) -> None:
    """Raise BadSetting if the key cannot be decrypted: advertising would go to people who have opted out."""
    if await get_state(context) is KeyState.UNREADABLE:
        raise BadSetting(
            "secret_key: 수신거부를 저장할 때 쓴 키가 설정에 없습니다. 그대로는 수신거부한 사람에게 광고가 갈 수"
            " 있습니다. 그 키를 추가하세요. 잃어버렸다면 `pabal secrets rebuild-opt-outs --help`를 보세요",
            "secret_key: the opt-outs were stored with a key that is not set, so advertising could not be kept from"
            " who has opted out; add that key. If it is lost, see `pabal secrets rebuild-opt-outs --help`",
        )


async def encrypt(context: Context) -> KeyState:
    """Encrypt the key as a new one would be; return how it was stored."""
    state = await get_state(context)
    stored = await context.store.read(hash_keys.get_stored)
    if state is KeyState.OTHER and stored is not None:
        await context.store.write(hash_keys.replace, stored, context.policy.hash_keys.seal_again(stored))
    return state


async def rebuild(context: Context) -> tuple[int, int]:
    """Replace a key that is lost: hash all numbers again; return how many opt-outs stay, and how many are gone.

    Those of which only the hash was left cannot be recognized any more.
    """
    sealed = context.policy.hash_keys.seal(key := new_hash_key(context.world))
    return await context.store.write(opt_outs.hash_again, key, sealed)
