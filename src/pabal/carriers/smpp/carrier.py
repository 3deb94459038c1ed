"""The SMPP carrier: holds its binds, hands messages over within window and rate, and hands receipts on."""

import asyncio
import contextlib
import logging
import ssl
from collections.abc import Awaitable, Callable, Sequence

from pabal.carriers.base import (
    Accepted,
    Busy,
    Carrier,
    Declined,
    NotSent,
    OnAnomaly,
    OnReceipts,
    OnVerdicts,
    Receipt,
    Rejected,
    Unknown,
    Verdict,
)
from pabal.carriers.pace import TICK_S, Pacer
from pabal.carriers.smpp import pdu
from pabal.carriers.smpp.batch import SubmitBatch
from pabal.carriers.smpp.pdu import Pdu
from pabal.carriers.smpp.receipt import normalize_message_id, parse_receipt
from pabal.carriers.smpp.session import BIND_S, BindRequest, ConnectionLost, SmppSession, SubmitGroup
from pabal.carriers.smpp.submits import SubmitWriter
from pabal.carriers.smpp.verdict import refusal_of
from pabal.domain import identifiers
from pabal.domain.message import Attempt, Outcome
from pabal.settings.carriers import SmppSettings
from pabal.settings.field import BadSetting
from pabal.world import World

ANSWER_S = 30.0
SETTLE_S = 2.0
"""What is unanswered so long before the time to answer is over counts as unknown."""
FIRST_PAUSE_S = 0.5
LONGEST_PAUSE_S = 5.0
SPREAD = 0.2
STEADY_S = 10.0
"""A connection that lasted so long was a good one: the pauses begin anew."""
TELL_S = 0.05
"""How often what was answered is told, while other answers are still owed."""
PARTS_S = 10.0
"""So long before the time is over no further message is begun."""
PART_PAUSE_S = 1.0
"""A part that was refused for now, or not sent, while the others were taken is tried again so much later."""
MAX_RECEIPTS = 1000
GATHER_S = 0.1
"""Pause before receipts are handed on, so that they travel in batches."""
MOST_ARRIVED = 5000
"""With more deliver_sm's than this waiting, no more are read."""

Dial = Callable[[Callable[[], asyncio.Protocol]], Awaitable[object]]
"""Makes a connection for a protocol."""

log = logging.getLogger("pabal.smpp")


