"""API keys: the form of a new one, and what the pages of keys do with them."""

import re
from collections.abc import Iterable
from ipaddress import ip_network
from typing import NamedTuple

from starlette.responses import Response

from pabal.console.shell.form_fields import parse_id, require_id
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base import dates
from pabal.domain.base.codes import Code, Problem, Refused, Text
from pabal.domain.people.user import Role
from pabal.service.access.accounts import account_limits, administration
from pabal.service.access.accounts import keys as key_service
from pabal.service.access.accounts.administration import Account, ApiKey, NewCompatKey, PublicId
from pabal.service.access.accounts.keys import DEFAULT_SCOPES, SCOPES, NewKey
from pabal.settings.tables import KINDS
from pabal.world import new_api_key, new_app_key

KEYS_PATH = "/console/keys"
COMPAT_FIELDS = ("kind", "id", "secret")
"""What operators may say about a key of programs that were written for another relay."""
FIELDS = ("name", *(f"scope_{scope}" for scope in SCOPES), "expires", "allow", "rate")
_CHOOSE_KIND = Text("어느 중계사의 키인지 고르세요.", "Choose the relay that the key is for.")
MAX_NAME_CHARACTERS = 100
MAX_NETWORKS = 100
MAX_RATE = 1_000_000


class KeysPlace(NamedTuple):
    """Whose keys a form is about, and what may be done with them."""

    account: Account
    path: str
    """The page with the list of keys."""
    forms_path: str
    may_create: bool
    max_rate: int
    """The highest rate that the user may give a key; 0: any."""
    is_operators: bool
    """Whether it is the operators' page of an account, not the account's own."""


async def find_place(request: PageRequest) -> KeysPlace:
    """Return which keys a form or page is about.

    Raises Refused(NOT_FOUND).
    """
    account = request.http.path_params.get("account")
    if account is not None:
        found = await administration.get_account(request.context, require_id(account))
        path = f"/console/operate/accounts/{found.id}"
        return KeysPlace(found, path, f"{path}/keys", True, 0, is_operators=True)
    found = await administration.get_account(request.context, request.account_id)
    may_create = request.user.role is Role.OPERATOR or request.site.settings.owner_keys
    return KeysPlace(found, KEYS_PATH, KEYS_PATH, may_create, await _max_rate(request), is_operators=False)


async def _max_rate(request: PageRequest) -> int:
    """Return the highest rate that the user may give a key; 0: any.

    An owner's keys are at most as fast as the account may send, and as keys are by default.
    """
    if request.user.role is Role.OPERATOR:
        return 0
    limits = await account_limits.get_limits(request.context, request.account_id)
    rates = (request.site.settings.key_rate, limits.receivers_per_second)
    return min((rate for rate in rates if rate), default=0)


def typed_key(request: PageRequest) -> dict[str, str]:
    """Return the fields of the form of a new key as they were typed, but for the secret."""
    return {name: request.field(name) for name in (*FIELDS, *COMPAT_FIELDS)} | {"secret": ""}


def blank_key(rate: int) -> dict[str, str]:
    """Return the fields of the form of a new key as they begin."""
    scopes = {f"scope_{scope}": "1" if scope in DEFAULT_SCOPES else "" for scope in SCOPES}
    return {**dict.fromkeys((*FIELDS, *COMPAT_FIELDS), ""), **scopes, "rate": str(rate)}


def _read_new_key(request: PageRequest, max_rate: int) -> NewKey:
    """Return the key that the form describes.

    Raises Refused with every problem of the fields.
    """
    fields = typed_key(request)
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
            expires_at = dates.parse_period(fields["expires"], request.locale.zone).end
        except Refused as refused:
            problems.append(refused.problems[0]._replace(field="expires"))
        else:
            if expires_at is None or expires_at <= request.now:
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
        rate = _read_rate(fields["rate"], max_rate)
    except Refused as refused:
        problems += refused.problems
    if problems:
        raise Refused.from_problems(problems)
    return NewKey(name, scopes, allow, rate, expires_at)


