"""The operators' pages of the system: quotas, the mail server, and the current settings."""

from starlette.responses import Response

from pabal.console.operate.status import list_used_up
from pabal.console.shell.form_fields import parse_id
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Refused, Text
from pabal.domain.events.notice import CONFIRMATION, NOTICE_KIND_BY_CODE
from pabal.mail.mailer import MailOutcome, MailResult
from pabal.service.access.accounts import account_limits, administration
from pabal.service.notices import at_once
from pabal.service.notices.at_once import FailedMail
from pabal.service.upkeep import reports
from pabal.settings import settings as settings_module
from pabal.settings.field import SECRET_IS_SET

MAIL_PATH = "/console/operate/mail"


async def send_test(request: PageRequest) -> Response:
    """Send a test mail to the operator's own address, and show what came of it."""
    return await show_mail(request, result=await at_once.send_test(request.context, request.user))


async def show_mail(
    request: PageRequest, refused: Refused | None = None, result: MailResult | None = None
) -> Response:
    """Show how sending mails goes."""
    report, settings = await at_once.get_report(request.context), request.site.settings
    return request.render(
        "operate/mail.html",
        refused,
        report=report,
        settings=settings,
        failed=[(each, _label(request, each)) for each in report.failed] if report else [],
        is_sent=result is not None and result.outcome is MailOutcome.SENT,
        problem=_describe(request, result, refused),
    )


def _describe(request: PageRequest, result: MailResult | None, refused: Refused | None) -> str:
    """Return why a test mail was not sent; empty: it was, or none was asked for."""
    if refused:
        return " ".join(request.tell(each) for each in refused.problems)
    if result is None or result.outcome is MailOutcome.SENT:
        return ""
    return request.t("mail.test.failed", detail=result.detail)


def _label(request: PageRequest, mail: FailedMail) -> str:
    if mail.kind == CONFIRMATION or mail.kind not in NOTICE_KIND_BY_CODE:
        return request.t("mail.kind.confirm")
    return request.translate(NOTICE_KIND_BY_CODE[mail.kind].label)


async def show_settings(request: PageRequest) -> Response:
    """Show every setting with its value; of a secret only whether it is set."""
    rows = [
        (
            name,
            request.t("settings.set") if value == SECRET_IS_SET else value,
            meaning.in_language(request.locale.language),
        )
        for name, value, meaning in settings_module.describe_settings(request.site.settings)
    ]
    return request.render("operate/settings.html", rows=rows)


QUOTAS_PATH = "/console/operate/quotas"
ACCOUNTS_PER_PAGE = 50
SHOWN_KEYS = 50
"""API keys on the page; those of one account are on its own page."""


async def show_quotas(request: PageRequest) -> Response:
    """Show how much of their limits accounts have used, those that are near one first."""
    after = parse_id(request.field("after")) or 0
    found = await account_limits.list_use(request.context, after, ACCOUNTS_PER_PAGE + 1)
    shown = found[:ACCOUNTS_PER_PAGE]
    report = await reports.get_delivery_report(request.context)
    return request.render(
        "operate/quotas.html",
        rows=[
            (account, use) for account in sorted(shown, key=lambda each: not each.is_near) for use in account.limits
        ],
        keys=await administration.list_recent_keys(request.context, SHOWN_KEYS),
        most_keys=SHOWN_KEYS,
        used_up=list_used_up(request, report.carriers),
        is_first=not after,
        next=f"{QUOTAS_PATH}?after={shown[-1].id}" if len(found) > len(shown) else "",
    )


