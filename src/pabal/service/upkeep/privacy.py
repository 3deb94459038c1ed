"""Exports and erases everything that an account has stored about one phone number, from files of tables too."""

import logging
import re
from collections.abc import Iterator
from typing import NamedTuple

from pabal.domain.base import identifiers
from pabal.domain.base.dates import Instant
from pabal.domain.content.text import mask_digits
from pabal.domain.people.contact import Contact
from pabal.domain.people.inbound import Inbound
from pabal.domain.people.opt_out import OptOut
from pabal.domain.sends.message import Status
from pabal.service.context import Context
from pabal.service.policy import Policy
from pabal.service.sending.compose import hides_digits
from pabal.service.sending.drafts import contains_number, find_lines
from pabal.service.sending.waiting import cancel_messages
from pabal.store.accounts import audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.campaigns import drafts
from pabal.store.campaigns.drafts import AccountDraft
from pabal.store.engine.base import Store, Tx
from pabal.store.events import events, webhook_posts
from pabal.store.messages import campaign_requests, history, inbound, messages, requests
from pabal.store.messages.history import ReadMessages
from pabal.store.people import contacts, opt_outs, personal_data
from pabal.store.people.hash_keys import HashKeys
from pabal.store.people.personal_data import CampaignRow, PhoneMessage
from pabal.store.queue import queue

log = logging.getLogger("pabal.housekeeping")

BATCH = 200
"""Most messages that one transaction erases."""
ROWS_BATCH = 1000
"""Most rows of a campaign's file that are read at a time."""
DRAFTS_BATCH = 10
"""Most drafts that are read at a time: each may have half a megabyte."""
MAX_PHONE_MESSAGES = 10_000
"""Most messages of a simulated phone in an export."""
MAX_INBOUND = 10_000
"""Most inbound messages of a number in an export."""
ERASE_ACTION = "privacy.erase"
EXPORT_ACTION = "privacy.export"

_NO_DIGITS = re.compile(r"\D+")


class PersonalData(NamedTuple):
    """What an account has stored about a number, except its messages."""

    phone_messages: list[PhoneMessage]
    channels: list[str]
    users: list[str]
    campaign_rows: list[CampaignRow]
    opt_outs: list[OptOut]
    inbound: list[Inbound]
    draft_lines: list[str]
    """Lines of drafts that name the number."""
    contacts: list[Contact]


class ErasureResult(NamedTuple):
    """How many messages were erased, how many of them cancelled first, and how many are erased at their end."""

    erased: int
    cancelled: int
    pending: int
    campaign_rows: int


async def export(store: Store, policy: Policy, account_id: int, phone: str) -> PersonalData:
    """Return what an account has stored about a number, except its messages, as records show it."""
    rows = [row for _, row in await _find_campaign_rows(store, account_id, phone)]
    lines = [
        line for draft in await _find_drafts(store, account_id, phone) for line in find_lines(draft.fields, phone)
    ]
    return await store.read(_read_elsewhere, policy, account_id, phone, rows, lines)


async def list_messages(store: Store, account_id: int, phone: str, after: bytes = b"") -> ReadMessages:
    """Return some of an account's messages to a number, oldest first, after an id."""
    return await store.read(_read_messages, account_id, phone, after)


