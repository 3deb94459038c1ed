"""Approval of large sends by a second user: campaigns wait for it, and start as they were shown."""

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from pabal.domain.base.codes import LANGUAGES, Code, Refused, Text
from pabal.domain.base.dates import DAY, Instant
from pabal.domain.events.notice import NoticeKind
from pabal.domain.people.user import Role, User
from pabal.domain.sends.account import approval_threshold
from pabal.domain.sends.sending import Sending, encode_shared
from pabal.service.context import Context
from pabal.service.sending import waiting
from pabal.service.sending.campaigns.campaigns import WAKE_EVENT, encode_receivers, with_audit_entry
from pabal.store.accounts import accounts, audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.campaigns import campaign_list, campaigns
from pabal.store.campaigns.campaigns import Campaign, CampaignDraft, FileFindings, FileSummary, ReceiverBlock
from pabal.store.engine.base import Tx
from pabal.store.events import notices
from pabal.store.messages import requests
from pabal.store.messages.requests import Request
from pabal.store.users import users

APPROVING_ROLES = (Role.OWNER, Role.SENDER)
MAX_COMMENT_CHARACTERS = 200
DEPENDENCE_MS = 7 * DAY
"""How long nobody approves who was invited, or given a password or a role, by who has prepared the send."""
COUNTED_MS = 1 * DAY
"""How long sends with the same text count together."""
_DIGEST_BYTES = 16
OWN_CAMPAIGN = Text(
    "직접 작성하거나 승인을 요청한 발송은 승인할 수 없습니다. 다른 사용자가 승인해야 합니다.",
    "You cannot approve what you have written or submitted yourself. Another user has to approve it.",
)
DEPENDENT = Text(
    "이 발송을 준비한 사람이 최근 7일 안에 초대했거나 비밀번호, 역할, 2단계 인증을 바꿔 준 사용자는 승인할 수"
    " 없습니다. 다른 사용자가 승인해야 합니다.",
    "Who has prepared this send has invited you, or changed your password, role or two-factor sign-in, within the"
    " last 7 days. Another user has to approve it.",
)
NEEDS_APPROVAL = Text(
    "같은 내용을 24시간 안에 보낸 인원을 더하면 승인이 필요합니다. 발송 화면에서 다시 확인해 승인을 요청하세요.",
    "With those who got the same text within 24 hours, it needs approval. Review it again to submit it.",
)
CHANGED = Text(
    "이 화면을 연 뒤에 상태가 바뀌었습니다. 내용을 다시 확인하세요.",
    "It has changed since you opened this page. Look at it again.",
)
TIME_PASSED = Text(
    "예약한 시각이 지났습니다. 반려하거나 취소한 다음 새 시각으로 다시 승인을 요청하세요.",
    "Its scheduled time has passed. Send it back, and submit it again with another time.",
)
NEEDS_NEW_REQUEST = Text(
    "승인이 필요한 인원입니다. 예약을 취소하고 새로 작성해 승인을 요청하세요.",
    "So many receivers need approval. Cancel the scheduled send, and write it anew to submit it for approval.",
)
NOT_NOW = Text(
    "승인받은 시각에만 발송할 수 있습니다. 지금 보내려면 취소하고 다시 승인을 요청하세요.",
    "It may be sent only at the time that was approved. To send it now, cancel it and submit it again.",
)


class Approval(NamedTuple):
    """Who has submitted a campaign, and whether a user may approve it."""

    submitter: str
    """The user's name; empty: the user is gone."""
    may_approve: bool
    is_dependent: bool
    """Whether the user may not because of an invitation or a reset by who has prepared it."""
    others: int
    """How many users of the account could approve it."""


async def needs_approval(
    context: Context, account_id: int, sending: Sending | None, receivers: int, edited: bytes | None = None
) -> bool:
    """Return whether a send of the console needs the approval of a second user.

    Those who got the same text in the last 24 hours, without approval, count too. `edited` is the scheduled request
    whose place the send takes.
    """
    threshold = await _get_threshold(context, account_id)
    if not threshold or receivers > threshold or sending is None:
        return 0 < threshold < receivers
    since = context.world.now() - COUNTED_MS
    return threshold < receivers + await context.store.read(_count_earlier, account_id, sending, since, edited)


async def check_edit(context: Context, account_id: int, sending: Sending, edited: bytes | None) -> None:
    """Raise Refused(INVALID_STATE) where a scheduled request would be changed to what needs approval."""
    if await needs_approval(context, account_id, sending, len(sending.receivers), edited):
        raise Refused(Code.INVALID_STATE, "receivers", NEEDS_NEW_REQUEST)


