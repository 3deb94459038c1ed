"""Claims of forms: what a browser posts again because the answer was lost is not done twice."""

from pabal.domain.base.dates import Instant
from pabal.service.context import Context
from pabal.store.engine.base import Tx, transaction
from pabal.store.users import form_idempotency
from pabal.store.users.form_idempotency import FormClaim
from pabal.world import new_unique_id


async def claim(context: Context, form: bytes) -> bool:
    """Claim a form, by its digest, for the caller, who handles it; False: it was claimed before.

    A claim lasts as long as an idempotency key.
    """
    own = new_unique_id(context.world)
    now = context.world.now()
    return await context.store.write(_claim, form, FormClaim(own, now), now - context.policy.idempotency_ms)


async def release(context: Context, form: bytes) -> None:
    """Give up the claim of a form that was refused: nothing was done, so it may be posted again."""
    await context.store.write(form_idempotency.delete, form)


@transaction(retryable=True)
def _claim(tx: Tx, form: bytes, claimed: FormClaim, since: Instant) -> bool:
    """Save a claim unless there is one of another caller; after a lost commit, its own counts as new."""
    earlier = form_idempotency.find(tx, form)
    if earlier and earlier.claimed_at >= since:
        return earlier.owner == claimed.owner
    form_idempotency.save(tx, form, claimed)
    return True
