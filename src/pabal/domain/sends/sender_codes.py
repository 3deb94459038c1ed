"""The codes that tell a relay which reseller sends a message."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from pabal.domain.base.codes import Code, Problem, Refused, Text

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