class SmppCarrier(Carrier):
    """An operator or aggregator that speaks SMPP 3.4."""

    dedups = False
    timeout_s = ANSWER_S

    def __init__(self, settings: SmppSettings, world: World, note: OnAnomaly, dial: Dial | None = None) -> None:
        """Raises BadSetting for what cannot be told to anyone in SMPP, and for an authority that cannot be read."""
        self.name = settings.name
        self.products = frozenset(settings.products)
        self.window = settings.window
        self.holds_in_doubt = settings.on_doubt == "hold"
        self.failover_after_s = settings.failover_seconds
        self._settings = settings
        self._world = world
        self._note = note
        self._dial = dial or _dialer(settings)
        try:
            self._writer = SubmitWriter(settings)
            self._binds = _binds(settings)
        except ValueError as error:
            raise BadSetting(f"carriers.{settings.name}: {error}") from None
        self._pacer = Pacer(settings.rate, world)
        self._turn = asyncio.Lock()
        """Held by the batch that is going out: those who come first go first."""
        self._outgoing: set[SubmitGroup] = set()
        """The lots of which some submits wait for their turn, or for room."""
        self._sessions: list[SmppSession] = []
        self._has_room = asyncio.Event()
        self._trouble = self._missing = "not connected yet"
        self._arrived: list[tuple[SmppSession, Pdu]] = []
        self._has_arrived = asyncio.Event()
        self._paused: set[SmppSession] = set()

    @property
    def is_connected(self) -> bool:
        return any(session.is_open for session in self._sessions)

    @property
    def rate(self) -> float:
        return self._pacer.rate

    def set_rate_share(self, share: float) -> None:
        self._pacer.set_share(share)

    @property
    def backlog_s(self) -> float:
        return self._pacer.backlog_s + sum(lot.unsent for lot in self._outgoing) / self.rate if self.rate else 0.0

    @property
    def problem(self) -> str:
        wanted = len(self._binds) * self._settings.binds
        if len(self._sessions) == wanted:
            return ""
        if self.is_connected:
            return f"{wanted - len(self._sessions)} of {wanted} connections are down: {self._missing}"
        return self._trouble

    async def send(self, attempts: Sequence[Attempt]) -> Sequence[Verdict]:
        said: dict[int, Verdict] = {}

        def tell(verdicts: Sequence[tuple[Attempt, Verdict]]) -> None:
            said.update((id(attempt), verdict) for attempt, verdict in verdicts)

        await self.submit(attempts, tell)
        return [said[id(attempt)] for attempt in attempts]

    async def submit(self, attempts: Sequence[Attempt], on_verdicts: OnVerdicts) -> None:
        give_up_at = self._world.monotonic() + self.timeout_s - SETTLE_S
        batch = SubmitBatch(attempts, [self._writer.bodies(attempt) for attempt in attempts])
        async with asyncio.TaskGroup() as group:

            async def submit(places: Sequence[int]) -> None:
                """Submit these; tell of messages as they are answered, and submit again what is stuck."""
                lot = SubmitGroup(len(places))
                self._outgoing.add(lot)  # at once: who gives us batches asks how far ahead we are
                going = group.create_task(self._submit(batch, places, lot, give_up_at))
                try:
                    while not going.done():
                        await asyncio.wait([going], timeout=TELL_S)
                        settle(batch.take_in(lot, places))
                finally:
                    self._outgoing.discard(lot)
                settle(batch.give_up(lot, places))

            def settle(numbers: Sequence[int]) -> None:
                stuck = batch.stuck(numbers) if self._has_time(give_up_at) else []
                if stuck:
                    group.create_task(self._after_a_pause(submit, batch.reopen(stuck)))
                self._tell(batch, [number for number in numbers if number not in stuck], on_verdicts)

            await submit(range(len(batch.bodies)))
        self._tell(batch, sorted(batch.untold), on_verdicts)

    def _tell(self, batch: SubmitBatch, numbers: Sequence[int], tell: OnVerdicts) -> None:
        if numbers:
            batch.untold.difference_update(numbers)
            tell([(batch.attempts[number], self._verdict(batch, number)) for number in numbers])

    def _has_time(self, give_up_at: float) -> bool:
        return self._world.monotonic() + PART_PAUSE_S < give_up_at

    async def _after_a_pause(self, submit: Callable[[Sequence[int]], Awaitable[None]], places: list[int]) -> None:
        await asyncio.sleep(PART_PAUSE_S)
        await submit(places)

    async def run(self, on_receipts: OnReceipts) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for bind in self._binds * self._settings.binds:
                    group.create_task(self._hold(bind))
                group.create_task(self._keep_receipts(on_receipts))
        except BaseExceptionGroup as failed:
            raise failed.exceptions[0] from None  # what hand_on raised, as it raised it

    # Handing over.

    async def _submit(self, batch: SubmitBatch, places: Sequence[int], lot: SubmitGroup, give_up_at: float) -> None:
        """Submit, and wait for the answers until there is no more time."""
        try:
            async with asyncio.timeout(max(0.0, give_up_at - self._world.monotonic())):
                await self._send_out(batch, places, lot, give_up_at)
                lot.forgo(len(places) - lot.sent)
                await lot.has_all
        except TimeoutError:
            for _ in range(sum(session.forget(lot) for session in self._sessions)):
                self._note("no answer in time")
        except asyncio.CancelledError:
            for session in self._sessions:
                session.forget(lot)
            raise

    async def _send_out(
        self, batch: SubmitBatch, places: Sequence[int], lot: SubmitGroup, give_up_at: float
    ) -> None:
        """Send submits as window and rate allow, as long as there is a connection for them.

        Of a message in parts the others must have time to follow the first.
        """
        try:
            async with self._turn:
                while lot.unsent and self.is_connected:
                    is_late = self._world.monotonic() > give_up_at - PARTS_S
                    if is_late and batch.begins(places[lot.sent]):
                        return
                    count = min(self._room(), lot.unsent, 1 if is_late else self._at_once)
                    if not count:
                        self._has_room.clear()
                        await self._has_room.wait()
                        continue
                    first = self._pacer.reserve(count)
                    await self._pacer.due(first, count - 1, 1)
                    count = min(count, self._room())  # meanwhile its connection may have broken
                    if count:
                        going = places[lot.sent : lot.sent + count]
                        self._roomiest().submit([batch.bodies[place] for place in going], lot, lot.sent)
        finally:
            self._outgoing.discard(lot)

    @property
    def _at_once(self) -> int:
        """How many submits may leave together: at a high rate, what is due within a tick."""
        return max(1, int(self.rate * TICK_S)) if self.rate else self.window

    def _roomiest(self) -> SmppSession:
        return max(self._sessions, key=lambda session: session.room)

    def _room(self) -> int:
        """Return how many submits one connection takes now, within the window that all of them share."""
        if not self._sessions:
            return 0
        left = self.window - sum(session.owed for session in self._sessions)
        return max(0, min(self._roomiest().room, left))

    def _verdict(self, batch: SubmitBatch, number: int) -> Verdict:
        places = batch.places(number)
        if not places:
            return Declined(Outcome.UNDELIVERABLE)  # it cannot be written in this carrier's alphabet
        attempt = batch.attempts[number]
        if len(places) == 1:
            answer = batch.answers[places[0]]
            if answer is None:
                return Unknown() if batch.sent[places[0]] else NotSent()
            if isinstance(answer, int):
                return refusal_of(answer)
            return Accepted(self._reference(attempt, answer) if self._settings.receipts else None)
        answers = [batch.answers[place] for place in places]
        taken = [answer for answer in answers if isinstance(answer, str)]
        if len(taken) == len(answers):
            first, *further = (self._reference(attempt, answer) for answer in taken)
            return Accepted(first, tuple(further)) if self._settings.receipts else Accepted(None)
        is_partly_there = taken or any(batch.answers[place] is None and batch.sent[place] for place in places)
        refusals = [refusal_of(answer) for answer in answers if isinstance(answer, int)]
        for refusal in refusals:
            if isinstance(refusal, Rejected | Declined):
                return Rejected(refusal.outcome) if is_partly_there else refusal
        if is_partly_there:
            return Unknown()
        return Busy() if refusals else NotSent()

    def _reference(self, attempt: Attempt, message_id: str) -> str:
        reference = normalize_message_id(message_id, self._settings.submit_ids)
        if not reference:
            self._note("an answer without an id")
            return identifiers.in_doubt_reference(
                identifiers.user_message_reference(attempt.message_id), attempt.receiver
            )
        return reference

    # Holding the connections.

    async def _hold(self, bind: BindRequest) -> None:
        """Keep one connection up for good, with growing pauses between vain tries."""
        tries, told = 0, ""
        while True:
            reason, lasted_s = await self._one_session(bind)
            if reason != told or lasted_s is not None:
                log.warning("a connection is down", extra={"carrier": self.name, "reason": reason})
            told = self._missing = reason
            if bind.can_submit:
                self._trouble = reason
            tries = 1 if lasted_s is not None and lasted_s >= STEADY_S else tries + 1
            pause_s = min(FIRST_PAUSE_S * 2 ** min(tries - 1, 10), LONGEST_PAUSE_S)
            await asyncio.sleep(pause_s * (1 - SPREAD * self._world.random()))

    async def _one_session(self, bind: BindRequest) -> tuple[str, float | None]:
        """Connect, stay as long as it lasts, and return why it ended and how long it was of use, if it was."""
        session: SmppSession | None = None

        def make() -> SmppSession:
            nonlocal session
            session = SmppSession(
                bind,
                max(1, self.window // self._settings.binds),
                self._settings.enquire_seconds,
                self._world,
                self._note,
                self._on_deliver,
                self._has_room.set,
            )
            return session

        try:
            async with asyncio.timeout(BIND_S):
                await self._dial(make)
            assert session is not None
            await session.bound
            began = self._world.monotonic()
            self._sessions.append(session)
            self._has_room.set()
            log.info("a connection is up", extra={"carrier": self.name})
            reason = await asyncio.shield(session.lost)
            return reason, self._world.monotonic() - began
        except (OSError, UnicodeError, ConnectionLost) as error:
            return _in_words(error), None
        finally:
            if session:
                with contextlib.suppress(ValueError):
                    self._sessions.remove(session)
                self._paused.discard(session)
                await session.unbind()

    # Receipts.

    def _on_deliver(self, session: SmppSession, delivers: list[Pdu]) -> None:
        self._arrived += [(session, each) for each in delivers]
        self._has_arrived.set()
        if len(self._arrived) > MOST_ARRIVED:
            session.pause()
            self._paused.add(session)

    async def _keep_receipts(self, hand_on: OnReceipts) -> None:
        """Hand receipts on, and acknowledge them once they are kept."""
        while True:
            await self._has_arrived.wait()
            await asyncio.sleep(GATHER_S)
            batch = self._arrived[:MAX_RECEIPTS]
            read = [(session, deliver.sequence, *self._read(deliver)) for session, deliver in batch]
            receipts = [receipt for _, _, receipt, _ in read if receipt]
            if receipts:
                await hand_on(receipts)
            for session in {session for session, _, _, _ in read}:
                session.acknowledge([(sequence, status) for one, sequence, _, status in read if one is session])
            del self._arrived[: len(batch)]
            if not self._arrived:
                self._has_arrived.clear()
            if len(self._arrived) <= MAX_RECEIPTS:
                while self._paused:
                    self._paused.pop().resume()

    def _read(self, deliver: Pdu) -> tuple[Receipt | None, int]:
        """Return the receipt that a deliver_sm holds, if it is a final one, and the status to answer with."""
        try:
            said = pdu.decode_deliver(deliver.body)
            report = parse_receipt(said, self._settings.errors, believes_text=self._settings.unmarked_receipts)
        except pdu.InvalidPdu:
            self._note("a deliver_sm that cannot be read")
            return None, pdu.RINVMSGLEN
        if report is None:
            self._note("a message that is no receipt")
            return None, pdu.OK
        if report.outcome is None:
            return None, pdu.OK
        doubt = identifiers.in_doubt_reference(report.mark, report.phone) if report.mark is not None else None
        reference = normalize_message_id(report.message_id, self._settings.receipt_ids) or doubt
        if reference is None:
            self._note("a receipt without an id")
            return None, pdu.OK
        return Receipt(reference, report.outcome, doubt), pdu.OK


def _binds(settings: SmppSettings) -> list[BindRequest]:
    body = pdu.encode_bind(settings.system_id, settings.password, settings.system_type)
    if settings.bind == "transceiver":
        return [BindRequest(pdu.BIND_TRANSCEIVER, body)]
    return [BindRequest(pdu.BIND_TRANSMITTER, body), BindRequest(pdu.BIND_RECEIVER, body)]


def _dialer(settings: SmppSettings) -> Dial:
    try:
        context = ssl.create_default_context(cafile=settings.tls_ca) if settings.tls else None
    except OSError as error:
        raise BadSetting(f"carriers.{settings.name}.tls_ca: cannot be read ({error.strerror})") from None

    async def dial(make: Callable[[], asyncio.Protocol]) -> object:
        loop = asyncio.get_running_loop()
        return await loop.create_connection(make, settings.host, settings.port, ssl=context)

    return dial


def _in_words(error: Exception) -> str:
    """Return why a connection was not made."""
    if isinstance(error, TimeoutError):
        return "the connection was not answered"
    if isinstance(error, ssl.SSLError):
        return f"TLS: {getattr(error, 'verify_message', '') or error.reason or type(error).__name__}"
    if isinstance(error, UnicodeError):
        return "the host has no name that can be looked up"
    return str(getattr(error, "strerror", None) or error) or type(error).__name__
