"""Stores what a call sends, once for each idempotency key of its caller."""

import asyncio
from collections.abc import Sequence

from pabal.compat.nhncloud.call import DUPLICATE_CALL, KIND, NhnCall, NhnRefused
from pabal.domain.base.dates import MINUTE
from pabal.domain.base.identifiers import requested_at
from pabal.domain.sends.sending import SMALL_RECEIVERS, Sending
from pabal.service.sending.accept import IdempotencyKey, choose_slot, prepare_request
from pabal.service.sending.accept_call import CallSize, accept_call

REPEAT_MS = 10 * MINUTE
"""How long an idempotency key may not be used again; after that, it is a new one."""
_USED = "The same 'X-NC-API-IDEMPOTENCY-KEY' was used within the last 10 minute."


async def accept_once(call: NhnCall, sends: Sequence[Sending], size: CallSize) -> list[bytes]:
    """Store the sends of a call, which are at most `MAX_STORED_TOGETHER` messages, in one transaction.

    Returns the ids of their requests. Raises NhnRefused where its idempotency key was used minutes ago, and Refused
    as `accept_call` and `prepare_request` do.
    """
    await asyncio.sleep(0)  # where many calls are at this step together, each costs less than by itself
    context, account_id = call.context, call.account_id
    slot = choose_slot(context, account_id, call.idempotency)
    lane = int(sum(len(each.receivers) for each in sends) > SMALL_RECEIVERS)
    name = call.idempotency
    while True:
        prepared = [
            await prepare_request(
                context,
                account_id,
                each,
                _key_of(call, name) if number == 0 else None,
                drops_duplicates=True,  # a refusal would be one of all recipients
                key_id=call.key.id,
                slot=slot,
                lane=lane,
            )
            for number, each in enumerate(sends)
        ]
        accepted = await accept_call(context, account_id, prepared, size._replace(is_once=True))
        first = accepted[0]
        if first.is_new:
            return [each.request_id for each in accepted]
        if call.now - requested_at(first.request_id) < REPEAT_MS:
            raise NhnRefused(DUPLICATE_CALL, _USED)
        name = f"{call.idempotency}:{first.request_id.hex()}"  # it was used long ago: look for a later use


def _key_of(call: NhnCall, name: str | None) -> IdempotencyKey | None:
    """Return the key of a call; a repeat is refused whatever its body is, so that the digest says nothing of it."""
    return IdempotencyKey(f"{KIND}:{call.path}:{name}", b"") if name else None
