"""Commands that manage keys, accounts, profiles and templates."""

import argparse
from ipaddress import ip_network
from typing import Any

from pabal.app import build_context
from pabal.cli.command import WORLD, CommandError, add_command, add_group, find_account_id, printable, with_store
from pabal.cli.limits import add_limit_command
from pabal.cli.numbers import add_opt_out_command
from pabal.domain import dates
from pabal.domain.dates import Instant
from pabal.domain.profile import Profile, parse_channel_id
from pabal.domain.suspension import Suspension
from pabal.domain.template import ReviewDecision
from pabal.service.access import keys
from pabal.service.context import Context
from pabal.service.metrics import Metrics
from pabal.service.relay import templates
from pabal.service.relay.profiles import adopt
from pabal.settings.settings import Settings
from pabal.store import accounts, profiles
from pabal.store import templates as template_store
from pabal.store.engine.base import Store


def add_commands(subparsers: Any) -> None:
    """Add `key`, `account`, `profile` and `template`."""
    _add_key_commands(add_group(subparsers, "key", "Manage API keys."))
    _add_account_commands(add_group(subparsers, "account", "Manage accounts."))
    _add_profile_commands(add_group(subparsers, "profile", "Manage sender profiles."))
    _add_template_commands(add_group(subparsers, "template", "Manage Alimtalk templates."))


def _add_key_commands(group: Any) -> None:
    parser = add_command(group, "create", _create_key, "Create a key. It is printed only once.")
    parser.add_argument("--account", required=True, help="the account of the key; created if it does not exist")
    parser.add_argument("--name", default="", help="what the key is for")
    parser.add_argument("--expires", help="when it expires, yyyy-MM-dd or yyyy-MM-dd HH:mm (default: never)")
    parser.add_argument(
        "--scope", action="append", choices=keys.SCOPES, help="what it may do (default: all but privacy)"
    )
    parser.add_argument("--allow", action="append", metavar="CIDR", help="network that may use it (default: any)")
    parser.add_argument("--rate", type=int, help="requests per second; 0: no limit")
    add_command(group, "list", _list_keys, "List all keys, without their secrets.")
    parser = add_command(group, "revoke", _revoke_key, "Revoke a key. It stops working within a second.")
    parser.add_argument("id", type=int, help="the key's id; see `pabal key list`")


def _add_account_commands(group: Any) -> None:
    add_command(group, "list", _list_accounts, "List all accounts.")
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
    add_command(group, "list", _list_profiles, "List all sender profiles.")
    for name, help in (("disable", "Disable a profile."), ("enable", "Enable a profile again.")):
        parser = add_command(group, name, _set_profile, help)
        parser.add_argument("id", type=int, help="the profile's id; see `pabal profile list`")
        parser.set_defaults(is_enabled=name == "enable")
    parser = add_command(group, "adopt", _adopt_profile, "Give an account a profile that a relay already has.")
    parser.add_argument("channel", help="search id of its channel, with or without @")
    parser.add_argument("--account", required=True, help="the account's name")
    parser.add_argument("--carrier", help="the relay that has the profile (default: the only relay)")


def _add_template_commands(group: Any) -> None:
    add_command(group, "list", _list_templates, "List all templates.")
    for name, help in (
        ("approve", "Approve a template that is under review."),
        ("reject", "Reject a template that is under review."),
    ):
        parser = add_command(group, name, _review_template, help)
        parser.add_argument("id", type=int, help="the template's id; see `pabal template list`")
        parser.add_argument("--comment", help="the reviewer's comment to the author")
        parser.set_defaults(is_approved=name == "approve")


def _create_key(settings: Settings, given: argparse.Namespace) -> None:
    for network in given.allow or ():
        try:
            ip_network(network)
        except ValueError as error:
            raise CommandError(f"--allow {network}: {error}") from None
    if given.rate is not None and given.rate < 0:
        raise CommandError("--rate: must be 0 or more")
    if not given.account.strip():
        raise CommandError("--account: must not be empty")
    expires_at = _expiry(given.expires, settings) if given.expires else None

    async def work(store: Store) -> str:
        return await store.write(
            keys.issue,
            WORLD,
            given.account.strip(),
            given.name,
            scopes=given.scope or keys.DEFAULT_SCOPES,
            allow=given.allow or (),
            rate=settings.key_rate if given.rate is None else given.rate,
            expires_at=expires_at,
        )

    print(with_store(settings, work))


