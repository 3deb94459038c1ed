"""What `pabal doctor` says about mails to users."""

from pabal.cli.doctor.finding import Finding
from pabal.domain.base import dates
from pabal.service.notices.trial import MailReport, read_report
from pabal.settings.settings import Settings
from pabal.store.engine.base import Store

REMEDY = (
    "Check smtp_host, smtp_port, smtp_tls, user and password, and that this machine may connect there. The"
    " operators' page Mail of the console sends a test. Mails are tried for a day; messages do not wait for them."
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
        message = f"mails cannot be sent since {since}, {waiting} wait: {server.name}: {server.error}"
        return [Finding(False, message, REMEDY)]
    found = [Finding(True, f"mails go to {server.name}, {waiting} wait")]
    if report.failed:
        last = report.failed[0]
        message = (
            f"{len(report.failed)} mails were given up in the last day, the last one to {last.user}: {last.error}"
        )
        found.append(Finding(True, message, "Have these users check their address on the page of their notices."))
    return found
