"""What is claimed: from the slot of the oldest small send, or at times of the oldest campaign, and how much."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pabal.domain.base.dates import MINUTE
from pabal.service.delivery.claiming.claim_tx import ClaimRequest, SlotChoice, choose_slot, claim
from pabal.store.queue.queue import Lane
from tests.fixtures.campaigns import phones
from tests.fixtures.service import DEFAULT_CARRIER, sms
from tests.fixtures.virtual import NOON, Environment

SMALL, CAMPAIGN = Lane.SMALL, Lane.CAMPAIGN


@pytest.mark.parametrize(
    ("found", "is_campaigns_turn", "chosen"),
    [
        pytest.param([], False, SlotChoice(None, False, None), id="no jobs"),
        pytest.param(
            [(1, SMALL, NOON + 9), (2, CAMPAIGN, NOON + 5)], False, SlotChoice(None, False, NOON + 5), id="none due"
        ),
        pytest.param([(4, SMALL, NOON)], False, SlotChoice(4, False, None), id="due at its exact time"),
        pytest.param(
            [(1, CAMPAIGN, NOON - 90), (2, SMALL, NOON - 5), (3, SMALL, NOON - 7)],
            False,
            SlotChoice(3, True, None, other_small_slots=1),
            id="the oldest small send goes before older campaigns",
        ),
        pytest.param(
            [(1, CAMPAIGN, NOON - 10), (2, SMALL, NOON - 50), (3, CAMPAIGN, NOON - 20)],
            True,
            SlotChoice(3, True, None, other_small_slots=1),
            id="on its turn the oldest campaign goes first",
        ),
        pytest.param([(2, SMALL, NOON - 50)], True, SlotChoice(2, False, None), id="no campaign on its turn"),
        pytest.param(
            [(1, SMALL, NOON), (1, CAMPAIGN, NOON), (2, CAMPAIGN, NOON), (3, SMALL, NOON + 1)],
            False,
            SlotChoice(1, True, None, other_small_slots=0),
            id="campaigns may fill a batch when no other small send is due",
        ),
    ],
)
def test_slot_of_the_next_claim(
    found: list[tuple[int, int, int]], is_campaigns_turn: bool, chosen: SlotChoice
) -> None:
    assert choose_slot(found, NOON, is_campaigns_turn=is_campaigns_turn) == chosen


@pytest.mark.carrier(is_connected=False)
async def test_a_claim_cut_at_the_limit_for_campaigns_says_that_there_may_be_more(env: Environment) -> None:
    await env.send(sms(*phones(30)))
    asked = ClaimRequest(0, DEFAULT_CARRIER, 100, MINUTE, max_of_campaigns=20)

    claims = [await env.store.write(claim, asked, env.context.policy, env.world.now()) for _ in range(3)]

    assert [(len(each.leased), each.is_full) for each in claims] == [(20, True), (10, False), (0, False)]


jobs_found = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from([Lane.SMALL, Lane.CAMPAIGN]), st.integers(NOON - 50, NOON + 50)),
    unique_by=lambda each: each[:2],
)


@given(jobs_found, st.integers(NOON - 60, NOON + 60), st.booleans())
def test_a_slot_with_a_due_job_is_chosen_whenever_there_is_one(
    found: list[tuple[int, int, int]], now: int, is_campaigns_turn: bool
) -> None:
    due = [each for each in found if each[2] <= now]

    choice = choose_slot(found, now, is_campaigns_turn=is_campaigns_turn)

    assert (choice.slot is not None) == bool(due)
    assert choice.has_other_due_slots == (len({slot for slot, _, _ in due}) > 1)
    if due:
        lanes = {lane for slot, lane, _ in due if slot == choice.slot}
        others = [slot for slot, lane, _ in due if lane == Lane.SMALL and slot != choice.slot]
        assert choice.other_small_slots == len(others)
        assert Lane.SMALL in lanes or is_campaigns_turn or not any(lane == Lane.SMALL for _, lane, _ in due)


def test_of_slots_with_the_same_time_the_one_that_has_waited_longest_comes_first() -> None:
    found = [(slot, Lane.SMALL, NOON - 5) for slot in (1, 2, 3)]
    due_since = {(1, int(Lane.SMALL)): 9.0, (2, int(Lane.SMALL)): 7.0, (3, int(Lane.SMALL)): 8.0}

    assert choose_slot(found, NOON, due_since).slot == 2
