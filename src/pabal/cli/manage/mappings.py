"""Commands that map sender profiles and templates to those of other relays."""

import argparse
from typing import Any

from pabal.app import build_context
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
from pabal.cli.shared.table import Cell, print_rows
from pabal.cli.shared.translate import print_message
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.kakao.profile import parse_channel_id
from pabal.service.metrics import Metrics
from pabal.service.relay import mappings
from pabal.settings.settings import Settings
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Store
from pabal.store.kakao import profile_mappings

COLUMNS = {
    "account": Text("계정", "Account"),
    "channelId": Text("채널", "Channel"),
    "carrier": Text("통신사", "Carrier"),
    "templateCode": Text("템플릿", "Template"),
    "remote": Text("상대 코드", "Code there"),
    "origin": Text("연결", "Origin"),
    "state": Text("상태", "Status"),
}


def add_commands(subparsers: Any) -> None:
    """Add `mapping`."""
    group = add_group(subparsers, "mapping", "Map sender profiles and templates to those of other relays.")
    add_list(group, _list, "List all mappings.")
    parser = _add_change(group, "add", _add, "Map a profile, or one of its templates, to another relay's.")
    parser.add_argument("--code", help="with --template: its code there (default: the same)")
    _add_change(group, "remove", _remove, "Remove the mapping of a profile, or of one template.")


def _add_change(group: Any, name: str, run: Any, help: str) -> Any:
    parser = add_command(group, name, run, help)
    parser.add_argument("channel", help="the channel of the profile, with or without @")
    parser.add_argument("--account", required=True, help="the account's name")
    parser.add_argument("--carrier", required=True, help="the carrier of the other relay")
    parser.add_argument("--template", default="", help="the code of a template (default: the profile)")
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
        raise CommandError("--code: give --template too")

    async def work(store: Store) -> str | None:
        context = build_context(settings, store, WORLD, Metrics())
        if given.carrier not in context.relays:
            known = ", ".join(sorted(context.relays)) or "none"
            raise CommandError(f"--carrier {given.carrier}: is not a relay; these are: {known}")
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
            return mappings.PROBLEMS[found.problem].en if found.problem else None
        finally:
            await context.relay_of(given.carrier).close()

    problem = with_store(settings, work)
    what = f"template {given.template} of {channel_id}" if given.template else channel_id
    print_message(f"{what} is mapped to {given.carrier}{f', but cannot be used yet: {problem}' if problem else ''}")


def _remove(settings: Settings, given: argparse.Namespace) -> None:
    channel_id = parse_channel_id(given.channel)

    async def work(store: Store) -> None:
        context = build_context(settings, store, WORLD, Metrics())
        account_id = await find_account_id(store, given.account)
        entry = _audit_entry(given, account_id, channel_id, "mapping.remove")
        try:
            await mappings.remove_mapping(context, account_id, channel_id, given.carrier, given.template, entry)
        except Refused as refused:
            if refused.code is not Code.NOT_FOUND:
                raise
            raise CommandError("there is no such mapping; see `pabal mapping list`") from None

    with_store(settings, work)
    print_message(f"{given.template or channel_id} is no longer mapped to {given.carrier}")


def _audit_entry(given: argparse.Namespace, account_id: int, channel_id: str, action: str) -> AuditEntry:
    target = " ".join(filter(None, (channel_id, given.carrier, given.template)))
    return AuditEntry(WORLD.now(), *current_actor(), account_id, action, target)
