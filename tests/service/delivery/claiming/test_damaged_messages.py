"""One message that cannot be read, composed or matched ends alone; all others of its batch go on."""

import logging
from collections.abc import Callable

import pytest

from pabal.carriers.base import Accepted, Rejected, Verdict
from pabal.domain.sends.message import Attempt, Outcome, Status
from pabal.domain.sends.sending import Receiver
from pabal.store.engine.base import Tx
from tests.fixtures.service import PHONE, FakeCarrier, alimtalk, count_rows, message_id_of, sms
from tests.fixtures.virtual import Environment

DONE, FAILED, SENDING = Status.COMPLETED, Status.FAIL, Status.SENDING
DELIVERED, UNDELIVERABLE, NOT_A_USER = Outcome.DELIVERED, Outcome.UNDELIVERABLE, Outcome.NOT_A_USER
NAMED = [Receiver(PHONE, ("하나",)), Receiver(PHONE, ("둘",)), Receiver(PHONE, ("셋",))]


def deliver_texts_only(attempt: Attempt) -> Verdict:
    return Accepted(None) if attempt.product.is_text else Accepted(attempt.message_id.hex())


def change(sql: str, message_or_request: bytes) -> Callable[[Tx], int]:
    return lambda tx: tx.execute(sql, (message_or_request,))


@pytest.mark.parametrize("stored", ['["하나", "둘"]', "[]", "[", "7", "{}"])
@pytest.mark.carrier(answer=deliver_texts_only)
async def test_fallback_that_cannot_be_composed_ends_alone(
    env: Environment, carrier: FakeCarrier, stored: str, caplog: pytest.LogCaptureFixture
) -> None:
    talk = alimtalk(await env.add_profile(), content="#{name}님", variables=("name",), receivers=NAMED)
    request_id = await env.send(talk)
    await env.wait(1)
    sql = f"update messages set variables = '{stored}' where id = ?"
    await env.store.write(change(sql, message_id_of(request_id, 2)))
    await carrier.report(*((message_id_of(request_id, number).hex(), NOT_A_USER) for number in (1, 2, 3)))
    await env.wait(2)

    is_readable = stored.endswith("]")
    if is_readable:
        ends = [(DONE, DELIVERED), (FAILED, Outcome.NOT_SENDABLE_AS_TEXT), (DONE, DELIVERED)]
        assert await env.outcomes_of(request_id) == [(FAILED, NOT_A_USER)] * 3 + ends
        assert "fallback could not be composed" in caplog.text
    assert await count_rows(env, "jobs") == 0
    assert await count_rows(env, "messages") == (6 if is_readable else 5)
    assert [attempt.content for _, attempt in carrier.submitted if attempt.product.is_text] == [
        "하나님",
        "셋님",
    ]
    assert PHONE not in caplog.text
    caplog.set_level(logging.WARNING)


@pytest.mark.parametrize(
    "damage",
    [
        "update messages set variables = '[' where id = ?",
        "update messages set variables = '{}' where id = ?",
        'update messages set variables = \'["a", "b"]\' where id = ?',
        "update messages set variables = '[1]' where id = ?",
        "update messages set variables = null where id = ?",
        "update messages set product = 99 where id = ?",
        "delete from messages where id = ?",
    ],
)
@pytest.mark.carrier(answer=deliver_texts_only, is_connected=False)
async def test_message_that_cannot_be_read_ends_alone(
    env: Environment, carrier: FakeCarrier, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    request_id = await env.send(sms(content="#{name}님", variables=("name",), receivers=NAMED))
    await env.store.write(change(damage, message_id_of(request_id, 2)))
    carrier.is_connected = True
    await env.wait(5)

    assert [attempt.content for _, attempt in carrier.submitted] == ["하나님", "셋님"]
    assert await count_rows(env, "jobs") == 0
    assert message_id_of(request_id, 2).hex() in str([each.__dict__ for each in caplog.records])
    if "product" not in damage:
        kept = await env.outcomes_of(request_id) if "delete" in damage else None
        assert kept is None or kept == [(DONE, DELIVERED), (DONE, DELIVERED)]
    caplog.set_level(logging.WARNING)


@pytest.mark.parametrize(
    "damage",
    [
        "update requests set variables = '[' where id = ?",
        "update requests set buttons = '[' where id = ?",
        "update requests set buttons = '7' where id = ?",
        "update requests set product = 99 where id = ?",
        "delete from requests where id = ?",
    ],
)
@pytest.mark.carrier(answer=deliver_texts_only, is_connected=False)
async def test_messages_of_a_request_that_cannot_be_read_end_alone(
    env: Environment, carrier: FakeCarrier, damage: str
) -> None:
    broken = await env.send(sms(content="#{name}님", variables=("name",), receivers=NAMED))
    good = await env.send(sms())
    await env.store.write(change(damage, broken))
    carrier.is_connected = True
    await env.wait(5)

    assert await env.outcomes_of(good) == [(DONE, DELIVERED)]
    assert await env.outcomes_of(broken) == [(FAILED, UNDELIVERABLE)] * 3
    assert len(carrier.submitted) == 1
    assert await count_rows(env, "jobs") == 0


@pytest.mark.carrier(answer=deliver_texts_only)
async def test_failed_message_whose_request_cannot_be_read_ends_without_a_fallback(
    env: Environment, carrier: FakeCarrier
) -> None:
    profile = await env.add_profile()
    broken, good = await env.send(alimtalk(profile)), await env.send(alimtalk(profile))
    await env.wait(1)
    await env.store.write(change("update requests set buttons = '[' where id = ?", broken))
    await carrier.report(*((message_id_of(each).hex(), NOT_A_USER) for each in (broken, good)))
    await env.wait(2)

    assert await env.outcomes_of(broken) == [(FAILED, NOT_A_USER)]
    assert await env.outcomes_of(good) == [(FAILED, NOT_A_USER), (DONE, DELIVERED)]


@pytest.mark.parametrize("reference", ["a\0b", "\ud800", "x" * 5000, "a\nb", ""])
@pytest.mark.carrier(is_connected=False)
async def test_reference_that_cannot_be_stored_keeps_no_other_verdict_from_it(
    env: Environment, carrier: FakeCarrier, reference: str
) -> None:
    def answer(attempt: Attempt) -> Verdict:
        is_odd = attempt.content == "이상한"
        return Accepted(reference) if is_odd else Rejected(NOT_A_USER)

    carrier.answer = answer
    odd, other = await env.send(sms(content="이상한")), await env.send(sms())
    carrier.is_connected = True
    await env.wait(120)

    assert len(carrier.submitted) == 2  # neither is sent again
    assert await env.outcomes_of(other) == [(FAILED, NOT_A_USER)]
    assert await env.outcomes_of(odd) == [(SENDING, None)]


@pytest.mark.parametrize("reference", ["a\0b", "\ud800", "x" * 5000, ""])
async def test_receipt_that_cannot_be_stored_keeps_no_other_receipt_from_it(
    env: Environment, carrier: FakeCarrier, reference: str
) -> None:
    request_id = await env.send(sms())
    await env.wait(1)
    await carrier.report((reference, DELIVERED), (message_id_of(request_id).hex(), DELIVERED))

    assert await env.outcomes_of(request_id) == [(DONE, DELIVERED)]
