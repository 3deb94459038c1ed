"""Commands that manage the sender numbers of accounts."""

import argparse
from collections.abc import Callable
from typing import Any, TypeVar

from pabal.cli.shared.command import (
    WORLD,
    CommandError,
    add_command,
    add_group,
    add_list,
    current_actor,
    find_account_id,
    with_store,
)
from pabal.cli.shared.table import print_rows
from pabal.cli.shared.translate import print_message
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.people import phone
from pabal.service.access.accounts import numbers, opt_out_numbers
from pabal.settings.settings import Settings
from pabal.store.accounts import accounts as account_store
from pabal.store.accounts import numbers as number_store
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Store

T = TypeVar("T")

COLUMNS = {
    "account": Text("계정", "Account"),
    "number": Text("발신번호", "Number"),
    "state": Text("상태", "Status"),
    "note": Text("비고", "Note"),
}


def add_commands(subparsers: Any) -> None:
    """Add `number`."""
    group = add_group(subparsers, "number", "Manage the registered sender numbers.")
    add_list(group, _list, "List all sender numbers.")
    for name, run, help in (
        ("add", _add, "Register a sender number for an account."),
        ("approve", _approve, "Approve a sender number that an owner has registered."),
        ("reject", _reject, "Reject a pending sender number."),
        ("remove", _remove, "Remove a sender number from an account."),
    ):
        parser = add_command(group, name, run, help)
        parser.add_argument("number", help="the number, with or without hyphens")
        parser.add_argument("--account", required=True, help="the account's name")
        if name == "reject":
            parser.add_argument("--comment", default="", help="why, for the owner")


def add_opt_out_command(group: Any) -> None:
    """Add `opt-out` to the commands of accounts."""
    parser = add_command(
        group, "opt-out", _opt_out, "Show the number for opting out of an account's advertising texts, or set it."
    )
    parser.add_argument("name", help="the account's name")
    parser.add_argument("number", nargs="?", help="the 080 number; `none` removes it")


def _opt_out(settings: Settings, given: argparse.Namespace) -> None:
    number = None if given.number in (None, "none") else phone.parse_opt_out(given.number)

    async def work(store: Store) -> str | None:
        account_id = await find_account_id(store, given.name)
        if given.number is not None:
            shown = phone.mask(number) if number else ""
            audit_entry = AuditEntry(WORLD.now(), *current_actor(), account_id, "account.opt_out", shown)
            await store.write(opt_out_numbers.set_number, account_id, number, audit_entry)
        return (await store.read(account_store.get_opt_out_numbers, [account_id])).get(account_id)

    found = with_store(settings, work)
    print(phone.hyphenate(found) if found else "none")


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
    is_new = _change(settings, given, numbers.register, "number.add")
    print_message(f"{_spelled(given)} {'is' if is_new else 'was already'} registered for {given.account}")


def _approve(settings: Settings, given: argparse.Namespace) -> None:
    _change(settings, given, numbers.approve, "number.approve")
    print_message(f"{_spelled(given)} is approved for {given.account}")


def _reject(settings: Settings, given: argparse.Namespace) -> None:
    _change(settings, given, numbers.reject, "number.reject", given.comment)
    print_message(f"{_spelled(given)} is rejected for {given.account}")


def _remove(settings: Settings, given: argparse.Namespace) -> None:
    _change(settings, given, numbers.remove, "number.remove")
    print_message(f"{_spelled(given)} is no longer registered for {given.account}")


def _spelled(given: argparse.Namespace) -> str:
    return phone.hyphenate(phone.parse_sender(given.number))


def _change(settings: Settings, given: argparse.Namespace, change: Callable[..., T], action: str, *words: str) -> T:
    """Change a number of an account, with an audit entry."""
    number = phone.parse_sender(given.number)

    async def work(store: Store) -> T:
        account_id = await find_account_id(store, given.account)
        audit_entry = AuditEntry(WORLD.now(), *current_actor(), account_id, action, phone.mask(number))
        try:
            return await store.write(change, account_id, number, *words, audit_entry)
        except Refused as refused:
            if refused.code not in (Code.NOT_FOUND, Code.INVALID_STATE):
                raise
            state = "registered" if refused.code is Code.NOT_FOUND else "pending"
            raise CommandError(
                f"{phone.hyphenate(number)} is not {state} for {given.account}; see `pabal number list`"
            ) from None

    return with_store(settings, work)
