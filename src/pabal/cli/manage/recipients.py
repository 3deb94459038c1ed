"""`pabal opt-out` and `pabal privacy`: opt-outs of accounts, and what is stored about one phone number."""

import argparse
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import msgspec

from pabal.answers.personal_data import write_export
from pabal.checks.body.locale import Locale
from pabal.cli.shared.command import WORLD, audit_entry, find_account_id, make_context, record, with_store
from pabal.cli.shared.language import CommandError, say
from pabal.cli.shared.options import CommandParser
from pabal.cli.shared.table import Cell, print_rows, printable
from pabal.domain.base.codes import Refused, Text
from pabal.domain.people import opt_out, phone
from pabal.service.access.contacts import opt_outs
from pabal.service.access.contacts.opt_outs import NewOptOuts, OptOut, OptOutEntry, OptOutSource, new_hash_key
from pabal.service.policy import build_policy
from pabal.service.upkeep import privacy
from pabal.service.upkeep.privacy import ErasureResult
from pabal.settings.environment import cannot_read, choose_language
from pabal.settings.settings import Settings
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


def declare_opt_out(group: CommandParser) -> None:
    """Declare `pabal opt-out`."""
    for name, run, ko, en in (
        ("add", _add, "광고를 거부한 수신자를 더합니다.", "Add receivers who want no advertising."),
        ("remove", _remove, "광고를 다시 받는 수신자를 뺍니다.", "Remove receivers who accept advertising again."),
        (
            "list",
            _list,
            "계정의 수신거부를 오래된 것부터 보여 줍니다.",
            "List the opt-outs of an account, oldest first.",
        ),
        (
            "import",
            _import,
            "CSV나 Excel 파일의 수신거부를 전부 더하거나, 하나도 더하지 않습니다.",
            "Add the opt-outs of a CSV or Excel file, all or none.",
        ),
        (
            "export",
            _export,
            "계정의 수신거부를 다시 가져올 수 있는 CSV로 출력합니다.",
            "Print the opt-outs of an account as CSV, which can be imported again.",
        ),
    ):
        parser = group.add_command(name, run, ko, en)
        if name in ("add", "remove"):
            parser.add_option(
                "numbers", "전화번호. 하이픈은 없어도 됩니다", "phone numbers, with or without hyphens", nargs="+"
            )
            parser.add_option(
                "--sender", "이 발신번호의 문자에만", "only for texts from this sender number", default=""
            )
        if name == "add":
            parser.add_option("--reason", "메모", "a note", default="")
        if name == "list":
            parser.add_json_flag()
        if name == "import":
            parser.add_option(
                "file",
                "첫 행은 열 이름입니다: phone, sender, reason",
                "its first row names the columns: phone, sender, reason",
                type=Path,
            )
        parser.add_option("--account", "계정의 이름", "the account's name", required=True)


def _add(settings: Settings, given: argparse.Namespace) -> None:
    phones, sender = _parse(given)
    entries = [OptOutEntry(each, sender, opt_out.check_reason(given.reason)) for each in phones]
    added = with_store(settings, lambda store: _store(store, settings, given.account, entries, opt_outs.ADD_ACTION))
    say(
        f"번호 {len(set(phones))}개 가운데 {added}개를 추가했습니다", f"{added} of {len(set(phones))} numbers added"
    )


def _remove(settings: Settings, given: argparse.Namespace) -> None:
    phones, sender = _parse(given)

    async def work(store: Store) -> int:
        account_id = await find_account_id(store, given.account)
        entry = audit_entry(account_id, opt_outs.REMOVE_ACTION, f"{len(phones):,}")
        keys, now = build_policy(settings).hash_keys, WORLD.now()
        return await store.write(opt_outs.remove_opt_outs, keys, account_id, phones, sender, now, entry)

    count = with_store(settings, work)
    say(
        f"번호 {len(set(phones))}개 가운데 {count}개를 삭제했습니다",
        f"{count} of {len(set(phones))} numbers removed",
    )


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
    from pabal.console.contacts.opt_out_file import read_opt_outs  # costs every command 0.1 s

    try:
        with given.file.open("rb") as file:
            entries = [each for part in read_opt_outs(file) if isinstance(part, list) for each in part]
    except OSError as error:
        raise CommandError(*cannot_read(given.file, error)) from None
    except Refused as refused:
        listed = "\n".join(each.message(choose_language()) for each in refused.problems)
        raise CommandError(
            f"{given.file}: 아무것도 가져오지 않았습니다\n{listed}", f"{given.file}: nothing was imported\n{listed}"
        ) from None
    added = with_store(
        settings, lambda store: _store(store, settings, given.account, entries, opt_outs.IMPORT_ACTION)
    )
    say(f"{len(entries)}행 가운데 {added}행을 추가했습니다", f"{added} of {len(entries)} rows added")


