"""The command that shows and sets the limits of an account."""

import argparse
from typing import Any

from pabal.cli.shared.command import WORLD, CommandError, add_command, current_actor, with_store
from pabal.domain.base.codes import Refused
from pabal.domain.sends.limits import AccountLimits
from pabal.service.access.accounts import account_limits
from pabal.settings.settings import Settings
from pabal.store.accounts import account_limits as limit_store
from pabal.store.accounts import accounts
from pabal.store.engine.base import Store

_HELP = {
    "receivers_per_second": "receivers that it may send to per second; 0: no limit",
    "receivers_per_day": "receivers per day; 0: no limit",
    "receivers_per_month": "receivers per month; 0: no limit",
    "budget_per_month": "what its messages may cost per month, in won; 0: no limit",
    "duplicate_minutes": "for how long the same text to the same number is a duplicate; 0: off;"
    " default: as the setting says",
}


def add_limit_command(group: Any) -> None:
    """Add `limit` to the commands of accounts."""
    parser = add_command(group, "limit", _limit, "Show the limits of an account, or set those that are given.")
    parser.add_argument("name", help="the account's name")
    for name, help in _HELP.items():
        parser.add_argument(f"--{name.replace('_', '-')}", metavar="N", help=help)


def _limit(settings: Settings, given: argparse.Namespace) -> None:
    async def work(store: Store) -> AccountLimits:
        account = next((each for each in await store.read(accounts.list_accounts) if each.name == given.name), None)
        if account is None:
            raise CommandError(f"there is no account {given.name!r}; see `pabal account list`")
        limits = await store.read(limit_store.get, account.id)
        typed = {name: getattr(given, name) for name in _HELP}
        if any(value is not None for value in typed.values()):
            limits = _parse(limits, typed)
            await store.write(account_limits.set_limits, account.id, limits, current_actor(), WORLD.now())
        return limits

    for name, value in with_store(settings, work)._asdict().items():
        print(f"{name}\t{'default' if value is None else value or 'none'}")


def _parse(limits: AccountLimits, typed: dict[str, str | None]) -> AccountLimits:
    """Return the limits with those replaced that were given."""
    spelled = {name: "" if value is None else str(value) for name, value in limits._asdict().items()}
    for name, value in typed.items():
        if value is not None:
            spelled[name] = "" if value == "default" else value
    try:
        return account_limits.parse_limits(spelled)
    except Refused as refused:
        problem = refused.problems[0]
        assert problem.detail is not None
        raise CommandError(f"--{problem.field.replace('_', '-')}: {problem.detail.en}") from None
