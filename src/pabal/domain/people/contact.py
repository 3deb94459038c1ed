"""Contacts of an address book: a number, a name, and fields whose values fill in variables."""

import re
import unicodedata
from collections.abc import Mapping
from typing import NamedTuple

from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.base.dates import Instant
from pabal.domain.content import text
from pabal.domain.people import phone

MAX_NAME_CHARACTERS = 60
MAX_FIELDS = 20
"""Fields that the contacts of an account may have, beside number and name."""
MAX_FIELD_NAME_CHARACTERS = 30
MAX_VALUE_CHARACTERS = 200
MAX_GROUPS = 1000
"""Groups of an account."""
MAX_GROUP_NAME_CHARACTERS = 60
NAME_FIELD = "이름"
"""The variable that the name of a contact fills in; `name` does the same."""
NAME_FIELDS = (NAME_FIELD, "name")
TAIL_DIGITS = 4
"""People look for a number by its last digits."""
_MIN_PREFIX_DIGITS = 5
_NO_DIGITS = re.compile(r"[\s().+-]+")
_PHONE_DIGITS = (9, 10)
"""Digits of a stored number, which has no leading zero."""


class Contact(NamedTuple):
    """A person in the address book of an account."""

    id: int
    phone: str
    name: str
    fields: Mapping[str, str]
    created_at: Instant
    changed_at: Instant


class ContactEntry(NamedTuple):
    """A contact as it is typed or imported."""

    phone: str
    name: str = ""
    fields: Mapping[str, str] = {}


class ContactGroup(NamedTuple):
    """A group of contacts, and how many it has."""

    id: int
    name: str
    contacts: int


class ContactSearch(NamedTuple):
    """What a search looks for; at most one of them is given, and none finds all."""

    name_key: bytes = b""
    """How the key of the name begins."""
    phone: int | None = None
    tail: int | None = None
    """The last digits of the number."""
    phone_ranges: tuple[tuple[int, int], ...] = ()
    """Numbers that begin with the digits that were typed."""


def parse_search(typed: str) -> ContactSearch:
    """Return the search for what was typed: a number, its first or last digits, or the beginning of a name."""
    digits = _NO_DIGITS.sub("", typed)
    if not digits.isascii() or not digits.isdigit():
        return ContactSearch(name_key=make_name_key(typed))
    if len(digits) == TAIL_DIGITS:
        return ContactSearch(tail=int(digits))
    try:
        return ContactSearch(phone=int(phone.parse_mobile(digits)))
    except Refused:
        pass
    if len(digits) < _MIN_PREFIX_DIGITS or not digits.startswith("0") or len(digits) > max(_PHONE_DIGITS):
        return ContactSearch(name_key=make_name_key(typed))
    stored = digits[1:]
    ranges = ((size - len(stored), int(stored)) for size in _PHONE_DIGITS if size >= len(stored))
    return ContactSearch(
        phone_ranges=tuple((start * 10**rest, (start + 1) * 10**rest - 1) for rest, start in ranges)
    )


def make_name_key(name: str) -> bytes:
    """Return how a name is searched and sorted: without case and blanks, in the order of its bytes."""
    return "".join(unicodedata.normalize("NFC", name).casefold().split()).encode()


def parse_contact(number: str, name: str, fields: Mapping[str, str]) -> ContactEntry:
    """Return a contact whose texts are normalized; fields without a value are left out.

    Raises Refused: INVALID_PHONE_NUMBER, INVALID_PARAMETER, UNSUPPORTED_CHARACTER.
    """
    return ContactEntry(
        phone.parse_mobile(number),
        _parse_text(name, MAX_NAME_CHARACTERS, "name"),
        {
            field: value
            for field, given in fields.items()
            if (value := _parse_text(given, MAX_VALUE_CHARACTERS, field))
        },
    )


def parse_field_name(given: str) -> str:
    """Return the name of a field.

    Raises Refused(INVALID_PARAMETER) for one that is empty, too long, or cannot be that of a variable.
    """
    name = _parse_text(given, MAX_FIELD_NAME_CHARACTERS, "field")
    if not name or "{" in name or "}" in name or "\n" in name or name in NAME_FIELDS:
        detail = Text(
            f"열 이름으로 쓸 수 없습니다: {name or '(빈 이름)'}", f"This cannot be the name of a field: {name}"
        )
        raise Refused(Code.INVALID_PARAMETER, "field", detail)
    return name


def parse_group_name(given: str) -> str:
    """Return the name of a group.

    Raises Refused: MISSING_PARAMETER, INVALID_PARAMETER.
    """
    name = _parse_text(given, MAX_GROUP_NAME_CHARACTERS, "group")
    if not name:
        raise Refused(Code.MISSING_PARAMETER, "group")
    return name


def values_of(contact: ContactEntry | Contact) -> dict[str, str]:
    """Return what fills in variables: the fields, and the name."""
    return {**dict.fromkeys(NAME_FIELDS, contact.name), **contact.fields}


def _parse_text(given: str, limit: int, field: str) -> str:
    normalized = " ".join(text.normalize(given).split())
    if len(normalized) > limit:
        detail = Text(
            f"{limit}자까지 쓸 수 있는데 {len(normalized)}자입니다.",
            f"It has {len(normalized)} characters; the limit is {limit}.",
        )
        raise Refused(Code.INVALID_PARAMETER, field, detail)
    return normalized
