"""A call: the account, the parsed body, which is not checked yet, and the language of the answer."""

from typing import Any, NamedTuple

from pabal.checks.body.forms import Form
from pabal.checks.body.locale import Locale
from pabal.domain.base.codes import Code, Problem, Text
from pabal.domain.base.dates import Instant
from pabal.models.bodies import MAX_PAGE, MAX_PAGE_SIZE
from pabal.service.context import Context
from pabal.service.sending.accept import IdempotencyKey
from pabal.store.accounts.audit_log import API_KEY_NAME, AuditEntry


class ApiCall(NamedTuple):
    """A call of the HTTP API, or of a console page that does the same."""

    context: Context
    account_id: int
    form: Form[Any]
    locale: Locale
    now: Instant
    idempotency_key: IdempotencyKey | None = None
    audit_entry: AuditEntry | None = None
    """The audit log entry to write with the change, if a console user makes it."""
    opt_out_number: str = ""
    """The default number for opting out of advertisements: that of the account, else the operator's."""
    is_dry_run: bool = False
    """Whether to check a send and to say what would happen, without sending it."""
    key_id: int | None = None
    """The API key of the call; None in the console."""

    def make_audit_entry(self, action: str, target: str = "") -> AuditEntry:
        """Return the entry of the audit log for what this call does."""
        return self.audit_entry or AuditEntry(self.now, None, API_KEY_NAME, self.account_id, action, target)


def read_paging(form: Form[Any]) -> tuple[int, int]:
    """Return page and page size; `raise_problems` reports one that is out of range."""
    check_range(form, "page", MAX_PAGE)
    check_range(form, "pageSize", MAX_PAGE_SIZE)
    return form.body.page, form.body.pageSize


def check_range(form: Form[Any], field: str, limit: int) -> None:
    """Add a problem unless a number is between 1 and a limit."""
    number = getattr(form.body, field)
    if number is not None and not 1 <= number <= limit:
        detail = Text(f"1부터 {limit:,}까지의 값을 보내세요.", f"Use a value from 1 to {limit:,}.")
        form.add(Problem(Code.INVALID_PARAMETER, field, detail))
