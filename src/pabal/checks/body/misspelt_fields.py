"""Unknown fields of a send that sound as if they decided when or whether it is sent: they are refused."""

import json
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from pabal.checks.body.unknown_fields import MAX_NAMED_CHARACTERS, shorten_name
from pabal.domain.base.codes import Code, Problem, Refused, Text


class Meant(NamedTuple):
    """What a caller seems to have meant, with an example."""

    name: str
    example: str


SEND_DATE = Meant("sendDate", '"sendDate": "2026-12-24 09:00"')
EXPIRE_MINUTES = Meant("expireMinutes", '"expireMinutes": 30')
DRY_RUN = Meant("Dry-Run", "Dry-Run: true")
AD_FLAG = Meant("adFlag", '"adFlag": true')
RESEND_PHONE_NUMBER = Meant("resendPhoneNumber", '"resendPhoneNumber": "02-1234-5678"')

OTHER_NAMES = {
    "scheduleddate": SEND_DATE,
    "scheduledate": SEND_DATE,
    "scheduledat": SEND_DATE,
    "scheduletime": SEND_DATE,
    "sendat": SEND_DATE,
    "sendtime": SEND_DATE,
    "senddatetime": SEND_DATE,
    "requestdate": SEND_DATE,
    "reservedate": SEND_DATE,
    "reservetime": SEND_DATE,
    "reservedtime": SEND_DATE,
    "reservationtime": SEND_DATE,
    "rdate": SEND_DATE,
    "rtime": SEND_DATE,
    "dryrun": DRY_RUN,
    "testmode": DRY_RUN,
    "testmodeyn": DRY_RUN,
    "istest": DRY_RUN,
    "expire": EXPIRE_MINUTES,
    "expireat": EXPIRE_MINUTES,
    "ttl": EXPIRE_MINUTES,
}
"""Names that other services and our own answers use, in lower case without `_` and `-`."""
OWN_NAMES = {each.name.lower(): each for each in (SEND_DATE, EXPIRE_MINUTES, AD_FLAG, RESEND_PHONE_NUMBER)}
"""Names that may be misspelt by one letter."""
TIMES = (SEND_DATE, EXPIRE_MINUTES)
"""Refused even where another sending endpoint has the field: ignored, it would send at once, or too late."""
_EMPTY_VALUES = {b"null", b"false", b'""', b"[]", b"{}"}
_NO_QUERY = Text("이 요청은 본문의 항목만 받습니다.", "This request takes fields in its body alone.")


def check_query(names: Iterable[str]) -> None:
    """Refuse parameters in the query string of a request that has none.

    Raises Refused(INVALID_PARAMETER) naming each.
    """
    problems = []
    for name in names:
        meant = _find_meant(name)
        problems.append(Problem(Code.INVALID_PARAMETER, shorten_name(name), _advise(meant) if meant else _NO_QUERY))
    if problems:
        raise Refused.from_problems(problems)


def check_body(known: Iterable[str], known_elsewhere: Iterable[str], raw: bytes) -> None:
    """Refuse a JSON object with a field that is unknown and seems to mean one that decides what is sent, and when.

    `known_elsewhere` are the fields of other sending endpoints.
    Raises Refused(INVALID_PARAMETER) naming each.
    """
    problems = []
    for name, value in _split_fields(raw).items():
        if name in known or value.strip() in _EMPTY_VALUES:
            continue
        meant = _find_meant(name)
        if meant is None or (name in known_elsewhere and meant not in TIMES):
            continue
        problems.append(Problem(Code.INVALID_PARAMETER, name, _advise(meant)))
    if problems:
        raise Refused.from_problems(problems)


def _split_fields(raw: bytes) -> dict[str, bytes]:
    """Return the fields of a JSON object with their values as they are written."""
    try:
        found = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):  # half a character in an unknown field
        return {name: json.dumps(value).encode() for name, value in json.loads(raw).items()}
    return {name: bytes(value) for name, value in found.items()}


def _find_meant(name: str) -> Meant | None:
    if len(name) > MAX_NAMED_CHARACTERS:
        return None
    spelt = name.lower().replace("_", "").replace("-", "")
    found = OTHER_NAMES.get(spelt)
    return found or next((each for own, each in OWN_NAMES.items() if _is_near(spelt, own)), None)


def _is_near(one: str, other: str) -> bool:
    """Return whether two names differ by at most one letter, or by two neighbours that changed places."""
    if abs(len(one) - len(other)) > 1:
        return False
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    rest, others = one[start:], other[start:]
    is_swapped = rest[:2] == others[1::-1] and rest[2:] == others[2:]
    return is_swapped or rest[1:] == others[1:] or rest[1:] == others or rest == others[1:]


def _advise(meant: Meant) -> Text:
    if meant is DRY_RUN:
        return Text(
            f"모의 발송은 헤더로 요청합니다: {meant.example}",
            f"A dry run is asked for by a header: {meant.example}",
        )
    return Text(f"{meant.name}로 보내세요. 예: {meant.example}", f"Use {meant.name}, such as {meant.example}")