async def erase(
    context: Context, account_id: int, phone: str, audit_entry: AuditEntry | None = None
) -> ErasureResult:
    """Erase a number of an account: what waits is cancelled, what is being sent is erased when it has ended.

    Texts that a request shares with other receivers stay; statistics stay, and opt-outs as keyed hashes. Campaigns
    get receivers from the address book and from failed messages: what one has read meanwhile is erased at the end.
    """
    store, began_at = context.store, context.world.now()
    erased = cancelled = pending = 0
    await store.write(_delete_contact, account_id, phone, audit_entry)
    rows = await _erase_campaign_rows(store, account_id, phone)
    for draft in await _find_drafts(store, account_id, phone):
        await store.write(drafts.delete, draft.key)
    await store.write(_erase_elsewhere, context.policy.hash_keys, account_id, phone)
    last: bytes | None = b""
    while last is not None:
        result, last = await store.write(_erase_some, context.policy, account_id, phone, last, context.world.now())
        erased, cancelled, pending = erased + result[0], cancelled + result[1], pending + result[2]
    context.count_cancelled(cancelled)
    rows += await _erase_campaign_rows(store, account_id, phone, began_at)
    await store.write(personal_data.record_erased, (), context.world.now())
    await store.scrub()
    return ErasureResult(erased, cancelled, pending, rows)


def _read_elsewhere(
    tx: Tx, policy: Policy, account_id: int, phone: str, rows: list[CampaignRow], draft_lines: list[str]
) -> PersonalData:
    on_phone = personal_data.list_phone_messages(tx, account_id, phone, MAX_PHONE_MESSAGES)
    return PersonalData(
        _hide_codes(tx, policy, on_phone),
        personal_data.list_channels(tx, account_id, phone),
        personal_data.list_users(tx, account_id, phone),
        rows,
        opt_outs.list_by_number(tx, policy.hash_keys, account_id, phone),
        inbound.list_by_sender(tx, account_id, phone, MAX_INBOUND),
        draft_lines,
        contacts.find_by_phones(tx, account_id, [phone]),
    )


def _hide_codes(tx: Tx, policy: Policy, on_phone: list[PhoneMessage]) -> list[PhoneMessage]:
    """Return messages of a simulated phone without the digits of one-time codes that have ended."""
    ids = [each.message_id for each in on_phone if each.message_id is not None]
    owners = requests.find_owners(tx, {identifiers.request_id_of(one) for one in ids})
    codes = [one for one in ids if owners.get(identifiers.request_id_of(one), (0, False))[1]]
    hidden = {
        message.id
        for message, request in history.join_requests(tx, codes, messages.get(tx, codes)).found
        if hides_digits(request, policy, has_ended=message.completed_at is not None)
    }
    return [
        each._replace(subject=mask_digits(each.subject or ""), content=mask_digits(each.content))
        if each.message_id in hidden
        else each
        for each in on_phone
    ]


def _read_messages(tx: Tx, account_id: int, phone: str, after: bytes) -> ReadMessages:
    ids = personal_data.find_message_ids(tx, account_id, phone, after, BATCH)
    return history.join_requests(tx, ids, messages.get(tx, ids))


async def _find_campaign_rows(
    store: Store, account_id: int, phone: str, since: Instant = 0
) -> list[tuple[bool, CampaignRow]]:
    """Return the rows of campaigns with a number, and whether each is invalid; of those that changed since then."""
    found: list[tuple[bool, CampaignRow]] = []
    for campaign_id in await store.read(personal_data.list_campaigns, account_id, since):
        for block in await store.read(personal_data.list_blocks, campaign_id, phone):
            own = [_flatten(*cells) for cells in block.cells if cells[0] == phone]
            found += [(False, block._replace(cells=own))] if own else []
        after = -1
        while rows := await store.read(personal_data.list_invalid_rows, campaign_id, after, ROWS_BATCH):
            after = rows[-1].number
            found += [(True, row) for row in rows if _contains(row.cells[0], phone)]
    return found


async def _erase_campaign_rows(store: Store, account_id: int, phone: str, since: Instant = 0) -> int:
    """Erase a number from campaigns that have changed since then; return from how many of their rows."""
    found = await _find_campaign_rows(store, account_id, phone, since)
    for is_invalid, row in found:
        await store.write(_erase_campaign_row, row, phone, is_invalid=is_invalid)
    return len(found)


