"""Webhooks: addresses that events of an account are posted to, and how that goes."""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from pabal.domain.base.dates import SECOND, Instant
from pabal.domain.events.event import EVENT_TYPE_BY_CODE, EventType
from pabal.domain.events.webhook import (
    WEBHOOK_FORMAT_BY_CODE,
    WEBHOOK_STATE_BY_CODE,
    Webhook,
    WebhookFormat,
    WebhookState,
)
from pabal.domain.sends.message import PRODUCT_BY_CODE, Product
from pabal.store.engine.base import T, Tx, Value
from pabal.store.events import webhook_posts
from pabal.store.rows import Select, reader

SUCCESS_PRECISION_MS = 1 * SECOND
"""How exactly the last success is recorded: up to 16 posts at a time would wait for each other's row otherwise."""

IS_PAUSED = f"w.state = '{WebhookState.PAUSED.code}'"
"""A constant, so that the index of paused webhooks is used."""
IS_GONE = f"w.state = '{WebhookState.DISABLED.code}' and w.gone_since is not null"
"""Likewise."""


def _among(table: Mapping[str, T]) -> Callable[[str], frozenset[T]]:
    """Return a function that looks up words in a table."""
    return lambda words: frozenset(table[word] for word in words.split())


_WEBHOOKS = Select(
    "select w.id, w.account_id, a.name, w.url, w.events, w.products, w.description, w.secret, w.previous_secret,"
    " w.previous_until, w.state, w.created_at, w.changed_at, w.last_success_at, w.failures, w.failing_since,"
    " w.trial_at, w.dropped, w.gone, w.gone_since, w.format from webhooks w join accounts a on a.id = w.account_id",
    reader(
        Webhook,
        events=_among(EVENT_TYPE_BY_CODE),
        products=_among(PRODUCT_BY_CODE),
        state=WEBHOOK_STATE_BY_CODE.__getitem__,
        format=WEBHOOK_FORMAT_BY_CODE.__getitem__,
    ),
)


class FailureCounts(NamedTuple):
    """How often a webhook has failed since its last success, and since when; and how often with 410 in a row."""

    failures: int
    failing_since: Instant
    gone: int
    gone_since: Instant | None


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
    format: WebhookFormat = WebhookFormat.PABAL


def add(tx: Tx, new: NewWebhook, now: Instant) -> int:
    """Add a webhook and return its id; what happens from now on is posted to it."""
    webhook_id = tx.fetch_number(
        "insert into webhooks"
        " (account_id, url, events, products, description, secret, state, created_at, changed_at,"
        " format, failures, dropped) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0) returning id",
        (new.account_id, *_settings(new), WebhookState.ACTIVE.code, now, now, new.format.code),
    )
    webhook_posts.begin_now(tx, webhook_id)
    return webhook_id


def get(tx: Tx, account_id: int, webhook_id: int) -> Webhook | None:
    """Return a webhook of an account, or None."""
    return _WEBHOOKS.fetch_one(tx, "where w.id = ? and w.account_id = ?", (webhook_id, account_id))


def list_by_account(tx: Tx, account_id: int) -> list[Webhook]:
    """Return the webhooks of an account, oldest first."""
    return _WEBHOOKS.fetch_all(tx, "where w.account_id = ? order by w.id", (account_id,))


def list_enabled(tx: Tx) -> list[Webhook]:
    """Return all webhooks that are active or paused, except those of disabled accounts."""
    return _WEBHOOKS.fetch_all(
        tx, "where w.state <> ? and a.disabled_at is null order by w.id", (WebhookState.DISABLED.code,)
    )


def list_disabled(tx: Tx) -> list[Webhook]:
    """Return all webhooks that nothing is posted to: disabled ones, and those of disabled accounts."""
    return _WEBHOOKS.fetch_all(
        tx, "where w.state = ? or a.disabled_at is not null order by w.id", (WebhookState.DISABLED.code,)
    )


def list_stopped(tx: Tx, limit: int) -> list[Webhook]:
    """Return some webhooks that are paused, or disabled because of 410, except those of disabled accounts."""
    return _WEBHOOKS.fetch_all(
        tx,
        f"where ({IS_PAUSED} or {IS_GONE}) and a.disabled_at is null order by w.account_id, w.id limit ?",
        (limit,),
    )


def list_failing(tx: Tx, before: Instant, limit: int) -> list[Webhook]:
    """Return some active webhooks that have failed since before an instant, longest first, of enabled accounts."""
    return _WEBHOOKS.fetch_all(
        tx,
        "where w.state = ? and w.failing_since < ? and a.disabled_at is null"
        " order by w.failing_since, w.id limit ?",
        (WebhookState.ACTIVE.code, before, limit),
    )


def count_stopped(tx: Tx) -> tuple[int, int]:
    """Return how many webhooks are paused, and disabled because of 410, except those of disabled accounts."""
    paused, gone = (
        tx.fetch_number(
            "select count(*) from webhooks w join accounts a on a.id = w.account_id"
            f" where {condition} and a.disabled_at is null"
        )
        for condition in (IS_PAUSED, IS_GONE)
    )
    return paused, gone


def trim_all_deliveries(tx: Tx, before: Instant) -> None:
    """Delete the tries of all webhooks beyond the limit, and those before an instant."""
    for (webhook_id,) in tx.fetch_all("select id from webhooks order by id"):
        webhook_posts.trim_tries(tx, webhook_id, before)


