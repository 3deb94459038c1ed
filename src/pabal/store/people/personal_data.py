"""What an account has stored about one phone number outside of its messages, and the tables it was erased from."""

import json
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from pabal.domain.base import identifiers
from pabal.domain.base.dates import Instant
from pabal.store.accounts import setup_changes
from pabal.store.engine.base import Tx
from pabal.store.engine.postgres import partitions
from pabal.store.messages import compat_groups, compat_names, compat_requests, images
from pabal.store.rows import select

_BLANK_MESSAGES = "update messages set receiver = 0, variables = null, content = null, reference = null"
# The rows stay: by these the simulator recognizes a repeated submit.
_BLANK_SIMULATED = (
    "update simulated_messages set phone = 0, sender = '', subject = null, content = '', buttons = null,"
    " brand = null, parts = null"
)


class CampaignRow(NamedTuple):
    """Rows of a campaign's file: receivers that are in no request yet, or a row that cannot be sent to."""

    campaign_id: bytes
    number: int
    """Of the block of receivers, or of the row in the file."""
    cells: list[list[Any]]


class PhoneMessage(NamedTuple):
    """A message on a simulated phone."""

    kind: str
    accepted_at: Instant
    sender: str
    subject: str | None
    content: str
    message_id: bytes | None


def find_message_ids(tx: Tx, account_id: int, phone: str, after: bytes, limit: int) -> list[bytes]:
    """Return the ids of an account's messages to a number, in order, after an id."""
    return tx.fetch_values(
        "select id from messages where account_id = ? and receiver = ? and id > ? order by id limit ?",
        (account_id, int(phone), after, limit),
    )


def list_phone_messages(tx: Tx, account_id: int, phone: str, limit: int) -> list[PhoneMessage]:
    """Return what a simulated phone has received from an account, tokens included."""
    return select(PhoneMessage, "simulated_messages").fetch_all(
        tx, "where account_id = ? and phone = ? order by id limit ?", (account_id, int(phone), limit)
    )


def list_channels(tx: Tx, account_id: int, phone: str) -> list[str]:
    """Return the channels of profiles that name a number as their administrator's."""
    return tx.fetch_values(
        "select channel_id from profiles where account_id = ? and cellphone = ?"
        " union select channel_id from tokens where account_id = ? and cellphone = ? order by channel_id",
        (account_id, phone) * 2,
    )


def list_users(tx: Tx, account_id: int, phone: str) -> list[str]:
    """Return the users of an account whose test sends go to a number."""
    return tx.fetch_values(
        "select name from users where account_id = ? and test_number = ? order by name", (account_id, phone)
    )


def list_campaigns(tx: Tx, account_id: int, since: Instant) -> list[bytes]:
    """Return the campaigns of an account that have changed since then."""
    return tx.fetch_values("select id from campaigns where account_id = ? and changed_at >= ?", (account_id, since))


def list_blocks(tx: Tx, campaign_id: bytes, phone: str) -> list[CampaignRow]:
    """Return the blocks of a campaign that contain a number."""
    rows = tx.fetch_all(
        "select number, body from campaign_blocks where campaign_id = ? and body like ?",
        (campaign_id, f"%{phone}%"),
    )
    return [CampaignRow(campaign_id, number, json.loads(body)) for number, body in rows]


def list_invalid_rows(tx: Tx, campaign_id: bytes, after: int, limit: int) -> list[CampaignRow]:
    """Return some invalid rows of a campaign, in the order of its file."""
    rows = tx.fetch_all(
        "select number, cells from campaign_invalid_rows where campaign_id = ? and number > ?"
        " order by number limit ?",
        (campaign_id, after, limit),
    )
    return [CampaignRow(campaign_id, number, [json.loads(cells)]) for number, cells in rows]


