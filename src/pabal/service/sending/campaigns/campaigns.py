"""Runs campaigns: creates their requests, cancels them, sends them now, and updates their progress to the end."""

import asyncio
import hashlib
import json
import logging
from collections.abc import Callable, Sequence

import msgspec

from pabal.domain.base import identifiers
from pabal.domain.base.codes import LANGUAGES, Code, Problem, Refused, Text
from pabal.domain.base.dates import Instant
from pabal.domain.events.event import EventType
from pabal.domain.events.notice import NoticeKind
from pabal.domain.sends.campaign import UNSENT_STATES, CampaignState
from pabal.domain.sends.message import Product
from pabal.domain.sends.sending import Receiver, Sending, decode_shared
from pabal.service.context import Context
from pabal.service.loops import wait_for_event
from pabal.service.sending import accept, waiting
from pabal.service.sending.accept import IdempotencyKey, NewRequest
from pabal.service.sending.preconditions import get_usable_profile, get_usable_template
from pabal.service.slots import HOUSEKEEPING_SLOT
from pabal.store.accounts import audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.campaigns import campaigns
from pabal.store.campaigns.campaigns import Campaign, CampaignDraft, ReceiverBlock
from pabal.store.engine.base import NodeUnavailable, StoreUnavailable, Tx
from pabal.store.events import events, notices
from pabal.store.messages import campaign_requests
from pabal.store.messages.campaign_requests import CampaignProgress, CampaignRequest

IDLE_INTERVAL_S = 5.0
BUSY_INTERVAL_S = 1.0
"""Interval while a campaign is in progress, to keep its figures fresh."""
COUNT_BATCH_REQUESTS = 20
"""Requests counted per transaction, about 20,000 messages."""
WAKE_EVENT = "the campaigns"
"""The wake event of campaigns; no carrier has a space in its name."""
TEMPLATE_CHANGED = Text(
    "확인한 뒤에 템플릿이 바뀌었습니다. 파일을 다시 올리세요.",
    "The template has changed since the file was checked: upload the file again.",
)

_SETTLED = (CampaignState.MADE, CampaignState.CANCELLED)
"""States in which no more requests are made."""
_receivers_decoder = msgspec.json.Decoder(list[tuple[str, list[str], str | None]])

log = logging.getLogger("pabal.campaigns")


def encode_receivers(receivers: Sequence[Receiver]) -> str:
    """Return checked receivers as a block stores them."""
    return msgspec.json.encode([(each.phone, each.values, each.reference) for each in receivers]).decode()


def decode_receivers(block: ReceiverBlock) -> list[Receiver]:
    return [
        Receiver(phone, tuple(values), None, reference)
        for phone, values, reference in _receivers_decoder.decode(block.body)
    ]


def sending_of_block(sending: Sending, block: ReceiverBlock) -> Sending:
    """Return what the receivers of a block get, given what all receivers of the campaign share."""
    return sending._replace(product=Product.LMS) if block.is_upgraded else sending


def describe_problems(problems: Sequence[Problem]) -> list[str]:
    """Return the messages of problems as they are stored: Korean and English in turn."""
    return [each.message(locale) for each in problems for locale in LANGUAGES]


async def run_campaigns(context: Context) -> None:
    """Advance campaigns forever; an unavailable store only delays it.

    The worker with the housekeeping slot does it for all, and so does a worker that was asked to start one: two at
    once do no harm.
    """
    wake_event = context.wake_events.setdefault(WAKE_EVENT, asyncio.Event())
    while True:
        is_busy = False
        try:
            if HOUSEKEEPING_SLOT in context.slots.held or wake_event.is_set():
                wake_event.clear()
                is_busy = await advance_all(context)
        except StoreUnavailable:
            log.warning("campaigns wait for the store")
        await wait_for_event(wake_event, BUSY_INTERVAL_S if is_busy else IDLE_INTERVAL_S)


async def advance_all(context: Context) -> bool:
    """Advance every campaign with work to do, update some progress, and say whether there was any."""
    at_work, is_progress_due = await context.store.read(_find_work, context.world.now())
    for campaign_id in at_work:
        try:
            await _advance(context, campaign_id)
        except NodeUnavailable:  # others go on
            log.warning("campaign waits for a lost node", extra={"campaign": campaign_id.hex()})
    updated = await update_progress(context) if is_progress_due or at_work else 0
    return bool(updated or at_work)


