"""Someone else in the database, who changes and locks the same rows as the service, in another order."""

import contextlib
import threading
from collections.abc import Iterator
from random import Random

import psycopg

from tests.faults.servers import DATABASE, OwnServer

ROWS = 20
BREATH_S = 0.01
"""How long a meddler lets others be in between: one who never does is noticed now and then, by chance."""


@contextlib.contextmanager
def meddling(server: OwnServer, meddlers: int = 1) -> Iterator[None]:
    """Keep locking jobs and messages one by one, the highest id first, until the end of the block."""
    is_over = threading.Event()
    threads = [threading.Thread(target=_meddle, args=(server, Random(each), is_over)) for each in range(meddlers)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        is_over.set()
        for thread in threads:
            thread.join()


def _meddle(server: OwnServer, dice: Random, is_over: threading.Event) -> None:
    with psycopg.connect(server.address(DATABASE)) as connection:
        connection.execute(
            "set deadlock_timeout = '10s'"
        )  # of two who wait for each other, the service is found out
        connection.commit()
        while not is_over.wait(BREATH_S):
            table, column = dice.choice([("jobs", "tries"), ("messages", "receiver")])
            newest = f"select id from {table} order by id desc limit {ROWS}"
            for row in connection.execute(newest.encode()).fetchall():
                connection.execute(f"update {table} set {column} = {column} where id = %s".encode(), row)
            connection.commit()


def said(server: OwnServer, words: str) -> int:
    """Return how often the server's log holds these words."""
    return (server.folder / "log").read_text(encoding="utf-8", errors="replace").count(words)
