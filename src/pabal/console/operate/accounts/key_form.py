"""Parses the form of a new API key."""

import re
from collections.abc import Iterable, Mapping
from ipaddress import ip_network
from zoneinfo import ZoneInfo

from pabal.domain.base import dates
from pabal.domain.base.codes import Code, Problem, Refused, Text
from pabal.domain.base.dates import Instant
from pabal.service.access.accounts.administration import ApiKey
from pabal.service.access.keys.keys import SCOPES, NewKey

FIELDS = ("name", *(f"scope_{scope}" for scope in SCOPES), "expires", "allow", "rate")
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
