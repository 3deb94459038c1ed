"""The commands that manage what the service knows: keys, accounts, numbers, profiles and templates."""

import argparse
from ipaddress import ip_network
from typing import Any

from pabal.app import build_context
from pabal.cli.command import WORLD, CommandError, add_command, add_group, with_store
from pabal.domain import dates, phone
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
from pabal.store import templates as kept_templates
from pabal.store.engine.base import Store


def add_commands(subparsers: Any) -> None:
    """Declare the commands of this file."""
    inner = add_group(subparsers, "key", "API keys.")
    one = add_command(inner, "create", _create_key, "Issue a key; it is printed once and never again.")
    one.add_argument("--account", required=True, help="whose key it is; made if new")
    one.add_argument("--name", default="", help="what it is for")
    one.add_argument("--expires", help="last moment, yyyy-MM-dd or yyyy-MM-dd HH:mm (default: never)")
    one.add_argument("--scope", action="append", choices=keys.SCOPES, help="what it may do (default: all)")
    one.add_argument("--allow", action="append", metavar="CIDR", help="network it may be used from (default: any)")
    one.add_argument("--rate", type=int, help="requests a second; 0: no limit")
    add_command(inner, "list", _list_keys, "List all keys, but not the keys themselves.")
    one = add_command(inner, "revoke", _revoke_key, "Revoke a key; it stops working within a second.")
    one.add_argument("id", type=int)

    inner = add_group(subparsers, "account", "Accounts.")
    add_command(inner, "list", _list_accounts, "List all accounts.")
    for word, does in (
        ("disable", "Stop an account's keys; accepted messages still go out."),
        ("enable", "Let them work again."),
    ):
        one = add_command(inner, word, _set_account, does)
        one.add_argument("name")
        one.set_defaults(is_enabled=word == "enable")

    inner = add_group(subparsers, "number", "Sender numbers that accounts have registered.")
    add_command(inner, "list", _list_numbers, "List all sender numbers.")
    for word, run, does in (
        ("add", _add_number, "Register a sender number."),
        ("remove", _remove_number, "Take a sender number off the list."),
    ):
        one = add_command(inner, word, run, does)
        one.add_argument("number")
        one.add_argument("--account", required=True)

    inner = add_group(subparsers, "profile", "Sender profiles.")
    add_command(inner, "list", _list_profiles, "List all sender profiles.")
    for word, does in (("disable", "Put a profile out of use."), ("enable", "Put it in use again.")):
        one = add_command(inner, word, _set_profile, does)
        one.add_argument("id", type=int)
        one.set_defaults(is_enabled=word == "enable")
    one = add_command(
        inner, "adopt", _adopt_profile, "Give an account a profile that a carrier's relay has already."
    )
    one.add_argument("channel", help="search id of its channel, with or without @")
    one.add_argument("--account", required=True)
    one.add_argument("--carrier", help="whose relay has it (default: the only one there is)")

    inner = add_group(subparsers, "template", "Alimtalk templates.")
    add_command(inner, "list", _list_templates, "List all templates.")
    for word, does in (
        ("approve", "Approve a template under review."),
        ("reject", "Reject a template under review."),
    ):
        one = add_command(inner, word, _review_template, does)
        one.add_argument("id", type=int)
        one.add_argument("--comment", help="the reviewer's word to the author")
        one.set_defaults(is_approved=word == "approve")


def _create_key(settings: Settings, given: argparse.Namespace) -> None:
    for network in given.allow or ():
        try:
            ip_network(network)
        except ValueError as error:
            raise CommandError(f"--allow {network}: {error}") from None
    if given.rate is not None and given.rate < 0:
        raise CommandError("--rate: 0 or more")
    if not given.account.strip():
        raise CommandError("--account: a name is needed")
    expires_at = _expiry(given.expires, settings) if given.expires else None

    async def work(store: Store) -> str:
        return await store.write(
            keys.issue,
            WORLD,
            given.account.strip(),
            given.name,
            scopes=given.scope or keys.SCOPES,
            allow=given.allow or (),
            rate=settings.key_rate if given.rate is None else given.rate,
            expires_at=expires_at,
        )

    print(with_store(settings, work))


def _expiry(spelling: str, settings: Settings) -> Instant:
    end = dates.parse_period(spelling, settings.zone).end
    if end is None or end <= WORLD.now():
        raise CommandError("--expires: must lie ahead")
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
            made = dates.format_timestamp(key.created_at, settings.zone)
            print(f"{key.id}\t{key.account}\t{key.name}\t{scopes}\t{allow}\t{key.rate}/s\t{made}\t{state}")

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


