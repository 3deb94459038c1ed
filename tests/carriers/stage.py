"""A carrier that runs before a scripted peer, for the conformance suite."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from pabal.carriers.base import Accepted, Carrier, Receipt, Unknown, Verdict
from pabal.domain.message import Attempt, Product
from tests.carriers.conformance import SENDER_KEY, TEMPLATE_CODE, Adapter
from tests.fixtures.verdicts import submit
from tests.fixtures.virtual import VirtualWorld

WINDOW = 20
SOON_S = 0.01
RECOVERS_WITHIN_S = 30.0
REPORTS_WITHIN_S = 2.0
LONG = "동해물과 백두산이 마르고 닳도록 하느님이 보우하사 우리나라 만세. " * 20


class Refuser(Exception):
    """Who does not keep a receipt says this."""


class Stage:
    """A carrier at work before its peer, and someone who keeps its receipts."""

    def __init__(self, adapter: Adapter, *, window: int = WINDOW, rate: int = 0) -> None:
        self.adapter = adapter
        self.carrier: Carrier = adapter.build(VirtualWorld(), window=window, rate=rate)
        self.kept: list[Receipt] = []
        self.asked = 0
        self.may_keep = asyncio.Event()
        self.may_keep.set()
        self.refuses = False
        self.running: asyncio.Task[None] | None = None

    async def hand_on(self, receipts: Sequence[Receipt]) -> None:
        self.asked += len(receipts)
        await self.may_keep.wait()
        if self.refuses:
            raise Refuser
        self.kept += receipts

    def begin(self) -> None:
        self.running = asyncio.create_task(self.carrier.run(self.hand_on))

    async def end(self) -> None:
        assert self.running is not None
        self.running.cancel()
        await asyncio.wait([self.running])

    async def send(self, *attempts: Attempt) -> list[Verdict]:
        """Hand a batch over as the deliverer does: who takes too long to answer has said that nobody knows."""
        began = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(self.carrier.timeout_s):
                verdicts = list(await submit(self.carrier, attempts))
        except TimeoutError:
            verdicts = [Unknown() for _ in attempts]
        assert asyncio.get_running_loop().time() - began <= self.carrier.timeout_s
        return verdicts


Scenario = Callable[[Stage], Awaitable[None]]


@contextlib.asynccontextmanager
async def at_work(adapter: Adapter, *, window: int = WINDOW, rate: int = 0) -> AsyncIterator[Stage]:
    """Run a carrier until the end of the block; nothing of it may be left then."""
    faults: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context))
    before = asyncio.all_tasks()
    stage = Stage(adapter, window=window, rate=rate)
    stage.begin()
    await until(lambda: stage.carrier.is_connected)
    yield stage
    await stage.end()
    await asyncio.sleep(SOON_S)
    assert asyncio.all_tasks() == before
    assert adapter.connections == 0
    assert faults == []


async def until(is_so: Callable[[], object], within_s: float = RECOVERS_WITHIN_S) -> None:
    """Return when it is so."""
    for _ in range(round(within_s / SOON_S)):
        if is_so():
            return
        await asyncio.sleep(SOON_S)
    raise AssertionError("it never came to be so")


def text(
    number: int = 1, receiver: str = "", content: str = "안녕하세요", product: Product = Product.SMS
) -> Attempt:
    sender = "0212345678" if product.is_text else "@shop"
    receiver = receiver or f"0102{number:07}"
    message_id = number.to_bytes(16, "big")
    if product.is_text:
        return Attempt(message_id, 1, 1, product, receiver, sender, None, content)
    code = TEMPLATE_CODE if product is Product.ALIMTALK else None
    return Attempt(
        message_id, 1, 1, product, receiver, sender, None, content, sender_key=SENDER_KEY, template_code=code
    )


def texts(count: int) -> list[Attempt]:
    return [text(number) for number in range(1, count + 1)]


def kinds(verdicts: Sequence[Verdict]) -> list[type]:
    return [type(verdict) for verdict in verdicts]


def references(verdicts: Sequence[Verdict]) -> set[str | None]:
    """Return all references that a batch was taken under."""
    return {
        one for each in verdicts if isinstance(each, Accepted) for one in (each.reference, *each.other_references)
    }
