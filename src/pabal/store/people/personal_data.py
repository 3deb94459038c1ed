"""What an account has stored about one phone number, outside of its messages."""

import json
from typing import Any, NamedTuple

from pabal.domain.base.dates import Instant
from pabal.store.accounts import setup_changes
from pabal.store.engine.base import Tx


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


def find_message_ids(tx: Tx, account_id: int, phone: str, after: bytes, limit: int) -> list[bytes]:
    """Return the ids of an account's messages to a number, in order, after an id."""
    rows = tx.fetch_all(
        "select id from messages where account_id = ? and receiver = ? and id > ? order by id limit ?",
        (account_id, int(phone), after, limit),
    )
    return [row[0] for row in rows]


def list_phone_messages(tx: Tx, account_id: int, phone: str, limit: int) -> list[PhoneMessage]:
    """Return what a simulated phone has received from an account, tokens included."""
    rows = tx.fetch_all(
        "select kind, accepted_at, sender, subject, content from simulated_messages"
        " where account_id = ? and phone = ? order by id limit ?",
        (account_id, int(phone), limit),
    )
    return [PhoneMessage(*row) for row in rows]


def list_channels(tx: Tx, account_id: int, phone: str) -> list[str]:
    """Return the channels of profiles that name a number as their administrator's."""
    rows = tx.fetch_all(
        "select channel_id from profiles where account_id = ? and cellphone = ?"
        " union select channel_id from tokens where account_id = ? and cellphone = ? order by channel_id",
        (account_id, phone) * 2,
    )
    return [row[0] for row in rows]


def list_users(tx: Tx, account_id: int, phone: str) -> list[str]:
    """Return the users of an account whose test sends go to a number."""
    rows = tx.fetch_all(
        "select name from users where account_id = ? and test_number = ? order by name", (account_id, phone)
    )
    return [row[0] for row in rows]


def list_campaigns(tx: Tx, account_id: int, since: Instant) -> list[bytes]:
    """Return the campaigns of an account that have changed since then."""
    rows = tx.fetch_all("select id from campaigns where account_id = ? and changed_at >= ?", (account_id, since))
    return [row[0] for row in rows]


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
    """Erase a number from simulated phones, tokens, profiles and users of an account."""
    tx.execute(
        "update simulated_messages set phone = 0, sender = '', subject = null, content = '', buttons = null,"
        " brand = null, parts = null where account_id = ? and phone = ?",
        (account_id, int(phone)),
    )
    tx.execute("delete from tokens where account_id = ? and cellphone = ?", (account_id, phone))
    erased = "update profiles set cellphone = '' where account_id = ? and cellphone = ? returning account_id"
    setup_changes.record_changed(tx, tx.fetch_all(erased, (account_id, phone)))
    tx.execute("update users set test_number = null where account_id = ? and test_number = ?", (account_id, phone))