async def _advance(context: Context, campaign_id: bytes) -> None:
    campaign = await context.store.read(campaigns.get, campaign_id)
    if campaign is None:
        return
    if campaign.state is CampaignState.CANCELLING:
        await _cancel_requests(context, campaign)
    if campaign.is_expedited:
        await _expedite_requests(context, campaign)
    if campaign.state is CampaignState.MAKING:
        await _create_requests(context, campaign)


def create(tx: Tx, draft: CampaignDraft, audit_entry: AuditEntry) -> None:
    """Store a campaign that has no file yet."""
    campaigns.add(tx, draft, audit_entry.created_at)
    audit_log.add(tx, audit_entry)


async def begin_reading(
    context: Context,
    campaign: Campaign,
    file_name: str,
    is_once: bool,
    stale_before: Instant,
    audit_entry: AuditEntry,
) -> Instant | None:
    """Start reading a file; return the start time, which identifies this reading, or None where it cannot start."""
    now = max(context.world.now(), campaign.changed_at + 1)  # unique for each file of a campaign
    begun = await context.store.write(
        with_audit_entry, campaigns.begin_reading, audit_entry, campaign.id, file_name, is_once, stale_before, now
    )
    return now if begun else None


async def start(
    context: Context, campaign: Campaign, name: str, scheduled_at: Instant | None, audit_entry: AuditEntry
) -> bool:
    """Start a checked campaign, now or at a time; return False where it changed meanwhile."""
    is_begun = await context.store.write(
        with_audit_entry,
        campaigns.start,
        audit_entry,
        campaign.id,
        campaign.changed_at,
        name,
        scheduled_at,
        context.world.now(),
    )
    context.wake([WAKE_EVENT])
    return is_begun


async def resume(context: Context, campaign: Campaign, audit_entry: AuditEntry) -> bool:
    """Resume a halted campaign."""
    moved = await context.store.write(
        with_audit_entry,
        campaigns.change_state,
        audit_entry,
        campaign.id,
        (CampaignState.HALTED,),
        CampaignState.MAKING,
        context.world.now(),
    )
    context.wake([WAKE_EVENT])
    return moved


async def cancel_campaign(context: Context, campaign: Campaign, audit_entry: AuditEntry) -> bool:
    """Cancel a campaign: create no more requests, and cancel waiting messages.

    If it is interrupted, `run_campaigns` does the rest.
    """
    begun = await context.store.write(_begin_cancel, campaign.id, context.world.now(), audit_entry)
    if begun:
        await _cancel_requests(context, campaign)
    return begun


async def rename(context: Context, campaign: Campaign, name: str, audit_entry: AuditEntry) -> None:
    """Give a campaign another name."""
    await context.store.write(with_audit_entry, campaigns.rename, audit_entry, campaign.id, name)


async def send_campaign_now(context: Context, campaign: Campaign, audit_entry: AuditEntry) -> bool:
    """Send a campaign's waiting messages now; if it is interrupted, `run_campaigns` does the rest.

    Raises Refused(NIGHT_AD_RESTRICTED).
    """
    shared = await context.store.read(campaigns.get_sending, campaign.id)
    waiting.check_ad_hours(shared is not None and decode_shared(shared).is_ad, context.policy, context.world.now())
    begun = await context.store.write(
        with_audit_entry, campaigns.expedite, audit_entry, campaign.id, context.world.now()
    )
    if begun:
        await _expedite_requests(context, campaign)
        context.wake([WAKE_EVENT])
    return begun


async def update_progress(context: Context, campaign_id: bytes | None = None) -> int:
    """Update the progress of some unfinished requests, of one campaign or of any; return how many."""
    now = context.world.now()
    parts = await context.store.read(campaign_requests.find_due, campaign_id, now, COUNT_BATCH_REQUESTS)
    if parts:
        found = await context.store.read(_count_progress, parts)
        await context.store.write(_store_progress, found, context.world.now())
    return len(parts)


