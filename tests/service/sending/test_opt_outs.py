"""Advertising to receivers who have opted out: it ends with its own outcome and is never submitted."""

from decimal import Decimal

import pytest

from pabal.carriers.base import Busy, Rejected, Unknown, Verdict
from pabal.domain.base.dates import MINUTE
from pabal.domain.sends.account import AccountLimits, Limit
from pabal.domain.sends.message import Attempt, Outcome, Product, Status
from pabal.domain.sends.sending import Fallback, Receiver, Sending
from pabal.service.access.contacts import opt_outs
from pabal.service.access.contacts.opt_outs import NewOptOuts, OptOutEntry, OptOutSource
from pabal.service.sending.accept import accept_request
from pabal.service.upkeep.housekeeping import run_round
from pabal.settings.carriers import SimulatorSettings
from pabal.store.accounts import account_limits
from pabal.store.engine.base import Tx
from tests.fixtures.campaigns import checked_campaign, phones, start_campaign
from tests.fixtures.service import (
    PHONE,
    SENDER,
    FakeCarrier,
    Start,
    accept_with_reference,
    account_id_of,
    alimtalk,
    message_id_of,
    sms,
)
from tests.fixtures.virtual import NOON, Environment

OTHER = "01087654321"
SOON = NOON + 5 * MINUTE
OPTED_OUT = (Status.FAIL, Outcome.OPTED_OUT)
DELIVERED = (Status.COMPLETED, Outcome.DELIVERED)


def ad(*to: str, **fields: object) -> Sending:
    return sms(*to, content="(광고)할인\n무료거부 0801234567", is_ad=True)._replace(**fields)  # type: ignore[arg-type]


async def opt_out(env: Environment, *numbers: str, sender: str = "") -> None:
    entries = [OptOutEntry(number, sender) for number in numbers]
    await opt_outs.add(env.context, NewOptOuts(await account_id_of(env), entries, OptOutSource.API))


async def test_receiver_who_opts_out_while_it_waits_gets_nothing(env: Environment, carrier: FakeCarrier) -> None:
    sent = await env.send(ad(PHONE, OTHER, scheduled_at=SOON))
    plain = await env.send(sms(PHONE, scheduled_at=SOON))

    await opt_out(env, PHONE)
    await env.wait(305)

    assert [attempt.receiver for _, attempt in carrier.submitted].count(OTHER) == 1
    assert carrier.ids.count(message_id_of(plain)) == 1
    assert await env.outcomes_of(sent) == [OPTED_OUT, (Status.SENDING, None)]
    assert env.metric_value("pabal_messages_ended_total", product="sms", code="9003") == 1


@pytest.mark.carrier(answer=lambda each: Busy() if each.receiver == PHONE else Unknown(), max_resends=3)
async def test_busy_carrier_does_not_get_it_again_but_one_in_doubt_is_left_alone(
    env: Environment, carrier: FakeCarrier
) -> None:
    """A message in doubt may have arrived: only its carrier knows."""
    busy, doubtful = await env.send(ad(PHONE)), await env.send(ad(OTHER))
    await env.wait(0.5)

    await opt_out(env, PHONE, OTHER)
    await env.wait(60)

    assert await env.outcomes_of(busy) == [OPTED_OUT]
    assert carrier.ids.count(message_id_of(busy)) == 1
    assert await env.outcomes_of(doubtful) == [(Status.SENDING, None)]
    assert carrier.ids.count(message_id_of(doubtful)) > 1


def _fail_talk(attempt: Attempt, outcome: Outcome) -> Verdict:
    return accept_with_reference(attempt) if attempt.product.is_text else Rejected(outcome)


@pytest.mark.parametrize(("sender", "expected"), [(SENDER, OPTED_OUT), ("0299999999", (Status.SENDING, None))])
@pytest.mark.carrier(answer=lambda each: _fail_talk(each, Outcome.NOT_A_FRIEND))
async def test_fallback_is_checked_for_its_own_sender_number(
    env: Environment, sender: str, expected: object
) -> None:
    profile = await env.add_profile()
    talk = Sending(
        Product.FRIENDTALK_TEXT,
        "(광고)할인",
        [Receiver(PHONE)],
        is_ad=True,
        fallback=Fallback(SENDER, "할인"),
        profile_id=profile,
        opt_out_number="0801234567",
    )
    await opt_out(env, PHONE, sender=sender)

    sent = await env.send(talk)
    await env.wait(5)

    assert await env.outcomes_of(sent) == [(Status.FAIL, Outcome.NOT_A_FRIEND), expected]


@pytest.mark.carrier(answer=lambda each: _fail_talk(each, Outcome.NOT_A_USER))
async def test_fallback_of_an_alimtalk_is_no_advertising(env: Environment) -> None:
    await opt_out(env, PHONE)

    sent = await env.send(alimtalk(await env.add_profile()))
    await env.wait(5)

    assert await env.outcomes_of(sent) == [(Status.FAIL, Outcome.NOT_A_USER), (Status.SENDING, None)]


async def test_opted_out_receivers_cost_nothing_and_are_not_duplicates(start: Start) -> None:
    priced = {"cheap": SimulatorSettings(name="cheap", prices={"sms": Decimal("9.00")})}
    options = {"duplicate_minutes": 10, "duplicate_action": "drop"}
    env = await start(FakeCarrier("cheap"), carrier_settings=priced, **options)
    account_id = await account_id_of(env)
    await env.store.write(account_limits.save, account_id, AccountLimits(budget_per_month=1000))
    await opt_out(env, PHONE)

    accepted = await accept_request(env.context, account_id, ad(PHONE, OTHER, OTHER))
    await env.context.limiter.give_back()
    await run_round(env.context)

    usage = await env.store.read(account_limits.list_usage, [account_id])
    assert (list(accepted.opted_out), accepted.duplicates) == ([0], [2])
    assert [each.used for each in usage if each.limit is Limit.BUDGET] == [9_00]


async def test_campaigns_skip_receivers_who_opted_out(env: Environment, carrier: FakeCarrier) -> None:
    to = phones(30)
    await opt_out(env, *to[:3])
    campaign = await checked_campaign(env, to, sending=ad())
    await start_campaign(env, campaign)
    await env.wait(20)

    submitted = [attempt.receiver for _, attempt in carrier.submitted]
    assert sorted(submitted) == to[3:]


async def test_other_sends_do_not_look_at_opt_outs(env: Environment) -> None:
    await opt_out(env, PHONE)
    await env.store.write(_rename, "opt_outs", "hidden")

    sent = await env.send(sms(PHONE))
    await env.wait(3)
    await env.store.write(_rename, "hidden", "opt_outs")

    assert await env.outcomes_of(sent) == [DELIVERED]


def _rename(tx: Tx, old: str, new: str) -> None:
    tx.execute(f"alter table {old} rename to {new}")
