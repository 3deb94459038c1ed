"""Encrypts the stored secrets of two-factor sign-ins with the current key."""

from collections.abc import AsyncIterator
from typing import NamedTuple

from pabal.service.access.sign_in.two_factor import secret_context
from pabal.service.context import Context
from pabal.store.users import second_factors
from pabal.store.users.second_factors import SecondFactor
from pabal.webhooks.secrets import UnreadableSecret

BATCH = 100
"""Secrets read at a time."""


class FactorSecrets(NamedTuple):
    """How many users have which secrets."""

    current: int = 0
    """Stored as new ones are."""
    other: int = 0
    """Stored with another key, or without one."""
    unreadable: int = 0
    """No key that is set can decrypt them."""


async def count_states(context: Context) -> FactorSecrets:
    """Return how the secrets of all users are stored."""
    return await _go_through(context, is_replacing=False)


async def encrypt_all(context: Context) -> FactorSecrets:
    """Encrypt all secrets with the current key; return how many were already, were changed, and cannot be read."""
    return await _go_through(context, is_replacing=True)


async def _go_through(context: Context, *, is_replacing: bool) -> FactorSecrets:
    current = other = unreadable = 0
    async for factor in _all_factors(context):
        sealed = _sealed_again(context, factor)
        if sealed is None:
            unreadable += 1
        elif context.secrets.is_current(factor.secret):
            current += 1
        else:
            other += 1
            if is_replacing:
                await context.store.write(second_factors.replace_secret, factor, sealed)
    return FactorSecrets(current, other, unreadable)


async def _all_factors(context: Context) -> AsyncIterator[SecondFactor]:
    last = 0
    while found := await context.store.read(second_factors.list_some, last, BATCH):
        for each in found:
            yield each
        last = found[-1].user_id


def _sealed_again(context: Context, factor: SecondFactor) -> bytes | None:
    """Return a secret as it would be stored now; None if it cannot be read."""
    owner = secret_context(factor.user_id)
    try:
        return context.secrets.seal(context.secrets.open(factor.secret, owner), owner)
    except UnreadableSecret:
        return None
