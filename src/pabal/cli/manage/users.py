"""Commands that manage the users of the console."""

import argparse
import sys
from collections.abc import Callable
from typing import NamedTuple

from pabal.cli.shared.command import WORLD, add_new_account_option, choose_account, current_actor, with_store
from pabal.cli.shared.language import CommandError, say
from pabal.cli.shared.options import CommandParser
from pabal.cli.shared.table import Cell, print_rows
from pabal.domain.base import dates
from pabal.domain.base.codes import Text
from pabal.domain.base.dates import Instant
from pabal.domain.people import user
from pabal.domain.people.user import ROLE_BY_CODE, Role, User
from pabal.service.access.users import passwords, users
from pabal.settings.settings import Settings
from pabal.store.accounts.audit_log import Actor
from pabal.store.engine.base import Tx
from pabal.store.users import users as user_store
from pabal.world import new_password

COLUMNS = {
    "name": Text("이름", "Name"),
    "account": Text("계정", "Account"),
    "role": Text("역할", "Role"),
    "created": Text("생성", "Created"),
    "state": Text("상태", "Status"),
}


class UserChange(NamedTuple):
    """What a command changes about a user, and what it says where there was something to change, and where not."""

    change: Callable[[Tx, str, Instant, Actor], bool]
    done: Text
    not_needed: Text


def declare_user(group: CommandParser) -> None:
    """Declare `pabal user`."""
    parser = group.add_command(
        "create",
        _create,
        "사용자를 만듭니다. 만든 비밀번호는 한 번만 출력합니다.",
        "Create a user. A generated password is printed only once.",
    )
    parser.add_option("name", "로그인할 이름", "the name to sign in with")
    parser.add_option("--account", "사용자의 계정. 운영자는 없습니다", "the user's account; operators have none")
    add_new_account_option(parser)
    parser.add_option(
        "--role",
        "사용자의 역할(기본값: owner)",
        "what the user may do (default: owner)",
        choices=ROLE_BY_CODE,
        default=Role.OWNER.code,
    )
    _add_password_option(parser)
    group.add_list(_list, "모든 사용자를 보여 줍니다.", "List all users.")
    for name, ko, en in (
        ("disable", "사용자를 중지하고 로그아웃시킵니다.", "Disable a user and end their sessions."),
        ("enable", "사용자 중지를 해제합니다.", "Enable a user again."),
    ):
        parser = group.add_command(name, _set_disabled, ko, en)
        parser.add_option("name", "사용자의 이름", "the user's name")
        parser.set_defaults(is_disabled=name == "disable")
    for name, ko, en in (
        (
            "unlock",
            "로그인에 여러 번 실패한 사용자가 바로 로그인할 수 있게 합니다.",
            "Let a user sign in at once after many failed sign-ins.",
        ),
        (
            "reset-two-factor",
            "사용자가 다시 비밀번호만으로 로그인하게 합니다.",
            "Let a user sign in with the password alone again.",
        ),
        (
            "unlink",
            "사용자와 OpenID Connect 제공자의 연결을 해제합니다.",
            "Unlink a user from the OpenID Connect provider.",
        ),
    ):
        parser = group.add_command(name, _change, ko, en)
        parser.add_option("name", "사용자의 이름", "the user's name")
        parser.set_defaults(change=name)
    parser = group.add_command(
        "password",
        _change_password,
        "비밀번호를 바꿉니다. 만든 비밀번호는 한 번만 출력합니다.",
        "Change a password. A generated one is printed only once.",
    )
    parser.add_option("name", "사용자의 이름", "the user's name")
    _add_password_option(parser)


def _add_password_option(parser: CommandParser) -> None:
    parser.add_flag(
        "--password-stdin", "비밀번호를 표준 입력에서 읽습니다", "read the password from standard input"
    )


