"""Lists of an account's campaigns, newest first."""

from pabal.domain.sends.campaign import UNSENT_STATES, CampaignState
from pabal.store.campaigns.campaigns import COLUMNS, Campaign, from_row
from pabal.store.engine.base import Tx
from pabal.store.tolerant_read import read_rows

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
    row = tx.fetch_one(
        "select count(*) from"
        f" (select id from campaigns where account_id = ? and state in ({_UNSENT})"
        f" and {_where(is_to_approve)} limit ?) as g",
        (account_id, most),
    )
    return int(row[0]) if row else 0


def _where(is_to_approve: bool) -> str:
    return f"state {'=' if is_to_approve else '<>'} '{CampaignState.TO_APPROVE.code}'"
