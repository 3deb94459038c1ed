"""The commands for people who use the console."""

import argparse
import sys
from typing import Any

from pabal.cli.command import WORLD, CommandError, add_command, add_group, with_store
from pabal.domain import dates, user
from pabal.domain.user import ROLE_BY_WORD, Role
from pabal.service.access import passwords, users
from pabal.settings.settings import Settings
from pabal.store import users as kept_users
from pabal.store.engine.base import Store
from pabal.world import new_password


def add_commands(subparsers: Any) -> None:
    """Declare the commands of this file."""
    inner = add_group(subparsers, "user", "People who use the console.")
    one = add_command(inner, "create", _create, "Make a user; a password that nobody gave is printed once.")
    one.add_argument("name", help="what to sign in as")
    one.add_argument("--account", help="whose user it is; made if new; operators have none")
    one.add_argument(
        "--role", choices=ROLE_BY_WORD, default=Role.OWNER.word, help="what they may do (default: owner)"
    )
    _add_password_option(one)
    add_command(inner, "list", _list, "List all users.")
    for word, does in (
        ("disable", "Disable a user, who is signed out at once."),
        ("enable", "Enable a user again."),
    ):
        one = add_command(inner, word, _set_disabled, does)
        one.add_argument("name")
        one.set_defaults(is_disabled=word == "disable")
    one = add_command(inner, "password", _password, "Give a user another password, printed once if nobody gave it.")
    one.add_argument("name")
    _add_password_option(one)


def _add_password_option(one: argparse.ArgumentParser) -> None:
    one.add_argument("--password-stdin", action="store_true", help="read the password from standard input")


def _create(settings: Settings, given: argparse.Namespace) -> None:
    role = ROLE_BY_WORD[given.role]
    account = (given.account or "").strip() or None
    if account is None and role is not Role.OPERATOR:
        raise CommandError("--account: whose user is it? Only operators (--role operator) have none")
    if account is not None and role is Role.OPERATOR:
        raise CommandError("--account: operators look after all accounts; leave it out")
    name = user.parse_name(given.name)
    word, hash = _choose_password(given, name)

    async def work(store: Store) -> None:
        await store.write(users.create, account, name, role, hash, WORLD.now())

    with_store(settings, work)
    _report(given, f"user {name} is made", word)


def _password(settings: Settings, given: argparse.Namespace) -> None:
    name = user.parse_name(given.name)
    word, hash = _choose_password(given, name)

    async def work(store: Store) -> None:
        await store.write(users.change_password, name, hash, WORLD.now())

    with_store(settings, work)
    _report(given, f"user {name} has another password", word)


def _choose_password(given: argparse.Namespace, name: str) -> tuple[str, str]:
    """Return the password and what is kept of it."""
    typed = sys.stdin.readline().rstrip("\r\n") if given.password_stdin else None
    word = new_password(WORLD) if typed is None else user.validate_password(typed, name)
    return word, passwords.hash_password(word, WORLD)


def _report(given: argparse.Namespace, done: str, word: str) -> None:
    """Say what was done; a password that was made here stands alone on standard output, for scripts."""
    if given.password_stdin:
        print(done)
        return
    print(f"{done}; the password is shown only this once:", file=sys.stderr)
    print(word)


def _list(settings: Settings, given: argparse.Namespace) -> None:
    async def work(store: Store) -> None:
        for each in await store.read(kept_users.list_all):
            state = "live" if each.is_active else "disabled" if each.disabled_at is not None else "account disabled"
            made = dates.format_timestamp(each.created_at, settings.zone)
            print(f"{each.name}\t{each.account or 'all accounts'}\t{each.role.word}\t{made}\t{state}")

    with_store(settings, work)


def _set_disabled(settings: Settings, given: argparse.Namespace) -> None:
    async def work(store: Store) -> None:
        await store.write(users.set_disabled, given.name, given.is_disabled, WORLD.now())

    with_store(settings, work)
    print(f"user {user.parse_name(given.name)} is {'disabled' if given.is_disabled else 'enabled'}")