def _find_work(tx: Tx, now: Instant) -> tuple[Sequence[bytes], bool]:
    """Return the campaigns with work to do, and whether the progress of any is due: mostly there is neither."""
    return campaigns.find_active(tx), bool(campaign_requests.find_due(tx, None, now, 1))


def _count_progress(
    tx: Tx, parts: Sequence[CampaignRequest]
) -> list[tuple[CampaignRequest, CampaignProgress, bool]]:
    found = []
    for part in parts:
        campaign = campaigns.get(tx, part.campaign_id)
        if campaign:
            counts = campaign_requests.count_progress(tx, campaign.account_id, part.request_id, part.receivers)
            found.append((part, *counts))
    return found


def _store_progress(tx: Tx, found: Sequence[tuple[CampaignRequest, CampaignProgress, bool]], now: Instant) -> None:
    for part, progress, is_ended in found:
        if progress.total < part.receivers:  # its partition was dropped: keep the last figures
            progress, is_ended = part.progress, True
        campaign_requests.save_progress(tx, part, progress, is_ended, now)
    for campaign_id in {part.campaign_id for part, _, is_ended in found if is_ended}:
        _record_if_finished(tx, campaign_id, now)


async def _create_requests(context: Context, campaign: Campaign) -> None:
    """Create the requests of a campaign, each in one transaction that also removes its block."""
    shared = await context.store.read(campaigns.get_sending, campaign.id)
    assert shared is not None, "only checked campaigns are started"
    sending = decode_shared(shared)
    try:
        await _check_usable(context, campaign, sending)
        if not await context.limiter.may_try(campaign.account_id):
            return
        while block := await context.store.read(campaigns.next_block, campaign.id):
            if not await _create_request(context, campaign, sending, block):
                return  # cancelled, sent now, changed, or done by another worker: the next round sees
        await context.store.write(
            _settle_state, campaign.id, CampaignState.MAKING, CampaignState.MADE, context.world.now()
        )
    except Refused as refused:
        if refused.code is Code.RATE_LIMITED:
            return  # the next round goes on
        if refused.code is Code.LIMIT_EXCEEDED:
            await _pause(context, campaign, refused)
            return
        log.warning(
            "campaign halted; resume it in the console",
            extra={"campaign": campaign.id.hex(), "code": refused.code.name},
        )
        await context.store.write(
            campaigns.halt, campaign.id, describe_problems(refused.problems), context.world.now()
        )


async def _pause(context: Context, campaign: Campaign, refused: Refused) -> None:
    """Record why a campaign waits; it continues when its account's limit resets or is raised."""
    reason = describe_problems(refused.problems)
    if list(campaign.reason) != reason:
        log.warning("campaign waits for a limit of its account", extra={"campaign": campaign.id.hex()})
        await context.store.write(campaigns.set_reason, campaign.id, reason)


async def _create_request(context: Context, campaign: Campaign, sending: Sending, block: ReceiverBlock) -> bool:
    """Create the request of one block; return False where it must not be created, or not now.

    The transaction that stores the request removes the block. The Idempotency-Key prevents duplicates where a
    store's parts do not commit together.
    """
    receivers = decode_receivers(block)
    sending = sending_of_block(sending, block)
    key = f"campaign {campaign.id.hex()} {block.number}"
    new_request = await accept.prepare_request(
        context,
        campaign.account_id,
        sending._replace(receivers=receivers, scheduled_at=campaign.scheduled_at),
        IdempotencyKey(key, hashlib.sha256(key.encode()).digest()),
        drops_duplicates=True,  # one repeated number must not halt a campaign
        user_id=campaign.user_id,
    )
    charge = await accept.charge_request(context, new_request)
    with charge:
        context.nodes.check(identifiers.slot_of(new_request.request_id))
        stored = await context.store.write(_store_request, campaign, block, new_request)
    if stored:
        accept.announce_request(context, sending.product, new_request, stored, charge)
    else:
        charge.refund()
    return stored is not None