def _export(settings: Settings, given: argparse.Namespace) -> None:
    from pabal.console.contacts.opt_out_file import HEADER, to_cells
    from pabal.console.shell.download import csv_line

    async def work(store: Store) -> None:
        account_id = await find_account_id(store, given.account)
        await record(store, opt_outs.EXPORT_ACTION, account_id=account_id)
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
    entry: AuditEntry | None = audit_entry(account_id, action, f"{len(entries):,}")
    policy, added = build_policy(settings), 0
    for first in range(0, len(entries), BATCH):
        new = NewOptOuts(account_id, entries[first : first + BATCH], OptOutSource.COMMAND_LINE)
        key, now = new_hash_key(WORLD), WORLD.now()
        added += len(await store.write(opt_outs.add_opt_outs, new, key, policy, now, entry))
        entry = None
    return added


async def _read_all(store: Store, account_id: int) -> AsyncIterator[Sequence[OptOut]]:
    after = 0
    while found := await opt_outs.list_some(store, account_id, after, BATCH):
        after = found[-1].id
        yield found


NOT_COVERED = Text(
    "백업은 해당하지 않습니다. 삭제할 때까지 번호가 남습니다.",
    "Backups are not covered: they keep the number until you delete them.",
)


def declare_privacy(group: CommandParser) -> None:
    """Declare `pabal privacy`."""
    for name, run, ko, en in (
        (
            "export",
            _export_number,
            "계정이 번호에 대해 저장한 것을 JSON으로 출력합니다.",
            "Print what an account has stored about a number, as JSON.",
        ),
        (
            "erase",
            _erase_number,
            "번호와 그 번호로 보낸 내용을 파기합니다. 되돌릴 수 없습니다.",
            "Erase a number and the texts sent to it. This cannot be undone.",
        ),
    ):
        parser = group.add_command(name, run, ko, en)
        parser.add_option("number", "번호. 하이픈은 없어도 됩니다", "the number, with or without hyphens")
        parser.add_option("--account", "계정의 이름", "the account's name", required=True)


def _export_number(settings: Settings, given: argparse.Namespace) -> None:
    number = phone.parse_mobile(given.number)
    locale = Locale("ko", settings.zone)

    async def work(store: Store) -> bytes:
        account_id = await find_account_id(store, given.account)
        await record(store, privacy.EXPORT_ACTION, account_id=account_id)
        pieces = write_export(store, build_policy(settings), account_id, given.account, number, locale)
        return b"".join([piece async for piece in pieces])

    print(msgspec.json.format(with_store(settings, work), indent=2).decode())


def _erase_number(settings: Settings, given: argparse.Namespace) -> None:
    number = phone.parse_mobile(given.number)

    async def work(store: Store) -> ErasureResult:
        account_id = await find_account_id(store, given.account)
        context = make_context(settings, store)
        return await privacy.erase(context, account_id, number, audit_entry(account_id, privacy.ERASE_ACTION))

    done = with_store(settings, work)
    say(
        f"메시지 {done.erased}건을 지웠고, 그 가운데 {done.cancelled}건을 취소했습니다. 대량 발송"
        f" {done.campaign_rows}행을 지웠습니다. 발송 중인 {done.pending}건은 끝나면 지웁니다. {NOT_COVERED.ko}",
        f"{done.erased} messages erased, {done.cancelled} of them cancelled; {done.campaign_rows}"
        f" rows of campaigns erased; {done.pending} messages are being sent, and are erased"
        f" when they have ended. {NOT_COVERED.en}",
    )
