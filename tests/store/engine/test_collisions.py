"""Concurrent writes on PostgreSQL: the second one sees the changes of the first."""

import asyncio
import threading

import psycopg
import pytest

from pabal.domain.base.codes import Code, Refused
from pabal.domain.base.dates import HOUR
from pabal.domain.kakao.profile import MAX_TOKENS_PER_HOUR, Registration
from pabal.domain.people.phone import NumberState
from pabal.domain.sends.message import Outcome
from pabal.service.access.accounts import sender_numbers
from pabal.service.relay.profiles import _register
from pabal.service.sending import accept
from pabal.service.sending.accept import AcceptedRequest, NewRequest
from pabal.store.accounts import accounts, numbers
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import StoreUnavailable, Tx
from pabal.store.engine.postgres.postgres_store import MAX_RETRIES, PostgresStore
from pabal.store.messages import idempotency_keys
from pabal.store.messages.idempotency_keys import KeyId
from pabal.store.queue import receipts
from pabal.store.queue.receipts import ExpectedReceipt, MatchedReceipts
from pabal.world import RealWorld
from tests.fixtures.postgres_store import new_request, open_postgres, query_outside, row_counts, stored_words
from tests.fixtures.rows import ACCOUNT, CARRIER, message_id
from tests.fixtures.store_modes import add_word, list_words
from tests.fixtures.virtual import NOON


def change(tx: Tx, word: str) -> int:
    return tx.execute("update words set word = word || ? where number = 1", (word,))


async def test_write_is_retried_on_committed_data_after_a_conflict(address: str) -> None:
    runs: list[None] = []

    def collide(tx: Tx) -> list[str]:
        runs.append(None)
        list_words(tx)
        if len(runs) == 1:
            query_outside(address, "update words set word = 'b'")
        change(tx, "c")
        return list_words(tx)

    async with open_postgres(address) as store:
        await store.write(add_word, "a")

        assert await store.write(collide) == ["bc"]
    assert (len(runs), stored_words(address)) == (2, ["bc"])


async def test_write_in_repeated_conflict_gives_up_and_leaves_nothing(address: str) -> None:
    runs: list[None] = []

    def collide(tx: Tx) -> None:
        runs.append(None)
        list_words(tx)
        query_outside(address, "update words set word = 'b'")
        change(tx, "c")

    async with open_postgres(address) as store:
        await store.write(add_word, "a")

        with pytest.raises(StoreUnavailable, match="SerializationFailure"):
            await store.write(collide)

        await store.write(add_word, "next")
    assert (len(runs), stored_words(address)) == (1 + MAX_RETRIES, ["b", "next"])


async def test_write_is_retried_after_a_deadlock(address: str) -> None:
    holds, is_waiting = threading.Event(), threading.Event()
    runs: list[None] = []

    def other() -> None:
        with psycopg.connect(address) as connection:
            connection.execute("update words set word = 'y!' where word = 'y'")
            holds.set()
            is_waiting.wait()
            connection.execute("update words set word = 'x!' where number = 1")

    def deadlock(tx: Tx) -> None:
        runs.append(None)
        tx.execute(
            "set local deadlock_timeout = '50ms'"
        )  # PostgreSQL detects the deadlock in our transaction first
        change(tx, "?")
        is_waiting.set()
        tx.execute("update words set word = word || '?' where number = 2")

    async with open_postgres(address) as store:
        await store.write(add_word, "x")
        await store.write(add_word, "y")
        thread = threading.Thread(target=other)
        thread.start()
        await asyncio.to_thread(holds.wait)

        await store.write(deadlock)

        thread.join()
    assert len(runs) >= 2
    assert stored_words(address) == ["x!?", "y!?"]


