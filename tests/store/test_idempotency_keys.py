"""Idempotency keys: their answers are found until they expire."""

from pabal.store import idempotency_keys
from pabal.store.engine.base import Tx
from pabal.store.idempotency_keys import KeyedRequest
from tests.fixtures.rows import ExplainingTx, request_id
from tests.fixtures.virtual import NOON

FIRST = KeyedRequest(b"digest", request_id(1))
SECOND = KeyedRequest(b"another", request_id(2))


def test_answer_is_found_by_account_and_key(tx: Tx) -> None:
    idempotency_keys.save(tx, 0, 1, "k", FIRST, NOON)

    assert idempotency_keys.find(tx, 0, 1, "k", NOON) == FIRST
    assert idempotency_keys.find(tx, 0, 1, "K", NOON) is None
    assert idempotency_keys.find(tx, 0, 2, "k", NOON) is None
    assert idempotency_keys.find(tx, 1, 1, "k", NOON) is None


def test_expired_answer_is_not_found_and_can_be_replaced(tx: Tx) -> None:
    idempotency_keys.save(tx, 0, 1, "k", FIRST, NOON)
    assert idempotency_keys.find(tx, 0, 1, "k", NOON + 1) is None

    idempotency_keys.save(tx, 0, 1, "k", SECOND, NOON + 1)

    assert idempotency_keys.find(tx, 0, 1, "k", NOON + 1) == SECOND


def test_old_answers_are_deleted_in_batches(tx: Tx) -> None:
    for number in range(5):
        idempotency_keys.save(tx, 0, 1, f"k{number}", FIRST, NOON + number)

    assert idempotency_keys.delete_old(tx, NOON + 3, 2) == 2
    assert idempotency_keys.delete_old(tx, NOON + 3, 2) == 1
    assert idempotency_keys.delete_old(tx, NOON + 3, 2) == 0
    assert idempotency_keys.find(tx, 0, 1, "k3", 0) == FIRST


def test_answer_queries_use_the_key_and_age_indexes(tx: Tx) -> None:
    for number in range(50):
        idempotency_keys.save(tx, 0, 1, f"k{number}", FIRST, NOON + number)
    explaining = ExplainingTx(tx)

    idempotency_keys.find(explaining, 0, 1, "k7", NOON)
    idempotency_keys.save(explaining, 0, 1, "k7", SECOND, NOON)
    idempotency_keys.delete_old(explaining, NOON + 3, 10)

    assert explaining.scans == []
    assert explaining.uses("PRIMARY KEY (slot=? AND account_id=? AND key=?)")
    assert explaining.uses("idempotency_keys_by_age (created_at<?)")
