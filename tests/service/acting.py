"""Who and what appears in scenes of the service: a carrier of our own, sends, and a look at what became of them."""

import asyncio
import dataclasses
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pabal.carriers.base import Carrier, HandOn, Receipt, Taken, Verdict
from pabal.carriers.desk import Desk
from pabal.domain import identity
from pabal.domain.message import Attempt, Outcome, Product, Status
from pabal.domain.sending import Fallback, Receiver, Sending
from pabal.domain.when import SECOND, Instant
from pabal.service.accept import accept
from pabal.store import accounts, messages, profiles
from pabal.store.base import Tx
from pabal.store.messages import Message
from tests.virtual import Town, VirtualWorld, build_town, in_virtual_time, settings_for

Play = Callable[..., None]
Scene = Callable[[Town], Awaitable[None]]

POST = "simulator"
"""The carrier that every product goes to unless settings say otherwise."""
PHONE = "01012345678"
SENDER = "0212345678"


def taken(attempt: Attempt) -> Verdict:
    """Take it, to report on it by its message's id."""
    return Taken(attempt.message_id.hex())


class Post(Carrier):
    """A carrier that does as it is told, and remembers what it was handed and when."""

    products = frozenset(Product)
    dedups = False
    is_connected = True

    def __init__(
        self,
        name: str = POST,
        answer: Callable[[Attempt], Verdict] = taken,
        *,
        window: int = 100,
        takes_s: float = 0.0,
        answer_s: float = 30.0,
        patience_s: float = 60.0,
        holds_doubt: bool = False,
        asks: bool = False,
    ) -> None:
        self.name = name
        self.patience_s = patience_s
        self.holds_doubt = holds_doubt
        self.asks = asks
        self.answer = answer
        self.window = window
        self.takes_s = takes_s
        self.answer_s = answer_s
        self.desk: Desk | None = None
        self.is_connected = True
        self.handed: list[tuple[float, Attempt]] = []
        self.in_hand = 0
        self.most_in_hand = 0
        self._hand_on: HandOn | None = None
        self._has_session = asyncio.Event()

    async def send(self, attempts: Sequence[Attempt]) -> Sequence[Verdict]:
        at = asyncio.get_running_loop().time()
        self.handed += [(at, attempt) for attempt in attempts]
        self.in_hand += len(attempts)
        self.most_in_hand = max(self.most_in_hand, self.in_hand)
        try:
            await asyncio.sleep(self.takes_s)
            return [self.answer(attempt) for attempt in attempts]
        finally:
            self.in_hand -= len(attempts)

    async def run(self, hand_on: HandOn) -> None:
        self._hand_on = hand_on
        self._has_session.set()
        await asyncio.Event().wait()

    @property
    def trouble(self) -> str:
        return "" if self.is_connected else "told to be away"

    async def report(self, *receipts: tuple[str, Outcome] | tuple[str, Outcome, str | None]) -> None:
        """Hand receipts on; when this returns the service has kept them."""
        await self._has_session.wait()
        assert self._hand_on is not None
        await self._hand_on([Receipt(*each) for each in receipts])

    @property
    def ids(self) -> list[bytes]:
        """The messages it was handed, in order."""
        return [attempt.message_id for _, attempt in self.handed]

    @property
    def times(self) -> list[float]:
        """When it was handed each."""
        return [at for at, _ in self.handed]

    @property
    def lots(self) -> list[int]:
        """How many it was handed at a time."""
        return list(Counter(self.times).values())


def in_turn(*verdicts: Verdict) -> Callable[[Attempt], Verdict]:
    """Say these things to each message, one after the other, and the last for ever."""
    said: dict[bytes, int] = defaultdict(int)

    def answer(attempt: Attempt) -> Verdict:
        said[attempt.message_id] += 1
        return verdicts[min(said[attempt.message_id], len(verdicts)) - 1]

    return answer


def sms(*phones: str, **fields: Any) -> Sending:
    """Return an SMS to these phones."""
    receivers = [Receiver(phone) for phone in phones or (PHONE,)]
    return Sending(Product.SMS, "안녕하세요", receivers, sender=SENDER)._replace(**fields)