TEXTS = {
    "operate.part.mail": Text("메일", "Mail"),
    "mail.title": Text("메일 알림", "Mails to users"),
    "mail.about": Text(
        "사용자에게 보내는 알림 메일의 상태입니다. 메일을 보내지 못해도 메시지 발송은 늦어지지 않습니다.",
        "How sending notices to users goes. Messages never wait for mails.",
    ),
    "mail.off": Text(
        "메일 서버가 설정되지 않았습니다. smtp_host, smtp_sender와 public_url을 설정하면 알림 메일을 보냅니다.",
        "No mail server is set up. Set smtp_host, smtp_sender and public_url to send notices by mail.",
    ),
    "mail.server": Text("메일 서버", "Mail server"),
    "mail.works": Text("정상", "Works"),
    "mail.failing": Text("보낼 수 없음", "Mails cannot be sent"),
    "mail.unused": Text("아직 사용 안 함", "Not used yet"),
    "mail.tls.starttls": Text("STARTTLS", "STARTTLS"),
    "mail.tls.tls": Text("TLS", "TLS"),
    "mail.tls.none": Text("암호화 없음", "not encrypted"),
    "mail.sender": Text("보내는 주소", "Sender"),
    "mail.next_try_at": Text("다음 시도", "next try at"),
    "mail.last_error": Text("마지막 실패", "Last failure"),
    "mail.waiting": Text("대기 중인 메일", "Mails waiting"),
    "mail.test": Text("테스트 메일 보내기", "Send a test mail"),
    "mail.test.about": Text(
        "확인된 본인 메일 주소로 보냅니다. 주소 등록:", "It goes to your own confirmed address. Set it up here:"
    ),
    "mail.test.sent": Text("테스트 메일을 보냈습니다.", "The test mail was sent."),
    "mail.test.failed": Text("테스트 메일을 보내지 못했습니다: {detail}", "The test mail was not sent: {detail}"),
    "mail.failed": Text("최근에 포기한 메일", "Mails given up lately"),
    "mail.none_failed": Text("최근 하루 동안 포기한 메일이 없습니다.", "No mail was given up in the last day."),
    "mail.kind": Text("알림", "Notice"),
    "mail.kind.confirm": Text("메일 주소 확인", "Confirmation of the address"),
    "mail.reason": Text("이유", "Reason"),
    "settings.title": Text("적용 중인 설정", "Current settings"),
    "settings.about": Text(
        "설정 파일이나 PABAL_로 시작하는 환경 변수를 바꾸고 서비스를 다시 시작하면 적용됩니다. 비밀 값은 "
        "설정 여부만 표시합니다.",
        "Change them in the settings file or with environment variables that start with PABAL_, then "
        "restart. Secrets are not shown.",
    ),
    "settings.value": Text("값", "Value"),
    "settings.meaning": Text("설명", "Description"),
    "settings.set": Text("설정됨", "Set"),
    "settings.empty": Text("비어 있음", "Empty"),
    "operate.part.quotas": Text("한도와 쿼터", "Quotas"),
    "quotas.title": Text("한도와 쿼터", "Quotas"),
    "quotas.accounts": Text("계정의 한도", "Limits of accounts"),
    "quotas.accounts_about": Text(
        "한도에 가까운 계정부터 보여 줍니다. 사용에는 프로세스가 미리 잡아 둔 몫도 들어 있습니다.",
        "Accounts near a limit come first. What processes have reserved ahead counts as used.",
    ),
    "quotas.left": Text("남음", "Remaining"),
    "quotas.near": Text("한도에 가까움", "Near"),
    "quotas.first": Text("처음", "First"),
    "quotas.none": Text(
        "한도가 있는 계정이 없습니다. 한도는 계정마다 정합니다.",
        "No account has limits. They are set at each account.",
    ),
    "quotas.keys": Text("API 키의 호출 속도", "Rates of API keys"),
    "quotas.keys_about": Text(
        "최근에 쓴 키 {count}개까지 보여 줍니다. 속도는 초마다 새로 시작하므로 쓴 양을 세지 않습니다.",
        "Up to {count} keys, those used last first. A rate starts anew each second, so its use is not counted.",
    ),
    "quotas.no_keys": Text(
        "쓸 수 있는 키가 없습니다. 키는 계정 화면에서 발급합니다.",
        "There are no usable keys. They are created at each account.",
    ),
    "quotas.relays": Text("중계사의 쿼터", "Quotas of relays"),
}
