"""Receives inbound messages and opt-outs: replies are stored, and those that ask for it opt their senders out."""

from collections.abc import Sequence

from pabal.carriers.base import InboundMessage, RelayOptOut
from pabal.domain.base.dates import HOUR, Instant
from pabal.domain.events.event import EventType
from pabal.domain.people.inbound import MAX_PART_CHARACTERS, Inbound, is_mobile, tidy_content, to_record
from pabal.domain.people.opt_out import is_opt_out_text
from pabal.service.access.contacts.opt_outs import NewOptOuts, OptOutEntry, OptOutSource, add_opt_outs, new_hash_key
from pabal.service.context import Context
from pabal.service.policy import Policy
from pabal.store.accounts import numbers
from pabal.store.engine.base import Tx
from pabal.store.events import events
from pabal.store.messages import inbound
from pabal.store.messages.inbound import LongMessage
from pabal.store.people import opt_outs

PARTS_TIMEOUT_MS = 1 * HOUR
"""How long a long message waits for its parts; then it is stored without those that are missing."""
PARTS_BATCH = 100
MAX_NUMBER_CHARACTERS = 20


async def store_messages(context: Context, carrier: str, arrived: Sequence[InboundMessage]) -> None:
    """Return once the messages are stored: only then may the carrier be told so.

    Raises StoreUnavailable.
    """
    key = new_hash_key(context.world)
    stored = await context.store.write(receive_inbound, carrier, arrived, key, context.policy, context.world.now())
    context.metrics.inbound.add(len(arrived), carrier)
    if stored:
        context.new_events.set()


async def finish_long_messages(context: Context) -> None:
    """Store long messages whose parts arrived in different processes, or never."""
    while await context.store.write(_finish_some, new_hash_key(context.world), context.policy, context.world.now()):
        context.new_events.set()


def receive_inbound(
    tx: Tx, carrier: str, arrived: Sequence[InboundMessage], new_key: bytes, policy: Policy, now: Instant
) -> int:
    """Store inbound messages; return how many are complete. Parts of long ones wait for each other."""
    stored = 0
    for sender, receiver, content, part in arrived:
        sender, receiver = sender[:MAX_NUMBER_CHARACTERS], receiver[:MAX_NUMBER_CHARACTERS]
        if part is not None:
            long = LongMessage(carrier, sender, receiver, part.reference, part.total)
            inbound.add_part(tx, long, part.number, content[:MAX_PART_CHARACTERS], now)
            if not inbound.has_all_parts(tx, long):
                continue
            content = inbound.take_parts(tx, long)
        _store(tx, carrier, sender, receiver, content, new_key, policy, now)
        stored += 1
    return stored


def _finish_some(tx: Tx, new_key: bytes, policy: Policy, now: Instant) -> int:
    found = inbound.find_finished_parts(tx, now - PARTS_TIMEOUT_MS, PARTS_BATCH)
    for long in found:
        content = inbound.take_parts(tx, long)
        _store(tx, long.carrier, long.sender, long.receiver, content, new_key, policy, now)
    return len(found)


def _store(
    tx: Tx, carrier: str, sender: str, receiver: str, content: str, new_key: bytes, policy: Policy, now: Instant
) -> None:
    """Store a message for the account that may send from its receiver, with its event and its opt-out."""
    content = tidy_content(content)
    holder = numbers.get_holder(tx, receiver)
    account_id = holder[0] if holder else None
    opts_out = (
        account_id is not None
        and is_opt_out_text(content)
        and is_mobile(sender)
        and inbound.has_sent(tx, account_id, sender, receiver)
    )
    message = inbound.add(tx, Inbound(0, account_id, carrier, sender, receiver, content, opts_out, now))
    if account_id is None:
        return
    phone = sender if is_mobile(sender) else None
    record = to_record(message, policy.zone)
    events.record(tx, account_id, EventType.MESSAGE_INBOUND, str(message.id), record, now, phone=phone)
    if opts_out:
        new = NewOptOuts(account_id, [OptOutEntry(sender, receiver)], OptOutSource.REPLY)
        add_opt_outs(tx, new, new_key, policy, now)


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
            opt_outs.find_accounts_by_sender(tx, phone, sender)
            if sender
            else opt_outs.find_accounts(tx, phone, number, policy.opt_out_number)
        )
        for account_id in accounts:
            new = NewOptOuts(account_id, [OptOutEntry(phone, sender)], OptOutSource.RELAY)
            added += len(add_opt_outs(tx, new, new_key, policy, now))
    return added
