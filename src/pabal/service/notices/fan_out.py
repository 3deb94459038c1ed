"""Turns notices into mails: one for each user who wants to know, with all that happened meanwhile."""

from collections.abc import Callable, Sequence
from typing import Any

from pabal.domain.base.dates import Instant
from pabal.service.notices.schedule import GATHER_MS
from pabal.store.accounts import accounts
from pabal.store.engine.base import Tx
from pabal.store.events import mails, notices
from pabal.store.events.mails import NewMail
from pabal.store.events.notice_settings import Recipient
from pabal.store.events.notices import Notice

BATCH = 50
"""Most notices that one transaction turns into mails."""
MAX_ACCOUNT_CHARACTERS = 60


def fan_out(
    tx: Tx, recipients: Sequence[Recipient], new_id: Callable[[], bytes], pause_ms: int, now: Instant
) -> int:
    """Add some notices to the mails of those who want them, and delete them; return how many there were.

    A mail waits for other notices of its kind, and until the last one of its kind to its user is long enough ago.
    The recipients are read before, so that a store with many users does not keep writes of others waiting.
    """
    ids, found = notices.list_some(tx, BATCH)
    if not ids:
        return 0
    for recipient in recipients:
        for kind in sorted(recipient.kinds, key=lambda each: each.code):
            wanted = [each for each in found if each.kind is kind and _concerns(each, recipient)]
            if wanted:
                due_at = max(now + GATHER_MS, mails.last_sent_at(tx, recipient.user_id, kind.code) + pause_ms)
                items = _spell_items(tx, wanted, recipient)
                mails.add(tx, NewMail(new_id(), recipient.user_id, kind.code, items), due_at, now)
    notices.delete(tx, ids)
    return len(ids)


def _concerns(notice: Notice, recipient: Recipient) -> bool:
    """Say whether a notice is for a user: operators are told of all accounts, others of their own."""
    return None in (notice.account_id, recipient.account_id) or notice.account_id == recipient.account_id


def _spell_items(tx: Tx, wanted: Sequence[Notice], recipient: Recipient) -> list[dict[str, Any]]:
    """Return what notices say; operators are told the account too."""
    items = [dict(each.data) for each in wanted]
    if recipient.account_id is None:
        for item, notice in zip(items, wanted, strict=True):
            account = accounts.get(tx, notice.account_id) if notice.account_id is not None else None
            if account:
                item["account"] = account.name[:MAX_ACCOUNT_CHARACTERS]
    return items
