"""One call of the interface, as its endpoint sees it."""

from typing import Any, NamedTuple

from pabal.checks.forms import Form
from pabal.checks.locale import Speech
from pabal.domain.codes import Code, Problem, Words
from pabal.domain.dates import Instant
from pabal.service.context import Context
from pabal.service.sending.accept import Repeatable
from pabal.store.audit_log import Deed

MAX_PAGE = 1_000_000
MAX_PAGE_SIZE = 1000


class Call(NamedTuple):
    """Who calls, with what, and how to answer."""

    context: Context
    account_id: int
    form: Form[Any]
    speech: Speech
    now: Instant
    repeatable: Repeatable | None = None
    deed: Deed | None = None
    """Who does it, where a person does: noted with what changes."""


def paging(form: Form[Any]) -> tuple[int, int]:
    """Return page and page size; if one is out of range, `done` will say so."""
    _check_range(form, "page", MAX_PAGE)
    _check_range(form, "pageSize", MAX_PAGE_SIZE)
    return form.body.page, form.body.pageSize


def _check_range(form: Form[Any], field: str, most: int) -> None:
    number = getattr(form.body, field)
    if number is not None and not 1 <= number <= most:
        detail = Words(f"1부터 {most}까지입니다.", f"It is from 1 to {most}.")
        form.add(Problem(Code.INVALID_PARAMETER, field, detail))
