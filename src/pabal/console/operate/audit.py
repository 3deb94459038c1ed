"""The page of the audit log: owners see their account's entries, operators all."""

from typing import NamedTuple

from starlette.responses import Response

from pabal.console.campaigns.campaign_message import REQUESTS_PATH
from pabal.console.shell.form_fields import page_url, parse_id
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base import identifiers
from pabal.domain.base.codes import Text
from pabal.domain.people.user import MAX_NAME_CHARACTERS, ROLE_BY_CODE, Role
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
IMPORT = "contact.import"
MANY = "n="
"""Before how many contacts an entry is about."""
AUDIT_PATH = "/console/audit"
PROGRAM_ACTORS = {
    API_KEY_NAME: "message.key",
    COMMAND_LINE_NAME: "audit.command_line",
    SIGN_IN_NAME: "audit.sign_in_page",
}
"""Actors that are not users, and the keys of their texts."""


class AuditRow(NamedTuple):
    """An entry in the list."""

    time: str
    actor: str
    account: str
    action: str
    target: str
    full_name: str = ""
    """What people call the user now; empty: by the name in `actor`."""
    path: str = ""
    """Where the target is shown, if the user can open it."""


async def show_audit(request: PageRequest) -> Response:
    """Show a page of the audit log, newest first."""
    is_operator = request.user.role is Role.OPERATOR
    user_name = request.field("user")
    before = parse_id(request.field("before"))
    found = await audit.search_entries(
        request.context,
        None if is_operator else request.account_id,
        user_name.casefold(),
        before,
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
        newest=_audit_url(user_name) if before is not None else "",
    )


