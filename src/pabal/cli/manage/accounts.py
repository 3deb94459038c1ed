"""`pabal account` and `pabal number`: accounts, their limits, reseller codes, and numbers to send from."""

import argparse
import contextlib
from collections.abc import Callable, Iterator
from typing import TypeVar

from pabal.cli.shared.command import WORLD, audit_entry, current_actor, find_account_id, with_store
from pabal.cli.shared.language import CommandError, say
from pabal.cli.shared.options import CommandParser
from pabal.cli.shared.table import print_rows
from pabal.domain.base import dates
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.people import phone
from pabal.domain.sends.account import NO_CODES, AccountLimits, SenderCodes, parse_codes
from pabal.service.access.accounts import account_limits, sender_numbers
from pabal.service.access.accounts import accounts as account_service
from pabal.settings.settings import Settings
from pabal.store.accounts import account_limits as limit_store
from pabal.store.accounts import accounts
from pabal.store.accounts import numbers as number_store
from pabal.store.engine.base import Store

COLUMNS = {
    "id": Text("ID", "ID"),
    "name": Text("이름", "Name"),
    "created": Text("생성", "Created"),
    "state": Text("상태", "Status"),
}
LIMITS = {
    "receivers_per_second": Text(
        "초당 수신자 수. 0은 제한 없음", "receivers that it may send to per second; 0: no limit"
    ),
    "receivers_per_day": Text("하루 수신자 수. 0은 제한 없음", "receivers per day; 0: no limit"),
    "receivers_per_month": Text("한 달 수신자 수. 0은 제한 없음", "receivers per month; 0: no limit"),
    "budget_per_month": Text(
        "한 달 메시지 비용(원). 0은 제한 없음", "what its messages may cost per month, in won; 0: no limit"
    ),
    "duplicate_minutes": Text(
        "같은 번호로 보내는 같은 내용을 중복으로 보는 시간(분). 0은 끔, default는 설정을 따름",
        "for how long the same text to the same number is a duplicate; 0: off; default: as the setting says",
    ),
}


CODES = {
    "origin_code": Text(
        "문자의 식별 코드: 특수부가통신사업자 등록번호의 숫자 9자리. none은 발송 경로의 설정을 따름",
        "for texts: the nine digits of the reseller's registration number; none: as the carrier's setting says",
    ),
    "reseller_code": Text(
        "브랜드 메시지의 리셀러 코드. none은 발송 경로의 설정을 따름",
        "for brand messages: the reseller code; none: as the carrier's setting says",
    ),
}


def declare_account(group: CommandParser) -> None:
    """Declare `pabal account`."""
    group.add_list(_list_accounts, "모든 계정을 보여 줍니다.", "List all accounts.")
    for name, ko, en in (
        (
            "disable",
            "계정의 키를 사용 중지합니다. 접수한 메시지는 그대로 발송합니다.",
            "Disable the keys of an account. Accepted messages are still sent.",
        ),
        ("enable", "계정의 키를 다시 사용합니다.", "Enable the keys of an account again."),
    ):
        parser = group.add_command(name, _set_account, ko, en)
        parser.add_option("name", "계정의 이름", "the account's name")
        parser.set_defaults(is_enabled=name == "enable")
    parser = group.add_command(
        "limit",
        _limit,
        "계정의 한도를 보여 주거나, 준 것을 정합니다.",
        "Show the limits of an account, or set those that are given.",
    )
    parser.add_option("name", "계정의 이름", "the account's name")
    for name, help in LIMITS.items():
        parser.add_option(f"--{name.replace('_', '-')}", *help, metavar="N")
    parser = group.add_command(
        "opt-out",
        _opt_out,
        "계정의 광고 문자에 넣을 무료 수신거부 번호를 보여 주거나 정합니다.",
        "Show the number for opting out of an account's advertising texts, or set it.",
    )
    parser.add_option("name", "계정의 이름", "the account's name")
    parser.add_option("number", "080 번호. `none`은 없앱니다", "the 080 number; `none` removes it", nargs="?")

    parser = group.add_command(
        "codes",
        _codes,
        "계정의 메시지를 어느 재판매사가 보내는지 중계사에 알리는 코드를 보여 주거나 정합니다.",
        "Show the codes that tell relays which reseller sends an account's messages, or set them.",
    )
    parser.add_option("name", "계정의 이름", "the account's name")
    for name, help in CODES.items():
        parser.add_option(f"--{name.replace('_', '-')}", *help, metavar="CODE")


