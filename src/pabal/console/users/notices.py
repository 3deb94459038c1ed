"""The page on which users choose what they are told by mail, and at which address."""

from starlette.responses import Response

from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import LANGUAGES, Code, Refused, Text
from pabal.domain.base.dates import HOUR
from pabal.domain.events.notice import NoticeKind
from pabal.service.notices import own_notices
from pabal.service.notices.compose import CONFIRM_PATH as CONFIRM_PATH  # with the handlers, for the table of pages
from pabal.service.notices.compose import NOTICES_PATH as NOTICES_PATH
from pabal.service.notices.own_notices import CONFIRM_LIFETIME_MS, LINK_GONE

MAX_TOKEN_CHARACTERS = 200


async def choose_notices(request: PageRequest) -> Response:
    """Set what the user is told, and in which language."""
    kinds = frozenset(each for each in NoticeKind if request.field(f"kind.{each.code}"))
    language = request.field("mail_language")
    if language not in LANGUAGES:
        raise Refused(Code.INVALID_PARAMETER, "mail_language")
    audit_entry = request.own_audit_entry(
        "notices.choose", " ".join(each.code for each in NoticeKind if each in kinds)
    )
    await request.context.store.write(own_notices.choose, request.user.id, kinds, language, audit_entry)
    return await show_notices(request, notice="word.saved")


async def set_address(request: PageRequest) -> Response:
    """Send a confirmation to a new address."""
    audit_entry = request.own_audit_entry("notices.address")
    await own_notices.ask_to_confirm(
        request.context, request.user, request.fields.get("address", ""), request.locale.language, audit_entry
    )
    return await show_notices(request, notice="notices.asked")


async def remove_address(request: PageRequest) -> Response:
    """Forget the user's address."""
    audit_entry = request.own_audit_entry("notices.remove")
    await request.context.store.write(own_notices.remove_address, request.user.id, audit_entry)
    return await show_notices(request, notice="notices.removed")


async def show_confirmation(request: PageRequest) -> Response:
    """Ask the user to confirm: programs that look at links in mails open them too."""
    found = await own_notices.get_settings(request.context, request.user)
    token = request.field("token")
    is_open = bool(token) and len(token) <= MAX_TOKEN_CHARACTERS and found.new_address is not None
    return request.render(
        "users/confirm_address.html", token=token if is_open else "", address=found.new_address, problem=""
    )


async def confirm_address(request: PageRequest) -> Response:
    """Confirm an address by the token of its link."""
    audit_entry = request.own_audit_entry("notices.confirm")
    try:
        await request.context.store.write(own_notices.confirm, request.user.id, request.field("token"), audit_entry)
    except Refused as refused:
        status, problem = refused.code.http_status, request.translate(LINK_GONE)
        return request.render("users/confirm_address.html", status, token="", address="", problem=problem)
    return await show_notices(request, notice="notices.confirmed")


async def show_notices(request: PageRequest, refused: Refused | None = None, notice: str = "") -> Response:
    """Show what the user is told, and where."""
    found = await own_notices.get_settings(request.context, request.user)
    chosen = found.chosen(request.user.role)
    is_pending = found.new_address is not None and (found.expires_at or 0) > request.now
    return request.render(
        "users/notices.html",
        refused,
        kinds=[(each, each in chosen) for each in NoticeKind],
        language=request.locale.language if found.kinds is None else found.language,
        address=found.address,
        new_address=found.new_address if is_pending else None,
        typed=request.field("address") if refused else "",
        has_mail=request.context.mail.is_sent,
        hours=CONFIRM_LIFETIME_MS // HOUR,
        error=found.error,
        failed_at=request.minute(found.failed_at),
        notice=notice,
    )