def _list_numbers(settings: Settings, given: argparse.Namespace) -> None:
    async def work(store: Store) -> None:
        for account, number in await store.read(accounts.list_numbers):
            print(f"{account}\t{phone.hyphenate(number)}")

    with_store(settings, work)


def _add_number(settings: Settings, given: argparse.Namespace) -> None:
    number = phone.parse_sender(given.number)

    async def work(store: Store) -> bool:
        account_id = await _account_id(store, given.account)
        return await store.write(accounts.add_number, account_id, number, WORLD.now())

    added = with_store(settings, work)
    print(f"{phone.hyphenate(number)} {'is' if added else 'was already'} registered for {given.account}")


def _remove_number(settings: Settings, given: argparse.Namespace) -> None:
    number = phone.parse_sender(given.number)

    async def work(store: Store) -> None:
        account_id = await _account_id(store, given.account)
        if not await store.write(accounts.remove_number, account_id, number):
            raise CommandError(f"{phone.hyphenate(number)} is not registered for {given.account}")

    with_store(settings, work)
    print(f"{phone.hyphenate(number)} is no longer registered for {given.account}")


async def _account_id(store: Store, name: str) -> int:
    for account in await store.read(accounts.list_accounts):
        if account.name == name:
            return account.id
    raise CommandError(f"there is no account {name!r}; see `pabal account list`")


def _list_profiles(settings: Settings, given: argparse.Namespace) -> None:
    async def work(store: Store) -> None:
        for account, each in await store.read(profiles.list_all):
            use = _use(each.is_enabled, each.suspension)
            made = dates.format_timestamp(each.created_at, settings.zone)
            place = f"\t{each.carrier}" if each.carrier else ""
            print(f"{each.id}\t{account}\t{each.channel_id}\t{each.status.word}\t{use}\t{made}{place}")

    with_store(settings, work)


def _use(is_enabled: bool, bar: Suspension | None) -> str:
    """Return whether something is in use, and if not, why."""
    if not is_enabled:
        return "disabled"
    return f"out of use ({bar.word}): {bar.label.en}" if bar else "in use"


def _adopt_profile(settings: Settings, given: argparse.Namespace) -> None:
    channel_id = parse_channel_id(given.channel)

    async def work(store: Store) -> Profile:
        context = build_context(settings, store, WORLD, Metrics())
        carrier = _relay_named(given.carrier, context)
        try:
            return await adopt(context, await _account_id(store, given.account), carrier, channel_id)
        finally:
            await context.relay_of(carrier).close()

    profile = with_store(settings, work)
    print(f"{profile.channel_id} is profile {profile.id} of {given.account}; its templates follow within a minute")


def _relay_named(name: str | None, context: Context) -> str:
    known = sorted(context.relays)
    if not known:
        raise CommandError('no carrier of the settings keeps profiles: kind = "nhncloud" with a talk_app_key does')
    if name is not None and name not in known:
        raise CommandError(f"--carrier {name}: keeps no profiles; these do: {', '.join(known)}")
    if name is None and len(known) > 1:
        raise CommandError(f"--carrier: several keep profiles, name one: {', '.join(known)}")
    return name or known[0]


def _set_profile(settings: Settings, given: argparse.Namespace) -> None:
    async def work(store: Store) -> None:
        if not await store.write(profiles.set_enabled, given.id, given.is_enabled, WORLD.now()):
            raise CommandError(f"there is no profile {given.id}; see `pabal profile list`")

    with_store(settings, work)
    print(f"profile {given.id} is {'in use' if given.is_enabled else 'disabled'}")


def _list_templates(settings: Settings, given: argparse.Namespace) -> None:
    async def work(store: Store) -> None:
        for each in await store.read(kept_templates.list_all):
            use = _use(each.is_enabled, each.suspension)
            print(f"{each.id}\t{each.channel_id}\t{each.code}\t{each.status.word}\t{each.latest.name}\t{use}")

    with_store(settings, work)


def _review_template(settings: Settings, given: argparse.Namespace) -> None:
    review = ReviewDecision(given.is_approved, given.comment)

    async def work(store: Store) -> None:
        await store.write(templates.decide_review, given.id, review, WORLD.now())

    with_store(settings, work)
    print(f"template {given.id} is {'approved' if given.is_approved else 'rejected'}")
