"""One call of the interface, as its endpoint sees it."""

from typing import Any, NamedTuple

from pabal.checks.forms import Form
from pabal.checks.locale import Locale
from pabal.domain.codes import Code, Problem, Text
from pabal.domain.dates import Instant
from pabal.service.context import Context
from pabal.service.sending.accept import IdempotencyKey
from pabal.store.audit_log import AuditEntry

MAX_PAGE = 1_000_000
MAX_PAGE_SIZE = 1000


class ApiCall(NamedTuple):
    """Who calls, with what, and how to answer."""

    context: Context
    account_id: int
    form: Form[Any]
    locale: Locale
    now: Instant
    idempotency_key: IdempotencyKey | None = None
    audit_entry: AuditEntry | None = None
    """Who does it, where a person does: noted with what changes."""


def read_paging(form: Form[Any]) -> tuple[int, int]:
    """Return page and page size; if one is out of range, `done` will say so."""
    _check_range(form, "page", MAX_PAGE)
    _check_range(form, "pageSize", MAX_PAGE_SIZE)
    return form.body.page, form.body.pageSize


def _check_range(form: Form[Any], field: str, limit: int) -> None:
    number = getattr(form.body, field)
    if number is not None and not 1 <= number <= limit:
        detail = Text(f"1부터 {limit}까지입니다.", f"It is from 1 to {limit}.")
        form.add(Problem(Code.INVALID_PARAMETER, field, detail))
