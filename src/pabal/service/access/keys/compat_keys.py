"""Issues and finds the keys of programs that were written for another relay."""

import re

from pabal.domain.base.codes import Code, Refused, Text
from pabal.service.access.keys.keys import MAX_CACHED_KEYS, NewKey, hash_key, issue_hashed, store_key
from pabal.service.access.keys.sent_secrets import NO_SECRET, hash_chosen, hash_generated
from pabal.service.setup_cache import SetupCache, SetupChanges
from pabal.store.accounts import compat_keys
from pabal.store.accounts.audit_log import Actor, AuditEntry
from pabal.store.accounts.compat_keys import CompatKey, PublicId
from pabal.store.engine.base import Tx
from pabal.webhooks.secrets import SecretBox
from pabal.world import World, new_app_key

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
    unused_hash = world.random_bits(256).to_bytes(32, "big")  # no apiKey header has it
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
