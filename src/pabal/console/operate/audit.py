"""The page of the audit log: owners see their account's entries, operators all."""

from typing import NamedTuple
from urllib.parse import urlencode

from starlette.responses import Response

from pabal.console.shell.page_request import PageRequest
from pabal.domain.user import MAX_NAME_CHARACTERS, Role
from pabal.service.access import audit
from pabal.service.access.audit import COMMAND_LINE_NAME, SIGN_IN_NAME, ListedEntry

PAGE_SIZE = 50
AUDIT_PATH = "/console/audit"
MAX_CURSOR_DIGITS = 18
NO_USERS = {COMMAND_LINE_NAME: "audit.command_line", SIGN_IN_NAME: "audit.sign_in_page"}
"""Actors that are no users, and the keys of their texts."""


class AuditRow(NamedTuple):
    """An entry in the list."""

    time: str
    actor: str
    account: str
    action: str
    target: str


async def show_audit(request: PageRequest) -> Response:
    """Show a page of the audit log, newest first."""
    is_operator = request.user.role is Role.OPERATOR
    user_name = request.field("user")
    before = request.field("before")
    is_cursor = before.isascii() and before.isdigit() and len(before) <= MAX_CURSOR_DIGITS
    found = await audit.search_entries(
        request.context,
        None if is_operator else request.account_id,
        user_name.casefold(),
        int(before) if is_cursor else None,
        PAGE_SIZE + 1,
    )
    shown = found[:PAGE_SIZE]
    return request.render(
        "operate/audit.html",
        rows=[_audit_row(request, each) for each in shown],
        user=user_name,
        max_characters=MAX_NAME_CHARACTERS,
        has_accounts=is_operator,
        older=_audit_url(user_name, shown[-1].id) if len(found) > PAGE_SIZE else "",
        newest=_audit_url(user_name) if is_cursor else "",
    )


def _audit_row(request: PageRequest, listed: ListedEntry) -> AuditRow:
    entry = listed.entry
    key = f"audit_action.{entry.action}"
    return AuditRow(
        time=request.locale.format_timestamp(entry.created_at),
        actor=request.t(NO_USERS[entry.actor])
        if entry.user_id is None and entry.actor in NO_USERS
        else entry.actor,
        account=listed.account or "",
        action=request.t(key) if key in request.site.texts else entry.action,
        target=entry.target,
    )


def _audit_url(user_name: str, before: int | None = None) -> str:
    fields = {"user": user_name} if user_name else {}
    if before is not None:
        fields["before"] = str(before)
    return f"{AUDIT_PATH}?{urlencode(fields)}" if fields else AUDIT_PATH
