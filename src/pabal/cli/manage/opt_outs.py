"""Commands that manage the opt-outs of accounts."""

import argparse
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from pabal.cli.shared.command import (
    WORLD,
    CommandError,
    add_command,
    add_group,
    current_actor,
    find_account_id,
    printable,
    with_store,
)
from pabal.cli.shared.table import Cell, print_rows
from pabal.cli.shared.translate import print_message
from pabal.domain.base.codes import Refused, Text
from pabal.domain.people import opt_out, phone
from pabal.service.access.contacts import opt_outs
from pabal.service.access.contacts.opt_outs import NewOptOuts, OptOut, OptOutEntry, OptOutSource, new_hash_key
from pabal.service.policy import build_policy
from pabal.settings.environment import choose_language
from pabal.settings.settings import Settings
from pabal.store.accounts import audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Store

BATCH = 1000
"""Opt-outs that are read at a time."""
COLUMNS = {
    "phoneNumber": Text("전화번호", "Phone number"),
    "sender": Text("발신번호", "Sender number"),
    "source": Text("경로", "Source"),
    "reason": Text("사유", "Reason"),
}


def add_commands(subparsers: Any) -> None:
    """Add `opt-out`."""
    group = add_group(subparsers, "opt-out", "Manage the receivers who want no advertising.")
    for name, run, help in (
        ("add", _add, "Add receivers who want no advertising."),
        ("remove", _remove, "Remove receivers who accept advertising again."),
        ("list", _list, "List the opt-outs of an account, oldest first."),
        ("import", _import, "Add the opt-outs of a CSV or Excel file, all or none."),
        ("export", _export, "Print the opt-outs of an account as CSV, which can be imported again."),
    ):
        parser = add_command(group, name, run, help)
        if name in ("add", "remove"):
            parser.add_argument("numbers", nargs="+", help="phone numbers, with or without hyphens")
            parser.add_argument("--sender", default="", help="only for texts from this sender number")
        if name == "add":
            parser.add_argument("--reason", default="", help="a note")
        if name == "list":
            parser.add_argument("--json", action="store_true", help="print JSON, one object a line")
        if name == "import":
            parser.add_argument("file", type=Path, help="its first row names the columns: phone, sender, reason")
        parser.add_argument("--account", required=True, help="the account's name")


def _add(settings: Settings, given: argparse.Namespace) -> None:
    phones, sender = _parse(given)
    entries = [OptOutEntry(each, sender, opt_out.check_reason(given.reason)) for each in phones]
    added = with_store(settings, lambda store: _store(store, settings, given.account, entries, opt_outs.ADD_ACTION))
    print_message(f"{added} of {len(set(phones))} numbers added")


def _remove(settings: Settings, given: argparse.Namespace) -> None:
    phones, sender = _parse(given)

    async def work(store: Store) -> int:
        account_id = await find_account_id(store, given.account)
        audit_entry = _audit_entry(account_id, opt_outs.REMOVE_ACTION, len(phones))
        keys, now = build_policy(settings).hash_keys, WORLD.now()
        return await store.write(opt_outs.remove_opt_outs, keys, account_id, phones, sender, now, audit_entry)

    print_message(f"{with_store(settings, work)} of {len(set(phones))} numbers removed")


def _list(settings: Settings, given: argparse.Namespace) -> None:
    def row(each: OptOut) -> list[object]:
        sender = phone.hyphenate(each.sender) if each.sender else Cell(None, "all")
        return [phone.hyphenate(each.phone), sender, each.source.code, printable(each.reason or "")]

    async def work(store: Store) -> None:
        account_id = await find_account_id(store, given.account)
        async for batch in _read_all(store, account_id):
            print_rows(COLUMNS, map(row, batch), as_json=given.json)

    with_store(settings, work)


def _import(settings: Settings, given: argparse.Namespace) -> None:
    from pabal.console.contacts.opt_out_file import check_file, read_batches  # costs every command 0.1 s

    try:
        with given.file.open("rb") as file:
            total = list(check_file(file))[-1]
            entries = [each for batch in read_batches(file) for each in batch]
    except OSError as error:
        raise CommandError(f"{given.file}: cannot be read ({error.strerror})") from None
    except Refused as refused:
        listed = "\n".join(each.message(choose_language()) for each in refused.problems)
        raise CommandError(f"{given.file}: nothing was imported\n{listed}") from None
    added = with_store(
        settings, lambda store: _store(store, settings, given.account, entries, opt_outs.IMPORT_ACTION)
    )
    print_message(f"{added} of {total} rows added")


def _export(settings: Settings, given: argparse.Namespace) -> None:
    from pabal.console.contacts.opt_out_file import HEADER, to_cells
    from pabal.console.history.export import csv_line

    async def work(store: Store) -> None:
        account_id = await find_account_id(store, given.account)
        await store.write(audit_log.add, _audit_entry(account_id, opt_outs.EXPORT_ACTION))
        sys.stdout.write(csv_line(HEADER))
        async for batch in _read_all(store, account_id):
            for each in batch:
                print(csv_line(to_cells(each)).removesuffix("\r\n"))

    with_store(settings, work)


def _parse(given: argparse.Namespace) -> tuple[list[str], str]:
    phones = [phone.parse_mobile(each) for each in given.numbers]
    return phones, phone.parse_sender(given.sender) if given.sender else ""


async def _store(store: Store, settings: Settings, account: str, entries: list[OptOutEntry], action: str) -> int:
    """Add opt-outs in batches; return how many were not there."""
    account_id = await find_account_id(store, account)
    audit_entry: AuditEntry | None = _audit_entry(account_id, action, len(entries))
    policy, added = build_policy(settings), 0
    for first in range(0, len(entries), BATCH):
        new = NewOptOuts(account_id, entries[first : first + BATCH], OptOutSource.COMMAND_LINE)
        key, now = new_hash_key(WORLD), WORLD.now()
        added += len(await store.write(opt_outs.add_opt_outs, new, key, policy, now, audit_entry))
        audit_entry = None
    return added


async def _read_all(store: Store, account_id: int) -> AsyncIterator[Sequence[OptOut]]:
    after = 0
    while found := await opt_outs.list_some(store, account_id, after, BATCH):
        after = found[-1].id
        yield found


def _audit_entry(account_id: int, action: str, count: int | None = None) -> AuditEntry:
    """Return the entry of the audit log, which holds no phone number."""
    target = "" if count is None else f"{count:,}"
    return AuditEntry(WORLD.now(), *current_actor(), account_id, action, target)
