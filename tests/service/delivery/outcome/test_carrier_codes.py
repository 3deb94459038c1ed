"""With a message is stored which carrier decided about it, that carrier's own code, and when it was submitted."""

from collections.abc import Sequence
from typing import Any

import pytest

from pabal.carriers.base import Accepted, Busy, Declined, NotSent, Receipt, Rejected, Unknown, Verdict
from pabal.domain.sends.message import MAX_CODE_CHARACTERS, Outcome, tidy_code
from pabal.service.delivery.receipts import store_receipts
from pabal.store.engine.base import Tx
from tests.fixtures.delivery import reference_of
from tests.fixtures.service import DEFAULT_CARRIER, FakeCarrier, Start, answer_in_order, sms
from tests.fixtures.virtual import NOON, Environment

CARRIER = DEFAULT_CARRIER


async def delivery_of(env: Environment) -> list[Any]:
    """Return carrier, code and whole seconds until the submit of every message, in order."""

    def read(tx: Tx) -> list[Any]:
        return tx.fetch_all(
            "select carrier, carrier_code, (submitted_at - ? + 500) / 1000 from messages order by id", (NOON,)
        )

    return await env.store.read(read)


async def attempts_of(env: Environment) -> list[Any]:
    def read(tx: Tx) -> list[Any]:
        return tx.fetch_all("select number, verdict, code from attempts order by number")

    return await env.store.read(read)


@pytest.mark.parametrize(
    ("verdicts", "stored", "attempts"),
    [
        ([Rejected(Outcome.SPAM, "X1")], (CARRIER, "X1", 0), [(1, "rejected", "X1")]),
        ([Declined(Outcome.SPAM, "X2")], (CARRIER, "X2", 0), [(1, "declined", "X2")]),
        ([Rejected(Outcome.SPAM)], (CARRIER, None, 0), [(1, "rejected", None)]),
        ([Accepted(None, code="OK")], (CARRIER, "OK", 0), []),
        ([Accepted(None)], (CARRIER, None, 0), []),
        ([Busy("B"), Accepted(None, code="OK")], (CARRIER, "OK", 1), [(1, "busy", "B")]),
        ([NotSent(), Accepted(None, code="OK")], (CARRIER, "OK", 1), []),
        ([Rejected(Outcome.SPAM, " a\0\nb\u2028" + "c" * 100)], (CARRIER, "ab" + "c" * 38, 0), None),
    ],
)
async def test_verdict_that_ends_a_message_is_stored_with_its_code(
    start: Start, verdicts: Sequence[Verdict], stored: Any, attempts: Any
) -> None:
    carrier = FakeCarrier(answer=answer_in_order(*verdicts))
    env = await start(carriers={CARRIER: carrier})
    await env.send(sms())
    await env.wait(5)

    assert await delivery_of(env) == [stored]
    if attempts is not None:
        assert await attempts_of(env) == attempts


@pytest.mark.parametrize("is_early", [False, True])
async def test_receipt_is_stored_with_its_code_whichever_comes_first(start: Start, is_early: bool) -> None:
    carrier = FakeCarrier(delay_s=3 if is_early else 0)
    env = await start(carriers={CARRIER: carrier})
    request_id = await env.send(sms())
    await env.wait(1)
    first = Receipt(reference_of(request_id), Outcome.PHONE_OFF, code="OFF 7")
    await store_receipts(env.context, CARRIER, [first, Receipt(first.reference, Outcome.SPAM, code="LATER")])
    await env.wait(5)

    assert await delivery_of(env) == [(CARRIER, "OFF 7", 0)]


async def test_part_that_failed_gives_a_long_message_its_code(start: Start) -> None:
    carrier = FakeCarrier(answer=lambda attempt: Accepted("a", ("b",)))
    env = await start(carriers={CARRIER: carrier})
    await env.send(sms())
    await env.wait(1)
    await store_receipts(env.context, CARRIER, [Receipt("a", Outcome.DELIVERED, code="GOOD")])
    await store_receipts(env.context, CARRIER, [Receipt("b", Outcome.SPAM, code="BAD")])

    assert await delivery_of(env) == [(CARRIER, "BAD", 0)]


async def test_message_that_no_carrier_took_has_none(start: Start) -> None:
    carrier = FakeCarrier()
    carrier.is_connected = False
    env = await start(carriers={CARRIER: carrier})
    await env.send(sms(expire_minutes=1))
    await env.wait(120)

    ((decided_by, code, _),) = await delivery_of(env)
    assert (decided_by, code) == (None, None)


async def test_message_in_doubt_at_its_end_names_the_carrier_that_may_have_it(start: Start) -> None:
    carrier = FakeCarrier(answer=lambda attempt: Unknown())
    env = await start(carriers={CARRIER: carrier}, sms_timeout_hours=1)
    await env.send(sms())
    await env.wait(100)
    await env.jump(3600)

    ((decided_by, code, _),) = await delivery_of(env)
    assert (decided_by, code) == (CARRIER, None)


@pytest.mark.parametrize(
    ("given", "stored"),
    [(None, None), ("", None), (" \n", None), ("-4019", "-4019"), ("x" * 99, "x" * MAX_CODE_CHARACTERS)],
)
def test_codes_are_stored_without_what_cannot_be_shown(given: str | None, stored: str | None) -> None:
    assert tidy_code(given) == stored
