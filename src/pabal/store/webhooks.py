"""Webhooks: addresses that events of an account are posted to, and how that goes."""

from collections.abc import Iterable
from typing import NamedTuple

from pabal.domain.dates import Instant
from pabal.domain.event import EVENT_TYPE_BY_CODE, EventType
from pabal.domain.message import PRODUCT_BY_CODE, Product
from pabal.domain.webhook import WEBHOOK_STATE_BY_CODE, Webhook, WebhookState
from pabal.store import webhook_posts
from pabal.store.engine.base import Row, Tx

_COLUMNS = (
    "id, account_id, url, events, products, description, secret, previous_secret, previous_until, state,"
    " created_at, changed_at, last_success_at, failures, failing_since, trial_at, dropped"
)


class NewWebhook(NamedTuple):
    """What a new webhook consists of."""

    account_id: int
    url: str
    events: Iterable[EventType]
    products: Iterable[Product]
    """Empty: all."""
    description: str
    secret: bytes
    """As it is stored."""


def add(tx: Tx, new: NewWebhook, now: Instant) -> int:
    """Add a webhook and return its id; what happens from now on is posted to it."""
    rows = tx.fetch_all(
        "insert into webhooks"
        " (account_id, url, events, products, description, secret, state, created_at, changed_at,"
        " failures, dropped) values (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0) returning id",
        (
            new.account_id,
            new.url,
            _join(each.code for each in new.events),
            _join(each.code for each in new.products),
            new.description,
            new.secret,
            WebhookState.ACTIVE.code,
            now,
            now,
        ),
    )
    webhook_id = int(rows[0][0])
    webhook_posts.begin_now(tx, webhook_id)
    return webhook_id


def get(tx: Tx, account_id: int, webhook_id: int) -> Webhook | None:
    """Return a webhook of an account, or None."""
    row = tx.fetch_one(f"select {_COLUMNS} from webhooks where id = ? and account_id = ?", (webhook_id, account_id))
    return _from_row(row) if row else None


def list_by_account(tx: Tx, account_id: int) -> list[Webhook]:
    """Return the webhooks of an account, oldest first."""
    rows = tx.fetch_all(f"select {_COLUMNS} from webhooks where account_id = ? order by id", (account_id,))
    return [_from_row(row) for row in rows]


def list_enabled(tx: Tx) -> list[Webhook]:
    """Return all webhooks that are active or paused."""
    rows = tx.fetch_all(
        f"select {_COLUMNS} from webhooks where state <> ? order by id", (WebhookState.DISABLED.code,)
    )
    return [_from_row(row) for row in rows]


def delete(tx: Tx, account_id: int, webhook_id: int) -> bool:
    """Delete a webhook with its posts; say whether there was one."""
    if not tx.execute("delete from webhooks where id = ? and account_id = ?", (webhook_id, account_id)):
        return False
    webhook_posts.delete_all(tx, webhook_id)
    return True


def record_success(tx: Tx, webhook_id: int, now: Instant) -> None:
    """Record that a post was delivered: a paused webhook is active again."""
    tx.execute(
        "update webhooks set last_success_at = ?, failures = 0, failing_since = null, trial_at = null,"
        " state = case when state = ? then ? else state end where id = ?",
        (now, WebhookState.PAUSED.code, WebhookState.ACTIVE.code, webhook_id),
    )


def record_failures(tx: Tx, webhook_id: int, failures: int, now: Instant) -> Webhook | None:
    """Record posts that failed; return the webhook as it is then."""
    rows = tx.fetch_all(
        "update webhooks set failures = failures + ?, failing_since = coalesce(failing_since, ?) where id = ?"
        f" returning {_COLUMNS}",
        (failures, now, webhook_id),
    )
    return _from_row(rows[0]) if rows else None


def pause(tx: Tx, webhook_id: int, trial_at: Instant) -> bool:
    """Pause an active webhook until its next trial post, or postpone that; say whether it was active."""
    was_active = tx.execute(
        "update webhooks set state = ? where id = ? and state = ?",
        (WebhookState.PAUSED.code, webhook_id, WebhookState.ACTIVE.code),
    )
    tx.execute(
        "update webhooks set trial_at = ? where id = ? and state = ?",
        (trial_at, webhook_id, WebhookState.PAUSED.code),
    )
    return bool(was_active)


def disable(tx: Tx, webhook_id: int, now: Instant) -> None:
    """Disable a webhook: its address is gone for good, as it says itself, or its owner does not want it."""
    tx.execute(
        "update webhooks set state = ?, changed_at = ? where id = ?", (WebhookState.DISABLED.code, now, webhook_id)
    )


def add_dropped(tx: Tx, webhook_id: int, events: int) -> None:
    """Count events that were given up."""
    tx.execute("update webhooks set dropped = dropped + ? where id = ?", (events, webhook_id))


def _join(words: Iterable[str]) -> str:
    return " ".join(sorted(words))


def _from_row(row: Row) -> Webhook:
    id, account_id, url, types, products, *rest = row
    description, secret, previous_secret, previous_until, state, *times = rest
    return Webhook(
        id,
        account_id,
        url,
        frozenset(EVENT_TYPE_BY_CODE[word] for word in types.split()),
        frozenset(PRODUCT_BY_CODE[word] for word in products.split()),
        description,
        secret,
        previous_secret,
        previous_until,
        WEBHOOK_STATE_BY_CODE[state],
        *times,
    )
