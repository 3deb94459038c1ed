"""Other database clients that update and lock the service's rows in the opposite order."""

import contextlib
import threading
from collections.abc import Iterator
from random import Random

import psycopg

from tests.faults.servers import DATABASE, DedicatedServer

ROWS = 20
PAUSE_S = 0.01
"""The pause between two transactions; without it callers would sometimes notice the interference."""


@contextlib.contextmanager
def interfering_writers(server: DedicatedServer, count: int = 1) -> Iterator[None]:
    """Keep locking jobs and messages one by one, the highest id first, until the end of the block."""
    is_over = threading.Event()
    threads = [
        threading.Thread(target=_write_until_stopped, args=(server, Random(each), is_over)) for each in range(count)
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        is_over.set()
        for thread in threads:
            thread.join()


def _write_until_stopped(server: DedicatedServer, rng: Random, is_over: threading.Event) -> None:
    with psycopg.connect(server.address(DATABASE)) as connection:
        # Longer than the service's, so that its transaction is aborted; far below its lock_timeout, because a
        # deadlock that comes about only after the service has looked for one is found by this client alone.
        connection.execute("set deadlock_timeout = '1s'")
        connection.commit()
        while not is_over.wait(PAUSE_S):
            table, column = rng.choice([("jobs", "tries"), ("messages", "receiver")])
            newest = f"select id from {table} order by id desc limit {ROWS}"
            try:
                for row in connection.execute(newest.encode()).fetchall():
                    connection.execute(f"update {table} set {column} = {column} where id = %s".encode(), row)
                connection.commit()
            except psycopg.errors.DeadlockDetected:  # it stood still before it locked its next row
                connection.rollback()


def count_in_log(server: DedicatedServer, text: str) -> int:
    """Return how often the server's log contains a text."""
    return (server.folder / "log").read_text(encoding="utf-8", errors="replace").count(text)
