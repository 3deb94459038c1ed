"""Hands mails to the mail server, one after the other, in the process that does what one does for all workers."""

import asyncio
import contextlib
import logging
from collections.abc import Sequence
from typing import Any

from pabal.domain.base.dates import DAY, MINUTE, SECOND, Instant
from pabal.mail.mailer import MailOutcome, MailResult
from pabal.service.context import Context
from pabal.service.loops import wait_for_event
from pabal.service.notices.compose import compose_mail
from pabal.service.outgoing import choose_delay_ms
from pabal.service.slots import HOUSEKEEPING_SLOT
from pabal.store.accounts import accounts
from pabal.store.engine.base import Reader, StoreUnavailable, Tx, transaction
from pabal.store.events import mails, notices
from pabal.store.events.mails import ClaimedMail, MailServer, NewMail
from pabal.store.events.notices import CAUSED_BY, Notice, Recipient
from pabal.world import World, new_unique_id

POLL_INTERVAL_S = 10.0
"""How often to look for notices and mails."""
STORE_RETRY_DELAY_S = 5.0
DAMAGED = "what it says is damaged in the store"
TOO_OLD = "it could not be sent within a day"

log = logging.getLogger("pabal.mail")


class MailDispatcher:
    """Sends what is due."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._is_stopping = False
        self._has_released = context.slots.are_shared
        """Whether leases of the last process are void; those of other workers are not ours to end."""
        self._in_flight = asyncio.Lock()
        """Held while a mail is handed over."""

    async def run(self) -> None:
        """Send mails until cancelled; while the store is unavailable, wait and try again."""
        context = self._context
        while context.mail.is_sent:
            context.mail.added.clear()
            pause_s = POLL_INTERVAL_S
            if HOUSEKEEPING_SLOT in context.slots.held:
                try:
                    await self.run_round()
                except StoreUnavailable:
                    pause_s = STORE_RETRY_DELAY_S
            await wait_for_event(context.mail.added, pause_s)

    async def stop(self, timeout_s: float) -> None:
        """Begin no more mails, and wait for the one in flight, which is sent again if that is not recorded."""
        self._is_stopping = True
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s), self._in_flight:
                pass

    async def run_round(self) -> None:
        """Turn notices into mails, and hand over what is due; a server that takes no mails ends the round.

        Raises StoreUnavailable.
        """
        context = self._context
        if not self._has_released:
            await context.store.write(mails.release_leases, context.world.now())
            self._has_released = True
        while not self._is_stopping and await context.store.read(notices.has_any):
            recipients = await context.store.read(notices.list_recipients)
            pause_ms = context.policy.notices.mail_pause_ms
            await context.store.write(fan_out, recipients, context.world, pause_ms, context.world.now())
        lease_ms = round(context.mail.mailer.timeout_s * SECOND) + LEASE_MARGIN_MS
        while HOUSEKEEPING_SLOT in context.slots.held and not self._is_stopping:
            if not await context.store.read(_is_due, context.mail.mailer.name, context.world.now()):
                return
            async with self._in_flight:
                claimed = await context.store.write(mails.claim, context.world.now(), lease_ms)
                if claimed is None or not await self._send(claimed):
                    return

    async def _send(self, claimed: ClaimedMail) -> bool:
        """Send a mail, and record what came of it; return whether the next one may be sent."""
        context = self._context
        mail = compose_mail(context, claimed)
        if mail is None or context.world.now() - claimed.created_at >= LIFETIME_MS:
            why = DAMAGED if mail is None else TOO_OLD
            await context.store.write(mails.give_up, claimed, why, context.world.now())
            self._count("given_up", claimed, why)
            return True
        result = await context.mail.mailer.send(mail)
        await context.store.write(self._record, claimed, result, context.world.random(), context.world.now())
        self._count(result.outcome.value, claimed, result.detail)
        return result.outcome is not MailOutcome.UNAVAILABLE

    def _record(self, tx: Tx, claimed: ClaimedMail, result: MailResult, random: float, now: Instant) -> None:
        """Record what came of a try: of the mail, and of the server."""
        name, outcome = self._context.mail.mailer.name, result.outcome
        if outcome is MailOutcome.SENT:
            mails.finish(tx, claimed, now)
        elif outcome is MailOutcome.REFUSED:
            mails.give_up(tx, claimed, result.detail, now)
        elif outcome is MailOutcome.DEFERRED:
            due_at = now + choose_delay_ms(_FIRST_DELAYS_MS, claimed.tries, random)
            mails.retry(tx, claimed, due_at, result.detail, is_in_doubt=False)
        elif outcome is MailOutcome.IN_DOUBT:
            mails.retry(tx, claimed, now + DOUBT_DELAY_MS, result.detail, is_in_doubt=True)
        else:
            mails.retry(tx, claimed, now, result.detail, is_in_doubt=False)
        record_server(tx, name, result, random, now)

    def _count(self, result: str, claimed: ClaimedMail, detail: str) -> None:
        self._context.metrics.mails.add(1, result)
        if result != MailOutcome.SENT.value:
            log.warning(
                "mail to a user was not sent",
                extra={"result": result, "user_id": claimed.user_id, "kind": claimed.kind, "reason": detail},
            )


def record_server(tx: Tx, name: str, result: MailResult, random: float, now: Instant) -> None:
    """Record whether the mail server works: a mail that it refuses shows that it does."""
    if result.outcome not in (MailOutcome.UNAVAILABLE, MailOutcome.IN_DOUBT):
        mails.record_success(tx, name, now)
        return
    before = mails.get(tx, name)
    failures = before.failures + 1
    mails.put(
        tx,
        MailServer(
            name,
            before.succeeded_at,
            now if before.failing_since is None else before.failing_since,
            failures,
            now + choose_delay_ms(_FIRST_DELAYS_MS, failures, random),
            now,
            result.detail,
        ),
    )


@transaction(reader=Reader.BACKGROUND)
def _is_due(tx: Tx, server: str, now: Instant) -> bool:
    """Return whether a mail is due, and the server is to be tried again."""
    due_at = mails.next_due_at(tx)
    if due_at is None or due_at > now:
        return False
    next_try_at = mails.get(tx, server).next_try_at
    return next_try_at <= now or next_try_at > now + LIFETIME_MS  # or the clock was set back


BATCH = 50
"""Most notices that one transaction turns into mails."""
MAX_ACCOUNT_CHARACTERS = 60


def fan_out(tx: Tx, recipients: Sequence[Recipient], world: World, pause_ms: int, now: Instant) -> int:
    """Add some notices to the mails of those who want them, and delete them; return how many there were.

    A mail waits for other notices of its kind, and until the last one of its kind to its user is long enough ago.
    The recipients are read before, so that a store with many users does not keep writes of others waiting.
    """
    ids, found = notices.list_some(tx, BATCH)
    if not ids:
        return 0
    for recipient in recipients:
        for kind in sorted(recipient.kinds, key=lambda each: each.code):
            wanted = [each for each in found if each.kind is kind and _concerns(each, recipient)]
            if wanted:
                due_at = max(now + GATHER_MS, mails.last_sent_at(tx, recipient.user_id, kind.code) + pause_ms)
                items = _spell_items(tx, wanted, recipient)
                mails.add(tx, NewMail(new_unique_id(world), recipient.user_id, kind.code, items), due_at, now)
    notices.delete(tx, ids)
    return len(ids)


def _concerns(notice: Notice, recipient: Recipient) -> bool:
    """Return whether a notice is for a user: operators get those of all accounts, others those of their own.

    Those who have caused it know it.
    """
    if recipient.user_id in notice.data.get(CAUSED_BY, ()):
        return False
    return None in (notice.account_id, recipient.account_id) or notice.account_id == recipient.account_id


def _spell_items(tx: Tx, wanted: Sequence[Notice], recipient: Recipient) -> list[dict[str, Any]]:
    """Return what notices say; operators are told the account too."""
    items = [dict(each.data) for each in wanted]
    if recipient.account_id is None:
        for item, notice in zip(items, wanted, strict=True):
            account = accounts.get(tx, notice.account_id) if notice.account_id is not None else None
            if account:
                item["account"] = account.name[:MAX_ACCOUNT_CHARACTERS]
    return items


GATHER_MS = 10 * SECOND
"""How long the first notice of a mail waits for others of its kind."""
LIFETIME_MS = 1 * DAY
"""Older mails and notices are dropped as outdated."""
DOUBT_DELAY_MS = 5 * MINUTE
"""How long after a lost answer a mail is sent again, once."""
LEASE_MARGIN_MS = 30 * SECOND
"""How much longer than the mail server may take a mail is leased."""
_FIRST_DELAYS_MS = (10 * SECOND, 1 * MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE)
