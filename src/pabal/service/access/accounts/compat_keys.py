"""Issues, finds and verifies the keys of programs that were written for another relay."""

import asyncio
import hashlib
import hmac
import re

from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.base.newest import Newest
from pabal.service.access.accounts.keys import MAX_CACHED_KEYS, NewKey, hash_key, issue_hashed, store_key
from pabal.service.access.users.passwords import WorkerThreads, hash_password, verify
from pabal.service.setup_cache import SetupCache, SetupChanges
from pabal.store.accounts import compat_keys
from pabal.store.accounts.audit_log import Actor, AuditEntry
from pabal.store.accounts.compat_keys import CompatKey, PublicId
from pabal.store.engine.base import Tx
from pabal.webhooks.secrets import SecretBox
from pabal.world import World, new_app_key, random_bytes

NO_SECRET = b""
"""What is stored of a key whose id is its secret."""
MAX_WRONG = 10
"""Wrong secrets that are hashed for one key in a minute: each takes a core for a while."""
WRONG_PERIOD_S = 60.0
_GENERATED = b"sha256:"
_DIGEST_KEY_BYTES = 32


def hash_chosen(secret: str, world: World) -> bytes:
    """Return what is stored of a secret that a person or another relay has chosen: it may be guessed."""
    return hash_password(secret, world).encode()


def hash_generated(secret: str) -> bytes:
    """Return what is stored of a secret that is random enough for one round of SHA-256."""
    return _GENERATED + hash_key(secret)


class SecretVerifier:
    """Verifies the secrets of calls; one that was verified is known by a keyed digest, so that calls stay quick."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._threads = WorkerThreads(world, "secrets", 1)
        self._digest_key = random_bytes(world, _DIGEST_KEY_BYTES)
        self._results: Newest[bytes, bool] = Newest(MAX_CACHED_KEYS)
        self._wrong: Newest[bytes, tuple[float, int]] = Newest(MAX_CACHED_KEYS)
        """By stored hash: since when wrong secrets are counted, and how many there were."""
        self._lock = asyncio.Lock()

    async def matches(self, stored: bytes, secret: str) -> bool:
        """Return whether a secret is the one whose hash is stored.

        Raises Refused(RATE_LIMITED) where many wrong ones were given for the same key.
        """
        if stored.startswith(_GENERATED):
            return hmac.compare_digest(stored, hash_generated(secret))
        if stored == NO_SECRET:
            return False
        digest = self._digest(stored, secret)
        if digest not in self._results:
            async with self._lock:  # calls that wait for the first one are answered by its result
                if digest not in self._results:
                    await self._verify(stored, secret, digest)
        return self._results[digest]

    async def _verify(self, stored: bytes, secret: str, digest: bytes) -> None:
        now = self._world.monotonic()
        since, count = self._wrong.get(stored, (now, 0))
        if now - since >= WRONG_PERIOD_S:
            since, count = now, 0
        if count >= MAX_WRONG:
            raise Refused(Code.RATE_LIMITED, retry_after_s=since + WRONG_PERIOD_S - now)
        is_right = await self._threads.run(verify, stored.decode("latin-1"), secret)
        if not is_right:
            self._wrong[stored] = since, count + 1
        self._results[digest] = is_right

    def _digest(self, stored: bytes, secret: str) -> bytes:
        given = secret.encode("utf-8", "surrogatepass")
        return hashlib.blake2b(stored + b"\0" + given, key=self._digest_key, digest_size=32).digest()


MIN_SECRET_CHARACTERS = 16
MIN_SENT_SECRET_CHARACTERS = 8
"""NHN Cloud's have eight, which an operator may choose so that callers keep theirs."""
MAX_CHARACTERS = 128
_PUBLIC_ID = re.compile(rf"[\w.-]{{4,{MAX_CHARACTERS}}}", re.ASCII)
SIGNING_KINDS = ("solapi",)
"""The relays whose callers sign with their secret, so that we must be able to read it; others send it along."""
_SENT_SECRET = re.compile(rf"[!-~]{{{MIN_SENT_SECRET_CHARACTERS},{MAX_CHARACTERS}}}", re.ASCII)
_SECRET = re.compile(rf"[!-~]{{{MIN_SECRET_CHARACTERS},{MAX_CHARACTERS}}}", re.ASCII)
_BAD_ID = Text(
    f"영문자, 숫자, 밑줄, 점, 붙임표로 4~{MAX_CHARACTERS}자를 쓰세요.",
    f"Use 4 to {MAX_CHARACTERS} letters, digits, underscores, dots and hyphens.",
)
_BAD_SECRET = Text(
    f"출력 가능한 ASCII 문자 {MIN_SECRET_CHARACTERS}~{MAX_CHARACTERS}자를 쓰세요.",
    f"Use {MIN_SECRET_CHARACTERS} to {MAX_CHARACTERS} printable ASCII characters.",
)
_BAD_SENT_SECRET = Text(
    f"출력 가능한 ASCII 문자 {MIN_SENT_SECRET_CHARACTERS}~{MAX_CHARACTERS}자를 쓰세요.",
    f"Use {MIN_SENT_SECRET_CHARACTERS} to {MAX_CHARACTERS} printable ASCII characters.",
)
_NEEDS_SECRET_KEY = Text(
    "이 키의 비밀 값은 암호화해서 저장합니다. 먼저 secret_key를 설정하세요.",
    "The secret of such a key is stored encrypted: set secret_key first.",
)


