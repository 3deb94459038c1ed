"""Statements that are sent together on one connection."""

import contextlib
import threading
from collections.abc import Iterator

import psycopg
import pytest

from pabal.store.engine.postgres import pipeline
from pabal.store.engine.postgres.pipeline import Pipeline
from pabal.store.engine.postgres.session import connect

DIVIDE = b"select 1 / $1"
PREPARED = b"select count(*) from pg_prepared_statements"


@pytest.fixture
def connection(address: str) -> Iterator[psycopg.Connection]:
    with contextlib.closing(connect(address)) as opened:
        yield opened


@pytest.fixture
def sent(connection: psycopg.Connection) -> Pipeline:
    return Pipeline(connection)


def count_prepared(sent: Pipeline) -> int:
    answer = sent.execute(PREPARED)
    sent.sync()
    return int(answer.fetchall()[0][0])


def test_answers_are_there_after_the_next_sync(sent: Pipeline) -> None:
    first, second = sent.execute(b"select $1, $2", [b"\0", None]), sent.execute(b"select $1", ["파발"])
    sent.sync()

    assert (first.fetchall(), first.rowcount, first.statusmessage) == ([(b"\0", None)], 1, "SELECT 1")
    assert (second.fetchone(), sent.execute(b"select 1").fetchone()) == (("파발",), None)


def test_first_failure_is_raised_and_what_follows_it_is_skipped(sent: Pipeline) -> None:
    sent.execute(b"create temporary table kept (number bigint)")
    sent.sync()
    sent.execute(DIVIDE, [0])
    sent.execute(b"select no_such_column")
    skipped = sent.execute(b"insert into kept values (1)")

    with pytest.raises(psycopg.errors.DivisionByZero):
        sent.sync()

    kept = sent.execute(b"select * from kept")
    sent.sync()
    assert (skipped.rowcount, kept.fetchall()) == (0, [])


def test_statement_that_was_skipped_before_it_was_prepared_is_prepared_again(sent: Pipeline) -> None:
    statement = b"select 2 * $1"
    sent.execute(statement, [1])
    sent.execute(DIVIDE, [0])
    sent.execute(statement, [2])
    with pytest.raises(psycopg.errors.DivisionByZero):
        sent.sync()

    answers = [sent.execute(statement, [number]) for number in (3, 4)]
    sent.sync()

    assert [answer.fetchone() for answer in answers] == [(6,), (8,)]
    assert count_prepared(sent) == 1


def test_statements_that_were_sent_long_ago_are_forgotten(sent: Pipeline) -> None:
    for number in range(pipeline.MAX_STATEMENTS + 10):
        for _ in range(2):
            answer = sent.execute(b"select %d + $1" % number, [1])
        sent.sync()
        assert answer.fetchone() == (number + 1,)

    assert count_prepared(sent) == pipeline.MAX_STATEMENTS - 1  # this one is sent for the first time


def test_much_is_sent_and_received_at_once(sent: Pipeline) -> None:
    """More than the buffers of both sockets hold, in both directions."""
    texts = ["가" * 3_000_000, "나" * 3_000_000]
    answers = [sent.execute(b"select $1", [each]) for each in texts]
    sent.sync()

    assert [answer.fetchone() for answer in answers] == [(each,) for each in texts]


def test_other_threads_run_while_an_answer_is_awaited(address: str, sent: Pipeline) -> None:
    with contextlib.closing(connect(address)) as holder:
        holder.execute("select pg_advisory_lock(7)")
        answer = sent.execute(b"select pg_advisory_lock(7)")
        waiting = threading.Thread(target=sent.sync)
        waiting.start()
        holder.execute("select pg_advisory_unlock(7)")
        waiting.join()

    assert answer.rowcount == 1


def test_wait_ends_when_another_thread_closes_the_connection(
    connection: psycopg.Connection, sent: Pipeline
) -> None:
    failures: list[psycopg.Error] = []

    def wait() -> None:
        try:
            sent.execute(b"select pg_sleep(600)")
            sent.sync()
        except psycopg.Error as error:
            failures.append(error)

    waiting = threading.Thread(target=wait)
    waiting.start()
    connection.close()
    waiting.join()

    assert [type(each) for each in failures] == [psycopg.OperationalError]


def test_end_of_the_session_is_told_as_the_server_told_it(address: str, connection: psycopg.Connection) -> None:
    ended = connection.info.backend_pid
    sent = Pipeline(connection)
    with contextlib.closing(connect(address)) as other:
        other.execute("select pg_terminate_backend($1::integer)", [ended])
        sent.execute(b"select pg_sleep(600)")

        with pytest.raises(psycopg.OperationalError) as refused:
            sent.sync()

    assert refused.value.sqlstate in ("57P01", None)  # None: the line was closed before the statement was sent
    assert connection.closed


def test_server_that_ends_the_connection_unasked_is_an_error_each_time(sent: Pipeline, address: str) -> None:
    answer = sent.execute(b"select pg_backend_pid()")
    sent.sync()
    (pid,) = answer.fetchall()[0]
    with contextlib.closing(connect(address)) as other:
        other.execute("select pg_terminate_backend($1::int)", (pid,))
        while other.execute("select 1 from pg_stat_activity where pid = $1::int", (pid,)).fetchone():
            pass

    for _ in range(2):
        with pytest.raises(psycopg.Error):
            sent.sync()
