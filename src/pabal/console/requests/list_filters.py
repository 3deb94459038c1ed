"""Parses the filters of the list of what was sent."""

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar
from urllib.parse import urlencode

from pabal.checks.body.fields import one_of
from pabal.checks.body.locale import Locale
from pabal.domain.base import dates
from pabal.domain.base.codes import Problem, Refused
from pabal.domain.base.dates import Period
from pabal.domain.sends.message import PRODUCT_BY_CODE
from pabal.service.sending.campaigns.progress import SENT_STATE_BY_CODE, SentFilter

T = TypeVar("T")

FIELDS = ("words", "kind", "state", "what", "from", "to")
MAX_WORDS_CHARACTERS = 80
WHATS = {"campaign": True, "request": False}


class ListSearch(NamedTuple):
    """The fields as typed, the filter that they make, and their problems."""

    typed: dict[str, str]
    wanted: SentFilter
    problems: list[Problem]

    @property
    def is_used(self) -> bool:
        """Whether anything is filtered by."""
        return any(self.typed.values())

    def url(self, path: str, **more: str) -> str:
        """Return an address of the list with the same filters."""
        fields = {name: value for name, value in (*self.typed.items(), *more.items()) if value}
        return f"{path}?{urlencode(fields)}" if fields else path


def read_list_search(fields: Mapping[str, str], locale: Locale) -> ListSearch:
    """Return the filters of a form; empty fields do not filter, and one with a problem does not either."""
    typed = {name: fields.get(name, "").strip()[:MAX_WORDS_CHARACTERS] for name in FIELDS}
    problems: list[Problem] = []

    def parsed(name: str, parse: Callable[[str], T]) -> T | None:
        try:
            return parse(typed[name]) if typed[name] else None
        except Refused as refused:
            problems.append(refused.problems[0]._replace(field=name))
            return None

    period: Period | None = None
    if typed["from"] or typed["to"]:
        try:
            period = dates.parse_period(f"{typed['from']}~{typed['to']}", locale.zone)
        except Refused as refused:
            problems.append(refused.problems[0]._replace(field="from"))
    wanted = SentFilter(
        product=parsed("kind", one_of(PRODUCT_BY_CODE)),
        state=parsed("state", one_of(SENT_STATE_BY_CODE)),
        words=typed["words"],
        period=period,
        is_campaign=parsed("what", one_of(WHATS)),
    )
    return ListSearch(typed, wanted, problems)
