"""The operators' page of the mail server: how sending mails goes, and a test."""

from typing import NamedTuple

from starlette.responses import Response

from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Refused
from pabal.domain.base.dates import Instant
from pabal.domain.events.notice import CONFIRMATION, NOTICE_KIND_BY_CODE
from pabal.mail.mailer import MailOutcome, MailResult
from pabal.service.notices import trial
from pabal.service.notices.trial import FailedMail

MAIL_PATH = "/console/operate/mail"


class FailedMailRow(NamedTuple):
    """A mail that was given up."""

    user: str
    kind: str
    failed_at: str
    error: str


async def show_mail(request: PageRequest) -> Response:
    """Show how sending mails goes."""
    return await _render(request)


async def send_test(request: PageRequest) -> Response:
    """Send a test mail to the operator's own address, and show what came of it."""
    try:
        result = await trial.send_test(request.context, request.user)
    except Refused as refused:
        return await _render(request, refused=refused)
    return await _render(request, result)


async def _render(
    request: PageRequest, result: MailResult | None = None, refused: Refused | None = None
) -> Response:
    report, settings = await trial.get_report(request.context), request.site.settings
    server = report.server if report else None
    return request.render(
        "operate/system/mail.html",
        refused.code.http_status if refused else 200,
        report=report,
        settings=settings,
        succeeded_at=_spell_time(request, server.succeeded_at if server else None),
        failing_since=_spell_time(request, server.failing_since if server else None),
        failed_at=_spell_time(request, server.failed_at if server else None),
        next_try_at=_spell_time(request, server.next_try_at if server and server.failing_since else None),
        error=server.error if server else "",
        failed=[_failed_row(request, each) for each in report.failed] if report else [],
        is_sent=result is not None and result.outcome is MailOutcome.SENT,
        problem=_describe(request, result, refused),
    )


def _describe(request: PageRequest, result: MailResult | None, refused: Refused | None) -> str:
    """Return why a test mail was not sent; empty: it was, or none was asked for."""
    if refused:
        return " ".join(each.message(request.locale.language) for each in refused.problems)
    if result is None or result.outcome is MailOutcome.SENT:
        return ""
    return request.t("mail.test.failed", detail=result.detail)


def _failed_row(request: PageRequest, each: FailedMail) -> FailedMailRow:
    is_confirmation = each.kind == CONFIRMATION or each.kind not in NOTICE_KIND_BY_CODE
    label = (
        request.t("mail.kind.confirm")
        if is_confirmation
        else request.translate(NOTICE_KIND_BY_CODE[each.kind].label)
    )
    return FailedMailRow(each.user, label, _spell_time(request, each.failed_at), each.error)


def _spell_time(request: PageRequest, at: Instant | None) -> str:
    return request.locale.format_timestamp(at) if at else ""
