"""The transaction of sends: as many statements for many sends as for one, whatever their Idempotency-Keys are."""

from collections.abc import Iterable, Sequence

from pabal.service.sending.accept import NewRequest, store_requests
from pabal.store.engine.base import Row, Tx, Value
from tests.fixtures.postgres_store import new_request


class CountingTx(Tx):
    """A transaction that counts its statements."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx
        self.is_distributed = tx.is_distributed
        self.statements = 0

    def announce(self, topic: int) -> None:
        self._tx.announce(topic)

    def execute(self, sql: str, args: Sequence[Value] = ()) -> int:
        self.statements += 1
        return self._tx.execute(sql, args)

    def fetch_all(self, sql: str, args: Sequence[Value] = ()) -> list[Row]:
        self.statements += 1
        return self._tx.fetch_all(sql, args)

    def fetch_one(self, sql: str, args: Sequence[Value] = ()) -> Row | None:
        self.statements += 1
        return self._tx.fetch_one(sql, args)

    def execute_many(self, sql: str, rows: Iterable[Sequence[Value]], args: Sequence[Value] = ()) -> list[Row]:
        every = list(rows)
        self.statements += bool(every)
        return self._tx.execute_many(sql, every, args)


def count_statements(tx: Tx, requests: Sequence[NewRequest]) -> int:
    counting = CountingTx(tx)
    store_requests(counting, requests)
    return counting.statements


def test_many_sends_need_as_many_statements_as_one(tx: Tx) -> None:
    one = count_statements(tx, [new_request(1)])
    many = count_statements(tx, [new_request(number) for number in range(2, 42)])

    assert one == many == 3


def test_sends_with_idempotency_keys_need_two_more_for_all(tx: Tx) -> None:
    one = count_statements(tx, [new_request(1, "k1")])
    many = count_statements(tx, [new_request(number, f"k{number}") for number in range(2, 42)])

    assert one == many == 5


def test_repeats_in_one_transaction_get_the_first_answer(tx: Tx) -> None:
    store_requests(tx, [new_request(1, "old")])

    accepted = store_requests(
        tx, [new_request(2, "new"), new_request(3), new_request(4, "new"), new_request(5, "old")]
    )

    first, old = new_request(2).request_id, new_request(1).request_id
    assert [each.is_new for each in accepted] == [True, True, False, False]
    assert [accepted[2].request_id, accepted[3].request_id] == [first, old]