async def _find_drafts(store: Store, account_id: int, phone: str) -> list[AccountDraft]:
    """Return the drafts of an account that name a number."""
    found: list[AccountDraft] = []
    after = (0, "")
    while some := await store.read(drafts.list_by_account, account_id, after, DRAFTS_BATCH):
        after = (some[-1].key.user_id, some[-1].key.form)
        found += [each for each in some if contains_number(each.fields, phone)]
    return found


def _flatten(phone: str, values: list[str], reference: str | None) -> list[str]:
    """Return a receiver as the cells of a row."""
    return [phone, *values, *([reference] if reference else ())]


def _contains(cells: list[str], phone: str) -> bool:
    return any(phone[1:] in _NO_DIGITS.sub("", cell) for cell in cells)


def _erase_campaign_row(tx: Tx, row: CampaignRow, phone: str, *, is_invalid: bool) -> None:
    if is_invalid:
        personal_data.blank_invalid_row(tx, row)
        return
    for block in personal_data.list_blocks(tx, row.campaign_id, phone):
        if block.number == row.number:
            left = [cells for cells in block.cells if cells[0] != phone]
            personal_data.replace_block(tx, block._replace(cells=left), len(block.cells) - len(left))


def _delete_contact(tx: Tx, account_id: int, phone: str, audit_entry: AuditEntry | None) -> None:
    if audit_entry:
        audit_log.add(tx, audit_entry)
    contacts.delete(tx, account_id, [each.id for each in contacts.find_by_phones(tx, account_id, [phone])])


def _erase_elsewhere(tx: Tx, keys: HashKeys, account_id: int, phone: str) -> None:
    personal_data.erase_elsewhere(tx, account_id, phone)
    webhook_posts.erase(tx, account_id, events.erase_data(tx, account_id, phone))
    opt_outs.erase(tx, keys, account_id, phone)
    inbound.erase(tx, account_id, phone)
    opt_outs.erase_changes(tx, account_id, phone)


def _erase_some(
    tx: Tx, policy: Policy, account_id: int, phone: str, after: bytes, now: Instant
) -> tuple[tuple[int, int, int], bytes | None]:
    """Erase some messages; return how many were erased, cancelled and postponed, and after which id to go on."""
    ids = personal_data.find_message_ids(tx, account_id, phone, after, BATCH)
    stored = messages.get(tx, ids)
    waiting = [one for one, each in stored.items() if each.status is Status.WAITING]
    cancelled = cancel_messages(tx, policy, queue.remove_unclaimed(tx, waiting), now)
    totals = requests.get_totals(tx, {identifiers.request_id_of(one) for one in ids})
    for request_id in totals:
        campaign_requests.recount_soon(tx, request_id, now)
    webhook_posts.erase(tx, account_id, ids)
    personal_data.record_erased(tx, ids, now)
    pending = 0
    for one in _units(ids, totals):
        if personal_data.has_jobs(tx, one):
            personal_data.postpone(tx, [one])
            pending += 1
        else:
            personal_data.erase(tx, one)
    return (len(ids) - pending, cancelled, pending), ids[-1] if len(ids) == BATCH else None


def _units(ids: list[bytes], totals: dict[bytes, int]) -> Iterator[bytes]:
    """Yield what to erase as a whole: the request where it has one receiver only, else the message."""
    seen: set[bytes] = set()
    for one in ids:
        request_id = identifiers.request_id_of(one)
        unit = request_id if totals.get(request_id) == 1 else one
        if unit not in seen:
            seen.add(unit)
            yield unit


VACUUM_INTERVAL_S = 60.0
"""Pause between two looks for tables from which something was erased."""


async def vacuum_erased(context: Context) -> None:
    """Vacuum the tables from which personal data was erased; one that is in use, or still read as it was, waits.

    Raises StoreUnavailable.
    """
    for table in await context.store.read(personal_data.list_erased):
        if await context.store.vacuum(table.name, context.world.now() - table.erased_at):
            await context.store.write(personal_data.delete_erased, table)
