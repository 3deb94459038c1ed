"""Commands that manage the users of the console."""

import argparse
import sys
from typing import Any

from pabal.cli.shared.account_choice import add_new_account_option, choose_account
from pabal.cli.shared.command import (
    WORLD,
    CommandError,
    add_command,
    add_group,
    add_list,
    current_actor,
    with_store,
)
from pabal.cli.shared.table import Cell, print_rows
from pabal.cli.shared.translate import print_message
from pabal.domain.base import dates
from pabal.domain.base.codes import Text
from pabal.domain.users import user
from pabal.domain.users.user import ROLE_BY_CODE, Role, User
from pabal.service.access.sign_in import passwords
from pabal.service.access.users import users
from pabal.settings.settings import Settings
from pabal.store.engine.base import Store, Tx
from pabal.store.users import users as user_store
from pabal.world import new_password

COLUMNS = {
    "name": Text("이름", "Name"),
    "account": Text("계정", "Account"),
    "role": Text("역할", "Role"),
    "created": Text("생성", "Created"),
    "state": Text("상태", "Status"),
}


def add_commands(subparsers: Any) -> None:
    """Add `user`."""
    group = add_group(subparsers, "user", "Manage the users of the console.")
    parser = add_command(group, "create", _create, "Create a user. A generated password is printed only once.")
    parser.add_argument("name", help="the name to sign in with")
    parser.add_argument("--account", help="the user's account; operators have none")
    add_new_account_option(parser)
    parser.add_argument(
        "--role", choices=ROLE_BY_CODE, default=Role.OWNER.code, help="what the user may do (default: owner)"
    )
    _add_password_option(parser)
    add_list(group, _list, "List all users.")
    for name, help in (
        ("disable", "Disable a user and end their sessions."),
        ("enable", "Enable a user again."),
    ):
        parser = add_command(group, name, _set_disabled, help)
        parser.add_argument("name", help="the user's name")
        parser.set_defaults(is_disabled=name == "disable")
    parser = add_command(group, "unlock", _unlock, "Let a user sign in at once after many failed sign-ins.")
    parser.add_argument("name", help="the user's name")
    parser = add_command(
        group, "reset-two-factor", _reset_two_factor, "Let a user sign in with the password alone again."
    )
    parser.add_argument("name", help="the user's name")
    parser = add_command(group, "unlink", _unlink, "Unlink a user from the OpenID Connect provider.")
    parser.add_argument("name", help="the user's name")
    parser = add_command(
        group, "password", _change_password, "Change a password. A generated one is printed only once."
    )
    parser.add_argument("name", help="the user's name")
    _add_password_option(parser)


def _add_password_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--password-stdin", action="store_true", help="read the password from standard input")


def _create(settings: Settings, given: argparse.Namespace) -> None:
    role = ROLE_BY_CODE[given.role]
    account = (given.account or "").strip() or None
    if account is None and role is not Role.OPERATOR:
        raise CommandError("--account is required; only operators (--role operator) have no account")
    if account is not None and role is Role.OPERATOR:
        raise CommandError("--account: operators manage all accounts; leave it out")
    name = user.parse_name(given.name)
    password, hash = _choose_password(given, name)

    def create(tx: Tx) -> None:
        chosen = choose_account(tx, account, is_new=given.new_account) if account else None
        users.create(tx, chosen, name, role, hash, WORLD.now(), current_actor())

    with_store(settings, lambda store: store.write(create))
    _report(given, f"user {name} is created", password)


def _change_password(settings: Settings, given: argparse.Namespace) -> None:
    name = user.parse_name(given.name)
    password, hash = _choose_password(given, name)

    async def work(store: Store) -> None:
        await store.write(users.change_password, name, hash, WORLD.now(), current_actor())

    with_store(settings, work)
    _report(given, f"user {name} has a new password", password)


def _choose_password(given: argparse.Namespace, name: str) -> tuple[str, str]:
    """Return the password and its hash."""
    entered = sys.stdin.readline().rstrip("\r\n") if given.password_stdin else None
    password = new_password(WORLD) if entered is None else user.validate_password(entered, name)
    return password, passwords.hash_password(password, WORLD)


def _report(given: argparse.Namespace, message: str, password: str) -> None:
    """Print the result; a generated password goes alone to standard output, for scripts."""
    if given.password_stdin:
        print_message(message)
        return
    print_message(f"{message}; the password is shown only once:", is_error=True)
    print(password)


def _list(settings: Settings, given: argparse.Namespace) -> None:
    def state_of(each: User) -> str:
        if each.is_active:
            return "enabled"
        return "disabled" if each.disabled_at is not None else "account disabled"

    rows = [
        (
            each.name,
            each.account or Cell(None, "all accounts"),
            each.role.code,
            dates.format_timestamp(each.created_at, settings.zone),
            state_of(each),
        )
        for each in with_store(settings, lambda store: store.read(user_store.list_all))
    ]
    print_rows(COLUMNS, rows, as_json=given.json)


def _unlock(settings: Settings, given: argparse.Namespace) -> None:
    async def work(store: Store) -> bool:
        return await store.write(users.unlock, given.name, WORLD.now(), current_actor())

    is_lifted = with_store(settings, work)
    print_message(f"user {user.parse_name(given.name)} {'is unlocked' if is_lifted else 'had no failed sign-ins'}")


def _reset_two_factor(settings: Settings, given: argparse.Namespace) -> None:
    async def work(store: Store) -> bool:
        return await store.write(users.reset_two_factor, given.name, WORLD.now(), current_actor())

    is_reset = with_store(settings, work)
    state = "signs in with the password alone" if is_reset else "had no two-factor sign-in"
    print_message(f"user {user.parse_name(given.name)} {state}")


def _unlink(settings: Settings, given: argparse.Namespace) -> None:
    async def work(store: Store) -> bool:
        return await store.write(users.unlink, given.name, WORLD.now(), current_actor())

    is_unlinked = with_store(settings, work)
    print(f"user {user.parse_name(given.name)} {'is unlinked' if is_unlinked else 'was not linked'}")


def _set_disabled(settings: Settings, given: argparse.Namespace) -> None:
    async def work(store: Store) -> None:
        await store.write(users.set_disabled, given.name, given.is_disabled, WORLD.now(), current_actor())

    with_store(settings, work)
    print_message(f"user {user.parse_name(given.name)} is {'disabled' if given.is_disabled else 'enabled'}")
