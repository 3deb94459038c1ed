"""The page on which users choose what they are told by mail, and at which address."""

from starlette.responses import Response

from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import LANGUAGES, Code, Refused
from pabal.domain.base.dates import HOUR
from pabal.domain.events.notice import NoticeKind
from pabal.service.notices import own_notices
from pabal.service.notices.compose import CONFIRM_PATH as CONFIRM_PATH  # with the handlers, for the table of pages
from pabal.service.notices.compose import NOTICES_PATH as NOTICES_PATH
from pabal.service.notices.own_notices import CONFIRM_LIFETIME_MS, LINK_GONE

MAX_TOKEN_CHARACTERS = 200


async def show_notices(request: PageRequest) -> Response:
    """Show what the user is told, and where."""
    return await _render(request)


async def choose_notices(request: PageRequest) -> Response:
    """Set what the user is told, and in which language."""
    kinds = [each for each in NoticeKind if request.field(f"kind.{each.code}")]
    language = request.field("mail_language")
    if language not in LANGUAGES:
        return await _render(request, Refused(Code.INVALID_PARAMETER, "mail_language"))
    audit_entry = request.own_audit_entry("notices.choose", " ".join(each.code for each in kinds))
    await own_notices.choose(request.context, request.user, kinds, language, audit_entry)
    return await _render(request, notice="notices.saved")


async def set_address(request: PageRequest) -> Response:
    """Send a confirmation to a new address."""
    audit_entry = request.own_audit_entry("notices.address")
    try:
        await own_notices.ask_to_confirm(
            request.context, request.user, request.fields.get("address", ""), request.locale.language, audit_entry
        )
    except Refused as refused:
        return await _render(request, refused)
    return await _render(request, notice="notices.asked")


async def remove_address(request: PageRequest) -> Response:
    """Forget the user's address."""
    audit_entry = request.own_audit_entry("notices.remove")
    await own_notices.remove_address(request.context, request.user, audit_entry)
    return await _render(request, notice="notices.removed")


async def show_confirmation(request: PageRequest) -> Response:
    """Ask the user to confirm: programs that look at links in mails open them too."""
    found = await own_notices.get_settings(request.context, request.user)
    token = request.field("token")
    is_open = bool(token) and len(token) <= MAX_TOKEN_CHARACTERS and found.new_address is not None
    return request.render(
        "me/confirm_address.html", token=token if is_open else "", address=found.new_address, problem=""
    )


async def confirm_address(request: PageRequest) -> Response:
    """Confirm an address by the token of its link."""
    audit_entry = request.own_audit_entry("notices.confirm")
    try:
        await own_notices.confirm(request.context, request.user, request.field("token"), audit_entry)
    except Refused as refused:
        status, problem = refused.code.http_status, request.translate(LINK_GONE)
        return request.render("me/confirm_address.html", status, token="", address="", problem=problem)
    return await _render(request, notice="notices.confirmed")


async def _render(request: PageRequest, refused: Refused | None = None, notice: str = "") -> Response:
    found = await own_notices.get_settings(request.context, request.user)
    chosen = found.chosen(request.user.role)
    is_pending = found.new_address is not None and (found.expires_at or 0) > request.now
    return request.render(
        "me/notices.html",
        refused.code.http_status if refused else 200,
        kinds=[(each, each in chosen) for each in NoticeKind],
        language=request.locale.language if found.kinds is None else found.language,
        address=found.address,
        new_address=found.new_address if is_pending else None,
        typed=request.field("address") if refused else "",
        has_mail=request.context.mail.is_sent,
        hours=CONFIRM_LIFETIME_MS // HOUR,
        error=found.error,
        failed_at=request.locale.format_timestamp(found.failed_at)[:16] if found.failed_at else "",
        notice=notice,
        errors={each.field: each.message(request.locale.language) for each in refused.problems} if refused else {},
    )
