"""The log of who did what: an owner sees the account's, an operator everyone's."""

from typing import NamedTuple
from urllib.parse import urlencode

from starlette.responses import Response

from pabal.console.shell.page_request import PageRequest
from pabal.domain.user import MAX_NAME_CHARACTERS, Role
from pabal.service.access import audit
from pabal.service.access.audit import COMMAND_LINE_NAME, ListedEntry

PAGE_SIZE = 50
AUDIT_PATH = "/console/audit"
MAX_CURSOR_DIGITS = 18


class AuditRow(NamedTuple):
    """A deed in the list."""

    time: str
    actor: str
    account: str
    action: str
    target: str


async def show_audit(request: PageRequest) -> Response:
    """Show a page of what was done, newest first."""
    is_operator = request.user.role is Role.OPERATOR
    who = request.field("user")
    before = request.field("before")
    is_place = before.isascii() and before.isdigit() and len(before) <= MAX_CURSOR_DIGITS
    found = await audit.search_entries(
        request.context,
        None if is_operator else request.account_id,
        who.casefold(),
        int(before) if is_place else None,
        PAGE_SIZE + 1,
    )
    shown = found[:PAGE_SIZE]
    return request.render(
        "operate/audit.html",
        rows=[_row(request, each) for each in shown],
        user=who,
        most=MAX_NAME_CHARACTERS,
        has_accounts=is_operator,
        older=_audit_url(who, shown[-1].id) if len(found) > PAGE_SIZE else "",
        newest=_audit_url(who) if is_place else "",
    )


def _row(request: PageRequest, noted: ListedEntry) -> AuditRow:
    deed = noted.entry
    key = f"audit_action.{deed.action}"
    return AuditRow(
        time=request.locale.format_timestamp(deed.created_at),
        actor=request.t("audit.command_line")
        if deed.actor == COMMAND_LINE_NAME and deed.user_id is None
        else deed.actor,
        account=noted.account or "",
        action=request.t(key) if key in request.site.texts else deed.action,
        target=deed.target,
    )


def _audit_url(who: str, before: int | None = None) -> str:
    fields = {"user": who} if who else {}
    if before is not None:
        fields["before"] = str(before)
    return f"{AUDIT_PATH}?{urlencode(fields)}" if fields else AUDIT_PATH
