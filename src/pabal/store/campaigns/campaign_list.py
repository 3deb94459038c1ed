"""Lists of campaigns and of their invalid rows, and the approval of those that wait for a second user."""

from collections.abc import Sequence

import msgspec

from pabal.domain.base.dates import Instant
from pabal.domain.sends.campaign import UNSENT_STATES, CampaignState
from pabal.store.campaigns.campaigns import COLUMNS, Campaign, InvalidRow, from_row, to_json, update_version
from pabal.store.engine.base import Tx
from pabal.store.rows import deletion, read_rows, select, upsert

_UNSENT = ", ".join(f"'{state.code}'" for state in UNSENT_STATES)
"""Written out, as in the index `campaigns_unsent`."""


def list_by_account(
    tx: Tx, account_id: int, before: bytes, since: bytes, limit: int
) -> tuple[list[bytes], dict[bytes, Campaign]]:
    """Return the ids of an account's campaigns between two ids, newest first, and those that can be read."""
    rows = tx.fetch_all(
        f"select {COLUMNS} from campaigns where account_id = ? and id < ? and id >= ? order by id desc limit ?",
        (account_id, before, since, limit),
    )
    return [row[0] for row in rows], read_rows(rows, from_row)


def list_unsent(
    tx: Tx, account_id: int, before: bytes, limit: int, *, is_to_approve: bool = False
) -> tuple[list[bytes], dict[bytes, Campaign]]:
    """Return the ids of an account's campaigns that were begun and not sent, newest first, and those readable.

    Those that wait for approval are a list of their own.
    """
    rows = tx.fetch_all(
        f"select {COLUMNS} from campaigns where account_id = ? and id < ? and state in ({_UNSENT})"
        f" and {_where(is_to_approve)} order by id desc limit ?",
        (account_id, before, limit),
    )
    return [row[0] for row in rows], read_rows(rows, from_row)


def count_unsent(tx: Tx, account_id: int, most: int, *, is_to_approve: bool = False) -> int:
    """Return how many campaigns of an account were begun and not sent, up to `most`."""
    return tx.fetch_number(
        "select count(*) from"
        f" (select id from campaigns where account_id = ? and state in ({_UNSENT})"
        f" and {_where(is_to_approve)} limit ?) as g",
        (account_id, most),
    )


WAITS_FOR_USER = (
    f"c.state in ({_UNSENT}) and c.state = '{CampaignState.TO_APPROVE.code}'"
    " and c.user_id <> u.id and c.submitter_id <> u.id"
)
"""Which campaigns `c` of their account wait for the approval of a user `u`: those that others have prepared."""


def _where(is_to_approve: bool) -> str:
    return f"state {'=' if is_to_approve else '<>'} '{CampaignState.TO_APPROVE.code}'"


def get_submitter_id(tx: Tx, campaign_id: bytes) -> int | None:
    """Return the user who has asked for approval; None: nobody has."""
    return tx.fetch_value("select submitter_id from campaigns where id = ?", (campaign_id,))


def submit(
    tx: Tx,
    campaign_id: bytes,
    changed_at: Instant,
    name: str,
    scheduled_at: Instant | None,
    submitter_id: int,
    now: Instant,
) -> bool:
    """Submit a validated campaign for approval; return False if it is in another state, or has changed since."""
    changes = "state = ?, name = ?, scheduled_at = ?, submitter_id = ?, reason = ''"
    args = (CampaignState.TO_APPROVE.code, name, scheduled_at, submitter_id)
    return update_version(tx, campaign_id, CampaignState.CHECKED, changed_at, now, changes, args, "receivers > 0")


def approve(
    tx: Tx, campaign_id: bytes, changed_at: Instant, approver_id: int, scheduled_at: Instant | None, now: Instant
) -> bool:
    """Start a campaign that waits; return False if it has changed since it was shown, or is the approver's own."""
    making, waiting = CampaignState.MAKING.code, CampaignState.TO_APPROVE.code
    return tx.changes(
        "update campaigns set state = ?, scheduled_at = ?, changed_at = ? where id = ? and state = ?"
        " and changed_at = ? and submitter_id <> ? and user_id <> ?",
        (making, scheduled_at, now, campaign_id, waiting, changed_at, approver_id, approver_id),
    )


def send_back(tx: Tx, campaign_id: bytes, changed_at: Instant, reason: Sequence[str], now: Instant) -> bool:
    """Return a campaign that waits to those who prepare it; return False if it has changed since it was shown."""
    args = (CampaignState.CHECKED.code, to_json(reason) if reason else "")
    changes = "state = ?, submitter_id = null, reason = ?"
    return update_version(tx, campaign_id, CampaignState.TO_APPROVE, changed_at, now, changes, args)


def count(tx: Tx, account_id: int, digest: bytes, since: Instant, except_id: bytes = b"") -> int:
    """Return how many receivers got a text since some time, one send aside."""
    return tx.fetch_number(
        "select sum(receivers) from unapproved_sends"
        " where account_id = ? and digest = ? and sent_at > ? and send_id <> ?",
        (account_id, digest, since, except_id),
    )


def add(tx: Tx, account_id: int, digest: bytes, send_id: bytes, receivers: int, now: Instant) -> None:
    """Count a send, once."""
    statement = upsert("unapproved_sends", "account_id, digest, send_id", "receivers, sent_at")
    tx.execute(statement, (account_id, digest, send_id, receivers, now))


def delete(tx: Tx, account_id: int, digest: bytes, send_id: bytes) -> None:
    """Count a send no more."""
    tx.execute(
        "delete from unapproved_sends where account_id = ? and digest = ? and send_id = ?",
        (account_id, digest, send_id),
    )


delete_old = deletion("unapproved_sends", "account_id, digest, send_id", "sent_at")
"""Deletes some that count no more."""


_decode = msgspec.json.Decoder(tuple[str, ...]).decode
_INVALID_ROWS = select(InvalidRow, "campaign_invalid_rows", cells=_decode, reason=_decode)


def list_invalid_rows(tx: Tx, campaign_id: bytes, after: int, limit: int) -> list[InvalidRow]:
    """Return some invalid rows, in the order of the file."""
    return _INVALID_ROWS.fetch_all(
        tx, "where campaign_id = ? and number > ? order by number limit ?", (campaign_id, after, limit)
    )


def count_reasons(tx: Tx, campaign_id: bytes, most: int) -> list[tuple[tuple[str, ...], int]]:
    """Return the most frequent reasons of invalid rows, and how many rows have each."""
    rows = tx.fetch_all(
        "select reason, count(*) from campaign_invalid_rows where campaign_id = ? group by reason"
        " order by count(*) desc, min(number) limit ?",
        (campaign_id, most),
    )
    return [(_decode(reason), int(count)) for reason, count in rows]


def list_rows_of_reason(tx: Tx, campaign_id: bytes, reason: Sequence[str], limit: int) -> list[InvalidRow]:
    """Return some invalid rows with this reason, in the order of the file."""
    return _INVALID_ROWS.fetch_all(
        tx, "where campaign_id = ? and reason = ? order by number limit ?", (campaign_id, to_json(reason), limit)
    )
