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
from pabal.store.accounts import accounts, numbers
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import StoreUnavailable, Tx
from pabal.store.engine.postgres.postgres_store import MAX_RETRIES
from pabal.store.messages import idempotency_keys
from pabal.store.messages.idempotency_keys import IdempotencyKeyId
from pabal.store.queue import receipts
from pabal.store.queue.receipts import ExpectedReceipt
from tests.fixtures.collisions import Work, collide, kinds
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


def test_concurrent_requests_with_one_key_share_one_answer(address: str) -> None:
    def storing(number: int) -> Work:
        return lambda tx: accept.store_request(tx, new_request(number, "k1"))

    def look(tx: Tx) -> None:
        idempotency_keys.find(tx, [IdempotencyKeyId(0, ACCOUNT, "k1")])

    first, second = collide(address, list_words, storing(1), storing(2), look=look)

    assert first.request_id == second.request_id
    assert {first.is_new, second.is_new} == {True, False}
    assert row_counts(address) == (1, 2, 2)


def test_concurrent_registrations_count_each_others_tokens(address: str) -> None:
    def registering(channel_id: str) -> Work:
        shop = Registration(channel_id, "00100010001", "01012345678")
        return lambda tx: _register(tx, 1, shop, None, b"", NOON, NOON + HOUR)

    def prepare(tx: Tx) -> None:
        assert accounts.ensure_account(tx, "acme", NOON) == 1
        for number in range(MAX_TOKENS_PER_HOUR - 1):
            registering(f"@{number}")(tx)

    answers = collide(address, prepare, registering("@a"), registering("@b"))

    assert kinds(answers) == ["PendingRegistration", "Refused"]
    assert query_outside(address, "select count(*) from tokens") == [(MAX_TOKENS_PER_HOUR,)]


def test_concurrent_part_receipts_end_the_message(address: str) -> None:
    one = message_id(1)

    def prepare(tx: Tx) -> None:
        accept.store_request(tx, new_request(1))
        receipts.record_references(tx, CARRIER, [ExpectedReceipt(each, one, 2) for each in ("r1", "r2")])

    def arriving(reference: str) -> Work:
        return lambda tx: receipts.record_receipts(tx, CARRIER, [(reference, Outcome.DELIVERED)], NOON)

    first, second = collide(address, prepare, arriving("r1"), arriving("r2"))

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
