"""Mails that are sent while a person waits, tests and invitations, and what operators see of the mail server."""

from typing import NamedTuple

from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.people.user import Role, User
from pabal.mail.mailer import Mail, MailResult
from pabal.service.context import Context
from pabal.service.notices.compose import compose_invitation, compose_test
from pabal.service.notices.dispatch import record_server
from pabal.store.engine.base import Reader, Tx, transaction
from pabal.store.events import mails, notices
from pabal.store.events.mails import FailedMail as FailedMail
from pabal.store.events.mails import MailServer
from pabal.world import new_unique_id

MAX_FAILED = 20
"""Mails given up lately that operators see."""
NO_ADDRESS = Text(
    "테스트 메일은 확인된 본인 주소로 보냅니다. 먼저 내 정보의 알림에서 메일 주소를 등록하고 확인하세요.",
    "A test mail goes to your own confirmed address. Set it up on the page of your notices first.",
)
_NO_MAIL = Text("메일 서버가 설정되지 않았습니다.", "No mail server is set up.")


class MailReport(NamedTuple):
    """How sending mails goes."""

    server: MailServer
    waiting: int
    failed: list[FailedMail]


async def get_report(context: Context) -> MailReport | None:
    """Return how sending mails goes; None: no mails are sent."""
    return await context.store.read(read_report, context.mail.mailer.name) if context.mail.is_sent else None


@transaction(reader=Reader.BACKGROUND)
def read_report(tx: Tx, server: str) -> MailReport:
    """Return how sending mails to a server goes."""
    return MailReport(mails.get(tx, server), mails.count_waiting(tx), mails.list_failed(tx, MAX_FAILED))


async def send_test(context: Context, user: User) -> MailResult:
    """Send a mail to the user's confirmed address, and return what came of it.

    Raises Refused: INVALID_STATE without a mail server or an address, RATE_LIMITED.
    """
    if not context.mail.is_sent:
        raise Refused(Code.INVALID_STATE, "", _NO_MAIL)
    settings = await context.store.read(notices.get_settings, user.id)
    if settings.address is None:
        raise Refused(Code.INVALID_STATE, "", NO_ADDRESS)
    _count_mail(context, user)
    result = await _send(context, settings.address, *compose_test(settings.language))
    context.mail.added.set()
    return result


def check_invitation(context: Context, inviter: User) -> None:
    """Raise Refused: INVALID_STATE without a mail server, RATE_LIMITED for one mail so soon after another."""
    if not context.mail.is_sent:
        raise Refused(Code.INVALID_STATE, "address")
    _count_mail(context, inviter)


async def send_invitation(
    context: Context, inviter: User, account: str, role: Role, path: str, address: str, language: str
) -> MailResult:
    """Send the link of an invitation to an address, and return what came of it; `path` has its token."""
    url = f"{context.policy.notices.public_url}{path}"
    return await _send(context, address, *compose_invitation(inviter.label, account, role, url, language))


def _count_mail(context: Context, user: User) -> None:
    now = context.world.monotonic()
    context.mail.last_tests.check(user.id, now)
    context.mail.last_tests.remember(user.id, now)


async def _send(context: Context, address: str, subject: str, text: str) -> MailResult:
    mail_id = new_unique_id(context.world).hex()
    result = await context.mail.mailer.send(Mail(mail_id, address, subject, text))
    await context.store.write(
        record_server, context.mail.mailer.name, result, context.world.random(), context.world.now()
    )
    return result
