"""Whose turn it is among slots: the oldest small send's, and every so often a campaign's."""

from hypothesis import given
from hypothesis import strategies as st

from pabal.service.delivery.claim import SlotChoice, choose_slot
from pabal.store.queue import Lane, is_campaigns_turn
from tests.fixtures.virtual import NOON

THEIRS = next(at for at in range(NOON, NOON + 1000) if is_campaigns_turn(at))
"""A time at which it is the campaigns' turn."""
OURS = next(at for at in range(NOON, NOON + 1000) if not is_campaigns_turn(at))


def test_where_nothing_is_there_it_is_nobodys_turn() -> None:
    assert choose_slot([], NOON) == SlotChoice(None, False, None)


def test_where_nothing_is_due_the_time_of_the_first_is_told() -> None:
    assert choose_slot([(1, Lane.SMALL, NOON + 9), (2, Lane.CAMPAIGN, NOON + 5)], NOON) == SlotChoice(
        None, False, NOON + 5
    )


def test_the_oldest_small_send_comes_before_older_campaigns() -> None:
    found = [(1, Lane.CAMPAIGN, OURS - 90), (2, Lane.SMALL, OURS - 5), (3, Lane.SMALL, OURS - 7)]

    assert choose_slot(found, OURS) == SlotChoice(3, True, None, fills_with_campaigns=False)


def test_every_so_often_the_oldest_campaign_comes_first_though_small_sends_wait() -> None:
    found = [(1, Lane.CAMPAIGN, THEIRS - 10), (2, Lane.SMALL, THEIRS - 50), (3, Lane.CAMPAIGN, THEIRS - 20)]

    assert choose_slot(found, THEIRS) == SlotChoice(3, True, None, fills_with_campaigns=False)
    assert choose_slot([(2, Lane.SMALL, THEIRS - 50)], THEIRS) == SlotChoice(2, False, None)


def test_campaigns_of_its_slot_go_along_with_a_small_send_that_no_other_waits_behind() -> None:
    found = [(1, Lane.SMALL, OURS), (1, Lane.CAMPAIGN, OURS), (2, Lane.CAMPAIGN, OURS), (3, Lane.SMALL, OURS + 1)]

    assert choose_slot(found, OURS) == SlotChoice(1, True, None, fills_with_campaigns=True)


def test_what_is_due_just_now_is_due() -> None:
    assert choose_slot([(4, Lane.SMALL, NOON)], NOON).slot == 4
    assert choose_slot([(4, Lane.SMALL, NOON + 1)], NOON).slot is None


jobs_found = st.lists(
    st.tuples(st.integers(0, 5), st.sampled_from([Lane.SMALL, Lane.CAMPAIGN]), st.integers(NOON - 50, NOON + 50)),
    unique_by=lambda each: each[:2],
)


@given(jobs_found, st.integers(NOON - 60, NOON + 60))
def test_whenever_something_is_due_it_is_the_turn_of_a_slot_that_has_it(
    found: list[tuple[int, int, int]], now: int
) -> None:
    due = [each for each in found if each[2] <= now]

    whose = choose_slot(found, now)

    assert (whose.slot is not None) == bool(due)
    assert whose.has_other_due_slots == (len({slot for slot, _, _ in due}) > 1)
    if due:
        lanes = {lane for slot, lane, _ in due if slot == whose.slot}
        assert whose.fills_with_campaigns == all(slot == whose.slot for slot, lane, _ in due if lane == Lane.SMALL)
        assert Lane.SMALL in lanes or is_campaigns_turn(now) or not any(lane == Lane.SMALL for _, lane, _ in due)