def replace_block(tx: Tx, block: CampaignRow, removed: int) -> None:
    """Replace a block of receivers by what is left of it; an empty one is deleted."""
    place = (block.campaign_id, block.number)
    changed = tx.fetch_all(
        "update campaign_blocks set body = ?, receivers = receivers - ? where campaign_id = ? and number = ?"
        " returning is_upgraded",
        (json.dumps(block.cells, ensure_ascii=False), removed, *place),
    )
    upgraded = removed if changed and changed[0][0] else 0
    tx.execute("delete from campaign_blocks where campaign_id = ? and number = ? and receivers <= 0", place)
    tx.execute(
        "update campaigns set receivers = receivers - ?, upgraded = upgraded - ? where id = ?",
        (removed, upgraded, block.campaign_id),
    )


def blank_invalid_row(tx: Tx, row: CampaignRow) -> None:
    """Blank the cells of an invalid row; why it is invalid stays."""
    tx.execute(
        "update campaign_invalid_rows set cells = ? where campaign_id = ? and number = ?",
        (json.dumps([""] * len(row.cells[0])), row.campaign_id, row.number),
    )


def erase_elsewhere(tx: Tx, account_id: int, phone: str) -> None:
    """Erase a number from simulated phones, tokens, profiles, users and groups that are not sent, of an account."""
    compat_groups.erase(tx, account_id, phone)
    tx.execute(f"{_BLANK_SIMULATED} where account_id = ? and phone = ?", (account_id, int(phone)))
    tx.execute("delete from tokens where account_id = ? and cellphone = ?", (account_id, phone))
    erased = "update profiles set cellphone = '' where account_id = ? and cellphone = ? returning account_id"
    setup_changes.record_changed(tx, tx.fetch_all(erased, (account_id, phone)))
    tx.execute("update users set test_number = null where account_id = ? and test_number = ?", (account_id, phone))


def has_jobs(tx: Tx, identity: bytes) -> bool:
    """Return whether a message or its fallback, or any message of a request, is in the queue."""
    if len(identity) == identifiers.REQUEST_ID_BYTES:
        ranges = [identifiers.message_id_range(identity)]
    else:
        ranges = [(one, one) for one in _with_fallback(tx, identity)]
    slot = identifiers.slot_of(identity)
    return any(
        tx.fetch_one("select 1 from jobs where id between ? and ? and slot = ? limit 1", (low, high, slot))
        for low, high in ranges
    )


def erase(tx: Tx, identity: bytes) -> bool:
    """Erase a request, a message and its fallback, or the bytes of images that no request uses.

    Returns False where another transaction has to go on with it.
    """
    if len(identity) == images.SHARED_ID_BYTES:
        return images.delete_unused(tx, identity)
    if len(identity) == identifiers.REQUEST_ID_BYTES:
        erase_request(tx, identity)
    else:
        erase_messages(tx, _with_fallback(tx, identity))
    return True


def _with_fallback(tx: Tx, message_id: bytes) -> list[bytes]:
    """Return the ids of a message and of its fallback, which may not exist."""
    request_id, slot = identifiers.request_id_of(message_id), identifiers.slot_of(message_id)
    total = tx.fetch_number("select total from requests where id = ? and slot = ?", (request_id, slot))
    number = identifiers.number_of(message_id)
    return [message_id, *([identifiers.make_message_id(request_id, number + total)] if number <= total else [])]


def list_messages(tx: Tx, identity: bytes) -> list[tuple[bytes, int]]:
    """Return the messages that are erased with this request or message, each with its account."""
    is_request = len(identity) == identifiers.REQUEST_ID_BYTES
    ids = _with_fallback(tx, identity) if not is_request else []
    ranges = [identifiers.message_id_range(identity)] if is_request else [(one, one) for one in ids]
    found = [
        tx.fetch_all(
            "select id, account_id from messages where id between ? and ? and slot = ?",
            (low, high, identifiers.slot_of(identity)),
        )
        for low, high in ranges
    ]
    return [(row[0], row[1]) for rows in found for row in rows]


def postpone(tx: Tx, identities: Iterable[bytes]) -> None:
    """Note requests or messages to erase when they have ended."""
    tx.execute_many(
        "insert into pending_erasures (id) values {rows} on conflict (id) do nothing",
        [(one,) for one in identities],
    )


