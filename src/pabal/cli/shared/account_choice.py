"""The account that a command names: one that exists, or a new one where that is said."""

import argparse

from pabal.cli.shared.command import WORLD, CommandError, current_actor
from pabal.service.access.accounts import accounts
from pabal.settings.field import suggest
from pabal.store.accounts import accounts as account_store
from pabal.store.engine.base import Tx


def add_new_account_option(parser: argparse.ArgumentParser) -> None:
    """Add `--new-account`."""
    parser.add_argument("--new-account", action="store_true", help="create the account, which must not exist yet")


def choose_account(tx: Tx, name: str, *, is_new: bool) -> str:
    """Return the name of an account as it is stored; create it if that was said, or if it is the first of a store.

    A typing error must not create an account. Raises CommandError, and Refused for a name that cannot be used.
    """
    name = accounts.parse_name(name)
    known = [each.name for each in account_store.list_accounts(tx)]
    if name in known:
        if is_new:
            raise CommandError(
                f"--new-account: there is an account {name!r} already; leave out --new-account to use it"
            )
        return name
    if known and not is_new:
        raise CommandError(f"there is no account {name!r}{suggest(name, known, ';')} --new-account creates it")
    accounts.create(tx, name, current_actor(), WORLD.now())
    return name
