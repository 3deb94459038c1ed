"""Why messages wait: the state of their carrier, a later time, or others before them."""

import pytest

from pabal.domain.base.dates import HOUR, MINUTE, SECOND
from pabal.service.history.history import Wait, WaitReason, explain
from pabal.store.messages.history import QueuePosition
from pabal.store.queue.carriers import CarrierState
from pabal.store.queue.queue import Lane
from tests.fixtures.virtual import NOON

DOWN = CarrierState("telco", "down", NOON - 12 * MINUTE, "refused")
ASIDE = DOWN._replace(state="aside", worker="b", since=NOON - MINUTE)
UP = DOWN._replace(state="up", worker="c")


def waiting(carrier: str = "telco", ready_at: int = NOON, claimed_at: int | None = None) -> QueuePosition:
    return QueuePosition(carrier, Lane.SMALL, ready_at, 0, claimed_at)


@pytest.mark.parametrize(
    ("position", "states", "wait"),
    [
        (waiting(), [], None),
        (waiting(), [UP], None),
        (waiting(), [DOWN], Wait(WaitReason.DOWN, "telco", NOON - 12 * MINUTE)),
        (waiting(), [DOWN, ASIDE], Wait(WaitReason.ASIDE, "telco", NOON - MINUTE)),
        (waiting(), [DOWN, UP], None),
        (waiting(), [DOWN._replace(name="other")], None),
        (waiting("sold"), [DOWN], Wait(WaitReason.GONE, "sold", NOON)),
        (waiting(ready_at=NOON + HOUR), [UP], Wait(WaitReason.LATER, "telco", NOON + HOUR)),
        (waiting(ready_at=NOON - MINUTE), [UP], Wait(WaitReason.QUEUED, "telco", NOON - MINUTE)),
        (waiting(ready_at=NOON + 20 * SECOND, claimed_at=NOON), [UP], None),
        (waiting()._replace(lane=Lane.AWAITING_RECEIPT), [DOWN], None),
    ],
)
def test_reason_is_the_first_that_keeps_a_message_from_its_carrier(
    position: QueuePosition, states: list[CarrierState], wait: Wait | None
) -> None:
    assert explain(position, states, ["telco"], NOON) == wait
