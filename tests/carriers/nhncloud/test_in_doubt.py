"""Messages in doubt of other processes: the relay's lists get time to show what was just sent."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from pabal.carriers.base import Accepted, Receipt, Rejected, Unknown, Verdict
from pabal.carriers.nhncloud.carrier import NhnCloudCarrier
from pabal.carriers.nhncloud.lookup import LIST_LAG_S
from pabal.domain.base import identifiers
from pabal.domain.base.dates import SECOND
from pabal.domain.sends.message import Attempt, Outcome, Product
from pabal.domain.sends.route import MAX_DELAY_MS
from pabal.store.engine.migrate import migrate
from tests.fixtures.nhncloud import SENDER_KEY, NhnCloud
from tests.fixtures.relay_delivery import SENDER
from tests.fixtures.verdicts import submit
from tests.fixtures.virtual import VirtualWorld, open_store

LONG_AGO_S = 60.0
GATEWAY_S = 60.0
"""How long a call may run: API-Gateway ko/error-code.md, "게이트웨이 최대 응답 시간 초과"."""


async def keep(receipts: Sequence[Receipt]) -> None:
    """Ignore receipts."""


@asynccontextmanager
async def running(fixture: NhnCloud, folder: Path) -> AsyncIterator[NhnCloudCarrier]:
    """Run a carrier, as one of several processes does."""
    world = VirtualWorld()
    store = open_store(folder, world)
    await store.write(migrate, world.now())
    carrier = fixture.carrier(store, world)
    task = asyncio.create_task(carrier.run(keep))
    await asyncio.sleep(1)
    assert carrier.is_connected
    try:
        yield carrier
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await store.close()


@pytest.fixture
def carrier(fixture: NhnCloud, tmp_path: Path) -> AbstractAsyncContextManager[NhnCloudCarrier]:
    """A running carrier."""
    return running(fixture, tmp_path)


def message(product: Product, number: int = 1, request: int = 7) -> Attempt:
    """Return a message of a request made just now."""
    request_id = identifiers.make_request_id(VirtualWorld().now(), 0, request)
    message_id = identifiers.make_message_id(request_id, number)
    content = "배송이 시작되었습니다. 길동님" if product is Product.ALIMTALK else "안녕하세요"
    one = Attempt(message_id, 1, 1, product, f"0102000{number:04}", SENDER, None, content)
    return one._replace(sender_key=SENDER_KEY, template_code="T1") if product is Product.ALIMTALK else one


async def word(carrier: NhnCloudCarrier, attempt: Attempt) -> Verdict:
    (verdict,) = await submit(carrier, [attempt])
    return verdict


@pytest.mark.settings(behavior={"lists_lag_s": 10, "receipt_after_s": 3000})
@pytest.mark.parametrize("product", [Product.SMS, Product.ALIMTALK])
async def test_message_just_submitted_by_another_process_is_not_resubmitted(
    tmp_path: Path, fixture: NhnCloud, carrier: NhnCloudCarrier, product: Product
) -> None:
    async with running(fixture, tmp_path) as there:
        await asyncio.sleep(LONG_AGO_S)
        one = message(product)
        taken = await word(there, one)
        again = one._replace(number=2, tries=1, is_in_doubt=True)

        assert await word(carrier, again) == Unknown()
        await asyncio.sleep(GATEWAY_S + LIST_LAG_S + 1)
        assert await word(carrier, again._replace(number=3)) == taken
        assert (len(fixture.accepted), fixture.relay.duplicates()) == (1, {})


@pytest.mark.parametrize("product", [Product.SMS, Product.ALIMTALK])
@pytest.mark.parametrize("pause_s", [GATEWAY_S + LIST_LAG_S + 1, MAX_DELAY_MS / SECOND])
async def test_message_missing_in_the_lists_is_submitted_after_the_lag(
    fixture: NhnCloud, carrier: NhnCloudCarrier, product: Product, pause_s: float
) -> None:
    """This holds for any pause between lookups, and with other messages in doubt meanwhile."""
    await asyncio.sleep(LONG_AGO_S)
    one = message(product)._replace(number=2, tries=1, is_in_doubt=True)
    assert await word(carrier, one) == Unknown()
    await asyncio.sleep(pause_s)
    fixture.relay.inject_fault("lose request", "POST")
    assert await word(carrier, message(Product.SMS, 2)) == Unknown()

    assert isinstance(await word(carrier, one._replace(number=3)), Accepted)
    assert [each.recipient_no for each in fixture.accepted] == [one.receiver]


@pytest.mark.settings(behavior={"receipt_after_s": 3000})
async def test_lag_is_measured_when_each_list_was_read(fixture: NhnCloud, carrier: NhnCloudCarrier) -> None:
    await asyncio.sleep(60)
    many = [message(Product.SMS, request=number) for number in range(1, 60)]
    fixture.relay.inject_fault("slow to accept", "POST", seconds=75)
    await submit(carrier, many)
    await asyncio.sleep(61)
    fixture.relay.inject_fault("slow", "GET /sms/v3.0/appKeys/smsAppKey0123456/sender/sms", times=1e9, seconds=8.5)
    await submit(carrier, [each._replace(number=2, tries=1, is_in_doubt=True) for each in many])
    await asyncio.sleep(30)

    assert (len(fixture.accepted), fixture.relay.duplicates()) == (59, {})


@pytest.mark.settings(behavior={"receipt_after_s": 3000})
@pytest.mark.parametrize("product", [Product.SMS, Product.ALIMTALK])
async def test_nothing_is_asked_while_a_call_may_still_run(
    fixture: NhnCloud, carrier: NhnCloudCarrier, product: Product
) -> None:
    """The gateway lets a call run for 60 s: until then a list that lacks a message says nothing."""
    one = message(product)
    fixture.relay.inject_fault("slow to accept", "POST", times=2, seconds=GATEWAY_S - 1)
    lost = await word(carrier, one)
    assert isinstance(lost, Unknown)
    assert lost.retry_after_s is not None
    fixture.relay.calls.clear()
    again = one._replace(number=2, tries=1, is_in_doubt=True)
    await asyncio.sleep(lost.retry_after_s - 1)
    assert await word(carrier, again) == Unknown()
    assert _lookups(fixture) == 0
    await asyncio.sleep(1)

    assert isinstance(await word(carrier, again), Accepted)
    assert (len(fixture.accepted), fixture.relay.duplicates()) == (1, {})


def _lookups(fixture: NhnCloud) -> int:
    """Return how many lists of messages were read."""
    lists = ("/sender/sms", "/messages")
    return sum(each.method == "GET" and each.path.endswith(lists) for each in fixture.relay.calls)


@pytest.mark.parametrize("product", [Product.SMS, Product.ALIMTALK])
async def test_message_missing_in_the_lists_is_not_submitted_after_its_deadline(
    fixture: NhnCloud, carrier: NhnCloudCarrier, product: Product
) -> None:
    lost = message(product)._replace(tries=1, is_in_doubt=True, expires_at=VirtualWorld().now() + 90 * SECOND)
    await word(carrier, lost)
    await asyncio.sleep(100)

    assert await word(carrier, lost._replace(number=2)) == Rejected(Outcome.EXPIRED)
    assert fixture.accepted == []