def count(tx: Tx, account_id: int) -> int:
    """Return how many webhooks an account has."""
    return tx.fetch_number("select count(*) from webhooks where account_id = ?", (account_id,))


def change(tx: Tx, webhook: Webhook, now: Instant) -> None:
    """Store what its owner can change of a webhook: address, events, products, description, secrets, format."""
    previous = (webhook.previous_secret, webhook.previous_until)
    tx.execute(
        "update webhooks set url = ?, events = ?, products = ?, description = ?, secret = ?,"
        " previous_secret = ?, previous_until = ?, format = ?, changed_at = ? where id = ?",
        (*_settings(webhook), *previous, webhook.format.code, now, webhook.id),
    )


def list_some(tx: Tx, after: int, limit: int) -> list[Webhook]:
    """Return some webhooks of all accounts whose ids are higher than `after`, in order."""
    return _WEBHOOKS.fetch_all(tx, "where w.id > ? order by w.id limit ?", (after, limit))


def replace_secrets(tx: Tx, webhook: Webhook, secret: bytes, previous: bytes | None = None) -> bool:
    """Store the secrets of a webhook in another form; return False if they have changed meanwhile."""
    return tx.changes(
        "update webhooks set secret = ?, previous_secret = ? where id = ? and secret = ?",
        (secret, previous, webhook.id, webhook.secret),
    )


def delete(tx: Tx, account_id: int, webhook_id: int) -> bool:
    """Delete a webhook with its posts; return whether there was one."""
    if not tx.execute("delete from webhooks where id = ? and account_id = ?", (webhook_id, account_id)):
        return False
    webhook_posts.delete_all(tx, webhook_id)
    return True


def record_success(tx: Tx, webhook_id: int, now: Instant) -> bool:
    """Record that a post was delivered: a paused webhook is active again. Says whether it was paused."""
    was_paused = tx.changes(
        "update webhooks set state = ? where id = ? and state = ?",
        (WebhookState.ACTIVE.code, webhook_id, WebhookState.PAUSED.code),
    )
    tx.execute(
        "update webhooks set last_success_at = ?, failures = 0, failing_since = null, trial_at = null, gone = 0,"
        " gone_since = null where id = ? and state <> ?"
        " and (failures > 0 or trial_at is not null or last_success_at is null or last_success_at < ?)",
        (now, webhook_id, WebhookState.DISABLED.code, now - SUCCESS_PRECISION_MS),
    )
    return was_paused


def record_failure(tx: Tx, webhook_id: int, now: Instant, *, is_gone: bool) -> FailureCounts | None:
    """Record that a post failed, perhaps with 410; return how many have.

    None: there is no such webhook any more, or it was disabled meanwhile.
    """
    gone = "gone = gone + 1, gone_since = coalesce(gone_since, ?)" if is_gone else "gone = 0, gone_since = null"
    row = tx.fetch_one(
        f"update webhooks set failures = failures + 1, failing_since = coalesce(failing_since, ?), {gone}"
        " where id = ? and state <> ? returning failures, failing_since, gone, gone_since",
        (now, *([now] if is_gone else []), webhook_id, WebhookState.DISABLED.code),
    )
    return FailureCounts(*row) if row else None


def pause(tx: Tx, webhook_id: int, trial_at: Instant) -> bool:
    """Pause an active webhook until its next trial post, or postpone that; return whether it was active."""
    was_active = tx.changes(
        "update webhooks set state = ? where id = ? and state = ?",
        (WebhookState.PAUSED.code, webhook_id, WebhookState.ACTIVE.code),
    )
    tx.execute(
        "update webhooks set trial_at = ? where id = ? and state = ?",
        (trial_at, webhook_id, WebhookState.PAUSED.code),
    )
    return was_active


def disable(tx: Tx, webhook_id: int, now: Instant, *, is_gone: bool = False) -> None:
    """Disable a webhook: its address is gone, as it says itself, or its owner does not want it.

    Posts and events that were not delivered stay where they are, for the case that it is enabled again.
    """
    gone = "" if is_gone else ", gone = 0, gone_since = null"
    tx.execute(
        f"update webhooks set state = ?, changed_at = ?, trial_at = null{gone} where id = ?",
        (WebhookState.DISABLED.code, now, webhook_id),
    )


def enable(tx: Tx, webhook_id: int, now: Instant) -> None:
    """Enable a webhook that is paused or disabled; it goes on with the first event that it has missed."""
    tx.execute(
        "update webhooks set changed_at = ? where id = ? and state = ?",
        (now, webhook_id, WebhookState.DISABLED.code),
    )
    tx.execute(
        "update webhooks set state = ?, failures = 0, failing_since = null, trial_at = null, gone = 0,"
        " gone_since = null where id = ?",
        (WebhookState.ACTIVE.code, webhook_id),
    )
    webhook_posts.retry_all(tx, webhook_id, now)


def add_dropped(tx: Tx, webhook_id: int, events: int) -> None:
    """Count events that were given up."""
    if events:
        tx.execute("update webhooks set dropped = dropped + ? where id = ?", (events, webhook_id))


def _settings(of: NewWebhook | Webhook) -> tuple[Value, ...]:
    """Return address, events, products, description and secret as they are stored."""
    events, products = (" ".join(sorted(each.code for each in some)) for some in (of.events, of.products))
    return of.url, events, products, of.description, of.secret
