"""API keys: the form of a new one, and what the pages of keys do with them."""

import re
from collections.abc import Iterable, Mapping
from ipaddress import ip_network
from typing import NamedTuple
from zoneinfo import ZoneInfo

from starlette.responses import Response

from pabal.console.operate.accounts import find_account, render_account
from pabal.console.shell.form_fields import parse_id
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base import dates
from pabal.domain.base.codes import Code, Problem, Refused, Text
from pabal.domain.base.dates import Instant
from pabal.service.access.accounts import administration
from pabal.service.access.accounts.administration import Account, ApiKey, NewCompatKey, PublicId
from pabal.service.access.accounts.keys import SCOPES, NewKey
from pabal.settings.tables import KINDS
from pabal.world import new_api_key, new_app_key

COMPAT_FIELDS = ("kind", "id", "secret")
"""What operators may say about a key of programs that were written for another relay."""
FIELDS = ("name", *(f"scope_{scope}" for scope in SCOPES), "expires", "allow", "rate")
_CHOOSE_KIND = Text("어느 중계사의 키인지 고르세요.", "Choose the relay that the key is for.")
MAX_NAME_CHARACTERS = 100
MAX_NETWORKS = 100
MAX_RATE = 1_000_000


def read_new_key(fields: Mapping[str, str], now: Instant, zone: ZoneInfo, max_rate: int = 0) -> NewKey:
    """Return the key that the fields describe; `max_rate` is the highest rate that it may have, 0: any.

    Raises Refused with every problem of the fields.
    """
    problems: list[Problem] = []

    def add_problem(field: str, ko: str, en: str) -> None:
        problems.append(Problem(Code.INVALID_PARAMETER, field, Text(ko, en)))

    name = fields["name"]
    if len(name) > MAX_NAME_CHARACTERS:
        add_problem(
            "name", f"{MAX_NAME_CHARACTERS}자까지 입력할 수 있습니다.", f"At most {MAX_NAME_CHARACTERS} characters."
        )
    scopes = [scope for scope in SCOPES if fields[f"scope_{scope}"]]
    if not scopes:
        add_problem("scope", "하나 이상 선택하세요.", "Choose at least one.")
    expires_at = None
    if fields["expires"]:
        try:
            expires_at = dates.parse_period(fields["expires"], zone).end
        except Refused as refused:
            problems.append(refused.problems[0]._replace(field="expires"))
        else:
            if expires_at is None or expires_at <= now:
                add_problem("expires", "오늘 또는 이후 날짜를 입력하세요.", "Enter today or a later date.")
    allow = [network for network in re.split(r"[\s,]+", fields["allow"]) if network]
    if len(allow) > MAX_NETWORKS:
        add_problem("allow", f"{MAX_NETWORKS}개까지 입력할 수 있습니다.", f"At most {MAX_NETWORKS}.")
    elif invalid := [network for network in allow if not _is_network(network)]:
        add_problem(
            "allow",
            f"IP 주소나 대역이 아닙니다: {invalid[0][:50]}. 192.0.2.7이나 192.0.2.0/24처럼 입력하세요.",
            f"Not an IP address or network: {invalid[0][:50]}. Write 192.0.2.7 or 192.0.2.0/24.",
        )
    rate = 0
    try:
        rate = read_rate(fields["rate"], max_rate)
    except Refused as refused:
        problems += refused.problems
    if problems:
        raise Refused.from_problems(problems)
    return NewKey(name, scopes, allow, rate, expires_at)


def find_replaced(keys: Iterable[ApiKey], key_id: int) -> tuple[ApiKey, NewKey]:
    """Return a key that is to be replaced, and a new one that may do the same.

    Raises Refused(NOT_FOUND) for one that is not there or revoked.
    """
    for each in keys:
        if each.id == key_id and each.revoked_at is None:
            allow = [str(network) for network in each.allow]
            return each, NewKey(each.name, sorted(each.scopes), allow, each.rate, each.expires_at)
    raise Refused(Code.NOT_FOUND)


def read_rate(typed: str, max_rate: int = 0) -> int:
    """Return a rate, 0 for none; with `max_rate`, there must be one, and it may not be higher.

    Raises Refused(INVALID_PARAMETER).
    """
    least, most = (1, min(max_rate, MAX_RATE)) if max_rate else (0, MAX_RATE)
    if not (typed.isascii() and typed.isdigit() and len(typed) < 10 and least <= int(typed) <= most):
        detail = Text(f"{least}부터 {most}까지의 숫자를 입력하세요.", f"Enter a number from {least} to {most}.")
        raise Refused(Code.INVALID_PARAMETER, "rate", detail)
    return int(typed)


def _is_network(network: str) -> bool:
    try:
        ip_network(network)
    except ValueError:
        return False
    return True


class Replaced(NamedTuple):
    """The key that a new one replaces, and where it is revoked."""

    id: int
    revoke_path: str


