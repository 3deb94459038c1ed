"""Idempotency keys: their answers are found until they expire."""

from pabal.store.engine.base import Tx
from pabal.store.messages import idempotency_keys
from pabal.store.messages.idempotency_keys import IdempotencyKeyId, KeyedRequest
from tests.fixtures.rows import ExplainingTx, request_id
from tests.fixtures.virtual import NOON

KEY = IdempotencyKeyId(0, 1, "k")
FIRST = KeyedRequest(b"digest", request_id(1), NOON)
SECOND = KeyedRequest(b"another", request_id(2), NOON + 1)


def test_answers_are_found_by_slot_account_and_key(tx: Tx) -> None:
    other = IdempotencyKeyId(3, 2, "k")
    idempotency_keys.save(tx, {KEY: FIRST, other: SECOND})
    wanted = [KEY, other, IdempotencyKeyId(0, 1, "K"), IdempotencyKeyId(0, 2, "k"), IdempotencyKeyId(1, 1, "k")]

    assert idempotency_keys.find(tx, wanted) == {KEY: FIRST, other: SECOND}
    assert idempotency_keys.find(tx, []) == {}


def test_answer_can_be_replaced(tx: Tx) -> None:
    idempotency_keys.save(tx, {KEY: FIRST})

    idempotency_keys.save(tx, {KEY: SECOND})

    assert idempotency_keys.find(tx, [KEY]) == {KEY: SECOND}


def test_old_answers_are_deleted_in_batches(tx: Tx) -> None:
    _save_in_turn(tx, 5)

    assert idempotency_keys.delete_old(tx, NOON + 3, 2) == 2
    assert idempotency_keys.delete_old(tx, NOON + 3, 2) == 1
    assert idempotency_keys.delete_old(tx, NOON + 3, 2) == 0
    assert IdempotencyKeyId(0, 1, "k3") in idempotency_keys.find(
        tx, [IdempotencyKeyId(0, 1, f"k{number}") for number in range(4)]
    )


def test_answer_queries_use_the_key_and_age_indexes(tx: Tx) -> None:
    _save_in_turn(tx, 50)
    explaining = ExplainingTx(tx)

    idempotency_keys.find(explaining, [IdempotencyKeyId(0, 1, "k7"), IdempotencyKeyId(0, 1, "k8")])
    idempotency_keys.save(explaining, {IdempotencyKeyId(0, 1, "k7"): SECOND})
    idempotency_keys.delete_old(explaining, NOON + 3, 10)

    assert explaining.scans == []
    assert explaining.uses("PRIMARY KEY (slot=? AND account_id=? AND key=?)")
    assert explaining.uses("idempotency_keys_by_age (created_at<?)")


def _save_in_turn(tx: Tx, count: int) -> None:
    """Save keys k0, k1 …, each a millisecond after the one before."""
    idempotency_keys.save(
        tx,
        {IdempotencyKeyId(0, 1, f"k{number}"): FIRST._replace(created_at=NOON + number) for number in range(count)},
    )
