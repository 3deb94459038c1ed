"""The page on which owners choose how their account sends in the console."""

from starlette.responses import Response

from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Refused, Text
from pabal.domain.people import phone
from pabal.service.access.accounts import send_preferences, sender_numbers

PREFERENCES_PATH = "/console/preferences"


async def change_preferences(request: PageRequest) -> Response:
    """Store the choices of the account."""
    chosen = send_preferences.parse(request.fields)
    audit_entry = request.audit_entry("account.sending")
    await request.context.store.write(send_preferences.change, request.account_id, chosen, audit_entry)
    return request.redirect(f"{PREFERENCES_PATH}?done=1")


async def show_preferences(request: PageRequest, refused: Refused | None = None) -> Response:
    """Show the choices of the account."""
    chosen = await send_preferences.get(request.context, request.account_id)
    number = chosen.fallback_number
    stored = {
        "lms": "1" if chosen.upgrades_to_lms else "",
        "fallback": "1" if number else "",
        "fallback_number": phone.hyphenate(number) if number else "",
        "approval_receivers": str(chosen.approval_receivers or ""),
    }
    return request.render(
        "manage/send_preferences.html",
        refused,
        typed=request.fields if refused else stored,
        numbers=await sender_numbers.list_usable(request.context, request.account_id),
        operators_threshold=request.context.policy.approval_receivers,
        is_done=bool(request.field("done")) and refused is None,
    )


TEXTS = {
    "menu.preferences": Text("발송 설정", "Preferences"),
    "preferences.title": Text("발송 설정", "Sending preferences"),
    "preferences.about": Text(
        "이 계정의 사용자가 콘솔에서 발송할 때 적용됩니다. API로 보내는 요청에는 적용되지 않습니다.",
        "These apply when users of this account send in the console. Requests to the API are not affected.",
    ),
    "preferences.lms": Text("긴 문자", "Long texts"),
    "preferences.lms.on": Text("SMS 길이를 넘으면 LMS로 발송", "Send as LMS what is too long for SMS"),
    "preferences.lms.about": Text(
        "발송하기 전에 LMS로 바뀐다고 표시합니다. 켜지 않으면 길이를 넘은 SMS는 발송할 수 없습니다.",
        "It is shown before sending. Otherwise an SMS that is too long cannot be sent.",
    ),
    "preferences.fallback": Text("알림톡 대체 문자", "Fallback of Alimtalk"),
    "preferences.fallback.on": Text(
        "새 알림톡은 대체 문자를 켠 상태로 시작", "Turn the fallback on for new Alimtalk messages"
    ),
    "preferences.numbers": Text("등록된 발신번호", "Registered sender numbers"),
    "preferences.approval": Text("발송 승인", "Approval"),
    "preferences.approval.receivers": Text(
        "수신자가 이 수를 넘으면 다른 사용자의 승인 필요 (0: 사용 안 함)",
        "Above this number of receivers a second user must approve (0: never)",
    ),
    "preferences.approval.about": Text(
        "관리자나 발송 담당인 다른 사용자가 승인해야 발송합니다. 직접 작성하거나 요청한 발송은 승인할 수 없습니다.",
        "Another owner or sender must approve before it is sent. Nobody can approve what they wrote or submitted.",
    ),
    "preferences.approval.operator": Text(
        "운영자가 정한 {count}명보다 느슨하게 정할 수는 없습니다.",
        "The operator has set {count}; a higher number has no effect.",
    ),
}
