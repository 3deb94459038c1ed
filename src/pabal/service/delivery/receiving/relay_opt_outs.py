"""Adds the opt-outs that relays report: of receivers who have called a number for opting out."""

from collections.abc import Sequence

from pabal.carriers.base import RelayOptOut
from pabal.domain.base.dates import Instant
from pabal.service.access.contacts.opt_outs import NewOptOuts, OptOutEntry, OptOutSource, add_opt_outs, new_hash_key
from pabal.service.context import Context
from pabal.service.policy import Policy
from pabal.store.engine.base import Tx
from pabal.store.people import opt_out_accounts


async def store_opt_outs(context: Context, arrived: Sequence[RelayOptOut]) -> None:
    """Return once the opt-outs are stored: only then may the relay be told so.

    Raises StoreUnavailable.
    """
    key = new_hash_key(context.world)
    added = await context.store.write(receive_opt_outs, arrived, key, context.policy, context.world.now())
    if added:
        context.new_events.set()


def receive_opt_outs(tx: Tx, arrived: Sequence[RelayOptOut], new_key: bytes, policy: Policy, now: Instant) -> int:
    """Add opt-outs for the accounts whose number was called, or whose sender number it is; return how many are new.

    A number that was called belongs to the accounts that have it as their own, and to those that have sent
    advertising to the receiver which named it. Other accounts learn nothing about the receiver.
    """
    added = 0
    for phone, number, sender in arrived:
        accounts = (
            opt_out_accounts.find_by_sender(tx, phone, sender)
            if sender
            else opt_out_accounts.find(tx, phone, number, policy.opt_out_number)
        )
        for account_id in accounts:
            new = NewOptOuts(account_id, [OptOutEntry(phone, sender)], OptOutSource.RELAY)
            added += len(add_opt_outs(tx, new, new_key, policy, now))
    return added
