"""What `purpose: "code"` asks of a send: few receivers, a short lifetime, no advertising."""

from collections.abc import Sequence
from typing import Any

from pabal.checks.body.fields import one_of
from pabal.checks.body.forms import Form
from pabal.domain.base.codes import Code, Problem, Refused, Text
from pabal.domain.content import advertising
from pabal.domain.sends.sending import CODE_EXPIRE_MINUTES, CODE_PURPOSE, MAX_CODE_RECEIVERS, Receiver

_NO_ADVERTISING = Text("인증번호는 광고일 수 없습니다.", "A one-time code cannot be an advertisement.")
_parse_purpose = one_of({CODE_PURPOSE: True})


def read_is_code(form: Form[Any]) -> bool:
    """Return whether a send is of one-time codes; `raise_problems` reports what does not go with that."""
    if getattr(form.body, "purpose", None) is None or not form.read_optional("purpose", _parse_purpose):
        return False
    if getattr(form.body, "adFlag", None):
        form.add(Problem(Code.INVALID_PARAMETER, "adFlag", _NO_ADVERTISING))
    count = len(form.body.receivers or ())
    if count > MAX_CODE_RECEIVERS:
        detail = Text(
            f"인증번호는 한 번에 {MAX_CODE_RECEIVERS}명까지 보낼 수 있는데 {count:,}명입니다.",
            f"The limit for one-time codes is {MAX_CODE_RECEIVERS} receivers; there are {count:,}.",
        )
        form.add(Problem(Code.TOO_MANY_RECEIVERS, "receivers", detail))
    return True


def lifetime_of(expire_minutes: int | None, *, is_code: bool) -> int | None:
    """Return the lifetime of a send in minutes, None for the default of its product."""
    return CODE_EXPIRE_MINUTES if is_code and expire_minutes is None else expire_minutes


def refuse_advertising(texts: dict[str, str | None], names: Sequence[str], receivers: Sequence[Receiver]) -> None:
    """Refuse texts, by the field that they come from, that begin as an advertisement for any receiver.

    Raises Refused(INVALID_PARAMETER) naming each.
    """
    values = [each.values for each in receivers]
    problems = [
        Problem(Code.INVALID_PARAMETER, field, _NO_ADVERTISING)
        for field, text in texts.items()
        if advertising.looks_like_ad(text, names, values)
    ]
    if problems:
        raise Refused.from_problems(problems)
