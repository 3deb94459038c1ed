"""Prepares messages for a call, submits them to Solapi, and turns its answers into verdicts."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pabal.carriers.base import Accepted, Busy, Declined, NotSent, OnAnomaly, Unknown, Verdict
from pabal.carriers.pace import Pacer
from pabal.carriers.relay.call_queue import CallQueue, SharedCalls
from pabal.carriers.relay.carrier import ImageNotSupported, LoadImages
from pabal.carriers.relay.http import NoResponse, NotProcessed, Throttled
from pabal.carriers.relay.refusals import Notices
from pabal.carriers.relay.submission import Submission
from pabal.carriers.solapi.brand import NotAtSolapi
from pabal.carriers.solapi.calls import SEND_PATH, Entry, SolapiCall, can_be_sent, encode, image_of, template_of
from pabal.carriers.solapi.client import (
    UPLOAD_TTL_S,
    ListedMessage,
    SendAnswer,
    SolapiConnection,
    SolapiError,
    upload_image,
)
from pabal.carriers.solapi.codes import (
    ACCEPTED,
    IMAGE_GONE_CODES,
    NO_BALANCE_CODES,
    TEMPLATE_GONE_CODES,
    CallError,
    call_error_of,
    verdict_for,
    was_refused,
)
from pabal.carriers.solapi.templates import TEMPLATE_TTL_S, NoSuchTemplate, SendableTemplate, find_sendable
from pabal.domain.sends.message import Attempt, Outcome

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

_EXPECTED = (NotProcessed, NoResponse, Throttled, SolapiError, ImageNotSupported, NoSuchTemplate)


class Preparation:
    """Encodes messages; uploads and lookups are made once for all messages that need them."""

    def __init__(self, connection: SolapiConnection, load_images: LoadImages) -> None:
        self._connection = connection
        self._load_images = load_images
        self._images = SharedCalls(self._upload, UPLOAD_TTL_S, connection.world)
        self._templates = SharedCalls(self._find_template, TEMPLATE_TTL_S, connection.world)

    async def prepare(self, attempts: Sequence[Attempt], submission: Submission) -> list[Entry]:
        """Return the messages that can be sent; report the others."""
        unsupported = [one for one in attempts if not can_be_sent(one)]
        if unsupported:
            submission.report_all(unsupported, Declined(Outcome.UNDELIVERABLE))
            attempts = [one for one in attempts if can_be_sent(one)]
        images = {image_of(one) for one in attempts} - {None}
        templates = {template_of(one) for one in attempts} - {None}
        timeout_s = submission.timeout_s(self._connection.max_timeout_s)
        image_ids, no_images = await _gather(images, lambda key: self._images.get(key, timeout_s))
        found, no_templates = await _gather(templates, lambda key: self._templates.get(key, timeout_s))
        entries = []
        for attempt in attempts:
            error = no_images.get(image_of(attempt)) or no_templates.get(template_of(attempt))
            if error is None:
                try:
                    entries.append(encode(attempt, image_ids, found))
                    continue
                except NotAtSolapi as missing:
                    error = missing
            submission.report([(attempt, self._verdict(error))])
        return entries

    def forget_image(self, attempt: Attempt) -> None:
        """Upload the picture of a message again when it is needed next."""
        if (image := image_of(attempt)) is not None:
            self._images.forget(image)

    def forget_template(self, attempt: Attempt) -> None:
        """Look the template of a message up again when it is needed next."""
        if (template := template_of(attempt)) is not None:
            self._templates.forget(template)

    async def _upload(self, wanted: tuple[bytes, str], timeout_s: float) -> str:
        request_id, kind = wanted
        images = await self._load_images(request_id)
        return (
            await upload_image(self._connection.client, images, kind, f"{request_id.hex()}.jpg", timeout_s)
        ).fileId

    async def _find_template(self, template: tuple[str, str], timeout_s: float) -> SendableTemplate:
        return await find_sendable(self._connection.client, *template, timeout_s)

    def _verdict(self, error: Exception) -> Verdict:
        """Return the verdict on a message after a failed upload or lookup: nothing of it was sent."""
        if isinstance(error, ImageNotSupported | NoSuchTemplate | NotAtSolapi):
            return Declined(Outcome.UNDELIVERABLE)
        if isinstance(error, NotProcessed | Throttled):
            return NotSent()
        if isinstance(error, SolapiError):
            kind = call_error_of(error)
            if kind is CallError.ACCOUNT_CLOSED:
                self._connection.on_problem(str(error))
                return NotSent()
            return Declined(Outcome.UNDELIVERABLE) if kind is CallError.MAY_BE_ONE_MESSAGE else Busy()
        return Busy()


async def _gather(
    keys: Iterable[K | None], get: Callable[[K], Awaitable[V]]
) -> tuple[dict[K, V], dict[K | None, Exception]]:
    """Return the values of keys, and the errors of those that have none."""
    named = [key for key in keys if key is not None]
    results = await asyncio.gather(*(get(key) for key in named), return_exceptions=True)
    values: dict[K, V] = {}
    errors: dict[K | None, Exception] = {}
    for key, result in zip(named, results, strict=True):
        if isinstance(result, _EXPECTED):
            errors[key] = result
        elif isinstance(result, BaseException):
            raise result
        else:
            values[key] = result
    return values, errors


ACCOUNT_IN_ORDER_S = 60.0
"""How long after an accepted call an error that is not documented concerns a message, not the account."""
BALANCE = "balance"
NO_BALANCE = "the balance at Solapi is used up"


@dataclass(eq=False)
class SolapiSender:
    """Makes calls that submit messages, within the rate and the number of calls at once."""

    _connection: SolapiConnection
    _queue: CallQueue
    _pacer: Pacer
    _preparation: Preparation
    _notices: Notices
    _on_anomaly: OnAnomaly
    _accepted_at: float = -math.inf

    async def send(self, call: SolapiCall, submission: Submission) -> None:
        """Make a call when it may go out, and report the verdicts."""
        await submission.send(call, self._pacer, self._queue, self._make)

    async def _make(self, call: SolapiCall, submission: Submission) -> Sequence[SolapiCall]:
        """Make a call and report the verdicts; return its halves if these must be sent instead."""
        began_at = self._connection.world.monotonic()
        try:
            return await self._call(call, submission)
        except NotProcessed as error:
            self._connection.on_problem(str(error))
            verdict: Verdict = NotSent()
        except Throttled:  # the call was not processed: it does not count as a try, but the next ones go slower
            self._queue.slow_down(began_at)
            verdict = NotSent()
        except NoResponse:
            self._on_anomaly("no response to a call")
            self._connection.unanswered.add(call.attempts, began_at)
            verdict = Unknown()
        submission.report_all(call.attempts, verdict)
        return ()

    async def _call(self, call: SolapiCall, submission: Submission) -> tuple[SolapiCall, ...]:
        """Make a call and report the verdicts; return its halves if these must be sent instead.

        Raises NotProcessed, NoResponse, Throttled.
        """
        began_at = self._connection.world.monotonic()
        timeout_s = submission.timeout_s(self._connection.max_timeout_s)
        try:
            answer = await self._connection.client.request(
                "POST", SEND_PATH, SendAnswer, timeout_s=timeout_s, body=call.body()
            )
        except SolapiError as error:
            return self._handle_error(call, error, submission)
        self._connection.on_problem("")
        self._accepted_at = self._connection.world.monotonic()
        self._queue.speed_up()
        self._report_answer(call.attempts, answer, began_at, submission)
        return ()

    def _handle_error(self, call: SolapiCall, error: SolapiError, submission: Submission) -> tuple[SolapiCall, ...]:
        """Report the verdicts after an error of a whole call; return its halves if one message may be the cause."""
        kind = call_error_of(error)
        is_alone = len(call.entries) == 1
        if is_alone and kind is CallError.MAY_BE_THE_ACCOUNT and not self._has_accepted_lately:
            kind = CallError.ACCOUNT_CLOSED
        self._connection.on_problem(str(error) if kind is CallError.ACCOUNT_CLOSED else "")
        if kind in (CallError.ACCOUNT_CLOSED, CallError.NOT_NOW):
            submission.report_all(call.attempts, NotSent())
        elif kind is CallError.BUSY:
            self._tell_no_balance()
            submission.report_all(call.attempts, Busy(error.code))
        elif not is_alone:
            return submission.halves_of(call)
        else:
            self._on_anomaly(f"error {error.code}")
            submission.report_all(call.attempts, _verdict_on_cause(kind, error.code))
        return ()

    @property
    def _has_accepted_lately(self) -> bool:
        """Whether a call was accepted a short time ago, so that the account is in order."""
        return self._connection.world.monotonic() - self._accepted_at < ACCOUNT_IN_ORDER_S

    def _report_answer(
        self, attempts: list[Attempt], answer: SendAnswer, began_at: float, submission: Submission
    ) -> None:
        """Report the verdict on each message of a call; one that the answer does not name is in doubt."""
        rows = {row.own_id: row for row in answer.messageList or ()}
        rows |= {row.own_id: row for row in answer.failedMessageList}
        verdicts = [(attempt, self._verdict(attempt, rows.get(attempt.message_id.hex()))) for attempt in attempts]
        in_doubt = [attempt for attempt, verdict in verdicts if isinstance(verdict, Unknown)]
        if in_doubt:
            self._on_anomaly("an answer without a message")
            self._connection.unanswered.add(in_doubt, began_at)
        self._connection.unanswered.discard(
            attempt.message_id for attempt, verdict in verdicts if not isinstance(verdict, Unknown)
        )
        submission.report(verdicts)

    def _verdict(self, attempt: Attempt, row: ListedMessage | None) -> Verdict:
        if row is None or not row.statusCode:
            return Unknown()
        code = row.statusCode
        if code == ACCEPTED:
            self._notices.clear(BALANCE)
            return Accepted(row.messageId)
        if code in NO_BALANCE_CODES:
            self._tell_no_balance()
        elif code in IMAGE_GONE_CODES and attempt.image_request_id is not None:
            self._preparation.forget_image(attempt)
            return Busy(code)
        elif code in TEMPLATE_GONE_CODES:
            self._preparation.forget_template(attempt)
        return verdict_for(code)

    def _tell_no_balance(self) -> None:
        if BALANCE not in self._notices.shown:
            self._on_anomaly("no balance")
        self._notices.set(BALANCE, NO_BALANCE)


def _verdict_on_cause(kind: CallError, code: str) -> Verdict:
    """Return the verdict on the one message that makes its call an error; the code may be a status code."""
    if kind is CallError.MAY_BE_THE_ACCOUNT:
        return Busy(code)
    return verdict_for(code) if was_refused(code) else Declined(Outcome.CARRIER_ERROR, code)
