"""Webhooks: addresses that events of an account are posted to, and how that goes."""

from collections.abc import Iterable
from typing import NamedTuple

from pabal.domain.base.dates import SECOND, Instant
from pabal.domain.events.event import EVENT_TYPE_BY_CODE, EventType
from pabal.domain.events.webhook import WEBHOOK_STATE_BY_CODE, Webhook, WebhookState
from pabal.domain.sends.message import PRODUCT_BY_CODE, Product
from pabal.store.engine.base import Row, Tx
from pabal.store.events import webhook_posts

_SELECT = (
    "select w.id, w.account_id, a.name, w.url, w.events, w.products, w.description, w.secret, w.previous_secret,"
    " w.previous_until, w.state, w.created_at, w.changed_at, w.last_success_at, w.failures, w.failing_since,"
    " w.trial_at, w.dropped from webhooks w join accounts a on a.id = w.account_id"
)
SUCCESS_PRECISION_MS = 1 * SECOND
"""How exactly the last success is recorded: up to 16 posts at a time would wait for each other's row otherwise."""

IS_PAUSED = f"w.state = '{WebhookState.PAUSED.code}'"
"""A constant, so that the index of paused webhooks is used."""


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
    row = tx.fetch_one(f"{_SELECT} where w.id = ? and w.account_id = ?", (webhook_id, account_id))
    return _from_row(row) if row else None


def list_by_account(tx: Tx, account_id: int) -> list[Webhook]:
    """Return the webhooks of an account, oldest first."""
    rows = tx.fetch_all(f"{_SELECT} where w.account_id = ? order by w.id", (account_id,))
    return [_from_row(row) for row in rows]


def list_enabled(tx: Tx) -> list[Webhook]:
    """Return all webhooks that are active or paused, except those of disabled accounts."""
    rows = tx.fetch_all(
        f"{_SELECT} where w.state <> ? and a.disabled_at is null order by w.id", (WebhookState.DISABLED.code,)
    )
    return [_from_row(row) for row in rows]


def list_paused(tx: Tx, limit: int) -> list[Webhook]:
    """Return some webhooks that are paused, except those of disabled accounts."""
    rows = tx.fetch_all(
        f"{_SELECT} where {IS_PAUSED} and a.disabled_at is null order by w.account_id, w.id limit ?", (limit,)
    )
    return [_from_row(row) for row in rows]


def count_paused(tx: Tx) -> int:
    """Return how many webhooks are paused, except those of disabled accounts."""
    row = tx.fetch_one(
        f"select count(*) from webhooks w join accounts a on a.id = w.account_id"
        f" where {IS_PAUSED} and a.disabled_at is null"
    )
    return int(row[0]) if row else 0


def trim_all_deliveries(tx: Tx, before: Instant) -> None:
    """Delete the tries of all webhooks beyond the limit, and those before an instant."""
    for (webhook_id,) in tx.fetch_all("select id from webhooks order by id"):
        webhook_posts.trim_deliveries(tx, webhook_id, before)


def count(tx: Tx, account_id: int) -> int:
    """Return how many webhooks an account has."""
    row = tx.fetch_one("select count(*) from webhooks where account_id = ?", (account_id,))
    return int(row[0]) if row else 0


def change(tx: Tx, webhook: Webhook, now: Instant) -> None:
    """Store what its owner can change of a webhook: address, events, products, description and secrets."""
    tx.execute(
        "update webhooks set url = ?, events = ?, products = ?, description = ?, secret = ?,"
        " previous_secret = ?, previous_until = ?, changed_at = ? where id = ?",
        (
            webhook.url,
            _join(each.code for each in webhook.events),
            _join(each.code for each in webhook.products),
            webhook.description,
            webhook.secret,
            webhook.previous_secret,
            webhook.previous_until,
            now,
            webhook.id,
        ),
    )


