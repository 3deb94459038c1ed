"""Commands that manage accounts, profiles and templates."""

import argparse
from typing import Any

from pabal.app import build_context
from pabal.cli.manage.limits import add_limit_command
from pabal.cli.manage.numbers import add_opt_out_command
from pabal.cli.shared.command import (
    WORLD,
    CommandError,
    add_command,
    add_group,
    add_list,
    current_actor,
    find_account_id,
    printable,
    with_store,
)
from pabal.cli.shared.table import print_rows
from pabal.cli.shared.translate import print_message
from pabal.domain.base import dates
from pabal.domain.base.codes import Text
from pabal.domain.kakao.profile import Profile, Suspension, parse_channel_id
from pabal.domain.kakao.template import ReviewDecision
from pabal.service.access.accounts import accounts as account_service
from pabal.service.context import Context
from pabal.service.metrics import Metrics
from pabal.service.relay import templates
from pabal.service.relay.profiles import adopt
from pabal.settings.settings import Settings
from pabal.store.accounts import accounts, audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Store, Tx
from pabal.store.kakao import profiles
from pabal.store.kakao import templates as template_store

_ID, _ACCOUNT, _STATUS = Text("ID", "ID"), Text("계정", "Account"), Text("상태", "Status")
_CREATED, _CHANNEL, _USE = Text("생성", "Created"), Text("채널", "Channel"), Text("사용", "Use")
ACCOUNT_COLUMNS = {"id": _ID, "name": Text("이름", "Name"), "created": _CREATED, "state": _STATUS}
PROFILE_COLUMNS = {
    "id": _ID,
    "account": _ACCOUNT,
    "channelId": _CHANNEL,
    "authStatus": _STATUS,
    "use": _USE,
    "created": _CREATED,
    "carrier": Text("통신사", "Carrier"),
}
TEMPLATE_COLUMNS = {
    "id": _ID,
    "channelId": _CHANNEL,
    "templateCode": Text("코드", "Code"),
    "status": _STATUS,
    "name": Text("이름", "Name"),
    "use": _USE,
}


def add_commands(subparsers: Any) -> None:
    """Add `account`, `profile` and `template`."""
    _add_account_commands(add_group(subparsers, "account", "Manage accounts."))
    _add_profile_commands(add_group(subparsers, "profile", "Manage sender profiles."))
    _add_template_commands(add_group(subparsers, "template", "Manage Alimtalk templates."))


def _add_account_commands(group: Any) -> None:
    add_list(group, _list_accounts, "List all accounts.")
    for name, help in (
        ("disable", "Disable the keys of an account. Accepted messages are still sent."),
        ("enable", "Enable the keys of an account again."),
    ):
        parser = add_command(group, name, _set_account, help)
        parser.add_argument("name", help="the account's name")
        parser.set_defaults(is_enabled=name == "enable")
    add_limit_command(group)
    add_opt_out_command(group)


def _add_profile_commands(group: Any) -> None:
    add_list(group, _list_profiles, "List all sender profiles.")
    for name, help in (("disable", "Disable a profile."), ("enable", "Enable a profile again.")):
        parser = add_command(group, name, _set_profile, help)
        parser.add_argument("id", type=int, help="the profile's id; see `pabal profile list`")
        parser.set_defaults(is_enabled=name == "enable")
    parser = add_command(group, "adopt", _adopt_profile, "Give an account a profile that a relay already has.")
    parser.add_argument("channel", help="search id of its channel, with or without @")
    parser.add_argument("--account", required=True, help="the account's name")
    parser.add_argument("--carrier", help="the relay that has the profile (default: the only relay)")


def _add_template_commands(group: Any) -> None:
    add_list(group, _list_templates, "List all templates.")
    for name, help in (
        ("approve", "Approve a template that is under review."),
        ("reject", "Reject a template that is under review."),
    ):
        parser = add_command(group, name, _review_template, help)
        parser.add_argument("id", type=int, help="the template's id; see `pabal template list`")
        parser.add_argument("--comment", help="the reviewer's comment to the author")
        parser.set_defaults(is_approved=name == "approve")


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
    print_rows(ACCOUNT_COLUMNS, rows, as_json=given.json)