def _list_accounts(settings: Settings, given: argparse.Namespace) -> None:
    rows = [
        (
            each.id,
            each.name,
            dates.format_timestamp(each.created_at, settings.zone),
            "enabled" if each.disabled_at is None else "disabled",
        )
        for each in with_store(settings, lambda store: store.read(accounts.list_accounts))
    ]
    print_rows(COLUMNS, rows, as_json=given.json)


def _set_account(settings: Settings, given: argparse.Namespace) -> None:
    async def work(store: Store) -> None:
        account_id = await find_account_id(store, given.name)
        is_disabled = not given.is_enabled
        await store.write(account_service.set_disabled, account_id, is_disabled, current_actor(), WORLD.now())

    with_store(settings, work)
    if given.is_enabled:
        say(f"계정 {given.name}을(를) 다시 사용합니다", f"account {given.name} is enabled")
    else:
        say(f"계정 {given.name}을(를) 사용 중지했습니다", f"account {given.name} is disabled")


def _limit(settings: Settings, given: argparse.Namespace) -> None:
    async def work(store: Store) -> AccountLimits:
        account_id = await find_account_id(store, given.name)
        limits = await store.read(limit_store.get, account_id)
        typed = {name: getattr(given, name) for name in LIMITS}
        if any(value is not None for value in typed.values()):
            limits = _parse(limits, typed)
            await store.write(account_limits.set_limits, account_id, limits, current_actor(), WORLD.now())
        return limits

    for name, value in with_store(settings, work)._asdict().items():
        print(f"{name}\t{'default' if value is None else value or 'none'}")


def _parse(limits: AccountLimits, typed: dict[str, str | None]) -> AccountLimits:
    """Return the limits with those replaced that were given."""
    spelled = {name: "" if value is None else str(value) for name, value in limits._asdict().items()}
    for name, value in typed.items():
        if value is not None:
            spelled[name] = "" if value == "default" else value
    with _problems_by_option():
        return account_limits.parse_limits(spelled)


@contextlib.contextmanager
def _problems_by_option() -> Iterator[None]:
    """Raise CommandError for a field that is refused in the block; it names the option."""
    try:
        yield
    except Refused as refused:
        problem = refused.problems[0]
        assert problem.detail is not None
        option = f"--{problem.field.replace('_', '-')}"
        raise CommandError(f"{option}: {problem.detail.ko}", f"{option}: {problem.detail.en}") from None


def _codes(settings: Settings, given: argparse.Namespace) -> None:
    typed = {name: getattr(given, name) for name in CODES}

    async def work(store: Store) -> SenderCodes:
        account_id = await find_account_id(store, given.name)
        codes = (await store.read(accounts.list_sender_codes)).get(account_id, NO_CODES)
        spelled = {name: value or "" for name, value in codes._asdict().items()}
        spelled |= {name: "" if value == "none" else value for name, value in typed.items() if value is not None}
        with _problems_by_option():
            codes = parse_codes(spelled)
        await store.write(account_service.set_codes, account_id, codes, current_actor(), WORLD.now())
        return codes

    for name, value in with_store(settings, work)._asdict().items():
        print(f"{name}\t{value or 'none'}")


def _opt_out(settings: Settings, given: argparse.Namespace) -> None:
    number = None if given.number in (None, "none") else phone.parse_opt_out(given.number)

    async def work(store: Store) -> str | None:
        account_id = await find_account_id(store, given.name)
        if given.number is not None:
            shown = phone.mask(number) if number else ""
            entry = audit_entry(account_id, "account.opt_out", shown)
            await store.write(sender_numbers.set_opt_out_number, account_id, number, entry)
        return (await store.read(accounts.get_opt_out_numbers, [account_id])).get(account_id)

    found = with_store(settings, work)
    print(phone.hyphenate(found) if found else "none")


T = TypeVar("T")

NUMBER_COLUMNS = {
    "account": Text("계정", "Account"),
    "number": Text("발신번호", "Number"),
    "state": Text("상태", "Status"),
    "note": Text("비고", "Note"),
}