def _create(settings: Settings, given: argparse.Namespace) -> None:
    role = ROLE_BY_CODE[given.role]
    account = (given.account or "").strip() or None
    if account is None and role is not Role.OPERATOR:
        raise CommandError(
            "--account가 필요합니다. 운영자(--role operator)만 계정이 없습니다",
            "--account is required; only operators (--role operator) have no account",
        )
    if account is not None and role is Role.OPERATOR:
        raise CommandError(
            "--account: 운영자는 모든 계정을 관리하므로 주지 마세요",
            "--account: operators manage all accounts; leave it out",
        )
    name = user.parse_name(given.name)
    password, hash = _choose_password(given, name)

    def create(tx: Tx) -> None:
        chosen = choose_account(tx, account, is_new=given.new_account) if account else None
        users.create(tx, chosen, name, role, hash, WORLD.now(), current_actor())

    with_store(settings, lambda store: store.write(create), may_create=True)
    _report(given, Text(f"사용자 {name}을(를) 만들었습니다", f"user {name} is created"), password)


def _change_password(settings: Settings, given: argparse.Namespace) -> None:
    name = user.parse_name(given.name)
    password, hash = _choose_password(given, name)

    with_store(settings, lambda store: store.write(users.change_password, name, hash, WORLD.now(), current_actor()))
    _report(given, Text(f"사용자 {name}의 비밀번호를 바꿨습니다", f"user {name} has a new password"), password)


def _choose_password(given: argparse.Namespace, name: str) -> tuple[str, str]:
    """Return the password and its hash."""
    entered = sys.stdin.readline().rstrip("\r\n") if given.password_stdin else None
    password = new_password(WORLD) if entered is None else user.validate_password(entered, name)
    return password, passwords.hash_password(password, WORLD)


def _report(given: argparse.Namespace, message: Text, password: str) -> None:
    """Print the result; a generated password goes alone to standard output, for scripts."""
    if given.password_stdin:
        say(*message)
        return
    say(
        f"{message.ko}. 비밀번호는 한 번만 보여 줍니다:",
        f"{message.en}; the password is shown only once:",
        is_error=True,
    )
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


def _change(settings: Settings, given: argparse.Namespace) -> None:
    """Change a user as the command says, and print whether there was anything to change."""
    change, done, not_needed = CHANGES[given.change]
    is_changed = with_store(settings, lambda store: store.write(change, given.name, WORLD.now(), current_actor()))
    message, name = done if is_changed else not_needed, user.parse_name(given.name)
    say(message.ko.format(name=name), message.en.format(name=name))


def _set_disabled(settings: Settings, given: argparse.Namespace) -> None:
    with_store(
        settings,
        lambda store: store.write(users.set_disabled, given.name, given.is_disabled, WORLD.now(), current_actor()),
    )
    name = user.parse_name(given.name)
    if given.is_disabled:
        say(f"사용자 {name}을(를) 사용 중지했습니다", f"user {name} is disabled")
    else:
        say(f"사용자 {name}을(를) 다시 사용합니다", f"user {name} is enabled")


CHANGES = {
    "unlock": UserChange(
        users.unlock,
        Text("사용자 {name}의 잠금을 풀었습니다", "user {name} is unlocked"),
        Text("사용자 {name}에게는 실패한 로그인이 없었습니다", "user {name} had no failed sign-ins"),
    ),
    "reset-two-factor": UserChange(
        users.reset_two_factor,
        Text(
            "사용자 {name}은(는) 이제 비밀번호만으로 로그인합니다", "user {name} signs in with the password alone"
        ),
        Text("사용자 {name}은(는) 2단계 인증을 쓰지 않았습니다", "user {name} had no two-factor sign-in"),
    ),
    "unlink": UserChange(
        users.unlink,
        Text("사용자 {name}의 연결을 해제했습니다", "user {name} is unlinked"),
        Text("사용자 {name}은(는) 연결되어 있지 않았습니다", "user {name} was not linked"),
    ),
}