def _set_account(settings: Settings, given: argparse.Namespace) -> None:
    async def work(store: Store) -> None:
        account_id = await find_account_id(store, given.name)
        is_disabled = not given.is_enabled
        await store.write(account_service.set_disabled, account_id, is_disabled, current_actor(), WORLD.now())

    with_store(settings, work)
    print_message(f"account {given.name} is {'enabled' if given.is_enabled else 'disabled'}")


def _list_profiles(settings: Settings, given: argparse.Namespace) -> None:
    rows = [
        (
            each.id,
            account,
            each.channel_id,
            each.status.code,
            _use(each.is_enabled, each.suspension),
            dates.format_timestamp(each.created_at, settings.zone),
            each.carrier or "",
        )
        for account, each in with_store(settings, lambda store: store.read(profiles.list_all))
    ]
    print_rows(PROFILE_COLUMNS, rows, as_json=given.json)


def _use(is_enabled: bool, bar: Suspension | None) -> str:
    """Return whether a profile or template can be used, and if not, why."""
    if not is_enabled:
        return "disabled"
    return f"out of use ({bar.code}): {bar.label.en}" if bar else "in use"


def _adopt_profile(settings: Settings, given: argparse.Namespace) -> None:
    channel_id = parse_channel_id(given.channel)

    async def work(store: Store) -> Profile:
        context = build_context(settings, store, WORLD, Metrics())
        carrier = _relay_named(given.carrier, context)
        try:
            account_id = await find_account_id(store, given.account)
            entry = AuditEntry(WORLD.now(), *current_actor(), account_id, "profile.adopt", channel_id)
            return await adopt(context, account_id, carrier, channel_id, entry)
        finally:
            await context.relay_of(carrier).close()

    profile = with_store(settings, work)
    print_message(
        f"{profile.channel_id} is profile {profile.id} of {given.account}; its templates appear within a minute"
    )


def _relay_named(name: str | None, context: Context) -> str:
    known = sorted(context.relays)
    if not known:
        raise CommandError(
            'no relay is configured: add a carrier with kind = "nhncloud" and a talk_app_key, or kind = "solapi"'
        )
    if name is not None and name not in known:
        raise CommandError(f"--carrier {name}: is not a relay; these are: {', '.join(known)}")
    if name is None and len(known) > 1:
        raise CommandError(f"--carrier: there are several relays; name one: {', '.join(known)}")
    return name or known[0]


def _set_profile(settings: Settings, given: argparse.Namespace) -> None:
    def change(tx: Tx) -> None:
        found = next((each for _, each in profiles.list_all(tx) if each.id == given.id), None)
        if found is None or not profiles.set_enabled(tx, given.id, given.is_enabled, WORLD.now()):
            raise CommandError(f"there is no profile {given.id}; see `pabal profile list`")
        action = "profile.enable" if given.is_enabled else "profile.disable"
        audit_log.add(tx, AuditEntry(WORLD.now(), *current_actor(), found.account_id, action, found.channel_id))

    with_store(settings, lambda store: store.write(change))
    print_message(f"profile {given.id} is {'in use' if given.is_enabled else 'disabled'}")


def _list_templates(settings: Settings, given: argparse.Namespace) -> None:
    rows = [
        (
            each.id,
            each.channel_id,
            printable(each.code),
            each.status.code,
            printable(each.latest.name),
            _use(each.is_enabled, each.suspension),
        )
        for each in with_store(settings, lambda store: store.read(template_store.list_all))
    ]
    print_rows(TEMPLATE_COLUMNS, rows, as_json=given.json)


def _review_template(settings: Settings, given: argparse.Namespace) -> None:
    decision = ReviewDecision(given.is_approved, given.comment)

    def review(tx: Tx) -> None:
        template = templates.decide_review(tx, given.id, decision, WORLD.now())
        action = "template.approve" if given.is_approved else "template.reject"
        audit_log.add(tx, AuditEntry(WORLD.now(), *current_actor(), template.account_id, action, template.code))

    with_store(settings, lambda store: store.write(review))
    print_message(f"template {given.id} is {'approved' if given.is_approved else 'rejected'}")
