"""The rows of a campaign's file that cannot be sent to, and why."""

from collections.abc import Sequence

import msgspec

from pabal.store.campaigns.campaigns import InvalidRow, to_json
from pabal.store.engine.base import Tx

_decode = msgspec.json.Decoder(tuple[str, ...]).decode


def list_invalid_rows(tx: Tx, campaign_id: bytes, after: int, limit: int) -> list[InvalidRow]:
    """Return some invalid rows, in the order of the file."""
    rows = tx.fetch_all(
        "select number, cells, reason from campaign_invalid_rows where campaign_id = ? and number > ?"
        " order by number limit ?",
        (campaign_id, after, limit),
    )
    return [InvalidRow(number, _decode(cells), _decode(why)) for number, cells, why in rows]


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
    rows = tx.fetch_all(
        "select number, cells, reason from campaign_invalid_rows where campaign_id = ? and reason = ?"
        " order by number limit ?",
        (campaign_id, to_json(reason), limit),
    )
    return [InvalidRow(number, _decode(cells), _decode(why)) for number, cells, why in rows]
