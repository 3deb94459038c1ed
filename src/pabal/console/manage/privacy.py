"""The page that shows, exports and erases what is stored about one phone number."""

from collections.abc import AsyncGenerator, Mapping

from starlette.responses import Response

from pabal.answers.personal_data import write_export
from pabal.console.shell.download import attach, dated_name
from pabal.console.shell.form_fields import require_field
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Refused, Text
from pabal.domain.people import phone
from pabal.service.access.accounts import audit
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


async def look_up_number(request: PageRequest) -> Response:
    """Show how much is stored about a number; it is in the form, so that no address or log contains it.

    Raises Refused: RATE_LIMITED, and SERVICE_UNAVAILABLE for a search that takes too long.
    """
    try:
        number = _read_number(request)
    except Refused as refused:
        return await show_form(request, refused)
    wanted = MessageFilter(request.account_id, receiver=number)
    messages = await history.find_messages(request.context, wanted, 1, 1)
    context = request.context
    found = await privacy.export(context.store, context.policy, request.account_id, number)
    counts = {
        "messages": messages.total,
        "simulated_phone": len(found.phone_messages),
        "campaign_rows": sum(len(row.cells) for row in found.campaign_rows),
        "profiles": len(found.channels),
        "users": len(found.users),
        "opt_outs": len(found.opt_outs),
        "inbound": len(found.inbound),
        "drafts": len(found.draft_lines),
        "contacts": len(found.contacts),
    }
    return await show_form(request, number=number, counts=counts)


async def export_number(request: PageRequest) -> Response:
    """Answer with everything that is stored about a number, as a JSON file."""
    number = _read_number(request)
    await audit.add_entry(request.context, request.audit_entry(privacy.EXPORT_ACTION))
    name = dated_name(request, "pabal-personal-data", "json")
    return attach(name, _export_pieces(request, number), "application/json")


async def erase_number(request: PageRequest) -> Response:
    """Erase a number and the texts sent to it, and show how much that was."""
    number = _read_number(request)
    audit_entry = request.audit_entry(privacy.ERASE_ACTION)
    return await show_form(
        request, erasure=await privacy.erase(request.context, request.account_id, number, audit_entry)
    )


async def _export_pieces(request: PageRequest, number: str) -> AsyncGenerator[bytes, None]:
    assert request.session is not None
    store, policy, account = request.context.store, request.context.policy, request.session.account
    async for piece in write_export(store, policy, request.account_id, account or "", number, request.locale):
        yield piece


def _read_number(request: PageRequest) -> str:
    return phone.parse_mobile(require_field(request, "number"))


async def show_form(
    request: PageRequest,
    refused: Refused | None = None,
    *,
    number: str = "",
    counts: Mapping[str, int] | None = None,
    erasure: ErasureResult | None = None,
) -> Response:
    """Show the form for a number."""
    return request.render(
        "manage/privacy.html",
        refused,
        number=number,
        typed=request.field("number") if refused else "",
        errors={"number": request.tell(refused.problems[0])} if refused else {},
        counts=counts,
        consequences=CONSEQUENCES,
        erasure=erasure,
    )


