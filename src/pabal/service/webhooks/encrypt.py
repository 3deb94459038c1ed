"""Encrypts the stored secrets of all webhooks with the current key."""

from collections.abc import AsyncIterator
from typing import NamedTuple

from pabal.domain.events.webhook import Webhook, secret_context
from pabal.service.context import Context
from pabal.store.events import webhooks
from pabal.webhooks.secrets import UnreadableSecret

BATCH = 100
"""Webhooks read at a time."""


class EncryptionState(NamedTuple):
    """How many webhooks have which secrets."""

    current: int = 0
    """Stored as new ones are."""
    other: int = 0
    """Stored with another key, or without one."""
    unreadable: int = 0
    """No key that is set can decrypt them."""


async def count_states(context: Context) -> EncryptionState:
    """Return how the secrets of all webhooks are stored."""
    current = other = unreadable = 0
    async for webhook in _all_webhooks(context):
        if _sealed_again(context, webhook) is None:
            unreadable += 1
        elif all(map(context.secrets.is_current, _stored(webhook))):
            current += 1
        else:
            other += 1
    return EncryptionState(current, other, unreadable)


async def encrypt_all(context: Context) -> EncryptionState:
    """Encrypt all secrets with the current key; return how many were already, were changed, and cannot be read.

    Secrets that are rotated meanwhile need nothing: a running service stores them with its own first key.
    """
    current = changed = unreadable = 0
    async for webhook in _all_webhooks(context):
        if all(map(context.secrets.is_current, _stored(webhook))):
            current += 1
        elif (sealed := _sealed_again(context, webhook)) is None:
            unreadable += 1
        else:
            changed += await context.store.write(webhooks.replace_secrets, webhook, *sealed)
    return EncryptionState(current, changed, unreadable)


async def _all_webhooks(context: Context) -> AsyncIterator[Webhook]:
    last = 0
    while found := await context.store.read(webhooks.list_some, last, BATCH):
        for each in found:
            yield each
        last = found[-1].id


def _stored(webhook: Webhook) -> list[bytes]:
    return [each for each in (webhook.secret, webhook.previous_secret) if each is not None]


def _sealed_again(context: Context, webhook: Webhook) -> tuple[bytes, bytes | None] | None:
    """Return the secrets as they would be stored now; None if they cannot be read."""
    box, owner = context.secrets, secret_context(webhook.account_id)
    try:
        secret, *previous = [box.seal(box.open(each, owner), owner) for each in _stored(webhook)]
    except UnreadableSecret:
        return None
    return secret, previous[0] if previous else None
