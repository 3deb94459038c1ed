"""What scenes with an SMPP carrier share: the carrier at work before a scripted far end."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from pabal.carrier_settings import SmppSettings
from pabal.carriers.base import HandOn, Receipt, Verdict
from pabal.carriers.smpp.carrier import SmppCarrier
from pabal.domain.message import Attempt, Product
from tests.carriers.smpp.far_end import Smsc
from tests.virtual import VirtualWorld

PHONE, SENDER = "01012345678", "0212345678"
PASSWORD = "hush-!42"
TEXT = "안녕하세요"
LONG = "동해물과 백두산이 마르고 닳도록 하느님이 보우하사 우리나라 만세. " * 6
"""Too long for one short message: four parts in UCS-2."""
PARTS = 4
SOON_S = 0.01


def attempt(number: int = 1, content: str = TEXT, receiver: str = PHONE, **fields: Any) -> Attempt:
    """Return a text in our hands."""
    message = Attempt(number.to_bytes(16, "big"), 1, 1, Product.SMS, receiver, SENDER, None, content)
    return message._replace(**fields)


def attempts(count: int) -> list[Attempt]:
    """Return so many texts, each with an id and a receiver of its own."""
    return [attempt(number, receiver=f"010{number:08}") for number in range(1, count + 1)]


def now() -> float:
    """Return the time on the loop's clock."""
    return asyncio.get_running_loop().time()


def kinds(verdicts: Sequence[Verdict]) -> list[type]:
    """Return which verdicts they are."""
    return [type(verdict) for verdict in verdicts]


def said(verdicts: Sequence[Verdict]) -> list[str]:
    """Return verdicts by name and content: as the tuples they are, busy equals away."""
    return list(map(repr, verdicts))


def smpp_settings(**settings: Any) -> SmppSettings:
    """Return the settings of a carrier that could be anywhere."""
    given = {"name": "telco", "host": "smsc.example", "system_id": "pabal", "password": PASSWORD}
    return SmppSettings(**given | settings)


class Office:
    """A carrier at work; what it hands on, and what it noted, is kept."""

    def __init__(self, smsc: Smsc, hand_on: HandOn | None = None, **settings: Any) -> None:
        self.smsc = smsc
        self.world = VirtualWorld()
        self.noted: Counter[str] = Counter()
        self.received: list[Receipt] = []
        self.faults: list[dict[str, Any]] = []
        """What went wrong where nobody would have seen it."""
        self.carrier = SmppCarrier(smpp_settings(**settings), self.world, self._note, smsc.dial)
        self.running: asyncio.Task[None] | None = None
        self._hand_on = hand_on or self.keep

    def open(self) -> None:
        """Begin to hold the session."""
        self.running = asyncio.create_task(self.carrier.run(self._hand_on))

    async def close(self) -> None:
        """End it as the service does."""
        assert self.running is not None
        self.running.cancel()
        await asyncio.wait([self.running])

    async def keep(self, receipts: Sequence[Receipt]) -> None:
        """Keep receipts."""
        self.received += receipts

    def _note(self, what: str) -> None:
        self.noted[what] += 1


async def until(is_so: Callable[[], object], within_s: float = 120.0) -> None:
    """Return when it is so; time passes meanwhile."""
    for _ in range(round(within_s / SOON_S)):
        if is_so():
            return
        await asyncio.sleep(SOON_S)
    raise AssertionError("it never came to be so")


@contextlib.asynccontextmanager
async def office(smsc: Smsc, *, is_up: bool = True, **options: Any) -> AsyncIterator[Office]:
    """Run a carrier until the end of the block; it must leave no task and no unseen fault behind."""
    others = asyncio.all_tasks()
    here = Office(smsc, **options)
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: here.faults.append(context))
    here.open()
    try:
        if is_up:
            await until(lambda: here.carrier.is_connected)
        yield here
    finally:
        await here.close()
        loop.set_exception_handler(None)
    assert asyncio.all_tasks() == others
    assert here.faults == []
