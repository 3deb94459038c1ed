"""Mails an invitation to whom it is for, at once, so that the inviter sees what came of it."""

from pabal.domain.base.codes import Code, Refused
from pabal.domain.users.user import Role, User
from pabal.mail.mailer import Mail, MailResult
from pabal.service.context import Context
from pabal.service.notices.compose import compose_invitation
from pabal.service.notices.dispatch import MAIL_ID_BITS, record_server
from pabal.service.notices.trial import TEST_PAUSE_S


def check_pace(context: Context, inviter: User) -> None:
    """Raise Refused: INVALID_STATE without a mail server, RATE_LIMITED for one mail so soon after another."""
    if not context.mail.is_sent:
        raise Refused(Code.INVALID_STATE, "address")
    now = context.world.monotonic()
    wait_s = context.mail.last_tests.get(inviter.id, -TEST_PAUSE_S) + TEST_PAUSE_S - now
    if wait_s > 0:
        raise Refused(Code.RATE_LIMITED, retry_after_s=wait_s)
    context.mail.last_tests[inviter.id] = now


async def send_invitation(
    context: Context, inviter: User, account: str, role: Role, path: str, address: str, language: str
) -> MailResult:
    """Send the link of an invitation to an address, and return what came of it; `path` has its token."""
    url = f"{context.policy.notices.public_url}{path}"
    mail_id = f"{context.world.random_bits(MAIL_ID_BITS):0{MAIL_ID_BITS // 4}x}"
    text = compose_invitation(inviter.label, account, role, url, language)
    result = await context.mail.mailer.send(Mail(mail_id, address, *text))
    await context.store.write(
        record_server, context.mail.mailer.name, result, context.world.random(), context.world.now()
    )
    return result