TEXTS = {
    "menu.privacy": Text("개인정보", "Personal data"),
    "privacy.title": Text("전화번호별 개인정보", "Personal data of a phone number"),
    "privacy.about": Text(
        "수신자가 개인정보 열람이나 파기를 요청했을 때 사용합니다. 이 계정에 저장된 정보만 다룹니다. "
        "내보내기와 파기는 번호 없이 감사 로그에 남습니다.",
        "For receivers who ask what is stored about them, or to have it erased. Covers this account only. "
        "Exports and erasures are recorded in the audit log, without the number.",
    ),
    "privacy.number": Text("수신자 휴대폰 번호", "Receiver's mobile number"),
    "privacy.look": Text("조회", "Look up"),
    "privacy.found": Text("{number}에 대해 저장된 정보", "Stored about {number}"),
    "privacy_count.messages": Text("메시지", "Messages"),
    "privacy_count.simulated_phone": Text("가상 휴대폰의 메시지", "Messages on the simulated phone"),
    "privacy_count.campaign_rows": Text("업로드한 수신자 파일의 행", "Rows of campaign files"),
    "privacy_count.profiles": Text("관리자 번호로 쓰는 발신 프로필", "Sender profiles that it administers"),
    "privacy_count.opt_outs": Text("수신거부", "Opt-outs"),
    "privacy_count.inbound": Text("받은 메시지", "Inbound messages"),
    "privacy_count.contacts": Text("주소록의 연락처", "Contacts in the address book"),
    "privacy_count.drafts": Text("임시 저장한 내용의 줄", "Lines of drafts"),
    "privacy_count.users": Text("테스트 발송 번호로 쓰는 사용자", "Users whose test sends go to it"),
    "privacy.export": Text("JSON으로 내려받기", "Download as JSON"),
    "privacy.erase": Text("파기…", "Erase…"),
    "privacy.erase_ask": Text(
        "{number}에 대해 저장된 정보를 모두 파기하시겠습니까?", "Erase everything that is stored about {number}?"
    ),
    "privacy_erase.blanked": Text(
        "이 번호로 보낸 메시지의 번호, 내용, 변수 값, 참조값을 지웁니다. 상태, 결과, 시각은 남습니다.",
        "Number, text, variables and reference of its messages are blanked. Status, result and times stay.",
    ),
    "privacy_erase.waiting": Text(
        "대기 중이거나 예약된 메시지는 취소한 뒤 지웁니다.",
        "Messages that wait or are scheduled are cancelled, then blanked.",
    ),
    "privacy_erase.sending": Text(
        "발송 중인 메시지는 대체 발송까지 끝난 뒤 지웁니다.",
        "Messages that are being sent are blanked when they and their fallback have ended.",
    ),
    "privacy_erase.shared": Text(
        "다른 수신자와 함께 보낸 요청의 공통 문구는 남습니다.",
        "Texts that a request shares with other receivers stay.",
    ),
    "privacy_erase.elsewhere": Text(
        "가상 휴대폰, 인증 토큰, 발신 프로필의 관리자 번호, 사용자의 테스트 번호, 업로드한 수신자 파일의 행에서도 "
        "지우고, 이 번호의 연락처와 이 번호가 든 임시 저장 내용은 삭제합니다.",
        "It is also erased from simulated phones, tokens, sender profiles, users' test numbers and rows of "
        "campaign files; its contact and drafts that name it are deleted.",
    ),
    "privacy_erase.opt_outs": Text(
        "받은 메시지(답장)도 지웁니다. 수신거부는 번호를 지우고 해시만 남겨, 앞으로도 광고를 보내지 않습니다.",
        "Its inbound messages are deleted. Of its opt-outs only keyed hashes stay, so that it still gets no "
        "advertising.",
    ),
    "privacy_erase.statistics": Text(
        "통계는 남습니다. 통계에는 번호가 없습니다.", "Statistics stay: they contain no numbers."
    ),
    "privacy_erase.backups": Text(
        "백업은 포함되지 않습니다. 백업을 삭제하거나, 복원한 뒤에 다시 파기하세요.",
        "Backups are not covered. Delete them, or erase again after a restore.",
    ),
    "privacy_erase.final": Text("되돌릴 수 없습니다.", "This cannot be undone."),
    "privacy.erase_do": Text("모두 파기", "Erase everything"),
    "privacy.erased": Text("파기했습니다.", "Erased."),
    "privacy.erased_messages": Text(
        "메시지 {erased}건을 지웠습니다. 그중 {cancelled}건은 발송 전에 취소했습니다.",
        "{erased} messages were erased, {cancelled} of them cancelled before they were sent.",
    ),
    "privacy.erased_later": Text(
        "{pending}건은 발송 중이며, 끝나면 지웁니다.",
        "{pending} messages are being sent, and are erased when they have ended.",
    ),
    "privacy.erased_rows": Text(
        "업로드한 수신자 파일의 {rows}곳에서 지웠습니다.", "Erased from {rows} places in campaign files."
    ),
}
