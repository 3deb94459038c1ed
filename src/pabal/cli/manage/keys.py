"""`pabal key` and `pabal compat`: API keys, and how calls with those for other relays differ here."""

import argparse
import sys
from ipaddress import ip_network

from pabal.cli.shared.command import (
    WORLD,
    add_new_account_option,
    audit_entry,
    choose_account,
    current_actor,
    find_account_id,
    with_store,
)
from pabal.cli.shared.language import CommandError, say
from pabal.cli.shared.options import CommandParser
from pabal.cli.shared.table import Cell, print_rows
from pabal.compat.differences import DIFFERENCE_BY_CODE, CallDifference
from pabal.compat.solapi.codes import MESSAGES
from pabal.domain.base import dates
from pabal.domain.base.codes import Text
from pabal.domain.base.dates import DAY, Instant
from pabal.service.access.accounts import keys
from pabal.service.access.accounts.compat_keys import SIGNING_KINDS, issue_compat_key, issue_secretless_key
from pabal.service.access.accounts.keys import NewKey
from pabal.settings.environment import choose_language
from pabal.settings.settings import Settings
from pabal.settings.tables import KINDS
from pabal.store.accounts import accounts, compat_differences, compat_keys
from pabal.store.accounts.accounts import ApiKey
from pabal.store.accounts.compat_differences import RETENTION_DAYS, CountedDifference
from pabal.store.accounts.compat_keys import PublicId
from pabal.store.engine.base import Store, Tx
from pabal.webhooks.secrets import SecretBox
from pabal.world import new_app_key

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
    "kind": Text("중계사", "Relay"),
    "publicId": Text("프로그램의 API 키", "Programs' API key"),
}
NEVER_USED = "never used"


def declare_key(group: CommandParser) -> None:
    """Declare `pabal key`."""
    parser = group.add_command(
        "create", _create, "키를 만듭니다. 한 번만 출력합니다.", "Create a key. It is printed only once."
    )
    parser.add_option("--account", "키의 계정", "the account of the key", required=True)
    add_new_account_option(parser)
    parser.add_option("--name", "키의 용도", "what the key is for", default="")
    parser.add_option(
        "--expires",
        "만료 시각, yyyy-MM-dd 또는 yyyy-MM-dd HH:mm(기본값: 없음)",
        "when it expires, yyyy-MM-dd or yyyy-MM-dd HH:mm (default: never)",
    )
    parser.add_option(
        "--scope",
        "권한(기본값: privacy를 뺀 전부)",
        "what it may do (default: all but privacy)",
        action="append",
        choices=keys.SCOPES,
    )
    parser.add_option(
        "--allow CIDR",
        "사용할 수 있는 네트워크(기본값: 모두)",
        "network that may use it (default: any)",
        action="append",
    )
    _declare_compat_key(parser)
    parser.add_option("--rate", "초당 요청 수. 0은 제한 없음", "requests per second; 0: no limit", type=int)
    group.add_list(_list, "모든 키를 비밀 값 없이 보여 줍니다.", "List all keys, without their secrets.")
    parser = group.add_command(
        "revoke",
        _revoke,
        "키를 폐기합니다. 1초 안에 동작을 멈춥니다.",
        "Revoke a key. It stops working within a second.",
    )
    parser.add_option("id", "키의 ID. `pabal key list`를 보세요", "the key's id; see `pabal key list`", type=int)


