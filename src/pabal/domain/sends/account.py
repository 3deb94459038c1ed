"""What is set for an account: its limits, its reseller codes, and how its users send in the console."""

import re
from collections.abc import Mapping
from typing import NamedTuple
from zoneinfo import ZoneInfo

from pabal.domain.base import dates
from pabal.domain.base.codes import Code, LabelledEnum, Problem, Refused, Text
from pabal.domain.base.dates import Instant, Period

MAX_LIMIT = 10**12
"""Highest value of a limit; a higher one is a slip of the pen."""
MAX_DUPLICATE_MINUTES = 7 * 24 * 60
FULL_PERCENT = 100
"""The last percentage of a limit that was reported to its account."""


class Limit(LabelledEnum):
    """The limits of an account; `code` is the name of the stored value."""

    PER_SECOND = ("receivers_per_second", Text("초당 수신자", "Receivers per second"))
    PER_DAY = ("receivers_per_day", Text("하루 수신자", "Receivers per day"))
    PER_MONTH = ("receivers_per_month", Text("한 달 수신자", "Receivers per month"))
    BUDGET = ("budget_per_month", Text("한 달 예산(원)", "Budget per month (won)"))

    def period(self, at: Instant, zone: ZoneInfo) -> Period:
        """Return the day or month that an instant is counted in."""
        return dates.day_of(at, zone) if self is Limit.PER_DAY else dates.month_of(at, zone)


LIMIT_BY_CODE = {limit.code: limit for limit in Limit}
QUOTAS = (Limit.PER_DAY, Limit.PER_MONTH, Limit.BUDGET)
"""The limits that are counted in a period; the rate is a token bucket."""


class AccountLimits(NamedTuple):
    """The limits of an account; 0: none."""

    receivers_per_second: int = 0
    receivers_per_day: int = 0
    receivers_per_month: int = 0
    budget_per_month: int = 0
    """In won."""
    duplicate_minutes: int | None = None
    """For how long the same text to the same number is a duplicate; None: as the setting says."""

    def get(self, limit: Limit) -> int:
        """Return the value of one limit."""
        return int(getattr(self, limit.code))

    @property
    def has_any(self) -> bool:
        """Whether anything is limited."""
        return any(self[:4])


NO_LIMITS = AccountLimits()


def near_share(used: int, limit: int, near_percent: int) -> int:
    """Return the percentage that `used` has reached: the whole, else `near_percent`, else 0."""
    return next((share for share in (FULL_PERCENT, near_percent) if used * 100 >= limit * share), 0)


MAX_APPROVAL_RECEIVERS = 1_000_000_000


class SendPreferences(NamedTuple):
    """The choices of an account; the API is not affected by them."""

    upgrades_to_lms: bool = False
    """Whether a text that is too long for an SMS becomes an LMS by itself, which is shown before it is sent."""
    fallback_number: str = ""
    """The sender number of the fallback that an Alimtalk has by default; empty: none."""
    approval_receivers: int = 0
    """Sends to more receivers than this need the approval of a second user; 0: none do."""


NO_PREFERENCES = SendPreferences()


def approval_threshold(own: int, operators: int) -> int:
    """Return above how many receivers approval is needed: the lower of the two that are set; 0: never."""
    return min((each for each in (own, operators) if each), default=0)


MAX_RESELLER_CODE_CHARACTERS = 100
_ORIGIN_CODE = re.compile(r"[0-9]{9}", re.ASCII)
_RESELLER_CODE = re.compile(rf"[!-~]{{1,{MAX_RESELLER_CODE_CHARACTERS}}}", re.ASCII)
BAD_ORIGIN_CODE = Text(
    "특수부가통신사업자 등록증의 등록번호에서 기호, 문자, 공백을 뺀 숫자 9자리여야 합니다.",
    "It must be the nine digits of the reseller's registration number, without signs, letters and spaces.",
)
BAD_RESELLER_CODE = Text(
    f"공백 없는 영문자, 숫자, 기호 {MAX_RESELLER_CODE_CHARACTERS}자 이내여야 합니다.",
    f"It must have at most {MAX_RESELLER_CODE_CHARACTERS} Latin letters, digits and signs, without spaces.",
)


class SenderCodes(NamedTuple):
    """Which reseller sends the messages of an account or of a carrier; None: it has no such code."""

    origin_code: str | None = None
    """The registration number of a reseller of texts."""
    reseller_code: str | None = None
    """The relay's code of a reseller of brand messages."""

    def or_else(self, others: "SenderCodes") -> "SenderCodes":
        """Return these codes, and others where there is none."""
        return SenderCodes(self.origin_code or others.origin_code, self.reseller_code or others.reseller_code)


NO_CODES = SenderCodes()


def parse_codes(typed: Mapping[str, str]) -> SenderCodes:
    """Return the codes that were typed; an empty one is none.

    Raises Refused(INVALID_PARAMETER) with every problem.
    """
    given = {name: typed[name].strip() or None for name in SenderCodes._fields}
    problems = []
    for name, form, detail in (
        ("origin_code", _ORIGIN_CODE, BAD_ORIGIN_CODE),
        ("reseller_code", _RESELLER_CODE, BAD_RESELLER_CODE),
    ):
        value = given[name]
        if value is not None and not form.fullmatch(value):
            problems.append(Problem(Code.INVALID_PARAMETER, name, detail))
    if problems:
        raise Refused.from_problems(problems)
    return SenderCodes(**given)
