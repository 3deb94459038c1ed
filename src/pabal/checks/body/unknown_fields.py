"""Fields that a body does not have: each is named with the known one that it resembles, or refused."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from types import UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin

import msgspec

from pabal.domain.base.codes import Code, Problem, Refused, Text
from pabal.domain.sends.field_warning import MAX_WARNINGS, FieldWarning, WarningCode

MAX_SUGGESTIONS = 10
"""For how many unknown fields a known one is looked for: that takes longer than reading them."""
MAX_NAMED_CHARACTERS = 64
"""How much of an unknown name is repeated."""
MIN_RESEMBLANCE = 0.4
_UNKNOWN = re.compile(r"Object contains unknown field `(.*?)`(?: - at `\$([^`]*)`)?", re.DOTALL)


@lru_cache
def closed_type(kind: type[msgspec.Struct]) -> type[msgspec.Struct]:
    """Return a subtype of a body that refuses unknown fields, also in the objects within it."""
    nested = [
        (each.name, closed, msgspec.field(name=each.encode_name, **_default_of(each)))
        for each in msgspec.structs.fields(kind)
        if (closed := close_type(each.type)) is not each.type
    ]
    return msgspec.defstruct(kind.__name__, nested, bases=(kind,), kw_only=True, forbid_unknown_fields=True)


def read_unknown(error: str, place: str = "") -> FieldWarning | None:
    """Return the warning about the field that a closed type has refused; None if it refused something else."""
    found = _UNKNOWN.fullmatch(error)
    return _warning(f"{place}{found[2] or ''}".lstrip("."), found[1], None) if found else None


def find_unknown(kind: type[msgspec.Struct], fields: Mapping[str, Any]) -> list[FieldWarning]:
    """Return a warning for each unknown field, once for each name."""
    found: dict[str, FieldWarning] = {}
    for path, name, body in _walk(kind, fields, ""):
        if name not in found:
            near = _nearest(name, body) if len(found) < MAX_SUGGESTIONS else None
            found[name] = _warning(path, name, near)
            if len(found) == MAX_WARNINGS:
                break
    return list(found.values())


def _walk(
    kind: type[msgspec.Struct], fields: Mapping[str, Any], path: str
) -> Iterator[tuple[str, str, type[msgspec.Struct]]]:
    """Yield the place and name of each unknown field, and the body that it is in."""
    known = known_fields(kind)
    if not fields.keys() <= known.keys():
        for name in fields:
            if name not in known:
                yield path, name, kind
    for name, inner in known.items():
        if inner is None or name not in fields:
            continue
        value, place = fields[name], f"{path}.{name}" if path else name
        if isinstance(value, dict):
            yield from _walk(inner, value, place)
        elif isinstance(value, list):
            for index, each in enumerate(value):
                if isinstance(each, dict):
                    yield from _walk(inner, each, f"{place}[{index}]")


@lru_cache
def known_fields(kind: type[msgspec.Struct]) -> dict[str, type[msgspec.Struct] | None]:
    """Return the fields of a body by their names in JSON, each with the body that its value is made of, if any."""
    return {each.encode_name: _find_struct(each.type) for each in msgspec.structs.fields(kind)}


def _find_struct(hint: Any) -> type[msgspec.Struct] | None:
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return hint
    inner = (hint.__origin__,) if hasattr(hint, "__metadata__") else get_args(hint)
    return next((found for each in inner if (found := _find_struct(each))), None)


def close_type(hint: Any) -> Any:
    """Return a type with its bodies closed; the same object if it has none."""
    struct = _find_struct(hint)
    if struct is None:
        return hint
    if hint is struct:
        return closed_type(struct)
    if hasattr(hint, "__metadata__"):
        return close_type(hint.__origin__)
    if get_origin(hint) in (Union, UnionType):
        return Union[tuple(close_type(each) for each in get_args(hint))]  # noqa: UP007 - made of values
    return list[close_type(get_args(hint)[0])]  # type: ignore[misc]


def _default_of(field: Any) -> dict[str, Any]:
    if field.default_factory is not msgspec.NODEFAULT:
        return {"default_factory": field.default_factory}
    return {} if field.default is msgspec.NODEFAULT else {"default": field.default}


def _nearest(name: str, kind: type[msgspec.Struct]) -> str | None:
    """Return the known name that has most pairs of letters in common with an unknown one."""
    pairs = _pairs(name[:MAX_NAMED_CHARACTERS])
    likeness = {
        known: 2 * len(pairs & others) / (len(pairs) + len(others) or 1)
        for known, others in _pairs_of_fields(kind).items()
    }
    best = max(likeness, key=likeness.__getitem__, default="")
    return best if best and likeness[best] >= MIN_RESEMBLANCE else None


@lru_cache
def _pairs_of_fields(kind: type[msgspec.Struct]) -> dict[str, frozenset[str]]:
    return {name: _pairs(name) for name in known_fields(kind)}


def _pairs(name: str) -> frozenset[str]:
    """Return the pairs of neighbouring letters of a name."""
    lower = name.lower()
    return frozenset(map("".join, pairwise(lower)))


def shorten_name(name: str) -> str:
    """Return as much of an unknown name as is repeated to its caller."""
    return "".join(
        each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in name[:MAX_NAMED_CHARACTERS]
    )


def _warning(path: str, name: str, near: str | None) -> FieldWarning:
    shown = shorten_name(name)
    detail = Text(f"혹시 {near}인가요?", f"Did you mean {near}?") if near else None
    place = f"{path}." if path else ""
    return FieldWarning(WarningCode.UNKNOWN_FIELD, f"{place}{shown}", detail, f"{place}{near}" if near else "")


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
    "schedule": SEND_DATE,
    "scheduled": SEND_DATE,
    "scheduledtime": SEND_DATE,
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
OWN_NAMES_BY_LENGTH = {
    length: [own for own in OWN_NAMES if abs(len(own) - length) <= 1] for length in range(MAX_NAMED_CHARACTERS)
}
"""Names that may be misspelt by one letter, by the length of the spelling."""
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
    if found is not None:
        return found
    near = OWN_NAMES_BY_LENGTH.get(len(spelt), ())
    return next((OWN_NAMES[own] for own in near if _is_near(spelt, own)), None)


def _is_near(one: str, other: str) -> bool:
    """Return whether two names, about as long, differ by one letter or by neighbours that changed places."""
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