TEXTS = {
    "me.notices.open": Text("알림과 메일 주소 설정", "Choose notices and the address"),
    "notices.about": Text(
        "템플릿 검수, 발송 승인 요청, 캠페인 종료, 높은 실패율과 같은 일을 메일로 알려 드립니다. "
        "수신자의 번호나 내용은 메일에 넣지 않습니다.",
        "You are told by mail of sends to approve, reviewed templates, finished campaigns, high failure rates and "
        "the like. Mails contain no numbers or texts of receivers.",
    ),
    "notices.off": Text(
        "이 서비스에는 메일 서버가 설정되지 않아 메일을 보내지 않습니다. 운영자에게 문의하세요.",
        "This service has no mail server, so it sends no mails. Ask its operator.",
    ),
    "notices.failed": Text(
        "{time}에 메일을 보내지 못했습니다. 주소를 확인하세요. 메일 서버의 응답:",
        "A mail could not be sent at {time}. Check the address. The mail server said:",
    ),
    "notices.address": Text("메일 주소", "Mail address"),
    "notices.is_confirmed": Text("확인됨", "Confirmed"),
    "notices.is_pending": Text("확인 대기", "To be confirmed"),
    "notices.goes_to": Text("알림을 받는 주소:", "Notices go to"),
    "notices.no_address": Text(
        "확인된 주소가 없어 알림을 보내지 않습니다.", "No address is confirmed, so nothing is sent."
    ),
    "notices.pending": Text(
        "{address}로 확인 메일을 보냈습니다. {hours}시간 안에 메일의 링크를 여세요.",
        "A confirmation was sent to {address}. Open the link in it within {hours} hours.",
    ),
    "notices.new_address": Text("알림을 받을 주소", "Address for notices"),
    "notices.other_address": Text("다른 주소로 변경", "Another address"),
    "notices.ask": Text("확인 메일 보내기", "Send a confirmation"),
    "notices.asked": Text(
        "확인 메일을 보냈습니다. 메일의 링크를 열면 알림을 받기 시작합니다.",
        "A confirmation was sent. Notices begin once you have opened its link.",
    ),
    "notices.remove": Text("주소 삭제", "Remove the address"),
    "notices.remove.ask": Text("알림 메일을 더 받지 않습니다.", "You get no more notices by mail."),
    "notices.remove.do": Text("예, 삭제합니다", "Yes, remove it"),
    "notices.removed": Text("메일 주소를 삭제했습니다.", "The address was removed."),
    "notices.kinds": Text("받을 알림", "What to be told"),
    "notices.kind.approval": Text(
        "다른 사용자의 발송이 승인을 기다릴 때", "A send of someone else waits for approval."
    ),
    "notices.kind.template": Text("템플릿이 승인되거나 반려되었을 때", "A template was approved or rejected."),
    "notices.kind.campaign": Text("캠페인의 모든 메시지가 끝났을 때", "All messages of a campaign have ended."),
    "notices.kind.failure": Text("최근 한 시간에 실패가 많을 때", "Many messages of the last hour have failed."),
    "notices.kind.carrier": Text("발송 경로 연결이 끊기거나 복구되었을 때", "A carrier is down, or up again."),
    "notices.kind.quota": Text("계정의 한도를 거의 다 썼을 때", "A limit of an account is nearly used up."),
    "notices.language": Text("메일의 언어", "Language of mails"),
    "notices.confirm.title": Text("메일 주소 확인", "Confirm the address"),
    "notices.confirm.about": Text("사용자 {user}의 알림을 받을 주소:", "Notices for the user {user} go to"),
    "notices.confirm.do": Text("이 주소로 받기", "Confirm this address"),
    "notices.confirm.gone": LINK_GONE,
    "notices.confirmed": Text(
        "메일 주소를 확인했습니다. 이제 알림을 보냅니다.", "The address is confirmed. Notices go there now."
    ),
    "audit_action.notices.choose": Text("메일 알림 선택", "Chose notices by mail"),
    "audit_action.notices.address": Text("알림 메일 주소 확인 요청", "Asked to confirm a mail address"),
    "audit_action.notices.confirm": Text("알림 메일 주소 확인", "Confirmed a mail address"),
    "audit_action.notices.remove": Text("알림 메일 주소 삭제", "Removed the mail address"),
}
