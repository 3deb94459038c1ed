"""How messages end, and the fallback text of a failed Alimtalk or friend talk."""

import asyncio
from typing import Any

import pytest

from pabal.carriers.base import Accepted, Busy, Rejected, Verdict
from pabal.domain.base.dates import HOUR, MINUTE, SECOND
from pabal.domain.sends.message import Attempt, Outcome, Product, Status
from pabal.domain.sends.sending import Fallback, Receiver
from pabal.service.delivery.outcome.finish import finish
from pabal.service.relay.profiles import delete
from pabal.service.sending import compose
from pabal.store.messages import requests
from tests.fixtures.delivery import accept_without_receipt, at
from tests.fixtures.service import (
    DEFAULT_CARRIER,
    PHONE,
    SENDER,
    FakeCarrier,
    Start,
    account_id_of,
    alimtalk,
    count_rows,
    message_id_of,
    sms,
)
from tests.fixtures.virtual import Environment, VirtualWorld

DONE, FAILED, WAITING = Status.COMPLETED, Status.FAIL, Status.WAITING
GOOD = Outcome.DELIVERED


def reject_talk(attempt: Attempt) -> Verdict:
    """Reject what is not a text, and accept texts without a receipt."""
    return Accepted(None) if attempt.product.is_text else Rejected(Outcome.NOT_A_USER)


def accept_talk(attempt: Attempt) -> Verdict:
    """Accept what is not a text with a reference, and texts without a receipt."""
    return Accepted(None) if attempt.product.is_text else Accepted(attempt.message_id.hex())


def submitted_texts(carrier: FakeCarrier) -> list[Attempt]:
    """Return the attempts to send a text."""
    return [attempt for _, attempt in carrier.submitted if attempt.product.is_text]


@pytest.mark.carrier(answer=reject_talk)
async def test_rejected_message_gets_a_text_as_fallback(env: Environment, carrier: FakeCarrier) -> None:
    request_id = await env.send(alimtalk(await env.add_profile()))
    await env.wait(1)

    origin, fallback = await env.messages_of(request_id)
    assert (origin.status, origin.outcome) == (FAILED, Outcome.NOT_A_USER)
    assert (fallback.status, fallback.outcome, fallback.product) == (DONE, GOOD, Product.SMS)
    assert fallback.receiver == origin.receiver
    request = (await env.store.read(requests.get, [request_id]))[request_id]
    assert compose.origin_of(fallback, request) == origin.id
    assert compose.origin_of(origin, request) is None
    (text,) = submitted_texts(carrier)
    assert (text.sender, text.receiver, text.content) == (SENDER, PHONE, "주문하셨습니다")
    assert (text.subject, text.buttons, text.image_request_id) == (None, (), None)


@pytest.mark.parametrize("outcome", [Outcome.NOT_A_USER, Outcome.BLOCKED_BY_USER, Outcome.UNDELIVERABLE])
@pytest.mark.carrier(answer=accept_talk)
async def test_message_with_a_failure_receipt_gets_a_fallback(
    env: Environment, carrier: FakeCarrier, outcome: Outcome
) -> None:
    request_id = await env.send(alimtalk(await env.add_profile()))
    await env.wait(1)
    await carrier.report((message_id_of(request_id).hex(), outcome))
    await env.wait(1)

    assert await env.outcomes_of(request_id) == [(FAILED, outcome), (DONE, GOOD)]


@pytest.mark.carrier(answer=lambda attempt: Accepted(None) if attempt.product.is_text else Busy())
async def test_message_without_tries_left_gets_a_fallback(env: Environment) -> None:
    request_id = await env.send(alimtalk(await env.add_profile()))
    await env.wait(1200)

    assert await env.outcomes_of(request_id) == [(FAILED, Outcome.CARRIER_ERROR), (DONE, GOOD)]


