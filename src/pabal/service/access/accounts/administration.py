"""What operators see of accounts, and the keys of programs that were written for another relay."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from pabal.domain.base.codes import require
from pabal.domain.people.user import User
from pabal.service.access.accounts import compat_keys
from pabal.service.access.accounts.audit import AuditEntry
from pabal.service.access.accounts.keys import NewKey
from pabal.service.context import Context
from pabal.store.accounts import accounts as account_store
from pabal.store.accounts import compat_keys as compat_key_store
from pabal.store.accounts.accounts import Account as Account
from pabal.store.accounts.accounts import ApiKey as ApiKey
from pabal.store.accounts.compat_keys import PublicId as PublicId
from pabal.store.engine.base import Tx
from pabal.store.users import users as user_store
from pabal.world import new_api_key


class AccountMembers(NamedTuple):
    """What belongs to an account: its API keys, oldest first, and its users."""

    keys: list[ApiKey]
    users: list[User]
    public_ids: Mapping[int, PublicId]
    """By the id of the key, for those of programs that were written for another relay."""


class NewCompatKey(NamedTuple):
    """What a key of programs that were written for another relay has besides."""

    public_id: PublicId
    secret: str
    is_generated: bool


async def list_accounts(context: Context) -> list[Account]:
    return await context.store.read(account_store.list_accounts)


async def list_recent_keys(context: Context, count: int) -> list[ApiKey]:
    """Return some keys of all accounts that can be used now, those that were used last first."""
    return await context.store.read(account_store.list_recent_keys, context.world.now(), count)


async def get_account(context: Context, account_id: int) -> Account:
    """Return an account.

    Raises Refused(NOT_FOUND).
    """
    return require(await context.store.read(account_store.get, account_id))


def get_members(tx: Tx, account_id: int) -> AccountMembers:
    """Return the API keys and users of an account."""
    found = account_store.list_keys_by_account(tx, account_id)
    public_ids = compat_key_store.list_public_ids(tx, [each.id for each in found])
    return AccountMembers(found, user_store.list_by_account(tx, account_id), public_ids)


async def create_compat_key(
    context: Context,
    account_id: int,
    compat: NewCompatKey,
    new_key: NewKey,
    newest_known_id: int,
    audit_entry: AuditEntry,
) -> None:
    """Store a key of programs that were written for another relay, as `store_key` does.

    Raises Refused: DUPLICATE, also for an id that another key has, INVALID_STATE, INVALID_PARAMETER.
    """
    public_id, secret, is_generated = compat
    world, secrets, most = context.world, context.secrets, context.policy.max_keys
    protect = partial(compat_keys.protect_secret, world, secrets, public_id, secret, is_generated=is_generated)
    stored = await asyncio.to_thread(protect) if world.has_threads else protect()
    unused = new_api_key(world)
    given = (account_id, unused, public_id, stored, new_key, newest_known_id, most, audit_entry)
    await context.store.write(compat_keys.store_compat_key, *given)
