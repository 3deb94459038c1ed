"""Texts that were sent recently, by a digest of text and receiver: what the duplicate guard compares with."""

from collections.abc import Sequence

from pabal.domain.base.dates import Instant
from pabal.store.engine.base import Tx
from pabal.store.rows import deletion


def claim(tx: Tx, digests: Sequence[bytes], now: Instant, until: Instant) -> set[bytes]:
    """Record texts until some time; return those that were not recorded already, or only until now.

    Of two transactions with the same text, one waits for the other.
    """
    rows = tx.execute_many(
        "insert into recent_texts (digest, created_at, expires_at) values {rows}"
        " on conflict (digest) do update set created_at = excluded.created_at, expires_at = excluded.expires_at"
        " where recent_texts.expires_at <= excluded.created_at returning digest",
        [(digest, now, until) for digest in sorted(set(digests))],
    )
    return {bytes(row[0]) for row in rows}


def find(tx: Tx, digests: Sequence[bytes], now: Instant) -> set[bytes]:
    """Return which of these texts are recorded."""
    rows = tx.execute_list(
        "select digest from recent_texts where expires_at > ? and digest in ({list})", sorted(set(digests)), (now,)
    )
    return {bytes(row[0]) for row in rows}


def delete(tx: Tx, digests: Sequence[bytes]) -> None:
    """Forget texts, so that they can be sent again."""
    tx.execute_list("delete from recent_texts where digest in ({list})", sorted(set(digests)))


delete_expired = deletion("recent_texts", "digest", "expires_at", "<=")
"""Deletes some texts that count no more."""
