"""Counts and encrypts stored secrets: those of webhooks, of two-factor sign-ins, and of keys that sign."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import NamedTuple

from pabal.domain.events.webhook import Webhook, secret_context
from pabal.service.access.accounts.compat_keys import SIGNING_KINDS
from pabal.service.access.accounts.compat_keys import secret_context as secret_context_of_key
from pabal.service.access.users import two_factor
from pabal.service.context import Context
from pabal.store.accounts import compat_keys
from pabal.store.accounts.compat_keys import SigningKey
from pabal.store.events import webhooks
from pabal.store.users import second_factors
from pabal.store.users.second_factors import SecondFactor
from pabal.webhooks.secrets import UnreadableSecret

BATCH = 100
"""Webhooks or users read at a time."""


class SecretStates(NamedTuple):
    """How many webhooks, or users, have which secrets."""

    current: int = 0
    """Stored as new ones are."""
    other: int = 0
    """Stored with another key, or without one."""
    unreadable: int = 0
    """No key that is set can decrypt them."""


class StoredSecrets(NamedTuple):
    """The secrets of one row, for whom they are encrypted, and what stores them in another form."""

    stored: Sequence[bytes]
    owner: str
    row: Webhook | SecondFactor | SigningKey
    replace: Callable[..., bool]
    """A transaction that takes the row and its secrets."""


async def of_webhooks(context: Context) -> AsyncIterator[StoredSecrets]:
    """Yield the secrets of all webhooks.

    Those that are rotated meanwhile need nothing: a running service stores them with its own first key.
    """
    last = 0
    while found := await context.store.read(webhooks.list_some, last, BATCH):
        for each in found:
            stored = [secret for secret in (each.secret, each.previous_secret) if secret is not None]
            yield StoredSecrets(stored, secret_context(each.account_id), each, webhooks.replace_secrets)
        last = found[-1].id


async def of_second_factors(context: Context) -> AsyncIterator[StoredSecrets]:
    """Yield the secrets of all two-factor sign-ins."""
    last = 0
    while found := await context.store.read(second_factors.list_some, last, BATCH):
        for each in found:
            owner = two_factor.secret_context(each.user_id)
            yield StoredSecrets([each.secret], owner, each, second_factors.replace_secret)
        last = found[-1].user_id


async def of_signing_keys(context: Context) -> AsyncIterator[StoredSecrets]:
    """Yield the secrets of the keys of programs that were written for another relay."""
    for each in await context.store.read(compat_keys.list_secrets, SIGNING_KINDS):
        owner = secret_context_of_key(*each.public_id)
        yield StoredSecrets([each.secret], owner, each, compat_keys.replace_secret)


async def count_states(context: Context, found: AsyncIterator[StoredSecrets]) -> SecretStates:
    """Return how secrets are stored."""
    return await _go_through(context, found, is_replacing=False)


async def encrypt_all(context: Context, found: AsyncIterator[StoredSecrets]) -> SecretStates:
    """Encrypt secrets with the current key; return how many were already, were changed, and cannot be read."""
    return await _go_through(context, found, is_replacing=True)


async def _go_through(context: Context, found: AsyncIterator[StoredSecrets], *, is_replacing: bool) -> SecretStates:
    current = other = unreadable = 0
    box = context.secrets
    async for stored, owner, row, replace in found:
        try:
            sealed = [box.seal(box.open(each, owner), owner) for each in stored]
        except UnreadableSecret:
            unreadable += 1
            continue
        if all(map(box.is_current, stored)):
            current += 1
        elif not is_replacing or await context.store.write(replace, row, *sealed):
            other += 1
    return SecretStates(current, other, unreadable)
