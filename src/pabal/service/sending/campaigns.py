"""Brings campaigns on: makes their receivers into requests, cancels and hurries them, counts how far they are."""

import asyncio
import contextlib
import hashlib
import json
import logging
from collections.abc import Callable, Sequence

import msgspec

from pabal.domain.campaign import CampaignState
from pabal.domain.codes import LANGUAGES, Code, Problem, Refused, Text
from pabal.domain.dates import Instant
from pabal.domain.sending import Receiver, Sending, decode_shared
from pabal.service.context import Context
from pabal.service.sending import accept, cancel, send_now
from pabal.service.sending.accept import IdempotencyKey, NewRequest, get_usable_profile, get_usable_template
from pabal.service.upkeep.housekeeping import HOUSEKEEPING_SLOT
from pabal.store import audit_log, campaign_requests, campaigns
from pabal.store.audit_log import AuditEntry
from pabal.store.campaign_requests import CampaignProgress, CampaignRequest
from pabal.store.campaigns import Campaign, CampaignDraft, ReceiverBlock
from pabal.store.engine.base import StoreUnavailable, Tx

IDLE_INTERVAL_S = 5.0
BUSY_INTERVAL_S = 1.0
"""While something is under way, its counts are to be fresh."""
COUNT_BATCH_REQUESTS = 20
"""Requests whose messages are counted in one go: 20,000 messages or so."""
WAKE_EVENT = "the campaigns"
"""No carrier has blanks in its name."""
TEMPLATE_CHANGED = Text(
    "확인한 뒤에 템플릿이 바뀌었습니다. 파일을 다시 올리세요.",
    "The template has changed since it was checked: upload the file again.",
)

_receivers_decoder = msgspec.json.Decoder(list[tuple[str, list[str], str | None]])

log = logging.getLogger("pabal.campaigns")


def encode_receivers(receivers: Sequence[Receiver]) -> str:
    """Return checked receivers as a block keeps them."""
    return msgspec.json.encode([(each.phone, each.values, each.reference) for each in receivers]).decode()


def describe_problems(problems: Sequence[Problem]) -> list[str]:
    """Return what is wrong in sentences, Korean and English in turn, as it is kept."""
    return [each.message(locale) for each in problems for locale in LANGUAGES]


