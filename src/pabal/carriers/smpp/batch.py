"""The submits of messages: their bodies, and their responses, also those that come after a group was given up."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from pabal.carriers.base import Busy, Declined, Rejected
from pabal.carriers.smpp import pdu, protocol
from pabal.carriers.smpp.encoding import EncodedText, encode_text, split_segments
from pabal.carriers.smpp.pdu import Address, ShortMessage
from pabal.domain.base import identifiers
from pabal.domain.base.dates import SECOND, Instant
from pabal.domain.sends.message import Attempt, Outcome
from pabal.settings.carriers import SmppSettings

SHORT_CHARACTERS = 70
"""A text of at most this many characters fits one segment in every encoding: none takes more than two octets."""
_SECONDS_PER_DAY = 24 * 60 * 60


class SubmitWriter:
    """Writes submit_sm bodies by the settings of a carrier."""

    def __init__(self, settings: SmppSettings) -> None:
        """Raises ValueError for settings that do not fit their fields."""
        self._settings = settings
        self._max_validity_s = settings.validity_minutes * 60
        self._registered_delivery = int(settings.receipts)
        self._sends_reference = settings.on_doubt == "hold" or not settings.max_resends
        no_address = Address(0, 0, "")
        pdu.encode_short_message(ShortMessage(no_address, no_address, b"", service_type=settings.service_type))

    def bodies(self, attempt: Attempt, now: Instant) -> list[bytes]:
        """Return one body for each segment; none if the message cannot be encoded.

        The operator may try until the message's deadline, but no longer than the settings say.
        """
        validity = self._validity(attempt, now)
        try:
            encoded = self._encode(_text_of(attempt))
            reference = identifiers.user_message_reference(attempt.message_id)
            if not encoded.fits_one_segment and self._settings.long_messages == "parts":
                coding, segments = encoded.data_coding, split_segments(encoded, reference)
                return [self._body(attempt, coding, each, validity, protocol.HAS_UDH, {}) for each in segments]
            tlvs: dict[int, bytes] = {}
            if self._sends_reference or attempt.is_in_doubt:
                tlvs[protocol.USER_MESSAGE_REFERENCE] = reference.to_bytes(2, "big")
            if encoded.fits_one_segment:
                return [self._body(attempt, encoded.data_coding, encoded.octets, validity, 0, tlvs)]
            tlvs[protocol.MESSAGE_PAYLOAD] = encoded.octets
            return [self._body(attempt, encoded.data_coding, b"", validity, 0, tlvs)]
        except ValueError:  # also for a phone number: one bad message must not fail its batch
            return []

    def count_segments(self, attempt: Attempt) -> int:
        """Return how many segments a message takes, without writing them; 0 if it cannot be encoded."""
        text = _text_of(attempt)
        if len(text) <= SHORT_CHARACTERS or self._settings.long_messages == "payload":
            return 1
        try:
            return len(split_segments(self._encode(text), 0))
        except ValueError:
            return 0

    def _encode(self, text: str) -> EncodedText:
        settings = self._settings
        data_coding = settings.data_coding if settings.encoding == "cp949" else None
        return encode_text(text, settings.encoding, data_coding)

    def _body(
        self,
        attempt: Attempt,
        data_coding: int,
        octets: bytes,
        validity: str,
        esm_class: int,
        tlvs: Mapping[int, bytes],
    ) -> bytes:
        settings = self._settings
        return pdu.encode_short_message(
            ShortMessage(
                Address(settings.source_ton, settings.source_npi, attempt.sender),
                Address(settings.dest_ton, settings.dest_npi, self._receiver(attempt.receiver)),
                octets,
                esm_class,
                data_coding,
                self._registered_delivery,
                settings.service_type,
                validity=validity,
                tlvs=tlvs,
            )
        )

    def _validity(self, attempt: Attempt, now: Instant) -> str:
        if attempt.expires_at is None:
            return _relative_time(self._max_validity_s)
        left_s = max(1, -(-(attempt.expires_at - now) // SECOND))
        return _relative_time(min(left_s, self._max_validity_s) if self._max_validity_s else left_s)

    def _receiver(self, digits: str) -> str:
        return f"82{digits[1:]}" if self._settings.numbers == "international" else digits


def _text_of(attempt: Attempt) -> str:
    return f"{attempt.subject}\n{attempt.content}" if attempt.subject else attempt.content


def _relative_time(seconds: int) -> str:
    """Return a relative time in SMPP format; empty for none."""
    if not seconds:
        return ""
    days, rest = divmod(seconds, _SECONDS_PER_DAY)
    hours, rest = divmod(rest, 60 * 60)
    minutes, seconds = divmod(rest, 60)
    return f"0000{days:02}{hours:02}{minutes:02}{seconds:02}000R"


SubmitResult = str | int | None
"""The response to a submit_sm: its message_id, the status it was refused with, or nothing."""
MAX_LATE_S = 15 * 60.0
"""How long a response is awaited after its submit was given up."""
MAX_LATE_SUBMITS = 10_000
"""The most submits of one connection that are remembered; the oldest is forgotten first."""


class LateMessage:
    """A message whose verdict was unknown, and the responses to its submits, one for each segment."""

    def __init__(self, results: Sequence[SubmitResult], on_complete: Callable[[list[SubmitResult]], None]) -> None:
        self._results = list(results)
        self._on_complete = on_complete

    def set_result(self, index: int, result: SubmitResult) -> None:
        """Set a response; with the last one the message is complete."""
        self._results[index] = result
        if None not in self._results:
            self._on_complete(self._results)


LateSubmit = tuple[LateMessage, int]
"""A message, and the index of one of its submits."""


class SubmitGroup:
    """Collects the results of submits that are sent in order."""

    def __init__(self, count: int) -> None:
        self.results: list[SubmitResult] = [None] * count
        self.unread: list[int] = []
        """The indexes of results that arrived since this list was last emptied."""
        self.sent = 0
        """How many have been sent."""
        self.completed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done when no more results are expected."""
        self.late: dict[int, LateSubmit] = {}
        """By index, what a response after the group was abandoned belongs to."""
        self._expected = count
        self.expect_fewer(0)

    @property
    def unsent(self) -> int:
        """How many are still to be sent."""
        return len(self.results) - self.sent

    def set_result(self, index: int, result: SubmitResult) -> None:
        """Set a result; None if it will never arrive."""
        self.results[index] = result
        self.unread.append(index)
        self.expect_fewer(1)

    def expect_fewer(self, count: int) -> None:
        """Expect fewer results: these submits were not sent."""
        self._expected -= count
        if not self._expected and not self.completed.done():
            self.completed.set_result(None)


