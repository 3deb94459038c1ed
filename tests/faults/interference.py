"""Someone else in the database, who changes and locks the same rows as the service, in another order."""

import contextlib
import threading
from collections.abc import Iterator
from random import Random

import psycopg

from tests.faults.servers import DATABASE, DedicatedServer

ROWS = 20
PAUSE_S = 0.01
"""How long a meddler lets others be in between: one who never does is noticed now and then, by chance."""


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


def _write_until_stopped(server: DedicatedServer, dice: Random, is_over: threading.Event) -> None:
    with psycopg.connect(server.address(DATABASE)) as connection:
        connection.execute(
            "set deadlock_timeout = '10s'"
        )  # of two who wait for each other, the service is found out
        connection.commit()
        while not is_over.wait(PAUSE_S):
            table, column = dice.choice([("jobs", "tries"), ("messages", "receiver")])
            newest = f"select id from {table} order by id desc limit {ROWS}"
            for row in connection.execute(newest.encode()).fetchall():
                connection.execute(f"update {table} set {column} = {column} where id = %s".encode(), row)
            connection.commit()


def count_in_log(server: DedicatedServer, words: str) -> int:
    """Return how often the server's log holds these words."""
    return (server.folder / "log").read_text(encoding="utf-8", errors="replace").count(words)