def list_some(tx: Tx, after: int, limit: int) -> list[Webhook]:
    """Return some webhooks of all accounts whose ids are higher than `after`, in order."""
    rows = tx.fetch_all(f"{_SELECT} where w.id > ? order by w.id limit ?", (after, limit))
    return [_from_row(row) for row in rows]


def replace_secrets(tx: Tx, webhook: Webhook, secret: bytes, previous: bytes | None = None) -> bool:
    """Store the secrets of a webhook in another form; return False if they have changed meanwhile."""
    return bool(
        tx.execute(
            "update webhooks set secret = ?, previous_secret = ? where id = ? and secret = ?",
            (secret, previous, webhook.id, webhook.secret),
        )
    )


def delete(tx: Tx, account_id: int, webhook_id: int) -> bool:
    """Delete a webhook with its posts; return whether there was one."""
    if not tx.execute("delete from webhooks where id = ? and account_id = ?", (webhook_id, account_id)):
        return False
    webhook_posts.delete_all(tx, webhook_id)
    return True


def record_success(tx: Tx, webhook_id: int, now: Instant) -> bool:
    """Record that a post was delivered: a paused webhook is active again. Says whether it was paused."""
    was_paused = tx.execute(
        "update webhooks set state = ? where id = ? and state = ?",
        (WebhookState.ACTIVE.code, webhook_id, WebhookState.PAUSED.code),
    )
    tx.execute(
        "update webhooks set last_success_at = ?, failures = 0, failing_since = null, trial_at = null where id = ?"
        " and (failures > 0 or trial_at is not null or last_success_at is null or last_success_at < ?)",
        (now, webhook_id, now - SUCCESS_PRECISION_MS),
    )
    return bool(was_paused)


def record_failure(tx: Tx, webhook_id: int, now: Instant) -> tuple[int, Instant] | None:
    """Record that a post failed; return how many have since the last success, and since when.

    None: there is no such webhook any more.
    """
    rows = tx.fetch_all(
        "update webhooks set failures = failures + 1, failing_since = coalesce(failing_since, ?) where id = ?"
        " returning failures, failing_since",
        (now, webhook_id),
    )
    return (int(rows[0][0]), int(rows[0][1])) if rows else None


def pause(tx: Tx, webhook_id: int, trial_at: Instant) -> bool:
    """Pause an active webhook until its next trial post, or postpone that; return whether it was active."""
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
    """Disable a webhook: its address is gone, as it says itself, or its owner does not want it.

    Posts that were not delivered are given up; a replay makes them again.
    """
    tx.execute(
        "update webhooks set state = ?, changed_at = ?, trial_at = null where id = ?",
        (WebhookState.DISABLED.code, now, webhook_id),
    )
    add_dropped(tx, webhook_id, webhook_posts.give_up_all(tx, webhook_id))


def enable(tx: Tx, webhook_id: int, now: Instant) -> None:
    """Enable a webhook that is paused or disabled; a disabled one begins with what happens from now on."""
    was_disabled = tx.execute(
        "update webhooks set changed_at = ? where id = ? and state = ?",
        (now, webhook_id, WebhookState.DISABLED.code),
    )
    if was_disabled:
        webhook_posts.begin_now(tx, webhook_id)
    tx.execute(
        "update webhooks set state = ?, failures = 0, failing_since = null, trial_at = null where id = ?",
        (WebhookState.ACTIVE.code, webhook_id),
    )
    webhook_posts.retry_all(tx, webhook_id, now)


def add_dropped(tx: Tx, webhook_id: int, events: int) -> None:
    """Count events that were given up."""
    if events:
        tx.execute("update webhooks set dropped = dropped + ? where id = ?", (events, webhook_id))


def _join(words: Iterable[str]) -> str:
    return " ".join(sorted(words))


def _from_row(row: Row) -> Webhook:
    id, account_id, account, url, types, products, *rest = row
    description, secret, previous_secret, previous_until, state, *times = rest
    return Webhook(
        id,
        account_id,
        account,
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