def _find_replaced(keys: Iterable[ApiKey], key_id: int) -> tuple[ApiKey, NewKey]:
    """Return a key that is to be replaced, and a new one that may do the same.

    Raises Refused(NOT_FOUND) for one that is not there or revoked.
    """
    for each in keys:
        if each.id == key_id and each.revoked_at is None:
            allow = [str(network) for network in each.allow]
            return each, NewKey(each.name, sorted(each.scopes), allow, each.rate, each.expires_at)
    raise Refused(Code.NOT_FOUND)


def _read_rate(typed: str, max_rate: int) -> int:
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


def _read_compat(request: PageRequest) -> NewCompatKey | None:
    """Return the relay, id and secret of a key that the form describes; those left empty are made up here.

    None for a key of our own API. Raises Refused(INVALID_PARAMETER).
    """
    kind, public_id, secret = (request.field(name) for name in COMPAT_FIELDS)
    if kind not in (*KINDS, "") or (not kind and (public_id or secret)):
        raise Refused(Code.INVALID_PARAMETER, "kind", _CHOOSE_KIND)
    return _make_compat(request, kind, public_id, secret) if kind else None


def _make_compat(request: PageRequest, kind: str, public_id: str = "", secret: str = "") -> NewCompatKey:
    world = request.context.world
    return NewCompatKey(
        PublicId(kind, public_id or new_app_key(world)), secret or new_app_key(world), is_generated=not secret
    )


async def create_key(request: PageRequest) -> Response:
    """Create an API key and show it, once.

    Raises Refused: NOT_FOUND where only operators create keys, and what is wrong with the fields.
    """
    place = await find_place(request)
    if not place.may_create:
        raise Refused(Code.NOT_FOUND)
    new_key = _read_new_key(request, place.max_rate)
    return await _issue(request, place, new_key, _read_compat(request) if place.is_operators else None)


async def replace_key(request: PageRequest) -> Response:
    """Create a key that may do the same as another one, and show it, once; the other is revoked from there.

    Raises Refused(NOT_FOUND), also for another account's key, and where only operators create keys.
    """
    place = await find_place(request)
    if not place.may_create:
        raise Refused(Code.NOT_FOUND)
    keys, _, public_ids = await request.context.store.read(administration.get_members, place.account.id)
    known = [each for each in keys if place.is_operators or each.id not in public_ids]
    old, new_key = _find_replaced(known, _key_id(request))
    _read_rate(str(new_key.rate), place.max_rate)
    compat = _make_compat(request, public_ids[old.id].kind) if old.id in public_ids else None
    return await _issue(request, place, new_key, compat, old.id)


async def _issue(
    request: PageRequest,
    place: KeysPlace,
    new_key: NewKey,
    compat: NewCompatKey | None,
    replaced: int | None = None,
) -> Response:
    """Create a key and show it, once; the form names the newest that it has shown, so that a repeat is refused."""
    context, account = request.context, place.account
    entry = request.audit_entry("key.create", account_id=account.id)
    newest_known_id = parse_id(request.field("after")) or 0
    if compat:
        await administration.create_compat_key(context, account.id, compat, new_key, newest_known_id, entry)
    else:
        key, most = new_api_key(context.world), context.policy.max_keys
        await context.store.write(key_service.store_key, account.id, key, new_key, newest_known_id, most, entry)
    return request.render(
        "operate/secret.html",
        account=account,
        back=place.path,
        secret=compat.secret if compat else key,
        kind="key",
        name=new_key.name,
        replaced=replaced,
        revoke_path=f"{place.forms_path}/revoke",
        public_id=compat.public_id if compat else None,
    )


async def set_key_rate(request: PageRequest) -> Response:
    """Change how many requests a second a key may make."""
    place, key_id = await find_place(request), _key_id(request)
    rate = _read_rate(request.field("rate"), place.max_rate)
    audit_entry = request.audit_entry("key.rate", f"{key_id} ({rate})", account_id=place.account.id)
    await request.context.store.write(key_service.set_rate, place.account.id, key_id, rate, audit_entry)
    return request.redirect(place.path)


async def revoke_key(request: PageRequest) -> Response:
    """Revoke a key."""
    place, key_id = await find_place(request), _key_id(request)
    audit_entry = request.audit_entry("key.revoke", str(key_id), account_id=place.account.id)
    await request.context.store.write(key_service.revoke, place.account.id, key_id, audit_entry)
    return request.redirect(place.path)


def _key_id(request: PageRequest) -> int:
    return parse_id(request.field("key")) or 0