async def test_concurrent_requests_with_one_key_share_one_answer(address: str) -> None:
    both_looked = threading.Barrier(2)
    looked: set[bytes] = set()

    def store_after_both_read(tx: Tx, request: NewRequest) -> AcceptedRequest:
        idempotency_keys.find(tx, [KeyId(0, ACCOUNT, "k1")])
        if request.request_id not in looked:
            looked.add(request.request_id)
            both_looked.wait()
        return accept.store_request(tx, request)

    async with open_postgres(address) as store:
        other = PostgresStore(address, RealWorld())
        first, second = await asyncio.gather(
            store.write(store_after_both_read, new_request(1, "k1")),
            other.write(store_after_both_read, new_request(2, "k1")),
        )
        await other.close()

        assert first.request_id == second.request_id
        assert {first.is_new, second.is_new} == {True, False}
    assert row_counts(address) == (1, 2, 2)


async def test_concurrent_registrations_count_each_others_tokens(address: str) -> None:
    both_looked = threading.Barrier(2)
    looked: set[str] = set()

    def register(tx: Tx, account_id: int, channel_id: str) -> None:
        list_words(tx)
        if channel_id not in looked:
            looked.add(channel_id)
            both_looked.wait()
        shop = Registration(channel_id, "00100010001", "01012345678")
        _register(tx, account_id, shop, None, b"", NOON, NOON + HOUR)

    async with open_postgres(address) as store:
        account_id = await store.write(accounts.ensure_account, "acme", NOON)
        for number in range(MAX_TOKENS_PER_HOUR - 1):
            looked.add(f"@{number}")
            await store.write(register, account_id, f"@{number}")
        other = PostgresStore(address, RealWorld())
        answers = await asyncio.gather(
            store.write(register, account_id, "@a"), other.write(register, account_id, "@b"), return_exceptions=True
        )
        await other.close()

        assert sorted(type(answer).__name__ for answer in answers) == ["NoneType", "Refused"]
    assert query_outside(address, "select count(*) from tokens") == [(MAX_TOKENS_PER_HOUR,)]


async def test_concurrent_part_receipts_end_the_message(postgres_store: PostgresStore, address: str) -> None:
    both_looked = threading.Barrier(2)
    looked: set[str] = set()

    def arrive(tx: Tx, reference: str) -> MatchedReceipts:
        list_words(tx)
        if reference not in looked:
            looked.add(reference)
            both_looked.wait()
        return receipts.record(tx, CARRIER, [(reference, Outcome.DELIVERED)], NOON)

    one = message_id(1)
    await postgres_store.write(accept.store_request, new_request(1))
    await postgres_store.write(
        receipts.expect, CARRIER, [ExpectedReceipt("r1", one, 2), ExpectedReceipt("r2", one, 2)]
    )
    other = PostgresStore(address, RealWorld())
    first, second = await asyncio.gather(postgres_store.write(arrive, "r1"), other.write(arrive, "r2"))
    await other.close()

    assert first.ended + second.ended == [(one, Outcome.DELIVERED)]


async def test_number_is_approved_for_one_of_two_accounts_at_once(address: str) -> None:
    number = "0212345678"
    runs: list[None] = []

    def prepare(tx: Tx) -> None:
        for name in ("acme", "other"):
            account_id = accounts.ensure_account(tx, name, NOON)
            numbers.add(tx, account_id, number, NOON, NumberState.PENDING)

    def approve_second(tx: Tx) -> None:
        runs.append(None)
        assert (numbers.get_holder(tx, number) is None) is (len(runs) == 1)
        if len(runs) == 1:
            query_outside(address, "update numbers set state = 'approved' where account_id = 1")
        sender_numbers.approve(tx, 2, number, AuditEntry(NOON, None, "op", 2, "number.approve"))

    async with open_postgres(address) as store:
        await store.write(prepare)

        with pytest.raises(Refused) as refused:
            await store.write(approve_second)

        assert refused.value.code is Code.DUPLICATE
        states = [each.state for each in await store.read(numbers.list_all)]
        assert states == [NumberState.APPROVED, NumberState.PENDING]
    assert len(runs) >= 2, "the first try saw no other account"
