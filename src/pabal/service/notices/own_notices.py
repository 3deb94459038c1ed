"""What users choose about their notices: which ones, in which language, and at which address."""

from typing import NamedTuple

from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.base.dates import HOUR, MINUTE, SECOND, Instant
from pabal.domain.events.notice import CONFIRMATION, NoticeKind, parse_address
from pabal.domain.people.user import User
from pabal.service.access.users.sign_in import new_secret
from pabal.service.access.users.sign_in_delays import hash_token
from pabal.service.context import Context
from pabal.service.notices.compose import secret_context
from pabal.store.accounts import audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Tx
from pabal.store.events import mails, notices
from pabal.store.events.mails import NewMail
from pabal.store.events.notices import ASK_PERIOD_MS, NoticeSettings
from pabal.world import new_unique_id

CONFIRM_LIFETIME_MS = 24 * HOUR
ASK_PAUSE_MS = 1 * MINUTE
MAX_ASKS = 5
"""Confirmation mails that a user can have sent in a day, so that nobody is flooded in our name."""
NO_MAIL = Text("메일 서버가 설정되지 않았습니다.", "No mail server is set up.")
LINK_GONE = Text(
    "확인 링크가 만료되었거나 이미 사용되었거나 다른 사용자의 것입니다. 주소를 다시 입력해 새 링크를 받으세요.",
    "The link has expired, was used already, or is for another user. Enter the address again to get a new one.",
)
_TOO_MANY = Text(
    f"확인 메일은 1분에 한 번, 하루에 {MAX_ASKS}번까지 보낼 수 있습니다. 나중에 다시 시도하세요.",
    f"Confirmation mails are sent once a minute and {MAX_ASKS} times a day at most. Try again later.",
)


class NewAddress(NamedTuple):
    """An address that a user has entered, and the link that confirms it."""

    address: str
    language: str
    hash: bytes
    mail: NewMail


async def get_settings(context: Context, user: User) -> NoticeSettings:
    """Return what a user has chosen."""
    return await context.store.read(notices.get_settings, user.id)


async def ask_to_confirm(
    context: Context, user: User, spelling: str, language: str, audit_entry: AuditEntry
) -> None:
    """Send a link to an address; mails go there once the user has opened it. The address before stays until then.

    Raises Refused: MISSING_PARAMETER, INVALID_PARAMETER, INVALID_STATE without a mail server, RATE_LIMITED.
    """
    if not context.mail.is_sent:
        raise Refused(Code.INVALID_STATE, "address", NO_MAIL)
    address, token = parse_address(spelling), new_secret(context.world)
    sealed = context.secrets.seal(token.encode(), secret_context(user.id))
    mail_id = new_unique_id(context.world)
    mail = NewMail(mail_id, user.id, CONFIRMATION, [{"user": user.name}], sealed)
    new = NewAddress(address, language, hash_token(token), mail)
    await context.store.write(_ask, user.id, new, context.world.now(), audit_entry)
    context.mail.added.set()


def remove_address(tx: Tx, user_id: int, audit_entry: AuditEntry) -> None:
    """Forget a user's address, and what was to be sent there."""
    before = notices.get_settings(tx, user_id)
    if before.address is None and before.new_address is None:
        return
    after = before._replace(address=None, new_address=None, hash=None, expires_at=None, failed_at=None, error="")
    notices.put_settings(tx, user_id, after)
    mails.delete_all_by_user(tx, user_id)
    audit_log.add(tx, audit_entry)


def choose(tx: Tx, user_id: int, kinds: frozenset[NoticeKind], language: str, audit_entry: AuditEntry) -> None:
    """Set what a user is told, and in which language."""
    before = notices.get_settings(tx, user_id)
    after = before._replace(kinds=kinds, language=language)
    if after != before:
        notices.put_settings(tx, user_id, after)
        audit_log.add(tx, audit_entry)


def _ask(tx: Tx, user_id: int, new: NewAddress, now: Instant, audit_entry: AuditEntry) -> None:
    before = notices.get_settings(tx, user_id)
    asks = before.asks_lately(now)
    wait_ms = before.asked_at + ASK_PAUSE_MS - now
    if asks >= MAX_ASKS:
        wait_ms = before.asked_since + ASK_PERIOD_MS - now
    if asks and wait_ms > 0:
        raise Refused(Code.RATE_LIMITED, "address", _TOO_MANY, retry_after_s=wait_ms / SECOND)
    after = before._replace(
        language=new.language if before.kinds is None else before.language,
        new_address=new.address,
        hash=new.hash,
        expires_at=now + CONFIRM_LIFETIME_MS,
        asks=asks + 1,
        asked_since=before.asked_since if asks else now,
        asked_at=now,
        failed_at=None,
        error="",
    )
    notices.put_settings(tx, user_id, after)
    mails.drop_unsent(tx, user_id, CONFIRMATION)
    mails.add(tx, new.mail, now, now)
    audit_log.add(tx, audit_entry)


def confirm(tx: Tx, user_id: int, token: str, audit_entry: AuditEntry) -> None:
    """Confirm the address that a link was sent to; the link works once, for its user alone.

    Raises Refused(INVALID_STATE).
    """
    found, now = notices.get_settings(tx, user_id), audit_entry.created_at
    is_valid = found.hash == hash_token(token) and found.expires_at is not None and now < found.expires_at
    if not is_valid or found.new_address is None:
        raise Refused(Code.INVALID_STATE, "", LINK_GONE)
    after = found._replace(
        address=found.new_address, new_address=None, hash=None, expires_at=None, failed_at=None, error=""
    )
    notices.put_settings(tx, user_id, after)
    mails.drop_unsent(tx, user_id, CONFIRMATION)
    audit_log.add(tx, audit_entry)