@asynccontextmanager
async def count_unapproved(
    context: Context,
    account_id: int,
    sending: Sending | None,
    receivers: int,
    send_id: bytes,
    edited: bytes | None = None,
) -> AsyncIterator[None]:
    """Count a send without approval, which the block does; one that is refused does not count.

    Raises Refused(INVALID_STATE) where it needs approval after all: others with the same text came first.
    """
    threshold = await _get_threshold(context, account_id)
    if not threshold or sending is None:
        yield
        return
    now = context.world.now()
    if not await context.store.write(
        _count_unapproved, account_id, sending, receivers, send_id, edited, threshold, now
    ):
        raise Refused(Code.INVALID_STATE, "receivers", NEEDS_APPROVAL)
    try:
        yield
    except Refused:
        await context.store.write(campaign_list.delete, account_id, _digest(sending), send_id)
        raise


async def check_send_now(context: Context, campaign: Campaign) -> None:
    """Raise Refused(INVALID_STATE) for a campaign whose time was approved."""
    if await context.store.read(campaign_list.get_submitter_id, campaign.id) is not None:
        raise Refused(Code.INVALID_STATE, "", NOT_NOW)


async def count_approvers(context: Context, account_id: int, user_id: int) -> int:
    """Return how many users of an account could approve what this user submits."""
    since = context.world.now() - DEPENDENCE_MS
    found, dependents = await context.store.read(_read_users, account_id, {user_id}, since)
    return len(_approvers(found, dependents))


async def get_approval(context: Context, campaign: Campaign, user: User) -> Approval:
    """Return who has submitted a campaign, and whether a user may approve it."""
    submitter_id = await context.store.read(campaign_list.get_submitter_id, campaign.id)
    own = {each for each in (submitter_id, campaign.user_id) if each is not None}
    since = context.world.now() - DEPENDENCE_MS
    found, dependents = await context.store.read(_read_users, campaign.account_id, own, since)
    approvers = _approvers(found, dependents)
    names = {each.id: each.name for each in found}
    return Approval(
        names.get(submitter_id or 0, ""),
        any(each.id == user.id for each in approvers),
        user.id in dependents - own,
        len(approvers),
    )


async def submit(
    context: Context,
    campaign: Campaign,
    name: str,
    scheduled_at: Instant | None,
    user_id: int,
    audit_entry: AuditEntry,
) -> bool:
    """Submit a checked campaign for approval; return False if it has changed meanwhile."""
    now = max(context.world.now(), campaign.changed_at + 1)
    done = await context.store.write(
        with_audit_entry, _submit, audit_entry, campaign._replace(name=name), scheduled_at, user_id, now
    )
    context.mail.added.set()
    return done


async def submit_typed(context: Context, draft: CampaignDraft, sending: Sending, audit_entry: AuditEntry) -> bool:
    """Store a typed send as a campaign that waits for approval; return False if that was done before."""
    done = await context.store.write(_add_typed, draft, sending, audit_entry, context.world.now())
    context.mail.added.set()
    return done


async def approve(
    context: Context, campaign: Campaign, sending: Sending, user: User, audit_entry: AuditEntry
) -> None:
    """Start a campaign as it was shown to a second user; `sending` is what all its receivers get.

    Raises Refused: FORBIDDEN for one's own and for dependents, INVALID_STATE where it has changed or its time has
    passed, and NIGHT_AD_RESTRICTED.
    """
    await _check_approver(context, campaign, user)
    now = context.world.now()
    if campaign.scheduled_at is not None and campaign.scheduled_at <= now:
        raise Refused(Code.INVALID_STATE, "", TIME_PASSED)
    if campaign.scheduled_at is None:
        waiting.check_ad_hours(sending.is_ad, context.policy, now)
    done = await context.store.write(
        with_audit_entry,
        campaign_list.approve,
        audit_entry,
        campaign.id,
        campaign.changed_at,
        user.id,
        campaign.scheduled_at,
        now,
    )
    if not done:
        raise Refused(Code.INVALID_STATE, "", CHANGED)
    context.wake([WAKE_EVENT])


async def refuse(context: Context, campaign: Campaign, user: User, comment: str, audit_entry: AuditEntry) -> None:
    """Send a campaign back, with a comment for those who prepare it.

    Raises Refused: FORBIDDEN for one's own and for dependents, INVALID_STATE where it has changed.
    """
    await _check_approver(context, campaign, user)
    said = f": {comment[:MAX_COMMENT_CHARACTERS]}" if comment else "."
    text = Text(f"{user.name} 님이 승인하지 않았습니다{said}", f"{user.name} did not approve it{said}")
    await _send_back(context, campaign, text, audit_entry)


async def withdraw(context: Context, campaign: Campaign, audit_entry: AuditEntry) -> None:
    """Take a campaign back before it was approved, to change it.

    Raises Refused(INVALID_STATE) where it has changed.
    """
    await _send_back(context, campaign, None, audit_entry)


