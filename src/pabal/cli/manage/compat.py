"""The command that shows how an account's calls of other relays' endpoints differ from what happens here."""

import argparse

from pabal.cli.shared.command import WORLD, find_account_id, with_store
from pabal.cli.shared.language import CommandError, say
from pabal.cli.shared.options import add_command, add_group, add_json_option, add_option
from pabal.cli.shared.table import Cell, print_rows
from pabal.compat.differences import DIFFERENCE_BY_CODE, CallDifference
from pabal.compat.solapi.codes import MESSAGES
from pabal.domain.base import dates
from pabal.domain.base.codes import Text
from pabal.domain.base.dates import DAY
from pabal.settings.environment import choose_language
from pabal.settings.settings import Settings
from pabal.store.accounts import compat_differences
from pabal.store.accounts.compat_differences import RETENTION_DAYS, CountedDifference
from pabal.store.engine.base import Store

COLUMNS = {
    "kind": Text("중계사", "Relay"),
    "effect": Text("결과", "Effect"),
    "difference": Text("무엇", "What"),
    "detail": Text("내용", "Detail"),
    "uses": Text("횟수", "Times"),
    "lastDay": Text("마지막", "Last"),
}
_EFFECTS = {
    "refused": Text("안 됨", "refused"),
    "different": Text("다름", "different"),
    "used": Text("사용", "used"),
}
"""What happens here, in the order of the report."""


def declare_compat(parser: argparse.ArgumentParser) -> None:
    """Declare `pabal compat`."""
    parser = add_command(
        add_group(parser),
        "report",
        _report,
        "거절했거나 다르게 처리한 것을 보여 줍니다. 본문과 번호는 들어 있지 않습니다.",
        "Show what was refused or done differently. It contains no texts and no numbers.",
    )
    add_option(parser, "--account", "계정의 이름", "the account's name", required=True)
    days = (
        f"며칠 동안의 것, {RETENTION_DAYS}까지(기본값: 7)",
        f"of how many days, at most {RETENTION_DAYS} (default: 7)",
    )
    add_option(parser, "--days", *days, type=int, default=7)
    add_json_option(parser)


def _report(settings: Settings, given: argparse.Namespace) -> None:
    if not 1 <= given.days <= RETENTION_DAYS:
        raise CommandError(f"--days: 1부터 {RETENTION_DAYS}까지", f"--days: from 1 to {RETENTION_DAYS}")
    today = dates.day_of(WORLD.now(), settings.zone).start or 0

    async def work(store: Store) -> list[CountedDifference]:
        account_id = await find_account_id(store, given.account)
        return await store.read(compat_differences.list_since, account_id, today - (given.days - 1) * DAY)

    found = [each for each in with_store(settings, work) if each.difference in DIFFERENCE_BY_CODE]
    order = list(_EFFECTS)
    rows = sorted(found, key=lambda each: order.index(_effect_of(each)))
    print_rows(COLUMNS, [_row(each, settings) for each in rows], as_json=given.json)
    if not given.json and all(_effect_of(each) == "used" for each in found):
        calls = sum(each.uses for each in found)
        say(
            f"최근 {given.days}일의 호출 {calls:,}건에 다르게 처리한 것이 없습니다",
            f"nothing differs in {calls:,} calls of the last {given.days} days",
        )


def _effect_of(found: CountedDifference) -> str:
    difference = DIFFERENCE_BY_CODE[found.difference]
    if difference is CallDifference.CALL:
        return "used"
    return "refused" if difference.is_refused else "different"


def _row(found: CountedDifference, settings: Settings) -> list[object]:
    language, difference, effect = choose_language(), DIFFERENCE_BY_CODE[found.difference], _effect_of(found)
    known = MESSAGES.get(found.detail) if (found.kind, difference) == ("solapi", CallDifference.REFUSED) else None
    return [
        found.kind,
        Cell(effect, _EFFECTS[effect].in_language(language)),
        Cell(found.difference, difference.text.in_language(language)),
        Cell(found.detail, f"{found.detail} {known}" if known else found.detail),
        Cell(found.uses, f"{found.uses:,}"),
        dates.format_timestamp(found.last_day, settings.zone)[: len("yyyy-MM-dd")],
    ]
