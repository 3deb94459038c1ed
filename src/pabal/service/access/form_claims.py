"""Claims of forms: what a browser posts again because the answer was lost is not done twice."""

from pabal.domain import identifiers
from pabal.domain.dates import Instant
from pabal.service.context import Context
from pabal.store import idempotency_keys
from pabal.store.engine.base import Tx, transaction
from pabal.store.idempotency_keys import KeyedRequest, KeyId

CLAIM_BITS = 128


async def claim(context: Context, account_id: int, key: str, digest: bytes) -> bool:
    """Claim a form for the caller, who handles it; False: it was claimed before.

    A claim lasts as long as an idempotency key.
    """
    own = context.world.random_bits(CLAIM_BITS).to_bytes(CLAIM_BITS // 8, "big")
    now = context.world.now()
    claimed = KeyedRequest(digest, own, now)
    since = now - context.policy.idempotency_ms
    return await context.store.write(_claim, _key_id(context, account_id, key), claimed, since)


async def release(context: Context, account_id: int, key: str) -> None:
    """Give up the claim of a form that was refused: nothing was done, so it may be posted again."""
    await context.store.write(idempotency_keys.delete, _key_id(context, account_id, key))


def _key_id(context: Context, account_id: int, key: str) -> KeyId:
    numbers = context.slots.numbers
    return KeyId(numbers[identifiers.slot_of_key(account_id, key, len(numbers))], account_id, key)


@transaction(retryable=True)
def _claim(tx: Tx, key_id: KeyId, claimed: KeyedRequest, since: Instant) -> bool:
    """Save a claim unless there is one of another caller; after a lost commit, its own counts as new."""
    earlier = idempotency_keys.find(tx, [key_id]).get(key_id)
    if earlier and earlier.created_at >= since:
        return earlier.request_id == claimed.request_id
    idempotency_keys.save(tx, {key_id: claimed})
    return True
