"""Commands that manage API keys."""

import argparse
from ipaddress import ip_network
from typing import Any

from pabal.cli.shared.account_choice import add_new_account_option, choose_account
from pabal.cli.shared.command import (
    WORLD,
    CommandError,
    add_command,
    add_group,
    add_list,
    current_actor,
    with_store,
)
from pabal.cli.shared.table import Cell, print_rows
from pabal.cli.shared.translate import print_message
from pabal.domain.base import dates
from pabal.domain.base.codes import Text
from pabal.domain.base.dates import Instant
from pabal.service.access.keys import keys
from pabal.settings.settings import Settings
from pabal.store.accounts import accounts
from pabal.store.accounts.accounts import ApiKey
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Store, Tx

COLUMNS = {
    "id": Text("ID", "ID"),
    "account": Text("계정", "Account"),
    "name": Text("이름", "Name"),
    "scopes": Text("권한", "Scopes"),
    "allow": Text("허용 주소", "Allowed from"),
    "rate": Text("속도", "Rate"),
    "created": Text("생성", "Created"),
    "lastUse": Text("마지막 사용", "Last use"),
    "state": Text("상태", "State"),
}
NEVER_USED = "never used"


def add_commands(subparsers: Any) -> None:
    """Add `key`."""
    group = add_group(subparsers, "key", "Manage API keys.")
    parser = add_command(group, "create", _create, "Create a key. It is printed only once.")
    parser.add_argument("--account", required=True, help="the account of the key")
    add_new_account_option(parser)
    parser.add_argument("--name", default="", help="what the key is for")
    parser.add_argument("--expires", help="when it expires, yyyy-MM-dd or yyyy-MM-dd HH:mm (default: never)")
    parser.add_argument(
        "--scope", action="append", choices=keys.SCOPES, help="what it may do (default: all but privacy)"
    )
    parser.add_argument("--allow", action="append", metavar="CIDR", help="network that may use it (default: any)")
    parser.add_argument("--rate", type=int, help="requests per second; 0: no limit")
    add_list(group, _list, "List all keys, without their secrets.")
    parser = add_command(group, "revoke", _revoke, "Revoke a key. It stops working within a second.")
    parser.add_argument("id", type=int, help="the key's id; see `pabal key list`")


def _create(settings: Settings, given: argparse.Namespace) -> None:
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

    def issue(tx: Tx) -> str:
        return keys.issue(
            tx,
            WORLD,
            choose_account(tx, given.account, is_new=given.new_account),
            given.name,
            scopes=given.scope or keys.DEFAULT_SCOPES,
            allow=given.allow or (),
            rate=settings.key_rate if given.rate is None else given.rate,
            expires_at=expires_at,
            actor=current_actor(),
            max_keys=settings.keys_per_account,
        )

    print(with_store(settings, lambda store: store.write(issue)))


def _expiry(spelling: str, settings: Settings) -> Instant:
    end = dates.parse_period(spelling, settings.zone).end
    if end is None or end <= WORLD.now():
        raise CommandError("--expires: must be in the future")
    return end


def _list(settings: Settings, given: argparse.Namespace) -> None:
    found = with_store(settings, lambda store: store.read(accounts.list_keys))
    print_rows(COLUMNS, [_row(key, settings) for key in found], as_json=given.json)


def _row(key: ApiKey, settings: Settings) -> list[object]:
    state = "live" if key.is_live else "revoked" if key.revoked_at is not None else "account disabled"
    if key.is_live and key.expires_at is not None:
        ends = dates.format_timestamp(key.expires_at, settings.zone)
        state = f"expired {ends}" if key.expires_at <= WORLD.now() else f"until {ends}"
    return [
        key.id,
        key.account,
        key.name,
        Cell(sorted(key.scopes), ",".join(sorted(key.scopes))),
        Cell(list(map(str, key.allow)), " ".join(map(str, key.allow)) or "any address"),
        Cell(key.rate, f"{key.rate}/s"),
        dates.format_timestamp(key.created_at, settings.zone),
        Cell(None, NEVER_USED) if key.used_at is None else dates.format_timestamp(key.used_at, settings.zone),
        state,
    ]


def _revoke(settings: Settings, given: argparse.Namespace) -> None:
    def revoke(tx: Tx) -> None:
        found = [each for each in accounts.list_keys(tx) if each.id == given.id and each.revoked_at is None]
        if not found:
            raise CommandError(f"there is no live key {given.id}; see `pabal key list`")
        entry = AuditEntry(WORLD.now(), *current_actor(), found[0].account_id, "key.revoke", str(given.id))
        keys.revoke(tx, found[0].account_id, given.id, entry)

    async def work(store: Store) -> None:
        await store.write(revoke)

    with_store(settings, work)
    print_message(f"key {given.id} is revoked")
