"""A scheduled request is replaced by another in one transaction: neither both nor none of them go out."""

import hashlib
from contextlib import nullcontext

import pytest

from pabal.domain.base.codes import Code, Refused
from pabal.domain.sends.message import Status
from pabal.domain.sends.sending import Sending
from pabal.service.sending.accept import IdempotencyKey
from pabal.service.sending.replace import replace_request
from pabal.service.sending.waiting import cancel_request, send_now
from pabal.store.accounts.audit_log import AuditEntry
from tests.fixtures.delivery import accept_without_receipt
from tests.fixtures.refusals import refused
from tests.fixtures.service import PHONE, FakeCarrier, Start, account_id_of, count_rows, later, sms
from tests.fixtures.virtual import NOON, Environment

pytestmark = pytest.mark.carrier(answer=accept_without_receipt)

SOON, LATE = later(NOON, 300), later(NOON, 900)
OTHER = "01077778888"


async def replace(env: Environment, old: bytes, sending: Sending, key: str = "k", account: str = "acme") -> bytes:
    digest = hashlib.sha256(key.encode()).digest()
    entry = AuditEntry(env.world.now(), None, "tester", None, "request.edit")
    account_id = await account_id_of(env, account)
    return await replace_request(env.context, account_id, old, sending, IdempotencyKey(key, digest), entry)


@pytest.mark.first_case
@pytest.mark.parametrize("receivers", [1, 25])
async def test_new_text_goes_out_at_the_new_time_and_the_old_never(
    env: Environment, carrier: FakeCarrier, receivers: int
) -> None:
    old = await env.send(sms(*[PHONE] * receivers, content="옛말", scheduled_at=SOON))

    new = await replace(env, old, sms(PHONE, OTHER, content="새말", scheduled_at=LATE))
    await env.wait(600)
    between = len(carrier.submitted)
    await env.wait(600)

    assert between == 0
    assert [each.content for _, each in carrier.submitted] == ["새말", "새말"]
    assert {status for status, _ in await env.outcomes_of(old)} == {Status.CANCEL}
    assert {status for status, _ in await env.outcomes_of(new)} == {Status.COMPLETED}


async def test_repeated_form_replaces_once(env: Environment) -> None:
    old = await env.send(sms(PHONE, scheduled_at=SOON))
    sending = sms(PHONE, content="새말", scheduled_at=LATE)

    first, second = await replace(env, old, sending), await replace(env, old, sending)

    assert first == second
    assert await count_rows(env, "requests") == 2


@pytest.mark.first_case
@pytest.mark.parametrize("deed", ["sent", "expedited", "cancelled"])
async def test_request_that_does_not_wait_is_not_replaced(
    env: Environment, carrier: FakeCarrier, deed: str
) -> None:
    old = await env.send(sms(PHONE, scheduled_at=SOON))
    if deed == "sent":
        await env.wait(400)
    elif deed == "expedited":
        await send_now(env.context, await account_id_of(env), old)
    else:
        await cancel_request(env.context, await account_id_of(env), old, None)

    with refused(Code.INVALID_STATE):
        await replace(env, old, sms(PHONE, content="새말", scheduled_at=LATE))
    await env.wait(1200)

    assert await count_rows(env, "requests") == 1
    assert len(carrier.submitted) == (0 if deed == "cancelled" else 1)


async def test_request_of_another_account_is_not_found(env: Environment) -> None:
    old = await env.send(sms(PHONE, scheduled_at=SOON))
    await env.caller("other")

    with refused(Code.REQUEST_NOT_FOUND):
        await replace(env, old, sms(PHONE, scheduled_at=LATE), account="other")

    assert {status for status, _ in await env.outcomes_of(old)} == {Status.WAITING}


@pytest.mark.first_case
@pytest.mark.parametrize("action", ["refuse", "drop"])
async def test_duplicate_guard_lets_a_request_replace_its_own_text(
    start: Start, carrier: FakeCarrier, action: str
) -> None:
    env = await start(carrier, duplicate_minutes=60, duplicate_action=action)
    old = await env.send(sms(PHONE, content="같은 말", scheduled_at=SOON))

    new = await replace(env, old, sms(PHONE, OTHER, content="같은 말", scheduled_at=SOON))
    with pytest.raises(Refused) if action == "refuse" else nullcontext():
        await env.send(sms(PHONE, content="같은 말", scheduled_at=SOON))
    await env.wait(600)

    assert len(carrier.submitted) == 2
    assert {status for status, _ in await env.outcomes_of(old)} == {Status.CANCEL}
    assert {status for status, _ in await env.outcomes_of(new)} == {Status.COMPLETED}