async def _send_back(context: Context, campaign: Campaign, text: Text | None, audit_entry: AuditEntry) -> None:
    reason = [text.in_language(each) for each in LANGUAGES] if text else []
    now = max(context.world.now(), campaign.changed_at + 1)
    if not await context.store.write(
        with_audit_entry, campaign_list.send_back, audit_entry, campaign.id, campaign.changed_at, reason, now
    ):
        raise Refused(Code.INVALID_STATE, "", CHANGED)


async def _check_approver(context: Context, campaign: Campaign, user: User) -> None:
    approval = await get_approval(context, campaign, user)
    if not approval.may_approve:
        raise Refused(Code.FORBIDDEN, "", DEPENDENT if approval.is_dependent else OWN_CAMPAIGN)


async def _get_threshold(context: Context, account_id: int) -> int:
    own = await context.store.read(accounts.get_send_preferences, account_id)
    return approval_threshold(own.approval_receivers, context.policy.approval_receivers)


def _count_earlier(tx: Tx, account_id: int, sending: Sending, since: Instant, edited: bytes | None) -> int:
    """Return how many got the same text already; nobody else gets it where only the time of a request changes."""
    if _has_same_text(tx, sending, edited):
        return 0
    return campaign_list.count(tx, account_id, _digest(sending), since)


def _has_same_text(tx: Tx, sending: Sending, edited: bytes | None) -> bool:
    old = requests.get(tx, [edited]).get(edited) if edited else None
    return old is not None and _digest(old) == _digest(sending)


def _count_unapproved(
    tx: Tx,
    account_id: int,
    sending: Sending,
    receivers: int,
    send_id: bytes,
    edited: bytes | None,
    threshold: int,
    now: Instant,
) -> bool:
    """Count a send, once, unless it only changes a time; return False where it needs approval."""
    if _has_same_text(tx, sending, edited):
        return receivers <= threshold
    accounts.lock(tx, account_id)
    earlier = campaign_list.count(tx, account_id, _digest(sending), now - COUNTED_MS, send_id)
    if receivers + earlier > threshold:
        return False
    campaign_list.add(tx, account_id, _digest(sending), send_id, receivers, now)
    return True


def _digest(sent: Sending | Request) -> bytes:
    """Return a digest of the letters of a text: blanks, digits and punctuation change nothing."""
    text = f"{sent.subject or ''} {sent.content}".casefold()
    letters = "".join(filter(str.isalpha, text)) or text
    return hashlib.blake2b(f"{sent.template_code} {letters}".encode(), digest_size=_DIGEST_BYTES).digest()


def _read_users(tx: Tx, account_id: int, own: set[int], since: Instant) -> tuple[list[User], set[int]]:
    """Return the users of an account, and who depends on those who have prepared a send, with these."""
    return users.list_by_account(tx, account_id), users.list_dependents(tx, own, since)


def _approvers(found: list[User], dependents: set[int]) -> list[User]:
    return [each for each in found if each.is_active and each.role in APPROVING_ROLES and each.id not in dependents]


def _submit(tx: Tx, campaign: Campaign, scheduled_at: Instant | None, user_id: int, now: Instant) -> bool:
    """Submit a campaign and tell others who may approve it; return False if it has changed meanwhile."""
    if not campaign_list.submit(tx, campaign.id, campaign.changed_at, campaign.name, scheduled_at, user_id, now):
        return False
    data = {
        "name": campaign.name,
        "receivers": campaign.receivers,
        "user": users.get_name(tx, user_id),
        notices.CAUSED_BY: sorted({user_id, campaign.user_id}),
    }
    notice_id = hashlib.blake2b(campaign.id + now.to_bytes(8, "big"), digest_size=_DIGEST_BYTES).digest()
    notices.add(tx, notice_id, NoticeKind.APPROVAL, campaign.account_id, data, now)
    return True


def _add_typed(tx: Tx, draft: CampaignDraft, sending: Sending, audit_entry: AuditEntry, now: Instant) -> bool:
    """Store a campaign with one block of receivers, checked and submitted."""
    if campaigns.get_account_id(tx, draft.id) is not None:
        return False
    campaigns.add(tx, draft, now)
    campaigns.begin_reading(tx, draft.id, "", True, now, now)
    block = ReceiverBlock(1, len(sending.receivers), encode_receivers(sending.receivers))
    campaigns.add_findings(tx, draft.id, FileFindings(block, (), 0), now, now)
    campaigns.end_reading(tx, draft.id, FileSummary(encode_shared(sending), (), ()), now, now)
    checked = campaigns.get(tx, draft.id)
    assert checked, "it was just stored"
    _submit(tx, checked, sending.scheduled_at, draft.user_id, now)
    audit_log.add(tx, audit_entry)
    return True
