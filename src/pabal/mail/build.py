"""Builds what hands mails to the mail server that the settings name."""

from collections.abc import Callable

from pabal.mail.mailer import Mailer, SmtpServer
from pabal.settings.mail_settings import MailSettings
from pabal.world import World


def make_mailer_factory(
    settings: MailSettings, world: World, replacement: Mailer | None = None
) -> Callable[[], Mailer] | None:
    """Return what makes the mailer of the settings, or returns the replacement; None: no mails are sent.

    Raises BadSetting if the file with the password cannot be read.
    """
    if not settings.has_mail:
        return None
    server = SmtpServer(
        settings.smtp_host,
        settings.smtp_port,
        settings.smtp_tls,
        settings.smtp_user,
        settings.read_smtp_password(),
        settings.smtp_sender,
        settings.smtp_timeout_seconds,
        settings.smtp_tls_ca,
    )

    def make() -> Mailer:
        from pabal.mail.smtp import SmtpMailer  # many send no mails, and its libraries take time to load

        return replacement or SmtpMailer(server, world)

    return make
