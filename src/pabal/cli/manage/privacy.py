"""Commands that export and erase what is stored about one phone number."""

import argparse

import msgspec

from pabal.answers.personal_data import write_export
from pabal.checks.body.locale import Locale
from pabal.cli.shared.command import audit_entry, find_account_id, make_context, record, with_store
from pabal.cli.shared.language import say
from pabal.cli.shared.options import add_command, add_group, add_option
from pabal.domain.base.codes import Text
from pabal.domain.people import phone
from pabal.service.policy import build_policy
from pabal.service.upkeep import privacy
from pabal.service.upkeep.privacy import ErasureResult
from pabal.settings.settings import Settings
from pabal.store.engine.base import Store

NOT_COVERED = Text(
    "백업은 해당하지 않습니다. 삭제할 때까지 번호가 남습니다.",
    "Backups are not covered: they keep the number until you delete them.",
)


def declare_privacy(parser: argparse.ArgumentParser) -> None:
    """Declare `pabal privacy`."""
    group = add_group(parser)
    for name, run, ko, en in (
        (
            "export",
            _export,
            "계정이 번호에 대해 저장한 것을 JSON으로 출력합니다.",
            "Print what an account has stored about a number, as JSON.",
        ),
        (
            "erase",
            _erase,
            "번호와 그 번호로 보낸 내용을 파기합니다. 되돌릴 수 없습니다.",
            "Erase a number and the texts sent to it. This cannot be undone.",
        ),
    ):
        parser = add_command(group, name, run, ko, en)
        add_option(parser, "number", "번호. 하이픈은 없어도 됩니다", "the number, with or without hyphens")
        add_option(parser, "--account", "계정의 이름", "the account's name", required=True)


def _export(settings: Settings, given: argparse.Namespace) -> None:
    number = phone.parse_mobile(given.number)
    locale = Locale("ko", settings.zone)

    async def work(store: Store) -> bytes:
        account_id = await find_account_id(store, given.account)
        await record(store, privacy.EXPORT_ACTION, account_id=account_id)
        pieces = write_export(store, build_policy(settings), account_id, given.account, number, locale)
        return b"".join([piece async for piece in pieces])

    print(msgspec.json.format(with_store(settings, work), indent=2).decode())


def _erase(settings: Settings, given: argparse.Namespace) -> None:
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