@pytest.mark.carrier(answer=lambda attempt: Rejected(Outcome.SPAM) if attempt.content == "스팸" else Accepted(None))
async def test_no_fallback_for_delivered_messages_texts_or_requests_without_one(env: Environment) -> None:
    profile = await env.add_profile()
    delivered = await env.send(alimtalk(profile))
    without_fallback = await env.send(alimtalk(profile, fallback_text=None, content="스팸"))
    plain_text = await env.send(sms(content="스팸"))
    await env.wait(60)

    assert await env.outcomes_of(delivered) == [(DONE, GOOD)]
    assert await env.outcomes_of(without_fallback) == [(FAILED, Outcome.SPAM)]
    assert await env.outcomes_of(plain_text) == [(FAILED, Outcome.SPAM)]


@pytest.mark.carrier(answer=accept_talk)
async def test_repeated_receipts_make_only_one_fallback(env: Environment, carrier: FakeCarrier) -> None:
    request_id = await env.send(alimtalk(await env.add_profile(), PHONE, "01099998888"))
    await env.wait(1)
    receipts = [(message_id.hex(), Outcome.NOT_A_USER) for message_id in carrier.ids]

    await asyncio.gather(*(carrier.report(*receipts) for _ in range(3)), carrier.report(*receipts, *receipts))
    await env.store.write(finish, [(message_id_of(request_id), Outcome.SPAM)], env.context.policy, env.world.now())
    await env.wait(10)
    await carrier.report(*receipts)
    await env.wait(10)

    assert await env.outcomes_of(request_id) == [(FAILED, Outcome.NOT_A_USER)] * 2 + [(DONE, GOOD)] * 2
    assert len(submitted_texts(carrier)) == 2
    assert env.metric_value("pabal_messages_ended_total", product="alimTalk", code="3019") == 2
    assert env.metric_value("pabal_messages_ended_total", product="sms", code="1000") == 2
    assert await count_rows(env, "jobs") == 0


@pytest.mark.carrier(answer=accept_talk)
async def test_no_fallback_when_the_profile_was_deleted_meanwhile(env: Environment, carrier: FakeCarrier) -> None:
    profile = await env.add_profile()
    request_id = await env.send(alimtalk(profile))
    await env.wait(1)
    await delete(env.context, await account_id_of(env), f"{profile:040x}", None)

    await carrier.report((message_id_of(request_id).hex(), Outcome.NOT_A_USER))
    await env.wait(10)

    assert await env.outcomes_of(request_id) == [(FAILED, Outcome.NOT_A_USER)]


@pytest.mark.carrier(answer=lambda attempt: Rejected(Outcome.NUMBER_NOT_ASSIGNED))
async def test_failed_fallback_gets_no_fallback(env: Environment) -> None:
    request_id = await env.send(alimtalk(await env.add_profile()))
    await env.wait(60)

    assert await env.outcomes_of(request_id) == [(FAILED, Outcome.NUMBER_NOT_ASSIGNED)] * 2


@pytest.mark.parametrize(
    ("fallback", "expected"),
    [(Fallback(SENDER, None), "따로 쓴 글"), (Fallback(SENDER, "대신하는 글"), "대신하는 글")],
)
@pytest.mark.carrier(answer=reject_talk)
async def test_fallback_has_the_receivers_own_text_unless_it_has_one_itself(
    env: Environment, carrier: FakeCarrier, fallback: Fallback, expected: str
) -> None:
    receivers = [Receiver(PHONE, (), "따로 쓴 글")]
    await env.send(alimtalk(await env.add_profile(), receivers=receivers, fallback=fallback))
    await env.wait(1)

    assert [text.content for text in submitted_texts(carrier)] == [expected]


@pytest.mark.carrier(answer=reject_talk)
@pytest.mark.settings(unsupported_characters="replace")
async def test_unsupported_characters_are_replaced_in_fallbacks_too(env: Environment, carrier: FakeCarrier) -> None:
    await env.send(alimtalk(await env.add_profile(), fallback_text="안녕 🙂"))
    await env.wait(1)

    assert [text.content for text in submitted_texts(carrier)] == ["안녕 ?"]


