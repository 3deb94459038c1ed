"""The page of the audit log: owners see their account's entries, operators all."""

from typing import NamedTuple
from urllib.parse import urlencode

from starlette.responses import Response

from pabal.console.shell.page_request import PageRequest
from pabal.console.upload.campaign_message import REQUESTS_PATH
from pabal.domain.base import identifiers
from pabal.domain.users.user import MAX_NAME_CHARACTERS, ROLE_BY_CODE, Role
from pabal.service.access.accounts import audit
from pabal.service.access.accounts.audit import (
    API_KEY_NAME,
    COMMAND_LINE_NAME,
    COMMAND_LINE_PREFIX,
    SIGN_IN_NAME,
    AuditEntry,
    ListedEntry,
)

PAGE_SIZE = 50
AUDIT_PATH = "/console/audit"
MAX_CURSOR_DIGITS = 18
NO_USERS = {
    API_KEY_NAME: "message.key",
    COMMAND_LINE_NAME: "audit.command_line",
    SIGN_IN_NAME: "audit.sign_in_page",
}
"""Actors that are no users, and the keys of their texts."""


class AuditRow(NamedTuple):
    """An entry in the list."""

    time: str
    actor: str
    account: str
    action: str
    target: str
    path: str = ""
    """Where the target is shown, if the user can open it."""


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
        "operate/system/audit.html",
        rows=[_audit_row(request, each) for each in shown],
        user=user_name,
        max_characters=MAX_NAME_CHARACTERS,
        has_accounts=is_operator,
        older=_audit_url(user_name, shown[-1].id) if len(found) > PAGE_SIZE else "",
        newest=_audit_url(user_name) if is_cursor else "",
    )


def _audit_row(request: PageRequest, listed: ListedEntry) -> AuditRow:
    entry = listed.entry
    sent_id = identifiers.parse_request_id(entry.target)
    key = f"audit_action.{entry.action}"
    return AuditRow(
        time=request.locale.format_timestamp(entry.created_at),
        actor=_actor(request, entry),
        account=listed.account or "",
        action=request.t(key) if key in request.site.texts else entry.action,
        target=_target(request, entry, sent_id),
        path=f"{REQUESTS_PATH}/{entry.target}" if sent_id and entry.account_id == _shown_account(request) else "",
    )


def _actor(request: PageRequest, entry: AuditEntry) -> str:
    if entry.user_id is not None:
        return entry.actor
    if entry.actor.startswith(COMMAND_LINE_PREFIX):
        return f"{request.t('audit.command_line')}: {entry.actor.removeprefix(COMMAND_LINE_PREFIX)}"
    return request.t(NO_USERS[entry.actor]) if entry.actor in NO_USERS else entry.actor


def _target(request: PageRequest, entry: AuditEntry, sent_id: bytes | None) -> str:
    """Return a target for people: what was sent is named by its time, which its id contains."""
    if sent_id:
        return request.t("audit.sent", time=request.locale.format_timestamp(identifiers.requested_at(sent_id)))
    if entry.action == "invite.create" and entry.target in ROLE_BY_CODE:
        return request.translate(ROLE_BY_CODE[entry.target].label)
    is_number = entry.target.isascii() and entry.target.isdigit()
    return request.t("audit.number", number=entry.target) if is_number else entry.target


def _shown_account(request: PageRequest) -> int | None:
    return request.session.account_id if request.session else None


def _audit_url(user_name: str, before: int | None = None) -> str:
    fields = {"user": user_name} if user_name else {}
    if before is not None:
        fields["before"] = str(before)
    return f"{AUDIT_PATH}?{urlencode(fields)}" if fields else AUDIT_PATH