class LateSubmits:
    """The submits of one connection that were given up, by sequence_number."""

    def __init__(self) -> None:
        self._entries: OrderedDict[int, tuple[LateSubmit, float]] = OrderedDict()

    def add(self, sequence: int, submit: LateSubmit, now: float) -> None:
        """Remember a submit that was given up at `now`, on the monotonic clock."""
        self._entries[sequence] = (submit, now)
        while len(self._entries) > MAX_LATE_SUBMITS or next(iter(self._entries.values()))[1] < now - MAX_LATE_S:
            self._entries.popitem(last=False)

    def pop(self, sequence: int) -> LateSubmit | None:
        """Return a submit that a response came for, and forget it."""
        entry = self._entries.pop(sequence, None)
        return entry[0] if entry else None


class SubmitBatch:
    """Messages, each sent as one submit or as several segments.

    A message is named by its index among the attempts, a submit by its position among all bodies.
    """

    def __init__(self, attempts: Sequence[Attempt], bodies: Sequence[Sequence[bytes]]) -> None:
        self.attempts = attempts
        self.bodies = [body for segments in bodies for body in segments]
        self.unreported = set(range(len(attempts)))
        """The messages whose verdict is not reported yet."""
        self.results: list[SubmitResult] = [None] * len(self.bodies)
        self.is_sent = [False] * len(self.bodies)
        self.late: set[int] = set()
        """The messages whose missing responses may still come."""
        self._message_of = [index for index, segments in enumerate(bodies) for _ in segments]
        self._counts = [len(segments) for segments in bodies]
        self._firsts = [0, *accumulate(self._counts)]
        self._missing_counts = list(self._counts)

    def positions(self, index: int) -> range:
        """Return the positions of a message's submits."""
        return range(self._firsts[index], self._firsts[index] + self._counts[index])

    def message_at(self, position: int) -> int:
        """Return the message that a submit belongs to."""
        return self._message_of[position]

    def is_first_segment(self, position: int) -> bool:
        """Return whether a submit is the first of its message."""
        return self._firsts[self._message_of[position]] == position

    def collect(self, group: SubmitGroup, positions: Sequence[int]) -> list[int]:
        """Read the new results of a group; return the messages that have all their results now."""
        unread, group.unread = group.unread, []
        complete = []
        for group_index in unread:
            position = positions[group_index]
            self.results[position] = group.results[group_index]
            self.is_sent[position] = True
            index = self._message_of[position]
            self._missing_counts[index] -= 1
            if not self._missing_counts[index]:
                complete.append(index)
        return complete

    def close_group(self, group: SubmitGroup, positions: Sequence[int], retried: Container[int]) -> list[int]:
        """Record that a group gets no more results; return its messages that lack some.

        The messages `retried` by another group are left to that group.
        """
        for position in positions[: group.sent]:
            if self._message_of[position] not in retried:
                self.is_sent[position] = True
        indexes = dict.fromkeys(self._message_of[position] for position in positions)
        return [index for index in indexes if self._missing_counts[index] and index not in retried]

    def retryable(self, indexes: Iterable[int]) -> list[int]:
        """Return the messages that only lack segments which may be submitted again."""
        return [index for index in indexes if self._counts[index] > 1 and self._retryable_positions(index)]

    def reset(self, indexes: Iterable[int]) -> list[int]:
        """Return the positions of the segments to submit again, and clear their results."""
        positions = [position for index in indexes for position in self._retryable_positions(index)]
        for position in positions:
            self.results[position], self.is_sent[position] = None, False
        for index in indexes:
            self._missing_counts[index] = len(self._retryable_positions(index))
        return positions

    def _retryable_positions(self, index: int) -> list[int]:
        """Return the missing segments, if others were accepted and all missing ones may be submitted again."""
        positions = self.positions(index)
        missing = [position for position in positions if not isinstance(self.results[position], str)]
        is_worthwhile = len(missing) < len(positions) and all(map(self._is_retryable, missing))
        return missing if is_worthwhile else []

    def _is_retryable(self, position: int) -> bool:
        result = self.results[position]
        if result is None:
            return not self.is_sent[position]
        return isinstance(result, int) and isinstance(verdict_for_status(result), Busy)


