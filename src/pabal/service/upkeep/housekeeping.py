"""Housekeeping: applies deadlines, so that every message ends, and deletes what has expired."""

import contextlib
import itertools
from collections.abc import Callable, Iterable, Sequence

from pabal.domain.base import identifiers
from pabal.domain.base.dates import DAY, HOUR, MINUTE, Instant
from pabal.domain.sends.campaign import CampaignState
from pabal.domain.sends.message import Outcome
from pabal.service.context import Context
from pabal.service.delivery.inbound import finish_long_messages
from pabal.service.delivery.outcome.finish import FinishResult, finish
from pabal.service.delivery.workers import reassign_unknown_carriers
from pabal.service.loops import run_rounds
from pabal.service.policy import Policy
from pabal.service.sending.budgets import correct_some
from pabal.service.sending.campaigns.approvals import COUNTED_MS, DEPENDENCE_MS
from pabal.service.sending.waiting import cancel_deleted_profiles
from pabal.service.slots import HOUSEKEEPING_SLOT
from pabal.service.upkeep.deadline_sweep import DeadlineSweep
from pabal.service.upkeep.latency import LATENCY_RETENTION_MS, LatencyReporter, ThroughputReporter
from pabal.service.upkeep.retention import EventRetention, erase_ended, erase_expired, maintain_partitions
from pabal.service.upkeep.statistics import STATISTICS_RETENTION_MS, update_statistics
from pabal.store.accounts import audit_log, compat_differences
from pabal.store.campaigns import campaign_list, campaigns, drafts
from pabal.store.engine.base import Tx
from pabal.store.events import events, mails, notices, webhooks
from pabal.store.kakao import profiles
from pabal.store.messages import (
    compat_files,
    compat_groups,
    compat_names,
    compat_requests,
    idempotency_keys,
    inbound,
    recent_texts,
    statistics,
)
from pabal.store.queue import carriers, cursors, queue, queue_admin, receipts, simulator
from pabal.store.queue.slots import SlotNotHeld
from pabal.store.users import form_idempotency, invites, openid_identities, sessions, sign_in_attempts, users

ROUND_INTERVAL_S = 10.0
"""Pause between two rounds."""
FULL_ROUND_EVERY = 6
"""One round in this many is full: finding all carriers with jobs may scan dead rows of PostgreSQL."""
BATCH = 500
"""Most rows that one transaction ends or deletes."""
MERGED_QUARTERS = 96
"""Most quarters whose statistics one transaction merges: a day."""
TOKEN_RETENTION_MS = 2 * HOUR
SIMULATED_MESSAGE_RETENTION_MS = 1 * MINUTE
UNMATCHED_RECEIPT_RETENTION_MS = 1 * HOUR
"""How long a receipt may come before the answer to its submission; short, for carriers reuse references."""
NUMBERED_FILES_MS = 7 * DAY
"""How long pictures are kept that were uploaded through NHN Cloud's endpoint, as there."""
AUDIT_LOG_RETENTION_MS = 400 * DAY
"""A little more than a year."""
NOTICE_RETENTION_MS = 1 * DAY
"""How long notices are kept; older ones are outdated."""
MAIL_RETENTION_MS = 1 * DAY
"""How long it is kept what became of a mail."""
ALERT_RETENTION_MS = 30 * DAY
_UNSENT = tuple(state for state in CampaignState if not state.is_sent)
_SENT = (CampaignState.MADE, CampaignState.HALTED, CampaignState.CANCELLED)


def expire_overdue(tx: Tx, slot: int, carrier: str, policy: Policy, now: Instant) -> FinishResult:
    """End messages whose receipt has not come in time: as unknown if in doubt, else as timed out."""
    overdue = queue.find_overdue(tx, slot, carrier, now, BATCH)
    ends = [
        (one, Outcome.UNKNOWN if reference.startswith(identifiers.IN_DOUBT_PREFIX) else Outcome.TIMED_OUT)
        for one, reference in overdue
    ]
    return finish(tx, ends, policy, now)


def trim_simulator(tx: Tx, carriers: Iterable[str], slots: Sequence[int], policy: Policy, now: Instant) -> int:
    """Delete the oldest simulated messages, but none that still awaits its receipt; return how many."""
    pending = [at for name in carriers if (at := simulator.next_receipt_at(tx, name, slots)) is not None]
    before = min([now, *pending]) - SIMULATED_MESSAGE_RETENTION_MS
    return simulator.trim(tx, policy.max_simulator_messages, before, now - policy.retention_ms, BATCH)


async def run_housekeeping(context: Context) -> None:
    """Run rounds forever."""
    throughput, latency = ThroughputReporter(context), LatencyReporter(context)
    expirer, event_retention = DeadlineSweep(context), EventRetention(context)
    numbers = itertools.count()

    async def run_next() -> None:
        is_full = next(numbers) % FULL_ROUND_EVERY == 0
        await throughput.report()
        await latency.report()
        await expirer.run(is_full=is_full)
        await run_round(context, is_full=is_full)
        if is_full:
            await event_retention.run()

    await run_rounds(run_next, ROUND_INTERVAL_S)