def show_new_key(
    request: PageRequest,
    account: Account,
    back: str,
    secret: str,
    name: str,
    replaced: Replaced | None = None,
    public_id: PublicId | None = None,
) -> Response:
    """Show a new API key, once; the one that it replaces is revoked from there."""
    return request.render(
        "operate/secret.html",
        account=account,
        back=back,
        secret=secret,
        kind="key",
        name=name,
        replaced=replaced,
        public_id=public_id,
    )


def read_compat(request: PageRequest) -> NewCompatKey | None:
    """Return the relay, id and secret of a key that the form describes; those left empty are made up here.

    None for a key of our own API. Raises Refused(INVALID_PARAMETER).
    """
    kind, public_id, secret = (request.field(name).strip() for name in COMPAT_FIELDS)
    if not kind:
        if public_id or secret:
            raise Refused(Code.INVALID_PARAMETER, "kind", _CHOOSE_KIND)
        return None
    if kind not in KINDS:
        raise Refused(Code.INVALID_PARAMETER, "kind", _CHOOSE_KIND)
    return _make_compat(request, kind, public_id, secret)


def _make_compat(request: PageRequest, kind: str, public_id: str = "", secret: str = "") -> NewCompatKey:
    world = request.context.world
    return NewCompatKey(
        PublicId(kind, public_id or new_app_key(world)), secret or new_app_key(world), is_generated=not secret
    )


async def issue_compat_key(
    request: PageRequest, account: Account, compat: NewCompatKey, new_key: NewKey, replaced: Replaced | None = None
) -> Response:
    """Create a key of programs that were written for another relay, and show its id and secret, once.

    Raises Refused.
    """
    entry = request.audit_entry("key.create", account_id=account.id)
    newest_known_id = parse_id(request.field("after")) or 0
    await administration.create_compat_key(request.context, account.id, compat, new_key, newest_known_id, entry)
    back = f"/console/operate/accounts/{account.id}"
    return show_new_key(request, account, back, compat.secret, new_key.name, replaced, compat.public_id)


async def issue_key(request: PageRequest, account_id: int, new_key: NewKey) -> str:
    """Create a key and return it; the form names the newest that it has shown, so that a repeat is refused.

    Raises Refused.
    """
    key, newest_known_id = new_api_key(request.context.world), parse_id(request.field("after")) or 0
    audit_entry = request.audit_entry("key.create", account_id=account_id)
    await administration.create_key(request.context, account_id, key, new_key, newest_known_id, audit_entry)
    return key


async def create_key(request: PageRequest) -> Response:
    """Create an API key and show it, once."""
    account = await find_account(request)
    typed = {name: request.field(name) for name in (*FIELDS, *COMPAT_FIELDS)}
    try:
        new_key = read_new_key(typed, request.now, request.locale.zone)
        compat = read_compat(request)
        if compat:
            return await issue_compat_key(request, account, compat, new_key)
        key = await issue_key(request, account.id, new_key)
    except Refused as refused:
        typed["secret"] = ""
        return await render_account(request, account, key_fields=typed, refused=refused)
    back = f"/console/operate/accounts/{account.id}"
    return show_new_key(request, account, back, key, new_key.name)


async def replace_key(request: PageRequest) -> Response:
    """Create a key that may do the same as another one, and show it, once; the other is revoked from there."""
    account = await find_account(request)
    members = await administration.get_members(request.context, account.id)
    old, new_key = find_replaced(members.keys, parse_id(request.field("key")) or 0)
    back = f"/console/operate/accounts/{account.id}"
    replaced = Replaced(old.id, f"{back}/keys/revoke")
    known = members.public_ids.get(old.id)
    try:
        if known:
            return await issue_compat_key(request, account, _make_compat(request, known.kind), new_key, replaced)
        key = await issue_key(request, account.id, new_key)
    except Refused as refused:
        return await render_account(request, account, refused=refused)
    return show_new_key(request, account, back, key, old.name, replaced)


async def set_key_rate(request: PageRequest) -> Response:
    """Change how many requests a second a key may make."""
    account = await find_account(request)
    key_id, rate = parse_id(request.field("key")) or 0, read_rate(request.field("rate"))
    audit_entry = request.audit_entry("key.rate", f"{key_id} ({rate})", account_id=account.id)
    await administration.set_key_rate(request.context, account.id, key_id, rate, audit_entry)
    return request.redirect(f"/console/operate/accounts/{account.id}")


async def revoke_key(request: PageRequest) -> Response:
    """Revoke a key."""
    account = await find_account(request)
    key_id = parse_id(request.field("key")) or 0
    audit_entry = request.audit_entry("key.revoke", str(key_id), account_id=account.id)
    await administration.revoke_key(request.context, account.id, key_id, audit_entry)
    return request.redirect(f"/console/operate/accounts/{account.id}")