Refusal = Rejected | Declined | Busy

VERDICTS: Mapping[int, Refusal] = {
    protocol.RINVBNDSTS: Busy(),
    protocol.RALYBND: Busy(),
    protocol.RBINDFAIL: Busy(),
    protocol.RINVPASWD: Busy(),
    protocol.RINVSYSID: Busy(),
    protocol.RSYSERR: Busy(),
    protocol.RMSGQFUL: Busy(),
    protocol.RSUBMITFAIL: Busy(),
    protocol.RTHROTTLED: Busy(),
    protocol.RX_T_APPN: Busy(),
    protocol.RUNKNOWNERR: Busy(),
    protocol.RINVDSTADR: Rejected(Outcome.NUMBER_NOT_ASSIGNED),
    protocol.RX_P_APPN: Rejected(Outcome.UNDELIVERABLE),
    protocol.RX_R_APPN: Rejected(Outcome.UNDELIVERABLE),
    protocol.RDELIVERYFAILURE: Rejected(Outcome.UNDELIVERABLE),
}
"""Errors of the session or the load are temporary; errors of the receiver apply to any operator."""
DEFAULT_VERDICT = Declined(Outcome.UNDELIVERABLE)
"""For all others, which concern this operator only, such as its rules on senders, lengths and TLVs."""


def verdict_for_status(status: int) -> Refusal:
    """Return the verdict for a status other than 0, which is the operator's own code."""
    return replace(VERDICTS.get(status, DEFAULT_VERDICT), code=f"0x{status:08X}")
