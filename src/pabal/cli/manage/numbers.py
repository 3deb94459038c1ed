"""Commands that manage the sender numbers of accounts."""

import argparse
from collections.abc import Callable
from typing import TypeVar

from pabal.cli.shared.command import audit_entry, find_account_id, with_store
from pabal.cli.shared.language import CommandError, say
from pabal.cli.shared.options import add_command, add_group, add_list, add_option
from pabal.cli.shared.table import print_rows
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.people import phone
from pabal.service.access.accounts import sender_numbers
from pabal.settings.settings import Settings
from pabal.store.accounts import numbers as number_store
from pabal.store.engine.base import Store

T = TypeVar("T")

COLUMNS = {
    "account": Text("계정", "Account"),
    "number": Text("발신번호", "Number"),
    "state": Text("상태", "Status"),
    "note": Text("비고", "Note"),
}


def declare_number(parser: argparse.ArgumentParser) -> None:
    """Declare `pabal number`."""
    group = add_group(parser)
    add_list(group, _list, "모든 발신번호를 보여 줍니다.", "List all sender numbers.")
    for name, run, ko, en in (
        ("add", _add, "계정의 발신번호를 등록합니다.", "Register a sender number for an account."),
        (
            "approve",
            _approve,
            "관리자가 등록한 발신번호를 승인합니다.",
            "Approve a sender number that an owner has registered.",
        ),
        ("reject", _reject, "대기 중인 발신번호를 반려합니다.", "Reject a pending sender number."),
        ("remove", _remove, "계정의 발신번호를 삭제합니다.", "Remove a sender number from an account."),
    ):
        parser = add_command(group, name, run, ko, en)
        add_option(parser, "number", "번호. 하이픈은 없어도 됩니다", "the number, with or without hyphens")
        add_option(parser, "--account", "계정의 이름", "the account's name", required=True)
        if name == "reject":
            add_option(parser, "--comment", "관리자에게 알릴 이유", "why, for the owner", default="")


def _list(settings: Settings, given: argparse.Namespace) -> None:
    rows = [
        (
            each.account,
            phone.hyphenate(each.number),
            each.state.code,
            f"held by {each.held_by}" if each.held_by else "",
        )
        for each in with_store(settings, lambda store: store.read(number_store.list_all))
    ]
    print_rows(COLUMNS, rows, as_json=given.json)


def _add(settings: Settings, given: argparse.Namespace) -> None:
    is_new = _change(settings, given, sender_numbers.register, "number.add")
    number, account = _spelled(given), given.account
    if is_new:
        say(f"{account}의 발신번호로 {number}을(를) 등록했습니다", f"{number} is registered for {account}")
    else:
        say(f"{number}은(는) 이미 {account}의 발신번호입니다", f"{number} was already registered for {account}")


def _approve(settings: Settings, given: argparse.Namespace) -> None:
    _change(settings, given, sender_numbers.approve, "number.approve")
    say(
        f"{given.account}의 발신번호 {_spelled(given)}을(를) 승인했습니다",
        f"{_spelled(given)} is approved for {given.account}",
    )


def _reject(settings: Settings, given: argparse.Namespace) -> None:
    _change(settings, given, sender_numbers.reject, "number.reject", given.comment)
    say(
        f"{given.account}의 발신번호 {_spelled(given)}을(를) 반려했습니다",
        f"{_spelled(given)} is rejected for {given.account}",
    )


def _remove(settings: Settings, given: argparse.Namespace) -> None:
    _change(settings, given, sender_numbers.remove, "number.remove")
    say(
        f"{given.account}의 발신번호에서 {_spelled(given)}을(를) 삭제했습니다",
        f"{_spelled(given)} is no longer registered for {given.account}",
    )


def _spelled(given: argparse.Namespace) -> str:
    return phone.hyphenate(phone.parse_sender(given.number))


def _change(settings: Settings, given: argparse.Namespace, change: Callable[..., T], action: str, *words: str) -> T:
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