def declare_number(group: CommandParser) -> None:
    """Declare `pabal number`."""
    group.add_list(_list_numbers, "모든 발신번호를 보여 줍니다.", "List all sender numbers.")
    for name, run, ko, en in (
        ("add", _add_number, "계정의 발신번호를 등록합니다.", "Register a sender number for an account."),
        (
            "approve",
            _approve_number,
            "관리자가 등록한 발신번호를 승인합니다.",
            "Approve a sender number that an owner has registered.",
        ),
        ("reject", _reject_number, "대기 중인 발신번호를 반려합니다.", "Reject a pending sender number."),
        ("remove", _remove_number, "계정의 발신번호를 삭제합니다.", "Remove a sender number from an account."),
    ):
        parser = group.add_command(name, run, ko, en)
        parser.add_option("number", "번호. 하이픈은 없어도 됩니다", "the number, with or without hyphens")
        parser.add_option("--account", "계정의 이름", "the account's name", required=True)
        if name == "reject":
            parser.add_option("--comment", "관리자에게 알릴 이유", "why, for the owner", default="")


def _list_numbers(settings: Settings, given: argparse.Namespace) -> None:
    rows = [
        (
            each.account,
            phone.hyphenate(each.number),
            each.state.code,
            f"held by {each.held_by}" if each.held_by else "",
        )
        for each in with_store(settings, lambda store: store.read(number_store.list_all))
    ]
    print_rows(NUMBER_COLUMNS, rows, as_json=given.json)


def _add_number(settings: Settings, given: argparse.Namespace) -> None:
    is_new = _change_number(settings, given, sender_numbers.register, "number.add")
    number, account = _spelled(given), given.account
    if is_new:
        say(f"{account}의 발신번호로 {number}을(를) 등록했습니다", f"{number} is registered for {account}")
    else:
        say(f"{number}은(는) 이미 {account}의 발신번호입니다", f"{number} was already registered for {account}")


def _approve_number(settings: Settings, given: argparse.Namespace) -> None:
    _change_number(settings, given, sender_numbers.approve, "number.approve")
    say(
        f"{given.account}의 발신번호 {_spelled(given)}을(를) 승인했습니다",
        f"{_spelled(given)} is approved for {given.account}",
    )


def _reject_number(settings: Settings, given: argparse.Namespace) -> None:
    _change_number(settings, given, sender_numbers.reject, "number.reject", given.comment)
    say(
        f"{given.account}의 발신번호 {_spelled(given)}을(를) 반려했습니다",
        f"{_spelled(given)} is rejected for {given.account}",
    )


def _remove_number(settings: Settings, given: argparse.Namespace) -> None:
    _change_number(settings, given, sender_numbers.remove, "number.remove")
    say(
        f"{given.account}의 발신번호에서 {_spelled(given)}을(를) 삭제했습니다",
        f"{_spelled(given)} is no longer registered for {given.account}",
    )


def _spelled(given: argparse.Namespace) -> str:
    return phone.hyphenate(phone.parse_sender(given.number))


def _change_number(
    settings: Settings, given: argparse.Namespace, change: Callable[..., T], action: str, *words: str
) -> T:
    """Change a number of an account, with an audit entry."""
    number = phone.parse_sender(given.number)

    async def work(store: Store) -> T:
        account_id = await find_account_id(store, given.account)
        entry = audit_entry(account_id, action, phone.mask(number))
        try:
            return await store.write(change, account_id, number, *words, entry)
        except Refused as refused:
            if refused.code not in (Code.NOT_FOUND, Code.INVALID_STATE):
                raise
            spelled, account = phone.hyphenate(number), given.account
            if refused.code is Code.NOT_FOUND:
                raise CommandError(
                    f"{spelled}은(는) {account}의 발신번호가 아닙니다. `pabal number list`를 보세요",
                    f"{spelled} is not registered for {account}; see `pabal number list`",
                ) from None
            raise CommandError(
                f"{account}의 {spelled}은(는) 승인 대기 중이 아닙니다. `pabal number list`를 보세요",
                f"{spelled} is not pending for {account}; see `pabal number list`",
            ) from None

    return with_store(settings, work)
