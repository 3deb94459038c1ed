"""Commands that manage API keys."""

import argparse
from ipaddress import ip_network

from pabal.cli.shared.command import WORLD, add_new_account_option, choose_account, current_actor, with_store
from pabal.cli.shared.language import CommandError, say
from pabal.cli.shared.options import add_command, add_group, add_list, add_option
from pabal.cli.shared.table import Cell, print_rows
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


def declare_key(parser: argparse.ArgumentParser) -> None:
    """Declare `pabal key`."""
    group = add_group(parser)
    parser = add_command(
        group, "create", _create, "키를 만듭니다. 한 번만 출력합니다.", "Create a key. It is printed only once."
    )
    add_option(parser, "--account", "키의 계정", "the account of the key", required=True)
    add_new_account_option(parser)
    add_option(parser, "--name", "키의 용도", "what the key is for", default="")
    add_option(
        parser,
        "--expires",
        "만료 시각, yyyy-MM-dd 또는 yyyy-MM-dd HH:mm(기본값: 없음)",
        "when it expires, yyyy-MM-dd or yyyy-MM-dd HH:mm (default: never)",
    )
    add_option(
        parser,
        "--scope",
        "권한(기본값: privacy를 뺀 전부)",
        "what it may do (default: all but privacy)",
        action="append",
        choices=keys.SCOPES,
    )
    add_option(
        parser,
        "--allow",
        "사용할 수 있는 네트워크(기본값: 모두)",
        "network that may use it (default: any)",
        action="append",
        metavar="CIDR",
    )
    add_option(parser, "--rate", "초당 요청 수. 0은 제한 없음", "requests per second; 0: no limit", type=int)
    add_list(group, _list, "모든 키를 비밀 값 없이 보여 줍니다.", "List all keys, without their secrets.")
    parser = add_command(
        group,
        "revoke",
        _revoke,
        "키를 폐기합니다. 1초 안에 동작을 멈춥니다.",
        "Revoke a key. It stops working within a second.",
    )
    add_option(parser, "id", "키의 ID. `pabal key list`를 보세요", "the key's id; see `pabal key list`", type=int)


def _create(settings: Settings, given: argparse.Namespace) -> None:
    for network in given.allow or ():
        try:
            ip_network(network)
        except ValueError as error:
            raise CommandError(f"--allow {network}: {error}", f"--allow {network}: {error}") from None
    if given.rate is not None and given.rate < 0:
        raise CommandError("--rate: 0 이상이어야 합니다", "--rate: must be 0 or more")
    if not given.account.strip():
        raise CommandError("--account: 비울 수 없습니다", "--account: must not be empty")
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

    print(with_store(settings, lambda store: store.write(issue), may_create=True))


def _expiry(spelling: str, settings: Settings) -> Instant:
    end = dates.parse_period(spelling, settings.zone).end
    if end is None or end <= WORLD.now():
        raise CommandError("--expires: 앞으로의 시각이어야 합니다", "--expires: must be in the future")
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
            raise CommandError(
                f"쓸 수 있는 키 {given.id}이(가) 없습니다. `pabal key list`를 보세요",
                f"there is no live key {given.id}; see `pabal key list`",
            )
        entry = AuditEntry(WORLD.now(), *current_actor(), found[0].account_id, "key.revoke", str(given.id))
        keys.revoke(tx, found[0].account_id, given.id, entry)

    async def work(store: Store) -> None:
        await store.write(revoke)

    with_store(settings, work)
    say(f"키 {given.id}을(를) 폐기했습니다", f"key {given.id} is revoked")
