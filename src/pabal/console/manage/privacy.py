"""The page that shows, exports and erases what is stored about one phone number."""

import logging
from collections.abc import AsyncIterator
from typing import NamedTuple

from starlette.responses import Response, StreamingResponse

from pabal.answers.personal_data import write_export
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Code, Refused
from pabal.domain.people import phone
from pabal.service.access.accounts import audit
from pabal.service.errors import StoreUnavailable
from pabal.service.history import history
from pabal.service.history.timeline import MessageFilter
from pabal.service.upkeep import privacy
from pabal.service.upkeep.privacy import ErasureResult

PRIVACY_PATH = "/console/privacy"
CONSEQUENCES = (
    "blanked",
    "waiting",
    "sending",
    "shared",
    "elsewhere",
    "opt_outs",
    "statistics",
    "backups",
    "final",
)
"""What to know before an erasure, in this order; each has a text."""

log = logging.getLogger("pabal.console")


class StoredCounts(NamedTuple):
    """How much an account has stored about a number."""

    messages: int
    simulated_phone: int
    campaign_rows: int
    profiles: int
    users: int
    opt_outs: int
    inbound: int
    drafts: int
    contacts: int


async def show_form(request: PageRequest) -> Response:
    """Show the form for a number."""
    return _render(request)


async def look_up_number(request: PageRequest) -> Response:
    """Show how much is stored about a number; it is in the form, so that no address or log contains it.

    Raises Refused: RATE_LIMITED, and SERVICE_UNAVAILABLE for a search that takes too long.
    """
    try:
        number = _read_number(request)
    except Refused as refused:
        return _render(request, refused=refused)
    wanted = MessageFilter(request.account_id, receiver=number)
    messages = await history.find_messages(request.context, wanted, 1, 1)
    context = request.context
    found = await privacy.export(context.store, context.policy.hash_keys, request.account_id, number)
    rows = sum(len(row.cells) for row in found.campaign_rows)
    counts = StoredCounts(
        messages.total,
        len(found.phone_messages),
        rows,
        len(found.channels),
        len(found.users),
        len(found.opt_outs),
        len(found.inbound),
        len(found.draft_lines),
        len(found.contacts),
    )
    return _render(request, number, counts=counts)


async def export_number(request: PageRequest) -> Response:
    """Answer with everything that is stored about a number, as a JSON file."""
    try:
        number = _read_number(request)
    except Refused as refused:
        return _render(request, refused=refused)
    await audit.add_entry(request.context, request.audit_entry(privacy.EXPORT_ACTION))
    name = f"pabal-personal-data-{request.locale.format_timestamp(request.now)[:10]}.json"
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    return StreamingResponse(_export_pieces(request, number), media_type="application/json", headers=headers)


async def erase_number(request: PageRequest) -> Response:
    """Erase a number and the texts sent to it, and show how much that was."""
    try:
        number = _read_number(request)
    except Refused as refused:
        return _render(request, refused=refused)
    audit_entry = request.audit_entry(privacy.ERASE_ACTION)
    return _render(request, erasure=await privacy.erase(request.context, request.account_id, number, audit_entry))


async def _export_pieces(request: PageRequest, number: str) -> AsyncIterator[bytes]:
    assert request.session is not None
    store, keys, account = request.context.store, request.context.policy.hash_keys, request.session.account
    try:
        async for piece in write_export(store, keys, request.account_id, account or "", number, request.locale):
            yield piece
    except StoreUnavailable:
        log.warning("an export ends early: the store is away")
        raise


def _read_number(request: PageRequest) -> str:
    if not request.field("number"):
        raise Refused(Code.MISSING_PARAMETER, "number")
    return phone.parse_mobile(request.field("number"))


def _render(
    request: PageRequest,
    number: str = "",
    *,
    counts: StoredCounts | None = None,
    erasure: ErasureResult | None = None,
    refused: Refused | None = None,
) -> Response:
    return request.render(
        "manage/privacy.html",
        refused.code.http_status if refused else 200,
        number=number,
        typed=request.field("number") if refused else "",
        errors={"number": refused.problems[0].message(request.locale.language)} if refused else {},
        counts=counts._asdict() if counts else {},
        consequences=CONSEQUENCES,
        erasure=erasure,
    )