def alimtalk(profile_id: int, *phones: str, resend: str | None = "", **fields: Any) -> Sending:
    """Return an Alimtalk that falls back to a text: its own by default, none with None."""
    receivers = [Receiver(phone) for phone in phones or (PHONE,)]
    fallback = None if resend is None else Fallback(SENDER, resend or None)
    sending = Sending(Product.ALIMTALK, "주문하셨습니다", receivers, fallback=fallback, profile_id=profile_id)
    return sending._replace(**fields)


async def account(town: Town, name: str = "acme") -> int:
    """Return the id of an account, made if new."""
    return await town.store.write(accounts.ensure_account, name, town.world.now())


async def add_profile(town: Town, channel: str = "@shop") -> int:
    """Keep an approved profile of the first account and return its id."""
    owner = await account(town)

    def add(tx: Tx) -> int:
        now = town.world.now()
        added = profiles.add(tx, owner, channel, "00100010001", PHONE, now)
        profiles.approve(tx, added, f"{added:040x}", now)
        return added

    return await town.store.write(add)


async def send(town: Town, sending: Sending) -> bytes:
    """Accept a send of the first account and return its request's id."""
    return await accept(town.station, await account(town), sending)


async def of(town: Town, request_id: bytes) -> list[Message]:
    """Return every message of a request, fallbacks last."""
    return await town.store.read(_all_of, request_id)


async def only(town: Town, request_id: bytes) -> Message:
    """Return the one message of a request."""
    (message,) = await of(town, request_id)
    return message


async def ends(town: Town, request_id: bytes) -> list[tuple[Status, Outcome | None]]:
    """Return status and outcome of every message of a request."""
    return [(each.status, each.outcome) for each in await of(town, request_id)]


async def count(town: Town, table: str) -> int:
    """Return how many rows a table has."""
    return int((await town.store.read(_count, table))[0])


def counted(town: Town, name: str, **labels: str) -> float:
    """Return what a counter of the service says."""
    return town.station.watch.registry.get_sample_value(name, labels) or 0.0


def first(request_id: bytes, number: int = 1) -> bytes:
    """Return the id of a request's message."""
    return identity.message_id(request_id, number)


def doubt(message_id: bytes, receiver: str = PHONE) -> str:
    """Return the name by which a receipt finds a message in doubt."""
    return identity.name_in_doubt(identity.mark_of(message_id), receiver)


async def job(town: Town, message_id: bytes) -> tuple[str, int, int, int, int, int | None] | None:
    """Return carrier, lane, time, attempt, tries and claim of a message's job."""

    def look(tx: Tx) -> tuple[str, int, int, int, int, int | None] | None:
        sql = "select carrier, lane, ready_at, attempt, tries, claimed_at from jobs where id = ?"
        return tx.row(sql, (message_id,))

    return await town.store.read(look)


def later(at: Instant, seconds: float) -> Instant:
    """Return the instant so many seconds after another."""
    return at + round(seconds * SECOND)


def play_with(
    folder: Path,
    scene: Scene,
    carriers: Mapping[str, Post],
    routes: Mapping[str, list[str]],
    world: VirtualWorld | None = None,
    **settings: Any,
) -> None:
    """Play a scene in a town with carriers and routes of its own."""

    async def whole() -> None:
        usual = dataclasses.replace(settings_for(folder, **settings), routes=dict(routes))
        town = await build_town(folder, world=world, carriers=carriers, settings=usual)
        try:
            await scene(town)
        finally:
            await town.service.stop()

    in_virtual_time(whole())


def _all_of(tx: Tx, request_id: bytes) -> list[Message]:
    low, high = identity.bounds(request_id)
    sql = f"select {messages.COLUMNS} from messages m where id between ? and ? order by id"
    return [messages.read(row) for row in tx.rows(sql, (low, high))]


def _count(tx: Tx, table: str) -> tuple[int]:
    row = tx.row(f"select count(*) from {table}")
    assert row is not None
    return (row[0],)