def _store_request(
    tx: Tx, campaign: Campaign, block: ReceiverBlock, new_request: NewRequest
) -> accept.AcceptedRequest | None:
    if not campaigns.take_block(tx, campaign, block, new_request.now):
        return None
    if campaign.reason:
        campaigns.set_reason(tx, campaign.id, ())
    (stored,) = accept.store_requests(tx, [new_request])
    campaign_requests.add(
        tx, campaign.id, block.number, stored.request_id, len(new_request.messages), new_request.scheduled_at
    )
    return stored


async def _check_usable(context: Context, campaign: Campaign, sending: Sending) -> None:
    """Raises Refused where the profile or template can no longer be used, or has changed."""
    if sending.profile_id is None:
        return
    body = json.loads(await context.store.read(campaigns.get_body, campaign.id))
    profile = await get_usable_profile(context, campaign.account_id, body["senderKey"])
    if sending.template_code is None:
        return
    design = await get_usable_template(context, profile, sending.template_code)
    if (design.content, design.buttons) != (sending.content, sending.buttons):
        raise Refused(Code.INVALID_STATE, "templateCode", TEMPLATE_CHANGED)


async def _cancel_requests(context: Context, campaign: Campaign) -> None:
    for part in await context.store.read(campaign_requests.list_unfinished, campaign.id):
        done = await context.store.write(
            waiting.cancel, context.policy, campaign.account_id, part.request_id, None, context.world.now()
        )
        context.count_cancelled(done.canceled)
    await context.store.write(
        _settle_state, campaign.id, CampaignState.CANCELLING, CampaignState.CANCELLED, context.world.now()
    )


async def _expedite_requests(context: Context, campaign: Campaign) -> None:
    for part in await context.store.read(campaign_requests.list_unfinished, campaign.id):
        if part.scheduled_at > context.world.now():
            hurried = await context.store.write(waiting.expedite, part.request_id, context.world.now())
            context.wake(hurried.carriers)
    await context.store.write(campaigns.end_expedite, campaign.id)


def _begin_cancel(tx: Tx, campaign_id: bytes, now: Instant, audit_entry: AuditEntry) -> bool:
    on_its_way = (CampaignState.MAKING, CampaignState.MADE, CampaignState.HALTED)
    moved = campaigns.change_state(
        tx, campaign_id, UNSENT_STATES, CampaignState.DISCARDED, now
    ) or campaigns.change_state(tx, campaign_id, on_its_way, CampaignState.CANCELLING, now)
    if moved:
        campaigns.delete_blocks(tx, campaign_id)
        audit_log.add(tx, audit_entry)
    return moved


def with_audit_entry(tx: Tx, work: Callable[..., bool], audit_entry: AuditEntry, *args: object) -> bool:
    """Run `work` on a campaign, and add an audit entry if it returns True."""
    done = work(tx, *args)
    if done:
        audit_log.add(tx, audit_entry)
    return done


def _settle_state(tx: Tx, campaign_id: bytes, before: CampaignState, after: CampaignState, now: Instant) -> bool:
    """Move a campaign to a state in which no more requests are made; it may be finished by that."""
    moved = campaigns.change_state(tx, campaign_id, (before,), after, now)
    if moved:
        _record_if_finished(tx, campaign_id, now)
    return moved


def _record_if_finished(tx: Tx, campaign_id: bytes, now: Instant) -> None:
    """Record that a campaign is finished, if it is, with its counts; once for each campaign.

    One that was cancelled before its first request is not told of: nothing was sent.
    """
    campaign = campaigns.get(tx, campaign_id)
    progress, has_ended = campaign_requests.sum_progress(tx, [campaign_id]).get(campaign_id, (None, False))
    if campaign is None or campaign.state not in _SETTLED or progress is None or not has_ended:
        return
    data = {
        "campaignId": campaign_id.hex(),
        "name": campaign.name,
        "counts": {
            "completed": progress.completed,
            "fail": progress.fail,
            "cancel": progress.cancel,
            "fallbacks": progress.fallbacks,
        },
    }
    event_id = events.record(tx, campaign.account_id, EventType.CAMPAIGN_FINISHED, campaign_id.hex(), data, now)
    notices.add(tx, event_id, NoticeKind.CAMPAIGN, campaign.account_id, data, now)
