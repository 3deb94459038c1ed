"""Commands that map sender profiles and templates to those of other relays."""

import argparse
from typing import Any

from pabal.cli.shared.command import audit_entry, find_account_id, make_context, with_store
from pabal.cli.shared.language import CommandError, say
from pabal.cli.shared.options import Run, add_command, add_group, add_list, add_option
from pabal.cli.shared.table import Cell, print_rows
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.kakao.profile import parse_channel_id
from pabal.service.relay import mappings
from pabal.settings.settings import Settings
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Store
from pabal.store.kakao import profile_mappings

COLUMNS = {
    "account": Text("계정", "Account"),
    "channelId": Text("채널", "Channel"),
    "carrier": Text("발송 경로", "Carrier"),
    "templateCode": Text("템플릿", "Template"),
    "remote": Text("상대 코드", "Code there"),
    "origin": Text("연결", "Origin"),
    "state": Text("상태", "Status"),
}


def declare_mapping(parser: argparse.ArgumentParser) -> None:
    """Declare `pabal mapping`."""
    group = add_group(parser)
    add_list(group, _list, "모든 연결을 보여 줍니다.", "List all mappings.")
    parser = _add_change(
        group,
        "add",
        _add,
        "프로필이나 그 템플릿을 다른 중계사의 것에 연결합니다.",
        "Map a profile, or one of its templates, to another relay's.",
    )
    add_option(
        parser,
        "--code",
        "--template과 함께: 그곳의 코드(기본값: 같은 코드)",
        "with --template: its code there (default: the same)",
    )
    _add_change(
        group,
        "remove",
        _remove,
        "프로필이나 템플릿의 연결을 없앱니다.",
        "Remove the mapping of a profile, or of one template.",
    )


def _add_change(group: Any, name: str, run: Run, ko: str, en: str) -> argparse.ArgumentParser:
    parser = add_command(group, name, run, ko, en)
    add_option(
        parser, "channel", "프로필의 채널. @는 없어도 됩니다", "the channel of the profile, with or without @"
    )
    add_option(parser, "--account", "계정의 이름", "the account's name", required=True)
    add_option(parser, "--carrier", "다른 중계사의 발송 경로 이름", "the carrier of the other relay", required=True)
    add_option(
        parser,
        "--template",
        "템플릿의 코드(기본값: 프로필)",
        "the code of a template (default: the profile)",
        default="",
    )
    return parser


def _list(settings: Settings, given: argparse.Namespace) -> None:
    rows = [
        (
            account,
            channel_id,
            each.carrier,
            each.template_code or Cell(None, "-"),
            each.remote or Cell(None, "-"),
            "manual" if each.is_manual else "found",
            mappings.PROBLEMS[each.problem].en if each.problem else "usable",
        )
        for _, account, channel_id, each in with_store(
            settings, lambda store: store.read(profile_mappings.list_all)
        )
    ]
    print_rows(COLUMNS, rows, as_json=given.json)


def _add(settings: Settings, given: argparse.Namespace) -> None:
    channel_id = parse_channel_id(given.channel)
    if given.code and not given.template:
        raise CommandError("--code: --template도 주세요", "--code: give --template too")

    async def work(store: Store) -> Text | None:
        context = make_context(settings, store)
        if given.carrier not in context.relays:
            known = ", ".join(sorted(context.relays)) or "none"
            raise CommandError(
                f"--carrier {given.carrier}: 중계사가 아닙니다. 중계사: {known}",
                f"--carrier {given.carrier}: is not a relay; these are: {known}",
            )
        account_id = await find_account_id(store, given.account)
        entry = _audit_entry(given, account_id, channel_id, "mapping.add")
        try:
            if not given.template:
                await mappings.map_profile(context, account_id, channel_id, given.carrier, entry)
                return None
            code = given.code or given.template
            found = await mappings.map_template(
                context, account_id, channel_id, given.carrier, given.template, code, entry
            )
            return mappings.PROBLEMS[found.problem] if found.problem else None
        finally:
            await context.relay_of(given.carrier).close()

    problem = with_store(settings, work)
    what = Text(channel_id, channel_id)
    if given.template:
        what = Text(f"{channel_id}의 템플릿 {given.template}", f"template {given.template} of {channel_id}")
    if problem is None:
        say(f"{what.ko}을(를) {given.carrier}에 연결했습니다", f"{what.en} is mapped to {given.carrier}")
    else:
        say(
            f"{what.ko}을(를) {given.carrier}에 연결했지만 아직 쓸 수 없습니다: {problem.ko}",
            f"{what.en} is mapped to {given.carrier}, but cannot be used yet: {problem.en}",
        )


def _remove(settings: Settings, given: argparse.Namespace) -> None:
    channel_id = parse_channel_id(given.channel)

    async def work(store: Store) -> None:
        context = make_context(settings, store)
        account_id = await find_account_id(store, given.account)
        entry = _audit_entry(given, account_id, channel_id, "mapping.remove")
        try:
            await mappings.remove_mapping(context, account_id, channel_id, given.carrier, given.template, entry)
        except Refused as refused:
            if refused.code is not Code.NOT_FOUND:
                raise
            raise CommandError(
                "그런 연결이 없습니다. `pabal mapping list`를 보세요",
                "there is no such mapping; see `pabal mapping list`",
            ) from None

    with_store(settings, work)
    say(
        f"{given.template or channel_id}과(와) {given.carrier}의 연결을 끊었습니다",
        f"{given.template or channel_id} is no longer mapped to {given.carrier}",
    )


def _audit_entry(given: argparse.Namespace, account_id: int, channel_id: str, action: str) -> AuditEntry:
    target = " ".join(filter(None, (channel_id, given.carrier, given.template)))
    return audit_entry(account_id, action, target)