def secret_context(kind: str, public_id: str) -> str:
    """Return what binds an encrypted secret to its key."""
    return f"compat key {kind} {public_id}"


def issue_compat_key(
    tx: Tx,
    world: World,
    secrets: SecretBox,
    account: str,
    new_key: NewKey,
    public_id: PublicId,
    secret: str,
    *,
    is_generated: bool = False,
    actor: Actor | None = None,
    max_keys: int | None = None,
) -> None:
    """Create a key with a chosen id, and a secret that is chosen unless it `is_generated`.

    Raises Refused: INVALID_PARAMETER, DUPLICATE for an id that another key has, INVALID_STATE without a key to
    encrypt a secret with that callers sign with, or where the account has `max_keys`.
    """
    stored = protect_secret(world, secrets, public_id, secret, is_generated=is_generated)
    compat_keys.add(tx, _issue(tx, world, account, new_key, actor, max_keys), public_id, stored)


def protect_secret(
    world: World, secrets: SecretBox, public_id: PublicId, secret: str, *, is_generated: bool
) -> bytes:
    """Return what is stored of a secret; hashing one that was chosen takes a while.

    Raises Refused: INVALID_PARAMETER for the id or the secret, INVALID_STATE without a key to encrypt a secret
    with that callers sign with.
    """
    is_signing = public_id.kind in SIGNING_KINDS
    if is_signing and not secrets.has_key:
        raise Refused(Code.INVALID_STATE, "secret", _NEEDS_SECRET_KEY)
    if not _PUBLIC_ID.fullmatch(public_id.public_id):
        raise Refused(Code.INVALID_PARAMETER, "id", _BAD_ID)
    shape, detail = (_SECRET, _BAD_SECRET) if is_signing else (_SENT_SECRET, _BAD_SENT_SECRET)
    if not shape.fullmatch(secret):
        raise Refused(Code.INVALID_PARAMETER, "secret", detail)
    if is_signing:
        return secrets.seal(secret.encode(), secret_context(*public_id))
    return hash_generated(secret) if is_generated else hash_chosen(secret, world)


def store_compat_key(
    tx: Tx,
    account_id: int,
    unused_key: str,
    public_id: PublicId,
    stored: bytes,
    new_key: NewKey,
    newest_known_id: int,
    max_keys: int,
    audit_entry: AuditEntry,
) -> None:
    """Store a new key of an account as `store_key` does, with its id and what is stored of its secret.

    `unused_key` is a key that nobody is told. Raises Refused as `store_key` does, and DUPLICATE for an id that
    another key has.
    """
    key_id = store_key(tx, account_id, unused_key, new_key, newest_known_id, max_keys, audit_entry)
    compat_keys.add(tx, key_id, public_id, stored)


def issue_secretless_key(
    tx: Tx,
    world: World,
    account: str,
    new_key: NewKey,
    kind: str,
    *,
    actor: Actor | None = None,
    max_keys: int | None = None,
) -> str:
    """Create a key whose id is all that its callers send, and return that; it is shown only here.

    Raises Refused(INVALID_STATE) where the account has `max_keys`.
    """
    public_id = new_app_key(world)
    key_id = _issue(tx, world, account, new_key, actor, max_keys)
    compat_keys.add(tx, key_id, hide_id(PublicId(kind, public_id)), NO_SECRET)
    return public_id


def _issue(tx: Tx, world: World, account: str, new_key: NewKey, actor: Actor | None, max_keys: int | None) -> int:
    """Create the row that every key has, and return its id."""
    unused_hash = random_bytes(world, 32)  # no apiKey header has it
    return issue_hashed(tx, world, account, new_key, unused_hash, actor, max_keys)


def hide_id(public_id: PublicId) -> PublicId:
    """Return how the id of a key without a secret is stored: it is the secret. No chosen id looks so."""
    return public_id._replace(public_id=compat_keys.HIDDEN_ID_PREFIX + hash_key(public_id.public_id).hex())


class CompatKeyCache:
    """Finds keys by their public ids, and reads each from the store once; a revoked one is gone within a second."""

    def __init__(self, changes: SetupChanges) -> None:
        self._keys: SetupCache[PublicId, CompatKey] = SetupCache(
            changes,
            compat_keys.find,
            lambda _, found: found.key.account_id,
            MAX_CACHED_KEYS,
            lambda found: found.key.is_live,
        )

    async def find(self, public_id: PublicId) -> CompatKey | None:
        """Return the key of an id, None where there is none that is live."""
        found = self._keys.get_cached(public_id) or await self._keys.get(public_id)
        return found if found is not None and found.key.is_live else None
