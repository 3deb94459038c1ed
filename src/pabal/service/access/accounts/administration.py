"""What operators do with accounts, their API keys and their users."""

import asyncio
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from pabal.domain.base.codes import require
from pabal.domain.people.user import Role, User
from pabal.service.access.accounts import accounts, compat_keys, keys
from pabal.service.access.accounts.audit import Actor, AuditEntry
from pabal.service.access.accounts.keys import NewKey
from pabal.service.access.users import users
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


async def get_members(context: Context, account_id: int) -> AccountMembers:
    """Return the API keys and users of an account."""
    return await context.store.read(_read_members, account_id)


async def create_account(context: Context, name: str, actor: Actor) -> int:
    """Create an account; return its id.

    Raises Refused: MISSING_PARAMETER, INVALID_PARAMETER, DUPLICATE.
    """
    name = accounts.parse_name(name)
    return await context.store.write(accounts.create, name, actor, context.world.now())


async def set_account_disabled(context: Context, account_id: int, is_disabled: bool, actor: Actor) -> None:
    """Disable an account with its keys and users, or enable it again."""
    await context.store.write(accounts.set_disabled, account_id, is_disabled, actor, context.world.now())


async def create_user(
    context: Context, account: Account, name: str, role: Role, password_hash: str, actor: Actor
) -> str:
    """Create a user of an account; return the name as it is stored.

    Raises Refused: INVALID_PARAMETER, DUPLICATE.
    """
    now = context.world.now()
    return await context.store.write(users.create, account.name, name, role, password_hash, now, actor)


async def set_user_disabled(context: Context, account: Account, name: str, is_disabled: bool, actor: Actor) -> None:
    """Disable a user of an account, or enable the user again.

    Raises Refused(INVALID_PARAMETER) for a user that the account does not have.
    """
    await context.store.write(users.set_disabled, name, is_disabled, context.world.now(), actor, account.id)


async def reset_password(context: Context, account: Account, name: str, password_hash: str, actor: Actor) -> User:
    """Replace the password of a user of an account, and sign the user out.

    Raises Refused(INVALID_PARAMETER) for a user that the account does not have.
    """
    now = context.world.now()
    return await context.store.write(users.change_password, name, password_hash, now, actor, account.id)


async def create_key(
    context: Context, account_id: int, key: str, new_key: NewKey, newest_known_id: int, audit_entry: AuditEntry
) -> None:
    """Store an API key, unless the account got another one since the form was opened.

    Raises Refused: DUPLICATE, INVALID_STATE.
    """
    most = context.policy.max_keys
    await context.store.write(keys.store_key, account_id, key, new_key, newest_known_id, most, audit_entry)


async def create_compat_key(
    context: Context,
    account_id: int,
    compat: NewCompatKey,
    new_key: NewKey,
    newest_known_id: int,
    audit_entry: AuditEntry,
) -> None:
    """Store a key of programs that were written for another relay, as `create_key` does.

    Raises Refused: DUPLICATE, also for an id that another key has, INVALID_STATE, INVALID_PARAMETER.
    """
    public_id, secret, is_generated = compat
    world, secrets, most = context.world, context.secrets, context.policy.max_keys
    protect = partial(compat_keys.protect_secret, world, secrets, public_id, secret, is_generated=is_generated)
    stored = await asyncio.to_thread(protect) if world.has_threads else protect()
    unused = new_api_key(world)
    given = (account_id, unused, public_id, stored, new_key, newest_known_id, most, audit_entry)
    await context.store.write(compat_keys.store_compat_key, *given)


async def revoke_key(context: Context, account_id: int, key_id: int, audit_entry: AuditEntry) -> None:
    """Revoke an API key of an account.

    Raises Refused(NOT_FOUND).
    """
    await context.store.write(keys.revoke, account_id, key_id, audit_entry)


async def set_key_rate(context: Context, account_id: int, key_id: int, rate: int, audit_entry: AuditEntry) -> None:
    """Change the rate of an API key of an account.

    Raises Refused(NOT_FOUND).
    """
    await context.store.write(keys.set_rate, account_id, key_id, rate, audit_entry)


def _read_members(tx: Tx, account_id: int) -> AccountMembers:
    found = account_store.list_keys_by_account(tx, account_id)
    public_ids = compat_key_store.list_public_ids(tx, [each.id for each in found])
    return AccountMembers(found, user_store.list_by_account(tx, account_id), public_ids)
