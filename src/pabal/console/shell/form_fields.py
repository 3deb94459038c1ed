"""Fields that several pages have: ids, pages, what was ticked and in which tab; and the URLs that name fields."""

import re
from collections.abc import Callable, Mapping
from typing import TypeVar
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from pabal.console.shell.page_request import PageRequest
from pabal.domain.base import dates
from pabal.domain.base.codes import Code, Problem, Refused, require
from pabal.domain.base.dates import Period
from pabal.service.access.users.sign_in import new_secret

T = TypeVar("T")

MAX_ID_DIGITS = 18
CONTACT, GROUP = "c", "g"
_TICKED = {letter: re.compile(rf"{letter}([0-9]{{1,{MAX_ID_DIGITS}}})", re.ASCII) for letter in (CONTACT, GROUP)}
TAB_FIELD = "tab"
TAB_ID_CHARACTERS = 16
_TAB_ID = re.compile(rf"[0-9a-f]{{{TAB_ID_CHARACTERS}}}", re.ASCII)


def parse_id(word: str) -> int | None:
    """Return an id, None for what cannot be one."""
    return int(word) if word.isascii() and word.isdigit() and len(word) <= MAX_ID_DIGITS else None


def require_id(word: str) -> int:
    """Return an id.

    Raises Refused(NOT_FOUND) for what cannot be one.
    """
    return require(parse_id(word))


def require_field(request: PageRequest, name: str) -> str:
    """Return a field without surrounding blanks.

    Raises Refused(MISSING_PARAMETER) for an empty one.
    """
    if not request.field(name):
        raise Refused(Code.MISSING_PARAMETER, name)
    return request.field(name)


class FieldReader:
    """Reads fields that may be empty, and collects what is wrong with them."""

    def __init__(self, typed: Mapping[str, str]) -> None:
        self._typed = typed
        self.problems: list[Problem] = []

    def read(self, name: str, parse: Callable[[str], T]) -> T | None:
        """Return a field, parsed; None where it is empty or wrong."""
        return self._parse(name, self._typed[name], parse)

    def read_period(self, first: str, last: str, zone: ZoneInfo) -> Period | None:
        """Return the period from one field to another; what is wrong with it is that of the first."""
        ends = [self._typed[name].replace("T", " ") for name in (first, last)]  # as browsers write minutes
        given = "~".join(ends) if any(ends) else ""
        return self._parse(first, given, lambda spelling: dates.parse_period(spelling, zone))

    def _parse(self, name: str, given: str, parse: Callable[[str], T]) -> T | None:
        try:
            return parse(given) if given else None
        except Refused as refused:
            self.problems.append(refused.problems[0]._replace(field=name))
            return None


def page_number(request: PageRequest, most: int) -> int:
    """Return the page of a list that is asked for, from 1 to `most`; 1 where that is no number."""
    return min(parse_id(request.field("page")) or 1, most)


def page_url(path: str, fields: Mapping[str, str]) -> str:
    """Return the URL of a page, with those fields that have a value."""
    given = {name: value for name, value in fields.items() if value}
    return f"{path}?{urlencode(given)}" if given else path


def ticked_ids(fields: Mapping[str, str], letter: str) -> list[int]:
    """Return the ids of contacts or groups that were ticked."""
    found = (_TICKED[letter].fullmatch(name) for name, value in fields.items() if value)
    return [int(each[1]) for each in found if each]


def tab_id(request: PageRequest) -> str:
    """Return the id of the tab that a request comes from; empty: it has none."""
    given = request.field(TAB_FIELD)
    return given if _TAB_ID.fullmatch(given) else ""


def new_tab_id(request: PageRequest) -> str:
    """Return the id of a tab that is opened."""
    return new_secret(request.context.world)[:TAB_ID_CHARACTERS]
