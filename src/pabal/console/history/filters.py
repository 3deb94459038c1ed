"""Parses the search form of the history."""

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeVar

from pabal.checks.choices import one_of
from pabal.checks.locale import Locale
from pabal.domain import dates, identifiers, phone, profile, text
from pabal.domain.codes import Code, Problem, Refused, Text
from pabal.domain.dates import Period
from pabal.domain.message import PRODUCT_BY_CODE, STATUS_BY_CODE
from pabal.service.history.timeline import MessageFilter

T = TypeVar("T")

PERIODS = ("requested", "scheduled", "completed")
FIELDS = (
    "receiver",
    "product",
    "status",
    *(f"{period}_{side}" for period in PERIODS for side in ("from", "to")),
    "month",
    "request",
    "message",
    "channel",
    "sender_key",
    "template",
)
EXTRA_FIELDS = FIELDS[3 + 2 :]
"""Fields that are collapsed unless one of them is used."""
NUMBERS_MASKED = Text(
    "이 역할은 전화번호를 볼 수 없어 수신번호로 검색할 수 없습니다.",
    "Your role does not see phone numbers, so it cannot search by receiver.",
)


class HistorySearch(NamedTuple):
    """The fields as typed, the filter that they make, and their problems; without a filter, nothing is found."""

    typed: dict[str, str]
    message_filter: MessageFilter | None
    problems: list[Problem]
    before: bytes | None

    @property
    def has_extra_fields(self) -> bool:
        """Whether a collapsed field is used."""
        return any(self.typed[field] for field in EXTRA_FIELDS)


def read_search(
    fields: Mapping[str, str], account_id: int, speech: Locale, *, may_see_numbers: bool
) -> HistorySearch:
    """Return the search of a form; empty fields do not filter.

    Those who see masked numbers cannot search for one: what is found would tell the digits that are hidden.
    """
    typed = {field: fields.get(field, "").strip() for field in FIELDS}
    problems: list[Problem] = []
    if typed["receiver"] and not may_see_numbers:
        typed["receiver"] = ""
        problems.append(Problem(Code.INVALID_PARAMETER, "receiver", NUMBERS_MASKED))
    zone = speech.zone

    def parsed(field: str, parse: Callable[[str], T]) -> T | None:
        if not typed[field]:
            return None
        try:
            return parse(typed[field])
        except Refused as refused:
            problems.append(refused.problems[0]._replace(field=field))
            return None

    def period(name: str) -> Period | None:
        first, last = typed[f"{name}_from"], typed[f"{name}_to"]
        if not first and not last:
            return None
        try:
            return dates.parse_period(f"{_spaced(first)}~{_spaced(last)}", zone)
        except Refused as refused:
            problems.append(refused.problems[0]._replace(field=f"{name}_from"))
            return None

    wanted = MessageFilter(
        account_id,
        receiver=parsed("receiver", phone.parse_mobile),
        request_id=parsed("request", lambda word: identifiers.parse_request_id(word.lower()) or b""),
        message_id=parsed("message", lambda word: identifiers.parse_message_id(word.lower()) or b""),
        product=parsed("product", one_of(PRODUCT_BY_CODE)),
        status=parsed("status", one_of(STATUS_BY_CODE)),
        channel_id=parsed("channel", profile.parse_channel_id),
        sender_key=parsed("sender_key", text.normalize),
        template_code=parsed("template", text.normalize),
        month=parsed("month", lambda word: dates.parse_month(word.replace("-", ""), zone)),
        requested=period("requested"),
        scheduled=period("scheduled"),
        completed=period("completed"),
    )
    is_impossible = b"" in (wanted.request_id, wanted.message_id)
    before = identifiers.parse_message_id(fields.get("before", ""))
    return HistorySearch(typed, None if problems or is_impossible else wanted, problems, before)


def _spaced(word: str) -> str:
    """Return a time in the format of the API; browsers put a T between date and time."""
    return word.replace("T", " ")
