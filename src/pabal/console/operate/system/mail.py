"""The operators' page of the mail server: how sending mails goes, and a test."""

from starlette.responses import Response

from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Refused, Text
from pabal.domain.events.notice import CONFIRMATION, NOTICE_KIND_BY_CODE
from pabal.mail.mailer import MailOutcome, MailResult
from pabal.service.notices import at_once
from pabal.service.notices.at_once import FailedMail

MAIL_PATH = "/console/operate/mail"


async def send_test(request: PageRequest) -> Response:
    """Send a test mail to the operator's own address, and show what came of it."""
    try:
        result = await at_once.send_test(request.context, request.user)
    except Refused as refused:
        return await show_mail(request, refused=refused)
    return await show_mail(request, result)


async def show_mail(
    request: PageRequest, result: MailResult | None = None, refused: Refused | None = None
) -> Response:
    """Show how sending mails goes."""
    report, settings = await at_once.get_report(request.context), request.site.settings
    return request.render(
        "operate/system/mail.html",
        refused.code.http_status if refused else 200,
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
}