def _expiry(spelling: str, settings: Settings) -> Instant:
    end = dates.parse_period(spelling, settings.zone).end
    if end is None or end <= WORLD.now():
        raise CommandError("--expires: must be in the future")
    return end


def _list_keys(settings: Settings, given: argparse.Namespace) -> None:
    async def work(store: Store) -> None:
        for key in await store.read(accounts.list_keys):
            state = "live" if key.is_live else "revoked" if key.revoked_at is not None else "account disabled"
            if key.is_live and key.expires_at is not None:
                ends = dates.format_timestamp(key.expires_at, settings.zone)
                state = f"expired {ends}" if key.expires_at <= WORLD.now() else f"until {ends}"
            allow = " ".join(map(str, key.allow)) or "any address"
            scopes = ",".join(sorted(key.scopes))
            created = dates.format_timestamp(key.created_at, settings.zone)
            print(f"{key.id}\t{key.account}\t{key.name}\t{scopes}\t{allow}\t{key.rate}/s\t{created}\t{state}")

    with_store(settings, work)


def _revoke_key(settings: Settings, given: argparse.Namespace) -> None:
    async def work(store: Store) -> None:
        if not await store.write(accounts.revoke_key, given.id, WORLD.now()):
            raise CommandError(f"there is no live key {given.id}; see `pabal key list`")

    with_store(settings, work)
    print(f"key {given.id} is revoked")


def _list_accounts(settings: Settings, given: argparse.Namespace) -> None:
    async def work(store: Store) -> None:
        for account in await store.read(accounts.list_accounts):
            state = "enabled" if account.disabled_at is None else "disabled"
            created = dates.format_timestamp(account.created_at, settings.zone)
            print(f"{account.id}\t{account.name}\t{created}\t{state}")

    with_store(settings, work)


def _set_account(settings: Settings, given: argparse.Namespace) -> None:
    async def work(store: Store) -> None:
        at = None if given.is_enabled else WORLD.now()
        if not await store.write(accounts.set_disabled, given.name, at):
            raise CommandError(f"there is no account {given.name!r}; see `pabal account list`")

    with_store(settings, work)
    print(f"account {given.name} is {'enabled' if given.is_enabled else 'disabled'}")


def _list_profiles(settings: Settings, given: argparse.Namespace) -> None:
    async def work(store: Store) -> None:
        for account, each in await store.read(profiles.list_all):
            use = _use(each.is_enabled, each.suspension)
            created = dates.format_timestamp(each.created_at, settings.zone)
            place = f"\t{each.carrier}" if each.carrier else ""
            print(f"{each.id}\t{account}\t{each.channel_id}\t{each.status.code}\t{use}\t{created}{place}")

    with_store(settings, work)


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
            return await adopt(context, await find_account_id(store, given.account), carrier, channel_id)
        finally:
            await context.relay_of(carrier).close()

    profile = with_store(settings, work)
    print(f"{profile.channel_id} is profile {profile.id} of {given.account}; its templates appear within a minute")


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
    async def work(store: Store) -> None:
        if not await store.write(profiles.set_enabled, given.id, given.is_enabled, WORLD.now()):
            raise CommandError(f"there is no profile {given.id}; see `pabal profile list`")

    with_store(settings, work)
    print(f"profile {given.id} is {'in use' if given.is_enabled else 'disabled'}")


def _list_templates(settings: Settings, given: argparse.Namespace) -> None:
    async def work(store: Store) -> None:
        for each in await store.read(template_store.list_all):
            use = _use(each.is_enabled, each.suspension)
            print(
                f"{each.id}\t{each.channel_id}\t{printable(each.code)}\t{each.status.code}\t{printable(each.latest.name)}\t{use}"
            )

    with_store(settings, work)


def _review_template(settings: Settings, given: argparse.Namespace) -> None:
    review = ReviewDecision(given.is_approved, given.comment)

    async def work(store: Store) -> None:
        await store.write(templates.decide_review, given.id, review, WORLD.now())

    with_store(settings, work)
    print(f"template {given.id} is {'approved' if given.is_approved else 'rejected'}")
