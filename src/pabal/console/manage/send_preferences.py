"""The page on which owners choose how their account sends in the console."""

from starlette.responses import Response

from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Refused
from pabal.domain.people import phone
from pabal.service.access.accounts import send_preferences
from pabal.service.sending.drafts import choices

PREFERENCES_PATH = "/console/preferences"


async def show_preferences(request: PageRequest) -> Response:
    """Show the choices of the account."""
    chosen = await send_preferences.get(request.context, request.account_id)
    number = chosen.fallback_number
    typed = {
        "lms": "1" if chosen.upgrades_to_lms else "",
        "fallback": "1" if number else "",
        "fallback_number": phone.hyphenate(number) if number else "",
        "approval_receivers": str(chosen.approval_receivers or ""),
    }
    return await _render(request, typed)


async def change_preferences(request: PageRequest) -> Response:
    """Store the choices of the account."""
    try:
        chosen = send_preferences.parse(request.fields)
    except Refused as refused:
        return await _render(request, dict(request.fields), refused)
    audit_entry = request.audit_entry("account.sending")
    await send_preferences.change(request.context, request.account_id, chosen, audit_entry)
    return request.redirect(f"{PREFERENCES_PATH}?done=1")


async def _render(request: PageRequest, typed: dict[str, str], refused: Refused | None = None) -> Response:
    problems = refused.problems if refused else ()
    return request.render(
        "manage/send_preferences.html",
        refused.code.http_status if refused else 200,
        typed=typed,
        errors={each.field: each.message(request.locale.language) for each in problems},
        numbers=await choices.list_sender_numbers(request.context, request.account_id),
        operators_threshold=request.context.policy.approval_receivers,
        is_done=bool(request.field("done")) and refused is None,
    )