def _audit_row(request: PageRequest, listed: ListedEntry) -> AuditRow:
    entry = listed.entry
    sent_id = identifiers.parse_request_id(entry.target)
    key = f"audit_action.{entry.action}"
    return AuditRow(
        time=request.time(entry.created_at),
        actor=_actor(request, entry),
        full_name=listed.full_name,
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
    return request.t(PROGRAM_ACTORS[entry.actor]) if entry.actor in PROGRAM_ACTORS else entry.actor


def _target(request: PageRequest, entry: AuditEntry, sent_id: bytes | None) -> str:
    """Return a target for people: what was sent is named by its time, which its id contains."""
    if sent_id:
        return request.t("audit.sent", time=request.time(identifiers.requested_at(sent_id)))
    if entry.action == "account.sending":
        pairs = (each.partition("=") for each in entry.target.split())
        return " · ".join(
            request.t(f"audit.sending.{name}", value=_choice(request, value)) for name, _, value in pairs
        )
    if entry.action == "invite.create" and entry.target in ROLE_BY_CODE:
        return request.translate(ROLE_BY_CODE[entry.target].label)
    if entry.target.isascii() and entry.target.isdigit():
        kind, _, what = entry.action.partition(".")
        kind = "group" if what.startswith("group_") else kind
        if entry.action != IMPORT:
            key = f"audit.of.{kind}"
            return request.t(key if key in request.site.texts else "audit.number", number=entry.target)
    if entry.action == IMPORT or entry.target.startswith(MANY):
        return request.t("audit.contacts", count=entry.target.removeprefix(MANY))
    return entry.target


def _choice(request: PageRequest, value: str) -> str:
    """Return what was chosen in the preferences: on or off, a number, or nothing."""
    return request.t(f"audit.chosen.{value}") if value in ("True", "False") else value or "–"


def _shown_account(request: PageRequest) -> int | None:
    return request.session.account_id if request.session else None


def _audit_url(user_name: str, before: int | None = None) -> str:
    return page_url(AUDIT_PATH, {"user": user_name, "before": "" if before is None else str(before)})


TEXTS = {
    "menu.audit": Text("감사 로그", "Audit log"),
    "audit.about": Text(
        "로그인과 변경 작업을 400일 동안 보관합니다. 전화번호와 메시지 내용은 남기지 않습니다.",
        "Sign-ins and changes are kept for 400 days. Phone numbers and message texts are not recorded.",
    ),
    "audit.what": Text("작업", "Action"),
    "audit.target": Text("대상", "Target"),
    "audit.sent": Text("발송 요청 {time}", "Request of {time}"),
    "audit.number": Text("#{number}", "#{number}"),
    "audit.of.key": Text("API 키 #{number}", "API key #{number}"),
    "audit.of.invite": Text("초대 #{number}", "Invitation #{number}"),
    "audit.of.webhook": Text("웹훅 #{number}", "Webhook #{number}"),
    "audit.of.contact": Text("연락처 #{number}", "Contact #{number}"),
    "audit.of.template": Text("템플릿 #{number}", "Template #{number}"),
    "audit.of.profile": Text("발신 프로필 #{number}", "Sender profile #{number}"),
    "audit.of.group": Text("그룹 #{number}", "Group #{number}"),
    "audit.of.text": Text("보관한 문자 #{number}", "Saved text #{number}"),
    "audit.of.account": Text("계정 #{number}", "Account #{number}"),
    "audit.sending.upgrades_to_lms": Text("긴 문자를 LMS로: {value}", "Long texts as LMS: {value}"),
    "audit.sending.fallback_number": Text("대체 문자 발신번호: {value}", "Sender number of fallbacks: {value}"),
    "audit.sending.approval_receivers": Text(
        "승인이 필요한 수신자 수: {value}", "Approval above: {value} receivers"
    ),
    "audit.chosen.True": Text("사용", "on"),
    "audit.chosen.False": Text("사용 안 함", "off"),
    "audit.contacts": Text("연락처 {count}명", "{count} contacts"),
    "audit.everyone": Text("모든 사용자", "All users"),
    "audit.none": Text("조건에 맞는 기록이 없습니다.", "No entry fits the search."),
    "audit.command_line": Text("명령줄", "Command line"),
    "audit.sign_in_page": Text("로그인 화면", "Sign-in page"),
    "audit_action.session.begin": Text("로그인", "Signed in"),
    "audit_action.session.failed": Text("로그인 실패", "Sign-in failed"),
    "audit_action.session.throttled": Text("로그인 시도 지연", "Sign-ins delayed"),
    "audit_action.session.end": Text("로그아웃", "Signed out"),
    "audit_action.session.account": Text("조회할 계정 변경", "Switched account"),
    "audit_action.user.create": Text("사용자 생성", "Created a user"),
    "audit_action.user.password": Text("비밀번호 변경", "Changed a password"),
    "audit_action.user.unlock": Text("로그인 지연 해제", "Lifted the delay of sign-ins"),
    "audit_action.user.disable": Text("사용자 중지", "Disabled a user"),
    "audit_action.user.enable": Text("사용자 중지 해제", "Enabled a user"),
    "audit_action.history.export": Text("발송 내역 내려받기", "Downloaded the history"),
    "audit_action.statistics.export": Text("통계 내려받기", "Downloaded the statistics"),
    "audit_action.account.create": Text("계정 생성", "Created an account"),
    "audit_action.account.disable": Text("계정 중지", "Disabled the account"),
    "audit_action.account.enable": Text("계정 중지 해제", "Enabled the account"),
    "audit_action.account.limits": Text("계정 한도 변경", "Changed the limits of the account"),
    "audit_action.account.codes": Text("계정의 재판매사 코드 변경", "Changed the reseller codes of the account"),
    "audit_action.key.create": Text("API 키 발급", "Created an API key"),
    "audit_action.key.rate": Text("API 키 속도 변경", "Changed the rate of an API key"),
    "audit_action.key.revoke": Text("API 키 폐기", "Revoked an API key"),
    "audit_action.number.add": Text("발신번호 등록", "Registered a sender number"),
    "audit_action.number.request": Text("발신번호 승인 요청", "Requested a sender number"),
    "audit_action.privacy.export": Text("전화번호별 개인정보 내보내기", "Exported what is stored about a number"),
    "audit_action.privacy.erase": Text("전화번호별 개인정보 파기", "Erased what is stored about a number"),
    "audit_action.account.opt_out": Text("무료 수신거부 번호 변경", "Changed the opt-out number"),
    "audit_action.mapping.add": Text("중계사 간 연결", "Mapped a profile or template to another relay"),
    "audit_action.mapping.remove": Text("중계사 간 연결 해제", "Removed a mapping to another relay"),
    "audit_action.number.approve": Text("발신번호 승인", "Approved a sender number"),
    "audit_action.number.reject": Text("발신번호 반려", "Rejected a sender number"),
    "audit_action.number.remove": Text("발신번호 삭제", "Removed a sender number"),
    "audit_action.profile.register": Text("발신 프로필 등록", "Registered a sender profile"),
    "audit_action.profile.approve": Text("발신 프로필 인증", "Verified a sender profile"),
    "audit_action.profile.delete": Text("발신 프로필 삭제", "Deleted a sender profile"),
    "audit_action.profile.adopt": Text("중계사의 발신 프로필 가져오기", "Adopted a sender profile of a relay"),
    "audit_action.profile.enable": Text("발신 프로필 사용", "Enabled a sender profile"),
    "audit_action.profile.disable": Text("발신 프로필 사용 중지", "Disabled a sender profile"),
    "audit_action.carrier.move": Text("발송 경로의 대기 메시지 옮기기", "Moved the waiting messages of a carrier"),
    "audit_action.carrier.cancel": Text(
        "발송 경로의 대기 메시지 취소", "Cancelled the waiting messages of a carrier"
    ),
    "audit_action.carrier.forget": Text("발송 경로 삭제", "Forgot a carrier"),
    "audit_action.secrets.rotate": Text("비밀 값 다시 암호화", "Encrypted the secrets again"),
    "audit_action.secrets.rebuild": Text("수신거부 해시 다시 만들기", "Hashed the opt-outs again"),
    "audit_action.store.migrate": Text("저장소 스키마 변경", "Migrated the store"),
    "audit_action.store.move": Text("SQLite에서 이전", "Moved the store from SQLite"),
    "audit_action.store.restore": Text("백업에서 복원", "Restored the store from a backup"),
    "audit_action.store.cancel_due": Text("복원 후 대기 메시지 취소", "Cancelled due messages after a restore"),
    "audit_action.template.create": Text("템플릿 등록", "Created a template"),
    "audit_action.template.update": Text("템플릿 수정", "Edited a template"),
    "audit_action.template.request": Text("템플릿 검수 요청", "Requested a template review"),
    "audit_action.template.approve": Text("템플릿 승인", "Approved a template"),
    "audit_action.template.reject": Text("템플릿 반려", "Rejected a template"),
    "audit_action.template.delete": Text("템플릿 삭제", "Deleted a template"),
    "audit_action.webhook.create": Text("웹훅 등록", "Created a webhook"),
    "audit_action.webhook.update": Text("웹훅 변경", "Changed a webhook"),
    "audit_action.webhook.delete": Text("웹훅 삭제", "Deleted a webhook"),
    "audit_action.webhook.replay": Text("웹훅 다시 보내기", "Replayed events to a webhook"),
    "audit_action.message.send": Text("메시지 발송", "Sent a message"),
    "audit_action.text.save": Text("문자 보관함에 저장", "Saved a text"),
    "audit_action.text.delete": Text("보관한 문자 삭제", "Deleted a saved text"),
    "audit_action.request.edit": Text("예약 발송 변경", "Changed a scheduled request"),
    "audit_action.message.test": Text("테스트 발송", "Sent a test message"),
    "audit_action.request.cancel": Text("발송 취소", "Cancelled a request"),
    "audit_action.request.now": Text("예약 메시지 즉시 발송", "Sent a scheduled request now"),
    "audit_action.campaign.begin": Text("캠페인 작성 시작", "Started a campaign"),
    "audit_action.campaign.file": Text("수신자 파일 올리기", "Uploaded a receiver file"),
    "audit_action.campaign.send": Text("캠페인 발송", "Sent a campaign"),
    "audit_action.campaign.cancel": Text("캠페인 취소", "Cancelled a campaign"),
    "audit_action.campaign.submit": Text("캠페인 승인 요청", "Submitted a campaign for approval"),
    "audit_action.campaign.approve": Text("캠페인 승인", "Approved a campaign"),
    "audit_action.campaign.refuse": Text("캠페인 반려", "Sent a campaign back"),
    "audit_action.campaign.withdraw": Text("캠페인 승인 요청 취소", "Took a campaign back"),
    "audit_action.account.sending": Text("발송 설정 변경", "Changed how the account sends"),
    "audit_action.campaign.rename": Text("캠페인 이름 변경", "Renamed a campaign"),
    "audit_action.campaign.now": Text("예약 캠페인 즉시 발송", "Sent a scheduled campaign now"),
    "audit_action.campaign.go_on": Text("멈춘 캠페인 계속", "Resumed a campaign"),
}