async def run_campaigns(context: Context) -> None:
    """Go round for good; the store being away only delays it.

    One worker does it for all, and whoever was asked to begin something begins it: two do no harm to each other.
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
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(wake_event.wait(), BUSY_INTERVAL_S if is_busy else IDLE_INTERVAL_S)


async def advance_all(context: Context) -> bool:
    """Bring every campaign on that has something to do, count some that move, and say whether there were any."""
    at_work = await context.store.read(campaigns.find_active)
    for campaign_id in at_work:
        campaign = await context.store.read(campaigns.get, campaign_id)
        if campaign is None:
            continue
        if campaign.state is CampaignState.CANCELLING:
            await _cancel_requests(context, campaign)
        if campaign.is_expedited:
            await _expedite_requests(context, campaign)
        if campaign.state is CampaignState.MAKING:
            await _create_requests(context, campaign)
    return bool(await update_progress(context) or at_work)


async def create(context: Context, draft: CampaignDraft, deed: AuditEntry) -> None:
    """Keep a campaign that has no file yet."""
    await context.store.write(with_audit_entry, _add, deed, draft, context.world.now())


async def begin_reading(
    context: Context, campaign: Campaign, file_name: str, is_once: bool, stale_before: Instant, deed: AuditEntry
) -> Instant | None:
    """Make room for a file and return since when, which the reader names with all that it finds; None: no room."""
    now = max(context.world.now(), campaign.changed_at + 1)  # no two files of a campaign are touched alike
    begun = await context.store.write(
        with_audit_entry, campaigns.begin_reading, deed, campaign.id, file_name, is_once, stale_before, now
    )
    return now if begun else None


async def start(
    context: Context, campaign: Campaign, name: str, scheduled_at: Instant | None, deed: AuditEntry
) -> bool:
    """Have a checked campaign sent, at a time or at once; say no where it is not what is given any more."""
    is_begun = await context.store.write(
        with_audit_entry,
        campaigns.start,
        deed,
        campaign.id,
        campaign.changed_at,
        name,
        scheduled_at,
        context.world.now(),
    )
    context.wake([WAKE_EVENT])
    return is_begun


async def resume(context: Context, campaign: Campaign, deed: AuditEntry) -> bool:
    """Take up a campaign again that was halted."""
    moved = await context.store.write(
        with_audit_entry,
        campaigns.change_state,
        deed,
        campaign.id,
        (CampaignState.HALTED,),
        CampaignState.MAKING,
        context.world.now(),
    )
    context.wake([WAKE_EVENT])
    return moved


async def cancel_campaign(context: Context, campaign: Campaign, deed: AuditEntry) -> bool:
    """Cancel what is left: what is in no request yet never will be, and what waits is cancelled.

    Should it be cut short, whoever keeps the campaigns does the rest.
    """
    begun = await context.store.write(_begin_cancel, campaign.id, context.world.now(), deed)
    if begun:
        await _cancel_requests(context, campaign)
    return begun


async def send_campaign_now(context: Context, campaign: Campaign, deed: AuditEntry) -> bool:
    """Send now what waits of a campaign; should it be cut short, whoever keeps the campaigns does the rest.

    Raises Refused(NIGHT_AD_RESTRICTED).
    """
    shared = await context.store.read(campaigns.get_sending, campaign.id)
    send_now.check_ad_hours(shared is not None and decode_shared(shared).is_ad, context.policy, context.world.now())
    begun = await context.store.write(with_audit_entry, campaigns.expedite, deed, campaign.id, context.world.now())
    if begun:
        await _expedite_requests(context, campaign)
        context.wake([WAKE_EVENT])
    return begun


async def update_progress(context: Context, campaign_id: bytes | None = None) -> int:
    """Count some requests that move, of one campaign or of any; return how many."""
    now = context.world.now()
    parts = await context.store.read(campaign_requests.find_due, campaign_id, now, COUNT_BATCH_REQUESTS)
    if parts:
        found = await context.store.read(_count_progress, parts)
        await context.store.write(_store_progress, found, context.world.now())
    return len(parts)


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
        if progress.total < part.receivers:  # its month was dropped: what was counted last stays
            progress, is_ended = part.progress, True
        campaign_requests.save_progress(tx, part, progress, is_ended, now)


async def _create_requests(context: Context, campaign: Campaign) -> None:
    """Make the receivers of a campaign into requests, each kept in one transaction with what is left of them."""
    shared = await context.store.read(campaigns.get_sending, campaign.id)
    assert shared is not None, "nothing is made that was not checked"
    sending = decode_shared(shared)
    try:
        await _check_usable(context, campaign, sending)
        while block := await context.store.read(campaigns.next_block, campaign.id):
            if not await _create_request(context, campaign, sending, block):
                return  # it was cancelled, hurried, or made by another: the next round sees
        await context.store.write(
            campaigns.change_state, campaign.id, (CampaignState.MAKING,), CampaignState.MADE, context.world.now()
        )
    except Refused as refused:
        log.warning("a campaign is halted", extra={"campaign": campaign.id.hex(), "code": refused.code.name})
        await context.store.write(
            campaigns.halt, campaign.id, describe_problems(refused.problems), context.world.now()
        )


async def _create_request(context: Context, campaign: Campaign, sending: Sending, block: ReceiverBlock) -> bool:
    """Make a request of one block; say no where it is not to be made, or not now.

    The block goes in the transaction that keeps the request, and the key stands for it where a store is of several
    parts that do not all commit at once.
    """
    receivers = [
        Receiver(phone, tuple(values), None, reference)
        for phone, values, reference in _receivers_decoder.decode(block.body)
    ]
    key = f"campaign {campaign.id.hex()} {block.number}"
    promise = await accept.prepare_request(
        context,
        campaign.account_id,
        sending._replace(receivers=receivers, scheduled_at=campaign.scheduled_at),
        IdempotencyKey(key, hashlib.sha256(key.encode()).digest()),
    )
    kept = await context.store.write(_store_request, campaign, block.number, promise)
    if kept:
        accept.announce_request(context, sending.product, promise)
    return kept


def _store_request(tx: Tx, campaign: Campaign, number: int, promise: NewRequest) -> bool:
    if not campaigns.take_block(tx, campaign, number, promise.now):
        return False
    (kept,) = accept.store_requests(tx, [promise])
    campaign_requests.add(tx, campaign.id, number, kept.request_id, len(promise.messages), promise.scheduled_at)
    return True


async def _check_usable(context: Context, campaign: Campaign, sending: Sending) -> None:
    """Raises Refused where the profile or the template may not be used any more, or not as it was checked."""
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
            cancel.cancel, campaign.account_id, part.request_id, None, context.world.now()
        )
        context.metrics.messages_cancelled.add(done.canceled)
    await context.store.write(
        campaigns.change_state,
        campaign.id,
        (CampaignState.CANCELLING,),
        CampaignState.CANCELLED,
        context.world.now(),
    )


async def _expedite_requests(context: Context, campaign: Campaign) -> None:
    for part in await context.store.read(campaign_requests.list_unfinished, campaign.id):
        if part.scheduled_at > context.world.now():
            hurried = await context.store.write(send_now.expedite, part.request_id, context.world.now())
            context.wake(hurried.carriers)
    await context.store.write(campaigns.end_expedite, campaign.id)


def _begin_cancel(tx: Tx, campaign_id: bytes, now: Instant, deed: AuditEntry) -> bool:
    before = (CampaignState.DRAFT, CampaignState.READING, CampaignState.CHECKED)
    on_its_way = (CampaignState.MAKING, CampaignState.MADE, CampaignState.HALTED)
    moved = campaigns.change_state(tx, campaign_id, before, CampaignState.CANCELLED, now) or campaigns.change_state(
        tx, campaign_id, on_its_way, CampaignState.CANCELLING, now
    )
    if moved:
        campaigns.delete_blocks(tx, campaign_id)
        audit_log.add(tx, deed)
    return moved


def _add(tx: Tx, draft: CampaignDraft, now: Instant) -> bool:
    campaigns.add(tx, draft, now)
    return True


def with_audit_entry(tx: Tx, work: Callable[..., bool], deed: AuditEntry, *args: object) -> bool:
    """Do something to a campaign, and if it was done, note who did it."""
    done = work(tx, *args)
    if done:
        audit_log.add(tx, deed)
    return done
