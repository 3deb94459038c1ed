"""What `pabal doctor` says about mails to users."""

from pabal.cli.doctor.finding import Finding, ok, wrong
from pabal.domain.base import dates
from pabal.domain.base.codes import Text
from pabal.service.notices.trial import MailReport, read_report
from pabal.settings.settings import Settings
from pabal.store.engine.base import Store

REMEDY = Text(
    "smtp_host, smtp_port, smtp_tls, 사용자와 비밀번호를 확인하고, 이 컴퓨터에서 접속할 수 있는지 확인하세요."
    " 콘솔의 운영자용 메일 페이지에서 시험 메일을 보낼 수 있습니다. 메일은 하루 동안 다시 시도하고, 메시지 발송은"
    " 기다리지 않습니다.",
    "Check smtp_host, smtp_port, smtp_tls, user and password, and that this machine may connect there. The"
    " operators' page Mail of the console sends a test. Mails are tried for a day; messages do not wait for them.",
)


async def check_mail_server(store: Store, settings: Settings) -> list[Finding]:
    """Report a mail server that takes no mails, and mails that were given up."""
    settings.read_smtp_password()
    if not settings.has_mail:
        return []
    name = f"{settings.smtp_host}:{settings.smtp_port}"
    return _describe(await store.read(read_report, name), settings)


def _describe(report: MailReport, settings: Settings) -> list[Finding]:
    server, waiting = report.server, report.outbox.waiting
    if server.failing_since is not None:
        since = dates.format_timestamp(server.failing_since, settings.zone)
        message = Text(
            f"{since}부터 메일을 보낼 수 없고, {waiting}통이 기다립니다: {server.name}: {server.error}",
            f"mails cannot be sent since {since}, {waiting} wait: {server.name}: {server.error}",
        )
        return [wrong(*message, REMEDY)]
    found = [
        ok(
            f"메일을 {server.name}(으)로 보내고, {waiting}통이 기다립니다",
            f"mails go to {server.name}, {waiting} wait",
        )
    ]
    if report.failed:
        last = report.failed[0]
        message = Text(
            f"지난 하루 동안 메일 {len(report.failed)}통을 보내지 못했습니다. 마지막은 {last.user}에게"
            f" 가는 메일입니다: {last.error}",
            f"{len(report.failed)} mails were given up in the last day, the last one to {last.user}: {last.error}",
        )
        found.append(
            ok(
                *message,
                Text(
                    "이 사용자들이 알림 화면에서 자기 주소를 확인하게 하세요.",
                    "Have these users check their address on the page of their notices.",
                ),
            )
        )
    return found