def _declare_compat_key(parser: CommandParser) -> None:
    """Declare what a key for programs that were written for another relay has besides."""
    parser.add_option(
        "--kind",
        "이 중계사의 API로 만든 프로그램이 쓸 키. solapi는 --id와 --secret도 주세요. nhncloud는 주지 않은 것을"
        " 만들어 출력합니다",
        "for programs that were written for this relay's API; solapi needs --id and --secret, of nhncloud what is"
        " not given is made and printed",
        choices=KINDS,
    )
    parser.add_option(
        "--id ID", "그 프로그램이 쓰는 API 키 또는 앱키", "the API key or app key that these programs have"
    )
    parser.add_option(
        "--secret",
        "그 프로그램이 쓰는 비밀 값. -이면 표준 입력의 첫 줄",
        "the secret that these programs have; - for the first line of standard input",
    )
    parser.add_flag(
        "--without-secret",
        "nhncloud: 시크릿 키가 없는 v3.0 이전 SMS API에 쓸 키. 만들어 출력하는 앱키가 곧 비밀 값입니다",
        "nhncloud: for SMS before v3.0, which has no secret key: the app key that is made is the secret",
    )


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

    rate = settings.key_rate if given.rate is None else given.rate
    new_key = NewKey(given.name, given.scope or keys.DEFAULT_SCOPES, given.allow or (), rate, expires_at)
    chosen, actor, most = _read_compat_key(given), current_actor(), settings.keys_per_account

    def issue(tx: Tx) -> str:
        account = choose_account(tx, given.account, is_new=given.new_account)
        if chosen is None:
            return keys.issue(tx, WORLD, account, new_key, actor=actor, max_keys=most)
        public_id, secret, is_generated = chosen
        if secret is None:
            return issue_secretless_key(tx, WORLD, account, new_key, public_id.kind, actor=actor, max_keys=most)
        box = SecretBox(settings.read_secret_keys(), WORLD)
        made = (account, new_key, public_id, secret)
        issue_compat_key(tx, WORLD, box, *made, is_generated=is_generated, actor=actor, max_keys=most)
        return f"{public_id.public_id}\n{secret}" if is_generated else public_id.public_id

    print(with_store(settings, lambda store: store.write(issue), may_create=True))


def _read_compat_key(given: argparse.Namespace) -> tuple[PublicId, str | None, bool] | None:
    """Return the id and the secret that an operator has chosen, or new ones, and whether they are new.

    None: for a key of our own; as the secret: the id is the secret, made when the key is. Raises CommandError.
    """
    if given.kind is None:
        if given.id is not None or given.secret is not None or given.without_secret:
            raise CommandError(
                "--id, --secret, --without-secret은 --kind와 함께 주세요",
                "--id, --secret and --without-secret go with --kind",
            )
        return None
    if given.kind in SIGNING_KINDS and (given.id is None or given.secret is None or given.without_secret):
        raise CommandError(
            f"--kind {given.kind}: --id와 --secret을 주세요", f"--kind {given.kind}: give --id and --secret"
        )
    if given.without_secret:
        if given.id is not None or given.secret is not None:
            raise CommandError(
                "--without-secret: 앱키를 새로 만듭니다. --id와 --secret을 빼세요",
                "--without-secret: the app key is made; leave out --id and --secret",
            )
        return PublicId(given.kind, ""), None, True
    public_id = PublicId(given.kind, new_app_key(WORLD) if given.id is None else given.id)
    if given.secret is None:
        return public_id, new_app_key(WORLD), True
    secret = sys.stdin.readline().rstrip("\n") if given.secret == "-" else given.secret
    return public_id, secret, False


def _expiry(spelling: str, settings: Settings) -> Instant:
    end = dates.parse_period(spelling, settings.zone).end
    if end is None or end <= WORLD.now():
        raise CommandError("--expires: 앞으로의 시각이어야 합니다", "--expires: must be in the future")
    return end


def _list(settings: Settings, given: argparse.Namespace) -> None:
    def read(tx: Tx) -> list[tuple[ApiKey, PublicId | None]]:
        found = accounts.list_keys(tx)
        public_ids = compat_keys.list_public_ids(tx, [each.id for each in found])
        return [(each, public_ids.get(each.id)) for each in found]

    found = with_store(settings, lambda store: store.read(read))
    print_rows(COLUMNS, [_row(*each, settings) for each in found], as_json=given.json)


def _row(key: ApiKey, public_id: PublicId | None, settings: Settings) -> list[object]:
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
        Cell(public_id.kind if public_id else None, public_id.kind if public_id else ""),
        _public_id(public_id),
    ]


def _public_id(found: PublicId | None) -> Cell:
    """Return the id that callers send; none where it is the secret."""
    is_shown = found is not None and not found.is_hidden
    return Cell(found.public_id, found.public_id) if found and is_shown else Cell(None, "hidden" if found else "")


