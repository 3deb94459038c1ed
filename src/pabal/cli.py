"""The command line: `pabal serve` runs the service, the other words manage what it knows."""

import argparse
import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import ip_network
from pathlib import Path
from typing import Any, TypeVar

from pabal import __version__, serve
from pabal.app import NotMigrated, bring_up_to_date, open_store
from pabal.config import Settings, described, load
from pabal.doctor import diagnose
from pabal.domain import phone, when
from pabal.domain.codes import Refused
from pabal.domain.template import Review
from pabal.domain.when import Instant
from pabal.service import keys, templates
from pabal.setting import BadSetting
from pabal.store import accounts, citus, profiles
from pabal.store import templates as kept_templates
from pabal.store.base import Store, StoreAway
from pabal.store.migrate import SchemaTooNew, migrate
from pabal.world import RealWorld

T = TypeVar("T")
WORLD = RealWorld()


class Stop(Exception):
    """The command cannot be done; the message says why and what to do."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    parser = _parser()
    given = parser.parse_args(argv)
    os.umask(0o077)  # what is kept is for this user alone
    if not hasattr(given, "run"):
        given.parser.print_help()
        return 2
    try:
        settings = load(file=given.config, data=given.data, **_overrides(given))
        return given.run(settings, given) or 0
    except (BadSetting, Stop, NotMigrated, SchemaTooNew, citus.NoCitus, serve.CannotServe) as no:
        print(f"pabal: {no}", file=sys.stderr)
        return 2
    except Refused as refused:
        first = refused.problems[0]
        print(f"pabal: {first.message('en')} {first.code.remedy.en}", file=sys.stderr)
        return 1
    except StoreAway as away:
        print(f"pabal: the store cannot be used ({away}); see `pabal doctor`", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("pabal", description="A messaging service that you run yourself.")
    parser.add_argument("--version", action="version", version=f"pabal {__version__}")
    parser.set_defaults(parser=parser)
    words = parser.add_subparsers(metavar="COMMAND")

    one = _command(words, "serve", _serve, "Run the service: interface and delivery in one process.")
    one.add_argument("--host", help="address to listen on (default 127.0.0.1)")
    one.add_argument("--port", type=int, help="port to listen on (default 8080)")
    one = _command(words, "migrate", _migrate, "Bring the store's schema up to date.")
    one.add_argument("--citus", action="store_true", help="then distribute its tables over the workers of Citus")
    _command(words, "settings", _settings, "List every setting, its value in force and its meaning.")
    _command(words, "doctor", _doctor, "Say what is wrong with the set-up and how to mend it.")

    group = _group(words, "key", "API keys.")
    one = _command(group, "create", _create_key, "Issue a key; it is printed once and never again.")
    one.add_argument("--account", required=True, help="whose key it is; made if new")
    one.add_argument("--name", default="", help="what it is for")
    one.add_argument("--expires", help="last moment, yyyy-MM-dd or yyyy-MM-dd HH:mm (default: never)")
    one.add_argument("--scope", action="append", choices=keys.SCOPES, help="what it may do (default: all)")
    one.add_argument("--allow", action="append", metavar="CIDR", help="network it may be used from (default: any)")
    one.add_argument("--rate", type=int, help="requests a second; 0: no limit")
    _command(group, "list", _list_keys, "List all keys, but not the keys themselves.")
    one = _command(group, "revoke", _revoke_key, "Revoke a key; it stops working within a second.")
    one.add_argument("id", type=int)

    group = _group(words, "account", "Accounts.")
    _command(group, "list", _list_accounts, "List all accounts.")
    for word, does in (
        ("disable", "Stop an account's keys; accepted messages still go out."),
        ("enable", "Let them work again."),
    ):
        one = _command(group, word, _set_account, does)
        one.add_argument("name")
        one.set_defaults(is_enabled=word == "enable")

    group = _group(words, "number", "Sender numbers that accounts have registered.")
    _command(group, "list", _list_numbers, "List all sender numbers.")
    for word, run, does in (
        ("add", _add_number, "Register a sender number."),
        ("remove", _remove_number, "Take a sender number off the list."),
    ):
        one = _command(group, word, run, does)
        one.add_argument("number")
        one.add_argument("--account", required=True)

    group = _group(words, "profile", "Sender profiles.")
    _command(group, "list", _list_profiles, "List all sender profiles.")
    for word, does in (("disable", "Put a profile out of use."), ("enable", "Put it in use again.")):
        one = _command(group, word, _set_profile, does)
        one.add_argument("id", type=int)
        one.set_defaults(is_enabled=word == "enable")

    group = _group(words, "template", "Alimtalk templates.")
    _command(group, "list", _list_templates, "List all templates.")
    for word, does in (
        ("approve", "Approve a template under review."),
        ("reject", "Reject a template under review."),
    ):
        one = _command(group, word, _review_template, does)
        one.add_argument("id", type=int)
        one.add_argument("--comment", help="the reviewer's word to the author")
        one.set_defaults(is_approved=word == "approve")
    return parser


def _group(words: Any, name: str, help: str) -> Any:
    parser = words.add_parser(name, help=help, description=help)
    parser.set_defaults(parser=parser)
    return parser.add_subparsers(metavar="COMMAND")


def _command(
    words: Any, name: str, run: Callable[[Settings, argparse.Namespace], int | None], help: str
) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = words.add_parser(name, help=help, description=help)
    parser.add_argument("--data", type=Path, metavar="DIR", help="data directory (default ./data)")
    parser.add_argument("--config", type=Path, metavar="FILE", help="TOML file with settings")
    parser.set_defaults(run=run)
    return parser


def _overrides(given: argparse.Namespace) -> dict[str, Any]:
    return {name: getattr(given, name) for name in ("host", "port") if hasattr(given, name)}


def _with_store(settings: Settings, work: Callable[[Store], Awaitable[T]]) -> T:
    """Open the store, brought up to date, do the work, close it."""

    async def run() -> T:
        store = open_store(settings, WORLD)
        try:
            await bring_up_to_date(store, settings, WORLD)
            return await work(store)
        finally:
            await store.close()

    return asyncio.run(run())


def _serve(settings: Settings, given: argparse.Namespace) -> int:
    return serve.serve(settings)


def _migrate(settings: Settings, given: argparse.Namespace) -> None:
    if given.citus and not settings.is_on_postgresql:
        raise Stop("--citus: the store must be a database of PostgreSQL with Citus; set `store` to its address")

    async def run() -> list[str]:
        store = open_store(settings, WORLD)
        try:
            done = [f"applied {name}" for name in await store.write(migrate, WORLD.now())]
            spread = await store.write(citus.distribute) if given.citus else []
            return done + [f"distributed {table}" for table in spread]
        finally:
            await store.close()

    print("\n".join(asyncio.run(run())) or "the schema is up to date")


def _settings(settings: Settings, given: argparse.Namespace) -> None:
    for name, value, meaning in described(settings):
        print(f"{name} = {value}\n    {meaning}")


def _doctor(settings: Settings, given: argparse.Namespace) -> int:
    findings = asyncio.run(diagnose(settings, WORLD))
    for finding in findings:
        print(f"{'ok   ' if finding.is_fine else 'WRONG'} {finding.what}")
        if finding.remedy:
            print(f"      {finding.remedy}")
    return 0 if all(finding.is_fine for finding in findings) else 1


def _create_key(settings: Settings, given: argparse.Namespace) -> None:
    for network in given.allow or ():
        try:
            ip_network(network)
        except ValueError as error:
            raise Stop(f"--allow {network}: {error}") from None
    if given.rate is not None and given.rate < 0:
        raise Stop("--rate: 0 or more")
    if not given.account.strip():
        raise Stop("--account: a name is needed")
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

    print(_with_store(settings, work))


def _expiry(spelling: str, settings: Settings) -> Instant:
    end = when.period(spelling, settings.zone).end
    if end is None or end <= WORLD.now():
        raise Stop("--expires: must lie ahead")
    return end


def _list_keys(settings: Settings, given: argparse.Namespace) -> None:
    async def work(store: Store) -> None:
        for key in await store.read(accounts.keys):
            state = "live" if key.is_live else "revoked" if key.revoked_at is not None else "account disabled"
            if key.is_live and key.expires_at is not None:
                ends = when.stamp(key.expires_at, settings.zone)
                state = f"expired {ends}" if key.expires_at <= WORLD.now() else f"until {ends}"
            allow = " ".join(map(str, key.allow)) or "any address"
            scopes = ",".join(sorted(key.scopes))
            made = when.stamp(key.created_at, settings.zone)
            print(f"{key.id}\t{key.account}\t{key.name}\t{scopes}\t{allow}\t{key.rate}/s\t{made}\t{state}")

    _with_store(settings, work)


def _revoke_key(settings: Settings, given: argparse.Namespace) -> None:
    async def work(store: Store) -> None:
        if not await store.write(accounts.revoke_key, given.id, WORLD.now()):
            raise Stop(f"there is no live key {given.id}; see `pabal key list`")

    _with_store(settings, work)
    print(f"key {given.id} is revoked")


def _list_accounts(settings: Settings, given: argparse.Namespace) -> None:
    async def work(store: Store) -> None:
        for account in await store.read(accounts.accounts):
            state = "enabled" if account.disabled_at is None else "disabled"
            print(f"{account.id}\t{account.name}\t{when.stamp(account.created_at, settings.zone)}\t{state}")

    _with_store(settings, work)


def _set_account(settings: Settings, given: argparse.Namespace) -> None:
    async def work(store: Store) -> None:
        at = None if given.is_enabled else WORLD.now()
        if not await store.write(accounts.set_disabled, given.name, at):
            raise Stop(f"there is no account {given.name!r}; see `pabal account list`")

    _with_store(settings, work)
    print(f"account {given.name} is {'enabled' if given.is_enabled else 'disabled'}")


def _list_numbers(settings: Settings, given: argparse.Namespace) -> None:
    async def work(store: Store) -> None:
        for account, number in await store.read(accounts.numbers):
            print(f"{account}\t{phone.hyphenated(number)}")

    _with_store(settings, work)


def _add_number(settings: Settings, given: argparse.Namespace) -> None:
    number = phone.sender(given.number)

    async def work(store: Store) -> bool:
        account_id = await _account_id(store, given.account)
        return await store.write(accounts.add_number, account_id, number, WORLD.now())

    added = _with_store(settings, work)
    print(f"{phone.hyphenated(number)} {'is' if added else 'was already'} registered for {given.account}")


def _remove_number(settings: Settings, given: argparse.Namespace) -> None:
    number = phone.sender(given.number)

    async def work(store: Store) -> None:
        account_id = await _account_id(store, given.account)
        if not await store.write(accounts.remove_number, account_id, number):
            raise Stop(f"{phone.hyphenated(number)} is not registered for {given.account}")

    _with_store(settings, work)
    print(f"{phone.hyphenated(number)} is no longer registered for {given.account}")


async def _account_id(store: Store, name: str) -> int:
    for account in await store.read(accounts.accounts):
        if account.name == name:
            return account.id
    raise Stop(f"there is no account {name!r}; see `pabal account list`")


def _list_profiles(settings: Settings, given: argparse.Namespace) -> None:
    async def work(store: Store) -> None:
        for account, each in await store.read(profiles.everyone):
            use = "in use" if each.is_enabled else "disabled"
            made = when.stamp(each.created_at, settings.zone)
            print(f"{each.id}\t{account}\t{each.channel_id}\t{each.status.word}\t{use}\t{made}")

    _with_store(settings, work)


def _set_profile(settings: Settings, given: argparse.Namespace) -> None:
    async def work(store: Store) -> None:
        if not await store.write(profiles.set_enabled, given.id, given.is_enabled, WORLD.now()):
            raise Stop(f"there is no profile {given.id}; see `pabal profile list`")

    _with_store(settings, work)
    print(f"profile {given.id} is {'in use' if given.is_enabled else 'disabled'}")


def _list_templates(settings: Settings, given: argparse.Namespace) -> None:
    async def work(store: Store) -> None:
        for each in await store.read(kept_templates.everyone):
            print(f"{each.id}\t{each.channel_id}\t{each.code}\t{each.status.word}\t{each.design.name}")

    _with_store(settings, work)


def _review_template(settings: Settings, given: argparse.Namespace) -> None:
    review = Review(given.is_approved, given.comment)

    async def work(store: Store) -> None:
        await store.write(templates.decide, given.id, review, WORLD.now())

    _with_store(settings, work)
    print(f"template {given.id} is {'approved' if given.is_approved else 'rejected'}")


if __name__ == "__main__":
    sys.exit(main())