async def run_round(context: Context, *, is_full: bool = True) -> None:
    """End overdue messages, in small transactions; a full round does all other tasks as well."""
    for slots in context.nodes.by_node(context.slots.held):
        places = []
        for slot in slots:
            names = set(context.carriers)
            if is_full:
                names.update(await context.store.read(queue_admin.carriers_with_jobs, slot))
            places += [(slot, name) for name in sorted(names)]
        for slot, name in await context.store.read(queue.find_with_overdue, places, context.world.now()):
            await _expire_all(context, slot, name)
        for slot in slots if is_full else ():
            with contextlib.suppress(SlotNotHeld):  # another worker has just got it
                await reassign_unknown_carriers(context, slot, context.slots.holder, is_orphaned=False)
    if HOUSEKEEPING_SLOT in context.slots.held:
        await _trim_simulators(context)
        if is_full:
            await _run_global_tasks(context)
            await update_statistics(context)
            await context.store.scrub()  # what cannot be done now is done in a later round


async def _expire_all(context: Context, slot: int, carrier: str) -> None:
    is_done = False
    while not is_done:
        finished = await context.store.write(expire_overdue, slot, carrier, context.policy, context.world.now())
        context.count_ended(finished.ended)
        context.wake(finished.carriers_to_wake)
        is_done = len(finished.ended) < BATCH


async def _trim_simulators(context: Context) -> None:
    slots, names = context.slots.numbers, list(context.carriers)
    await _repeat_until_none(
        context, lambda tx: trim_simulator(tx, names, slots, context.policy, context.world.now())
    )


async def _run_global_tasks(context: Context) -> None:
    """Do the tasks that one process does for all workers."""
    policy, world = context.policy, context.world
    await cancel_deleted_profiles(context)
    while await context.store.write(correct_some, policy, BATCH):
        pass
    await context.store.write(webhooks.trim_all_deliveries, world.now() - policy.results_retention_ms)
    await finish_long_messages(context)
    await erase_expired(context)
    await erase_ended(context)
    await maintain_partitions(context)
    for delete_old, age_ms in _list_deletions(policy):
        while await context.store.write(delete_old, world.now() - age_ms, BATCH):
            pass
    await _repeat_until_none(
        context,
        lambda tx: statistics.merge_old(tx, world.now() - STATISTICS_RETENTION_MS, policy.zone, MERGED_QUARTERS),
    )
    for states, age_ms in ((_UNSENT, policy.draft_ms), (_SENT, policy.retention_ms)):
        while await context.store.write(campaigns.delete_old, states, world.now() - age_ms, 1):
            pass
    await context.store.write(carriers.delete_states_of_gone_workers)
    await context.store.write(cursors.delete_old_probes, world.now() - DAY)


def _list_deletions(policy: Policy) -> list[tuple[Callable[[Tx, Instant, int], int], int]]:
    """Return what deletes old rows of each table, and how old these are, in milliseconds."""
    return [
        (form_idempotency.delete_old, policy.idempotency_ms),
        (idempotency_keys.delete_old, policy.idempotency_ms),
        (events.delete_old_data, policy.results_retention_ms + DAY),
        (recent_texts.delete_expired, 0),
        (compat_requests.delete_old, policy.retention_ms),
        (compat_names.delete_old, policy.retention_ms),
        (compat_groups.delete_old, policy.draft_ms),
        (compat_files.delete_numbered, NUMBERED_FILES_MS),
        (compat_differences.delete_old, compat_differences.RETENTION_DAYS * DAY),
        (users.delete_old_grants, DEPENDENCE_MS),
        (campaign_list.delete_old, COUNTED_MS),
        (profiles.delete_expired_tokens, TOKEN_RETENTION_MS),
        (receipts.delete_old_unmatched, UNMATCHED_RECEIPT_RETENTION_MS),
        (receipts.delete_old_locks, policy.retention_ms),
        (inbound.delete_old, policy.retention_ms),
        (sessions.delete_expired, 0),
        (sessions.delete_expired_devices, 0),
        (invites.delete_expired, 0),
        (sessions.delete_expired_pending, 0),
        (openid_identities.delete_expired_answers, 0),
        (sign_in_attempts.delete_old, sign_in_attempts.FORGET_MS),
        (audit_log.delete_old, AUDIT_LOG_RETENTION_MS),
        (notices.delete_old, NOTICE_RETENTION_MS),
        (notices.delete_old_alerts, ALERT_RETENTION_MS),
        (mails.delete_old, MAIL_RETENTION_MS),
        (drafts.delete_old, policy.draft_ms),
        (carriers.delete_old_latencies, LATENCY_RETENTION_MS),
    ]


async def _repeat_until_none(context: Context, delete_some: Callable[[Tx], int]) -> None:
    while await context.store.write(delete_some):
        pass