def _revoke(settings: Settings, given: argparse.Namespace) -> None:
    def revoke(tx: Tx) -> None:
        found = [each for each in accounts.list_keys(tx) if each.id == given.id and each.revoked_at is None]
        if not found:
            raise CommandError(
                f"쓸 수 있는 키 {given.id}이(가) 없습니다. `pabal key list`를 보세요",
                f"there is no live key {given.id}; see `pabal key list`",
            )
        entry = audit_entry(found[0].account_id, "key.revoke", str(given.id))
        keys.revoke(tx, found[0].account_id, given.id, entry)

    async def work(store: Store) -> None:
        await store.write(revoke)

    with_store(settings, work)
    say(f"키 {given.id}을(를) 폐기했습니다", f"key {given.id} is revoked")


DIFFERENCE_COLUMNS = {
    "kind": Text("중계사", "Relay"),
    "effect": Text("결과", "Effect"),
    "difference": Text("무엇", "What"),
    "detail": Text("내용", "Detail"),
    "uses": Text("횟수", "Times"),
    "lastDay": Text("마지막", "Last"),
}
_EFFECTS = {
    "refused": Text("안 됨", "refused"),
    "different": Text("다름", "different"),
    "used": Text("사용", "used"),
}
"""What happens here, in the order of the report."""


def declare_compat(group: CommandParser) -> None:
    """Declare `pabal compat`."""
    parser = group.add_command(
        "report",
        _report_differences,
        "거절했거나 다르게 처리한 것을 보여 줍니다. 본문과 번호는 들어 있지 않습니다.",
        "Show what was refused or done differently. It contains no texts and no numbers.",
    )
    parser.add_option("--account", "계정의 이름", "the account's name", required=True)
    days = (
        f"며칠 동안의 것, {RETENTION_DAYS}까지(기본값: 7)",
        f"of how many days, at most {RETENTION_DAYS} (default: 7)",
    )
    parser.add_option("--days", *days, type=int, default=7)
    parser.add_json_flag()


def _report_differences(settings: Settings, given: argparse.Namespace) -> None:
    if not 1 <= given.days <= RETENTION_DAYS:
        raise CommandError(f"--days: 1부터 {RETENTION_DAYS}까지", f"--days: from 1 to {RETENTION_DAYS}")
    today = dates.day_of(WORLD.now(), settings.zone).start or 0

    async def work(store: Store) -> list[CountedDifference]:
        account_id = await find_account_id(store, given.account)
        return await store.read(compat_differences.list_since, account_id, today - (given.days - 1) * DAY)

    found = [each for each in with_store(settings, work) if each.difference in DIFFERENCE_BY_CODE]
    order = list(_EFFECTS)
    rows = sorted(found, key=lambda each: order.index(_effect_of(each)))
    print_rows(DIFFERENCE_COLUMNS, [_difference_row(each, settings) for each in rows], as_json=given.json)
    if not given.json and all(_effect_of(each) == "used" for each in found):
        calls = sum(each.uses for each in found)
        say(
            f"최근 {given.days}일의 호출 {calls:,}건에 다르게 처리한 것이 없습니다",
            f"nothing differs in {calls:,} calls of the last {given.days} days",
        )


def _effect_of(found: CountedDifference) -> str:
    difference = DIFFERENCE_BY_CODE[found.difference]
    if difference is CallDifference.CALL:
        return "used"
    return "refused" if difference.is_refused else "different"


def _difference_row(found: CountedDifference, settings: Settings) -> list[object]:
    language, difference, effect = choose_language(), DIFFERENCE_BY_CODE[found.difference], _effect_of(found)
    known = MESSAGES.get(found.detail) if (found.kind, difference) == ("solapi", CallDifference.REFUSED) else None
    return [
        found.kind,
        Cell(effect, _EFFECTS[effect].in_language(language)),
        Cell(found.difference, difference.text.in_language(language)),
        Cell(found.detail, f"{found.detail} {known}" if known else found.detail),
        Cell(found.uses, f"{found.uses:,}"),
        dates.format_timestamp(found.last_day, settings.zone)[: len("yyyy-MM-dd")],
    ]
