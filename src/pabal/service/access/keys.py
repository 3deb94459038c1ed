"""Issues API keys and recognises them."""

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

from pabal.domain.codes import Code, Refused, Text
from pabal.domain.dates import Instant
from pabal.store import accounts, audit_log
from pabal.store.accounts import ApiKey
from pabal.store.audit_log import AuditEntry
from pabal.store.engine.base import Store, Tx
from pabal.world import World, new_api_key

SCOPES = ("send", "read", "manage")
CACHE_TTL_S = 0.8
"""How long a key is believed without asking the store: revoking works within a second."""
MAX_CACHED_KEYS = 10_000


def hash_key(key: str) -> bytes:
    """Return what is kept of a key; it has 238 random bits, so one round of SHA-256 is enough."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()


def issue(
    tx: Tx,
    world: World,
    account: str,
    name: str,
    *,
    scopes: Sequence[str] = SCOPES,
    allow: Sequence[str] = (),
    rate: int,
    expires_at: Instant | None = None,
) -> str:
    """Make a key for an account, made if new, and return it: this is the only time it is seen."""
    now = world.now()
    key = new_api_key(world)
    account_id = accounts.ensure_account(tx, account, now)
    accounts.add_key(tx, account_id, name, hash_key(key), " ".join(scopes), " ".join(allow), rate, now, expires_at)
    return key


class NewKey(NamedTuple):
    """What a key is for: what it may do, from where, how often, and until when."""

    name: str
    scopes: Sequence[str]
    allow: Sequence[str]
    rate: int
    expires_at: Instant | None


KEY_CREATED_MEANWHILE = Text(
    "이 양식을 연 뒤에 키가 만들어졌습니다. 그 키를 보지 못했으면 폐기하고, 하나 더 만들려면 다시 누르세요.",
    "A key has been made since you opened this form. If you did not see it, revoke it; for another, press again.",
)


def store_key(tx: Tx, account_id: int, key: str, new_key: NewKey, newest_known_id: int, deed: AuditEntry) -> None:
    """Keep a key that was minted for an account, and note who did it.

    `after` is the newest key that whoever asks knows of, 0 for none: a form that is sent twice makes one key, not
    another that nobody sees. Raises Refused(DUPLICATE) where there is a newer one.
    """
    accounts.lock(tx, account_id)
    if accounts.newest_key_id(tx, account_id) != newest_known_id:
        raise Refused(Code.DUPLICATE, "name", KEY_CREATED_MEANWHILE)
    name, scopes, allow, rate, expires_at = new_key
    hash, now = hash_key(key), deed.created_at
    added = accounts.add_key(tx, account_id, name, hash, " ".join(scopes), " ".join(allow), rate, now, expires_at)
    audit_log.add(tx, deed._replace(target=str(added)))


def revoke(tx: Tx, account_id: int, key_id: int, deed: AuditEntry) -> None:
    """Revoke an account's key, and note who did it.

    Raises Refused(NOT_FOUND) where it has no such live key.
    """
    of_account = {each.id for each in accounts.list_keys_by_account(tx, account_id)}
    if key_id not in of_account or not accounts.revoke_key(tx, key_id, deed.created_at):
        raise Refused(Code.NOT_FOUND)
    audit_log.add(tx, deed)


class KeyCache:
    """Recognises keys, asking the store about each at most about once a second."""

    def __init__(self, store: Store, world: World) -> None:
        self._store = store
        self._world = world
        self._known: OrderedDict[str, tuple[float, ApiKey]] = OrderedDict()

    async def authenticate(self, key: str | None) -> ApiKey:
        """Return the key.

        Raises Refused: UNAUTHORIZED for one that is absent, unknown or revoked, KEY_EXPIRED.
        """
        if not key:
            raise Refused(Code.UNAUTHORIZED)
        found = self.get_cached(key)
        if found is None:
            seen_at = self._world.monotonic()
            found = await self._store.read(accounts.key_by_hash, hash_key(key))
            self._remember(key, found, seen_at)
        if found is None or not found.is_live:
            raise Refused(Code.UNAUTHORIZED)
        if found.expires_at is not None and self._world.now() >= found.expires_at:
            raise Refused(Code.KEY_EXPIRED)
        return found

    def get_cached(self, key: str | None) -> ApiKey | None:
        """Return the key if the store was asked about it just now; it may have expired since."""
        known = self._known.get(key) if key else None
        return known[1] if known and self._world.monotonic() - known[0] < CACHE_TTL_S else None

    def _remember(self, key: str, found: ApiKey | None, seen_at: float) -> None:
        self._known.pop(key, None)
        if found and found.is_live:  # what is revoked is looked up every time, like what is unknown
            self._known[key] = (seen_at, found)
        while len(self._known) > MAX_CACHED_KEYS:
            self._known.popitem(last=False)
