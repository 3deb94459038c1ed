"""A running carrier with a scripted peer, for the conformance suite."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from pabal.carriers.base import Accepted, Carrier, Receipt, Unknown, Verdict
from pabal.domain.brand.message import BrandMessage, BrandType
from pabal.domain.sends.message import Attempt, Product
from tests.carriers.conformance import SENDER_KEY, TEMPLATE_CODE, Adapter
from tests.fixtures.smpp import POLL_INTERVAL_S, wait_until
from tests.fixtures.verdicts import submit
from tests.fixtures.virtual import VirtualWorld

WINDOW = 20
REPORT_TIMEOUT_S = 2.0
LONG = "동해물과 백두산이 마르고 닳도록 하느님이 보우하사 우리나라 만세. " * 20


class StoreFailed(Exception):
    """Storing receipts failed."""


class CarrierHarness:
    """A carrier with its peer, and a store of its receipts."""

    def __init__(self, adapter: Adapter, *, window: int = WINDOW, rate: int = 0) -> None:
        self.adapter = adapter
        self.carrier: Carrier = adapter.build(VirtualWorld(), window=window, rate=rate)
        self.stored: list[Receipt] = []
        self.offered = 0
        self.may_store = asyncio.Event()
        self.may_store.set()
        self.fails_to_store = False
        self.running: asyncio.Task[None] | None = None

    async def on_receipts(self, receipts: Sequence[Receipt]) -> None:
        self.offered += len(receipts)
        await self.may_store.wait()
        if self.fails_to_store:
            raise StoreFailed
        self.stored += receipts

    def start(self) -> None:
        self.running = asyncio.create_task(self.carrier.run(self.on_receipts))

    async def stop(self) -> None:
        assert self.running is not None
        self.running.cancel()
        await asyncio.wait([self.running])

    async def send(self, *attempts: Attempt) -> list[Verdict]:
        """Submit a batch as the deliverer does: after a timeout the verdicts are Unknown."""
        began = asyncio.get_running_loop().time()
        try:
            async with asyncio.timeout(self.carrier.timeout_s):
                verdicts = list(await submit(self.carrier, attempts))
        except TimeoutError:
            verdicts = [Unknown() for _ in attempts]
        assert asyncio.get_running_loop().time() - began <= self.carrier.timeout_s
        return verdicts


Scenario = Callable[[CarrierHarness], Awaitable[None]]


@contextlib.asynccontextmanager
async def running_harness(
    adapter: Adapter, *, window: int = WINDOW, rate: int = 0
) -> AsyncIterator[CarrierHarness]:
    """Run a carrier until the end of the block; it must leave nothing behind."""
    loop_errors: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: loop_errors.append(context))
    before = asyncio.all_tasks()
    harness = CarrierHarness(adapter, window=window, rate=rate)
    harness.start()
    await wait_until(lambda: harness.carrier.is_connected)
    yield harness
    await harness.stop()
    await asyncio.sleep(POLL_INTERVAL_S)
    assert asyncio.all_tasks() == before
    assert adapter.connections == 0
    assert loop_errors == []


def attempt(
    number: int = 1, receiver: str = "", content: str = "안녕하세요", product: Product = Product.SMS
) -> Attempt:
    sender = "0212345678" if product.is_text else "@shop"
    receiver = receiver or f"0102{number:07}"
    message_id = number.to_bytes(16, "big")
    if product.is_text:
        return Attempt(message_id, 1, 1, product, receiver, sender, None, content)
    one = Attempt(message_id, 1, 1, product, receiver, sender, None, content, sender_key=SENDER_KEY)
    if product is Product.ALIMTALK:
        return one._replace(template_code=TEMPLATE_CODE)
    if product is Product.BRAND_MESSAGE:
        return one._replace(brand=BrandMessage(BrandType.TEXT))
    has_image = product in (Product.FRIENDTALK_IMAGE, Product.FRIENDTALK_WIDE_IMAGE)
    return one._replace(image_request_id=message_id[:13]) if has_image else one


def attempts(count: int) -> list[Attempt]:
    return [attempt(number) for number in range(1, count + 1)]


def references(verdicts: Sequence[Verdict]) -> set[str | None]:
    return {
        one for each in verdicts if isinstance(each, Accepted) for one in (each.reference, *each.other_references)
    }
