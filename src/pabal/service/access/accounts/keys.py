"""Issues API keys and authenticates them."""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.base.dates import Instant
from pabal.service.setup_cache import SetupCache, SetupChanges
from pabal.store.accounts import accounts, audit_log
from pabal.store.accounts.accounts import ApiKey
from pabal.store.accounts.audit_log import Actor, AuditEntry
from pabal.store.engine.base import Tx
from pabal.world import World, new_api_key

_SEND_A_KEY = Text(
    "운영자에게 받은 키를 apiKey 헤더에 넣으세요.", "Put the key you got from the operator in the header apiKey."
)
SCOPES = ("send", "read", "manage", "privacy")
DEFAULT_SCOPES = ("send", "read", "manage")
"""What a key may do unless its creator says otherwise: erasing cannot be undone, so it is given by name."""
MAX_CACHED_KEYS = 10_000


def hash_key(key: str) -> bytes:
    """Return the stored hash of a key; it has 238 random bits, so one round of SHA-256 is enough."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()


class NewKey(NamedTuple):
    """The properties of a new key."""

    name: str
    scopes: Sequence[str] = DEFAULT_SCOPES
    allow: Sequence[str] = ()
    """The networks that may use it; none: all may."""
    rate: int = 0
    """Requests per second; 0: no limit."""
    expires_at: Instant | None = None


def issue(
    tx: Tx, world: World, account: str, new_key: NewKey, *, actor: Actor | None = None, max_keys: int | None = None
) -> str:
    """Create a key for an account, which is created if new, and return it; it is shown only here.

    The audit log names `actor`, if there is one. Raises Refused(INVALID_STATE) where the account has `max_keys`.
    """
    key = new_api_key(world)
    issue_hashed(tx, world, account, new_key, hash_key(key), actor, max_keys)
    return key


def issue_hashed(
    tx: Tx, world: World, account: str, new_key: NewKey, hash: bytes, actor: Actor | None, max_keys: int | None
) -> int:
    """Create a key as `issue` does, of which only the hash is known, and return its id."""
    now = world.now()
    account_id = accounts.ensure_account(tx, account, now)
    if max_keys is not None:
        accounts.lock(tx, account_id)
        _check_room(tx, account_id, max_keys, now)
    key_id = _add(tx, account_id, new_key, hash, now)
    if actor:
        audit_log.add(tx, AuditEntry(now, *actor, account_id, "key.create", str(key_id)))
    return key_id


def _add(tx: Tx, account_id: int, new_key: NewKey, hash: bytes, now: Instant) -> int:
    name, scopes, allow, rate, expires_at = new_key
    return accounts.add_key(tx, account_id, name, hash, " ".join(scopes), " ".join(allow), rate, now, expires_at)


KEY_CREATED_MEANWHILE = Text(
    "이 화면을 연 뒤에 새 키가 만들어졌습니다. 그 키를 보지 못했으면 폐기하고, 하나 더 만들려면 다시 누르세요.",
    "A key was created after you opened this form. If you did not see it, revoke it; press again for another.",
)


def store_key(
    tx: Tx,
    account_id: int,
    key: str,
    new_key: NewKey,
    newest_known_id: int,
    max_keys: int,
    audit_entry: AuditEntry,
) -> int:
    """Store a new key of an account, with an audit entry; return its id.

    `newest_known_id` is the newest key that the caller has seen, 0 for none: a form that is sent twice creates one
    key, not a second one that nobody sees. Raises Refused: DUPLICATE where there is a newer key, INVALID_STATE
    where the account has `max_keys`.
    """
    accounts.lock(tx, account_id)
    if accounts.newest_key_id(tx, account_id) != newest_known_id:
        raise Refused(Code.DUPLICATE, "name", KEY_CREATED_MEANWHILE)
    _check_room(tx, account_id, max_keys, audit_entry.created_at)
    added = _add(tx, account_id, new_key, hash_key(key), audit_entry.created_at)
    audit_log.add(tx, audit_entry._replace(target=str(added)))
    return added


def revoke(tx: Tx, account_id: int, key_id: int, audit_entry: AuditEntry) -> None:
    """Revoke an account's key, with an audit entry.

    Raises Refused(NOT_FOUND) where it has no such active key.
    """
    of_account = {each.id for each in accounts.list_keys_by_account(tx, account_id)}
    if key_id not in of_account or not accounts.revoke_key(tx, key_id, audit_entry.created_at):
        raise Refused(Code.NOT_FOUND)
    audit_log.add(tx, audit_entry)


def set_rate(tx: Tx, account_id: int, key_id: int, rate: int, audit_entry: AuditEntry) -> None:
    """Change the rate of an account's key, with an audit entry; it counts within a second.

    Raises Refused(NOT_FOUND) where it has no such active key.
    """
    if not accounts.set_key_rate(tx, account_id, key_id, rate):
        raise Refused(Code.NOT_FOUND)
    audit_log.add(tx, audit_entry)


def _check_room(tx: Tx, account_id: int, max_keys: int, now: Instant) -> None:
    """Raise Refused(INVALID_STATE) where an account can have no more keys; its row is locked."""
    if accounts.count_usable_keys(tx, account_id, now) >= max_keys:
        detail = Text(
            f"계정마다 API 키를 {max_keys:,}개까지 쓸 수 있습니다(keys_per_account). 쓰지 않는 키를 폐기하세요.",
            f"An account can have at most {max_keys:,} API keys (keys_per_account). Revoke one that is not used.",
        )
        raise Refused(Code.INVALID_STATE, "name", detail)


class KeyCache:
    """Authenticates keys, and reads each from the store once; revoking one takes effect within a second."""

    def __init__(self, changes: SetupChanges) -> None:
        self._world = changes.world
        self._keys: SetupCache[str, ApiKey] = SetupCache(
            changes,
            lambda tx, key: accounts.key_by_hash(tx, hash_key(key)),
            lambda _, found: found.account_id,
            MAX_CACHED_KEYS,
            lambda found: found.is_live,
        )

    async def authenticate(self, key: str | None) -> ApiKey:
        """Return the stored key.

        Raises Refused: UNAUTHORIZED for a missing, unknown or revoked key, KEY_EXPIRED.
        """
        if not key:
            raise Refused(Code.UNAUTHORIZED, detail=_SEND_A_KEY)
        found = await self._keys.get(key)
        if found is None or not found.is_live:
            raise Refused(Code.UNAUTHORIZED, detail=_SEND_A_KEY)
        if found.expires_at is not None and self._world.now() >= found.expires_at:
            raise Refused(Code.KEY_EXPIRED)
        return found

    def get_cached(self, key: str | None) -> ApiKey | None:
        """Return the key if it is cached; it may have expired since."""
        return self._keys.get_cached(key) if key else None
