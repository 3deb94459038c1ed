"""Collects what is wrong with the parts of a brand message, by field."""

from collections.abc import Sequence

from pabal.domain.base.codes import Code, Problem, Refused, Text, at_most_characters
from pabal.domain.brand import limits
from pabal.domain.brand.message import BrandLinks
from pabal.domain.content import button, text

NO_VARIABLES = Text(
    "attachment에는 변수를 쓸 수 없습니다. content와 buttons에만 쓰세요.",
    "An attachment has no variables; use them in content and buttons.",
)
_BAD_LINK = Text("http:// 또는 https://로 시작해야 합니다.", "It must start with http:// or https://.")
_BAD_APP_LINK = Text("사용할 수 없는 주소입니다.", "This kind of link is not allowed.")


class Report:
    """The problems found so far."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def add(self, code: Code, field: str, detail: Text | None = None) -> None:
        """Add a problem."""
        self.problems.append(Problem(code, field, detail))

    def check_text(
        self, field: str, value: str | None, limit: int, line_breaks: int = 0, *, needed: bool = False
    ) -> None:
        """Check a text that has no variables."""
        if not value:
            if needed:
                self.add(Code.MISSING_PARAMETER, field)
            return
        try:
            text.check_characters(value, text.MAX_INPUT_CHARACTERS)
            clean = text.normalize(value)
            text.check_characters(clean, limit)
            check_line_breaks(clean.count("\n"), line_breaks)
        except Refused as refused:
            self.problems += [problem._replace(field=field) for problem in refused.problems]
        else:
            if "#{" in clean:
                self.add(Code.INVALID_PARAMETER, field, NO_VARIABLES)

    def check_link(self, field: str, value: str | None, *, needed: bool = False, is_app: bool = False) -> None:
        if not value:
            if needed:
                self.add(Code.MISSING_PARAMETER, field)
        elif len(value) > limits.MAX_LINK_CHARACTERS:
            self.add(Code.INVALID_PARAMETER, field, at_most_characters(limits.MAX_LINK_CHARACTERS))
        elif not button.is_allowed_start(value, "android_url" if is_app else "mobile_url"):
            self.add(Code.INVALID_PARAMETER, field, _BAD_APP_LINK if is_app else _BAD_LINK)
        elif "#{" in value:
            self.add(Code.INVALID_PARAMETER, field, NO_VARIABLES)

    def check_links(self, path: str, part: BrandLinks, *, needs_mobile: bool = False) -> None:
        """Check where a part leads."""
        self.check_link(f"{path}.linkMo", part.link_mo, needed=needs_mobile)
        self.check_link(f"{path}.linkPc", part.link_pc)
        self.check_link(f"{path}.schemeAndroid", part.scheme_android, is_app=True)
        self.check_link(f"{path}.schemeIos", part.scheme_ios, is_app=True)

    def check_amount(self, field: str, value: int | None, limit: int, *, needed: bool = False) -> None:
        """Check a number."""
        if value is None:
            if needed:
                self.add(Code.MISSING_PARAMETER, field)
        elif not 0 <= value <= limit:
            detail = Text(f"0에서 {limit:,} 사이여야 합니다.", f"It must be from 0 to {limit:,}.")
            self.add(Code.INVALID_PARAMETER, field, detail)

    def check_number(self, field: str, given: Sequence[object], low: int, high: int) -> bool:
        """Check how many there are; return whether each should be looked at."""
        if low <= len(given) <= high:
            return True
        if not given:
            self.add(Code.MISSING_PARAMETER, field)
        else:
            detail = Text(f"{low}개에서 {high}개까지 넣을 수 있습니다.", f"There must be {low} to {high}.")
            self.add(Code.INVALID_PARAMETER, field, detail)
        return False


def check_line_breaks(found: int, limit: int) -> None:
    """Raises Refused(CONTENT_TOO_LONG) for a text with too many lines."""
    if found > limit:
        detail = Text(
            f"줄바꿈은 최대 {limit}개인데 {found}개입니다.", f"At most {limit} line breaks; there are {found}."
        )
        raise Refused(Code.CONTENT_TOO_LONG, detail=detail)