def list_pending(tx: Tx, after: bytes, limit: int) -> list[bytes]:
    """Return some requests and messages to erase, in order of their ids, after an id."""
    return tx.fetch_values("select id from pending_erasures where id > ? order by id limit ?", (after, limit))


def delete_pending(tx: Tx, identities: Iterable[bytes]) -> None:
    """Forget requests and messages that have been erased."""
    tx.execute_list("delete from pending_erasures where id in ({list})", identities)


def erase_request(tx: Tx, request_id: bytes) -> None:
    """Erase the numbers and texts of a request and its messages; their outcomes stay."""
    slot = identifiers.slot_of(request_id)
    low, high = identifiers.message_id_range(request_id)
    tx.execute(
        "update requests set content = '', subject = null, buttons = null, parts = null, variables = null,"
        " sender = '', image_link = null, fallback_sender = null, fallback_content = null, opt_out_number = null,"
        " brand = case when brand is null then null else '{}' end where id = ? and slot = ?",
        (request_id, slot),
    )
    images.delete(tx, request_id)
    compat_requests.erase(tx, request_id)
    compat_names.forget_request(tx, request_id)
    tx.execute(f"{_BLANK_MESSAGES} where id between ? and ? and slot = ?", (low, high, slot))
    tx.execute("delete from attempts where message_id between ? and ? and slot = ?", (low, high, slot))
    tx.execute(f"{_BLANK_SIMULATED} where message_id between ? and ?", (low, high))


def erase_messages(tx: Tx, message_ids: Sequence[bytes]) -> None:
    """Erase the numbers and texts of messages; what they share with others of their request stays."""
    compat_names.forget(tx, message_ids)
    for statement in (
        f"{_BLANK_MESSAGES} where id in ({{list}}) and id {{within}} and slot {{same_slot}}",
        "delete from attempts where message_id in ({list}) and message_id {within} and slot {same_slot}",
        f"{_BLANK_SIMULATED} where message_id in ({{list}})",
    ):
        tx.execute_list(statement, message_ids)


ERASED_TABLES = (
    "campaign_blocks",
    "campaign_invalid_rows",
    "compat_group_messages",
    "compat_names",
    "compat_requests",
    "contact_members",
    "contacts",
    "drafts",
    "event_data",
    "inbound_messages",
    "inbound_parts",
    "opt_out_changes",
    "opt_outs",
    "profiles",
    "simulated_messages",
    "tokens",
    "users",
    "webhook_deliveries",
    "webhook_posts",
)
"""The tables without partitions from which a number is erased."""


class ErasedTable(NamedTuple):
    """A table or partition, and when the last erasure changed it."""

    name: str
    erased_at: Instant


def record_erased(tx: Tx, ids: Iterable[bytes], now: Instant) -> None:
    """Record that messages or requests of these ids were erased, and what else names their number."""
    if not partitions.is_partitioned(tx):
        return
    months = sorted({str(partitions.month_at(identifiers.requested_at(one))) for one in ids})
    parts = [f"{table}_{month}" for table in partitions.PARTITION_KEYS for month in [*months, "default"] if months]
    tx.execute_many(
        "insert into erased_tables (erased_at, name) select ?, v.* from (values {rows}) as v where true"
        " on conflict (name) do update set erased_at = excluded.erased_at",
        [(name,) for name in sorted([*ERASED_TABLES, *parts])],
        (now,),
    )


def list_erased(tx: Tx) -> list[ErasedTable]:
    """Return the tables that are to be vacuumed, those that wait for longest first."""
    return select(ErasedTable, "erased_tables").fetch_all(tx, "order by erased_at, name")


def delete_erased(tx: Tx, table: ErasedTable) -> None:
    """Forget a table that was vacuumed, unless more was erased meanwhile."""
    tx.execute("delete from erased_tables where name = ? and erased_at = ?", table)
