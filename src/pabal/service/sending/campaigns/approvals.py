"""Approval of large sends by a second user: campaigns wait for it, and start as they were shown."""

from typing import NamedTuple

from pabal.domain.base.codes import LANGUAGES, Code, Refused, Text
from pabal.domain.base.dates import Instant
from pabal.domain.sends.campaign import CampaignState
from pabal.domain.sends.limits import approval_threshold
from pabal.domain.sends.sending import Sending, encode_shared
from pabal.domain.users.user import Role, User
from pabal.service.context import Context
from pabal.service.sending import send_now
from pabal.service.sending.campaigns.campaigns import WAKE_EVENT, encode_receivers, with_audit_entry
from pabal.store.accounts import accounts, audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.campaigns import campaign_list, campaigns
from pabal.store.campaigns.campaigns import Campaign, CampaignDraft, FileFindings, FileSummary, ReceiverBlock
from pabal.store.engine.base import Tx
from pabal.store.users import users

APPROVING_ROLES = (Role.OWNER, Role.SENDER)
MAX_COMMENT_CHARACTERS = 200
OWN_CAMPAIGN = Text(
    "직접 작성하거나 승인을 요청한 발송은 승인할 수 없습니다. 다른 사용자가 승인해야 합니다.",
    "You cannot approve what you have written or submitted yourself. Another user has to approve it.",
)
CHANGED = Text(
    "이 화면을 연 뒤에 상태가 바뀌었습니다. 내용을 다시 확인하세요.",
    "It has changed since you opened this page. Look at it again.",
)
TIME_PASSED = Text(
    "예약한 시각이 지났습니다. 되돌린 다음 새 시각으로 다시 승인을 요청하세요.",
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
    others: int
    """How many users of the account could approve it."""


async def needs_approval(context: Context, account_id: int, receivers: int) -> bool:
    """Return whether a send of the console to so many receivers needs the approval of a second user."""
    own = await context.store.read(accounts.get_send_preferences, account_id)
    threshold = approval_threshold(own.approval_receivers, context.policy.approval_receivers)
    return 0 < threshold < receivers


async def check_edit(context: Context, account_id: int, receivers: int) -> None:
    """Raise Refused(INVALID_STATE) where a scheduled request would be changed to what needs approval."""
    if await needs_approval(context, account_id, receivers):
        raise Refused(Code.INVALID_STATE, "receivers", NEEDS_NEW_REQUEST)


async def check_send_now(context: Context, campaign: Campaign) -> None:
    """Raise Refused(INVALID_STATE) for a campaign whose time was approved."""
    if await context.store.read(campaign_list.get_submitter_id, campaign.id) is not None:
        raise Refused(Code.INVALID_STATE, "", NOT_NOW)


async def count_approvers(context: Context, account_id: int, user_id: int) -> int:
    """Return how many users of an account could approve what this user submits."""
    return len(_approvers(await context.store.read(users.list_by_account, account_id), {user_id}))


async def get_approval(context: Context, campaign: Campaign, user: User) -> Approval:
    """Return who has submitted a campaign, and whether a user may approve it."""
    submitter_id, found = await context.store.read(_read_approval, campaign)
    approvers = _approvers(found, {submitter_id, campaign.user_id})
    names = {each.id: each.name for each in found}
    is_approver = any(each.id == user.id for each in approvers)
    return Approval(names.get(submitter_id or 0, ""), is_approver, len(approvers))


async def submit(
    context: Context,
    campaign: Campaign,
    name: str,
    scheduled_at: Instant | None,
    user_id: int,
    audit_entry: AuditEntry,
) -> bool:
    """Submit a checked campaign for approval; return False if it has changed meanwhile."""
    return await context.store.write(
        with_audit_entry,
        campaign_list.submit,
        audit_entry,
        campaign.id,
        campaign.changed_at,
        name,
        scheduled_at,
        user_id,
        max(context.world.now(), campaign.changed_at + 1),
    )


async def submit_typed(context: Context, draft: CampaignDraft, sending: Sending, audit_entry: AuditEntry) -> bool:
    """Store a typed send as a campaign that waits for approval; return False if that was done before."""
    return await context.store.write(_add_typed, draft, sending, audit_entry, context.world.now())


async def approve(
    context: Context, campaign: Campaign, sending: Sending, user: User, audit_entry: AuditEntry
) -> None:
    """Start a campaign as it was shown to a second user; `sending` is what all its receivers get.

    Raises Refused: FORBIDDEN for one's own, INVALID_STATE where it has changed or its time has passed, and
    NIGHT_AD_RESTRICTED.
    """
    if not (await get_approval(context, campaign, user)).may_approve:
        raise Refused(Code.FORBIDDEN, "", OWN_CAMPAIGN)
    now = context.world.now()
    if campaign.scheduled_at is not None and campaign.scheduled_at <= now:
        raise Refused(Code.INVALID_STATE, "", TIME_PASSED)
    if campaign.scheduled_at is None:
        send_now.check_ad_hours(sending.is_ad, context.policy, now)
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

    Raises Refused: FORBIDDEN for one's own, INVALID_STATE where it has changed.
    """
    if not (await get_approval(context, campaign, user)).may_approve:
        raise Refused(Code.FORBIDDEN, "", OWN_CAMPAIGN)
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


def _read_approval(tx: Tx, campaign: Campaign) -> tuple[int | None, list[User]]:
    return campaign_list.get_submitter_id(tx, campaign.id), users.list_by_account(tx, campaign.account_id)


def _approvers(found: list[User], own: set[int | None]) -> list[User]:
    return [each for each in found if each.is_active and each.role in APPROVING_ROLES and each.id not in own]


def _add_typed(tx: Tx, draft: CampaignDraft, sending: Sending, audit_entry: AuditEntry, now: Instant) -> bool:
    """Store a campaign with one block of receivers, checked and submitted."""
    if campaigns.get_account_id(tx, draft.id) is not None:
        return False
    campaigns.add(tx, draft, now)
    campaigns.begin_reading(tx, draft.id, "", True, now, now)
    block = ReceiverBlock(1, len(sending.receivers), encode_receivers(sending.receivers))
    campaigns.add_findings(tx, draft.id, FileFindings(block, (), 0), now, now)
    campaigns.end_reading(tx, draft.id, FileSummary(encode_shared(sending), (), ()), now, now)
    done = campaign_list.submit(tx, draft.id, now, draft.name, sending.scheduled_at, draft.user_id, now)
    assert done, f"a campaign in state {CampaignState.CHECKED.code} was just stored"
    audit_log.add(tx, audit_entry)
    return True
