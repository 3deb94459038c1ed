"""Parses the search form of the history, and lists the periods that one click chooses."""

from collections.abc import Callable
from datetime import date, timedelta
from typing import NamedTuple

from pabal.answers.statistics import Interval
from pabal.checks.body.fields import one_of
from pabal.console.shell.form_fields import FieldReader
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base import dates, identifiers
from pabal.domain.base.codes import Code, Problem, Refused, Text
from pabal.domain.content import text
from pabal.domain.kakao import profile
from pabal.domain.people import phone
from pabal.domain.sends.message import OUTCOME_BY_NUMBER, PRODUCT_BY_CODE, STATUS_BY_CODE
from pabal.service.history.timeline import MessageFilter

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
    "outcome",
)
OUTCOME_BY_CODE = {str(number): outcome for number, outcome in OUTCOME_BY_NUMBER.items()}
NUMBERS_MASKED = Text(
    "이 역할은 전화번호를 볼 수 없어 수신번호로 검색할 수 없습니다.",
    "Your role does not see phone numbers, so it cannot search by receiver.",
)
LONG_DAYS = 30
WEEK_DAYS = 7


class HistorySearch(NamedTuple):
    """The fields as typed, the filter that they make, and their problems; with problems, nothing is found."""

    typed: dict[str, str]
    message_filter: MessageFilter
    problems: list[Problem]
    before: bytes | None


def read_search(request: PageRequest) -> HistorySearch:
    """Return the search of a form; empty fields do not filter.

    Those who see masked numbers cannot search for one: what is found would tell the digits that are hidden.
    """
    typed = {field: request.field(field) for field in FIELDS}
    reader = FieldReader(typed)
    if typed["receiver"] and not request.may_see_numbers:
        typed["receiver"] = ""
        reader.problems.append(Problem(Code.INVALID_PARAMETER, "receiver", NUMBERS_MASKED))
    zone = request.locale.zone

    wanted = MessageFilter(
        request.account_id,
        receiver=reader.read("receiver", phone.parse_mobile),
        request_id=reader.read("request", _parse_id(identifiers.parse_request_id, identifiers.REQUEST_ID_BYTES)),
        message_id=reader.read("message", _parse_id(identifiers.parse_message_id, identifiers.MESSAGE_ID_BYTES)),
        product=reader.read("product", one_of(PRODUCT_BY_CODE)),
        status=reader.read("status", one_of(STATUS_BY_CODE)),
        channel_id=reader.read("channel", profile.parse_channel_id),
        sender_key=reader.read("sender_key", text.normalize),
        template_code=reader.read("template", text.normalize),
        month=reader.read("month", lambda word: dates.parse_month(word.replace("-", ""), zone)),
        requested=reader.read_period("requested_from", "requested_to", zone),
        scheduled=reader.read_period("scheduled_from", "scheduled_to", zone),
        completed=reader.read_period("completed_from", "completed_to", zone),
        outcome=reader.read("outcome", one_of(OUTCOME_BY_CODE)),
    )
    before = identifiers.parse_message_id(request.field("before"))
    return HistorySearch(typed, wanted, reader.problems, before)


def _parse_id(parse: Callable[[str], bytes | None], id_bytes: int) -> Callable[[str], bytes]:
    """Return a function that parses an id, and refuses what cannot be one."""
    digits = 2 * id_bytes

    def parse_or_refuse(word: str) -> bytes:
        found = parse(word.lower())
        if found is None:
            detail = Text(
                f"ID는 0-9, a-f로 된 {digits}자입니다.", f"An id has {digits} characters out of 0-9 and a-f."
            )
            raise Refused(Code.INVALID_PARAMETER, detail=detail)
        return found

    return parse_or_refuse


class OfferedPeriod(NamedTuple):
    """A period that one click chooses, by the word of its text."""

    word: str
    first: date
    last: date
    interval: Interval


def list_offered(today: date) -> list[OfferedPeriod]:
    """Return the periods that staff ask for most."""
    yesterday = today - timedelta(days=1)
    this_month = today.replace(day=1)
    last_month_ends = this_month - timedelta(days=1)
    return [
        OfferedPeriod("today", today, today, Interval.HOUR),
        OfferedPeriod("yesterday", yesterday, yesterday, Interval.HOUR),
        OfferedPeriod("week", today - timedelta(days=WEEK_DAYS - 1), today, Interval.DAY),
        OfferedPeriod("days", today - timedelta(days=LONG_DAYS - 1), today, Interval.DAY),
        OfferedPeriod("month", this_month, today, Interval.DAY),
        OfferedPeriod("last_month", last_month_ends.replace(day=1), last_month_ends, Interval.DAY),
        OfferedPeriod("year", today.replace(month=1, day=1), today, Interval.MONTH),
    ]