async def test_fallback_without_a_route_is_recorded_as_undeliverable(start: Start) -> None:
    carrier = FakeCarrier("talk", reject_talk)
    env = await start(carrier, routes={"alimTalk": ["talk"]})
    request_id = await env.send(alimtalk(await env.add_profile()))
    await env.wait(60)

    assert await env.outcomes_of(request_id) == [
        (FAILED, Outcome.NOT_A_USER),
        (FAILED, Outcome.UNDELIVERABLE),
    ]
    assert await count_rows(env, "jobs") == 0


async def test_fallback_goes_at_once_to_the_carrier_of_its_own_product(start: Start) -> None:
    talk_carrier, text_carrier = FakeCarrier("talk", reject_talk), FakeCarrier("text", accept_without_receipt)
    env = await start(talk_carrier, text_carrier, routes={"alimTalk": ["talk"], "sms": ["text"]})
    request_id = await env.send(alimtalk(await env.add_profile()))
    await env.wait(0.1)

    assert await env.outcomes_of(request_id) == [(FAILED, Outcome.NOT_A_USER), (DONE, GOOD)]
    assert len(text_carrier.submitted) == 1


@pytest.mark.parametrize(("waited_s", "fallbacks"), [(3600, 1), (3601, 0)])
@pytest.mark.carrier(answer=accept_talk)
async def test_fallback_is_sent_only_within_an_hour_of_the_scheduled_time(
    env: Environment, carrier: FakeCarrier, waited_s: int, fallbacks: int
) -> None:
    due_at = env.world.now() + 60 * SECOND
    request_id = await env.send(alimtalk(await env.add_profile(), scheduled_at=due_at))
    await env.wait(61)  # on Citus, it is found up to 0.2 s after it is due
    env.world.move_clock(waited_s - 1)

    await carrier.report((message_id_of(request_id).hex(), Outcome.NOT_A_USER))

    assert len(await env.messages_of(request_id)) == 1 + fallbacks


async def test_fallback_of_an_advertisement_waits_for_the_morning(start: Start) -> None:
    evening = at(20, 49)
    eight = evening + 11 * HOUR + 11 * MINUTE
    carrier = FakeCarrier(answer=accept_talk)
    world, number = VirtualWorld(0, evening), "0801234567"
    env = await start(carrier, world=world, opt_out_number=number)
    profile = await env.add_profile()
    ads = await env.send(alimtalk(profile, product=Product.FRIENDTALK_TEXT, is_ad=True))
    notice = await env.send(alimtalk(profile))
    await env.wait(70)
    await carrier.report(*((message_id.hex(), Outcome.NOT_A_USER) for message_id in carrier.ids))
    await env.wait(60)

    assert await env.outcomes_of(notice) == [(FAILED, Outcome.NOT_A_USER), (DONE, GOOD)]
    assert await env.outcomes_of(ads) == [(FAILED, Outcome.NOT_A_USER), (WAITING, None)]
    carriers = {DEFAULT_CARRIER: FakeCarrier(answer=accept_talk)}

    env = await start(carriers=carriers, world=VirtualWorld(1, eight - MINUTE))
    await env.wait(59.9)
    assert await env.outcomes_of(ads) == [(FAILED, Outcome.NOT_A_USER), (WAITING, None)]

    await env.wait(1)

    assert await env.outcomes_of(ads) == [(FAILED, Outcome.NOT_A_USER), (DONE, GOOD)]


@pytest.mark.carrier(answer=accept_talk, window=1000)
async def test_fallbacks_of_a_campaign_use_the_campaign_lane(env: Environment, carrier: FakeCarrier) -> None:
    profile = await env.add_profile()
    small = await env.send(alimtalk(profile, *[PHONE] * 10))
    campaign = await env.send(alimtalk(profile, *[PHONE] * 11))
    await env.wait(1)
    carrier.is_connected = False
    await env.wait(31)
    await carrier.report(*((message_id.hex(), Outcome.NOT_A_USER) for message_id in carrier.ids))

    def lanes(tx: Any) -> dict[bytes, int]:
        return dict(tx.fetch_all("select substr(id, 1, 13), lane from jobs group by 1, 2"))

    assert await env.store.read(lanes) == {small: 0, campaign: 1}
