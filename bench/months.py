"""How much slower a receiver's page on PostgreSQL is among ten million messages of 24 months."""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import psycopg

from bench import bodies, load
from bench.database import PostgresEnvironment, postgres_environment
from bench.figures import Figure, format_ms, median_of
from bench.fill import REQUEST_RECEIVERS, SENDER, TEXT, WORLD, regular_receiver, slots_of
from bench.server import SETTINGS_FILE, BenchEnvironment, BenchmarkFailed, report_progress
from bench.store_reader import settings_of
from pabal.domain.base import identifiers
from pabal.domain.base.dates import DAY, SECOND, Instant
from pabal.domain.sends.message import Outcome, Product, Status
from pabal.store.engine.postgres import partitions
from pabal.store.engine.postgres.postgres_store import connect
from pabal.store.engine.postgres.postgres_tx import PostgresTx

TARGET = 1.5
MANY, FEW = 10_000_000, 100_000
DAYS = 730
ONE_MONTH_DAYS = 30
REGULARS = 100
MESSAGES_OF_A_REGULAR = 10
ROUNDS = 3
CHECKED, WARM_UP, LOOKUPS = 5, 100, 300
PROGRESS_EVERY = 1_000_000
ACCOUNT = 1
_INDEX = "messages_by_receiver"


def measure(env: BenchEnvironment) -> list[Figure]:
    """Search for the same receivers in a large history, in a small one of 24 months, and in one of one month."""
    with postgres_environment(env) as postgres:
        few, young, many = postgres.copy_store(), postgres.copy_store(), postgres.copy_store()
        fill(postgres, few, FEW, DAYS)
        fill(postgres, young, FEW, ONE_MONTH_DAYS)
        fill(postgres, many, MANY, DAYS)
        found: dict[Path, list[float]] = {few: [], young: [], many: []}
        for _ in range(ROUNDS):
            for data, times in found.items():
                times += _measure_lookups(postgres, data)
    report_progress("  a page among " + "; ".join(format_ms(times) for times in found.values()))
    what = f"time of a receiver's page among {MANY:,} of {DAYS} days / among {FEW:,} of"
    return [
        _figure(f"{what} {DAYS} days", found[many], found[few], TARGET),
        _figure(f"{what} {ONE_MONTH_DAYS} days", found[many], found[young]),
    ]


def _figure(what: str, many: list[float], few: list[float], target: float | None = None) -> Figure:
    details = f"{format_ms(many)} and {format_ms(few)}"
    return Figure("months", what, median_of(many) / median_of(few), target=target, bound="at most", details=details)


def fill(env: PostgresEnvironment, data: Path, messages: int, days: int) -> None:
    """Store delivered messages of the last `days` by COPY; create the index of receivers at the end.

    Each regular receiver has ten of them, far apart.
    """
    began = time.perf_counter()
    slots = slots_of(data)
    with (data / SETTINGS_FILE).open("a", encoding="utf-8") as file:
        file.write(f"retention_days = {2 * DAYS}\n")  # so that housekeeping erases nothing
    _create_months(data, days)
    with env.connect(data) as connection:
        index: str = connection.execute(f"select pg_get_indexdef('{_INDEX}'::regclass)").fetchall()[0][0]
        connection.execute(f"drop index {_INDEX}")
        done = 0
        for requests, rows in _blocks(messages, days, slots):
            _copy(
                connection,
                "requests (id, slot, account_id, product, total, scheduled_at, sender, content,"
                " variables, has_image, is_ad)",
                requests,
            )
            _copy(
                connection,
                "messages (id, slot, account_id, receiver, product, status, outcome, completed_at, variables)",
                rows,
            )
            done += rows.count(b"\n")
            if done % PROGRESS_EVERY == 0:
                report_progress(f"  {done:,} messages are in the history after {time.perf_counter() - began:.0f} s")
        connection.execute(index.replace(" ON ONLY ", " ON ").encode())  # also creates the index of every month
        connection.execute("vacuum analyze")
    report_progress(
        f"  a history of {messages:,} messages and {days} days took {time.perf_counter() - began:.0f} s to fill"
    )


def _create_months(data: Path, days: int) -> None:
    """Create the partitions of past months; those of this and the next month exist."""
    with contextlib.closing(connect(settings_of(data).store)) as connection, connection.transaction():
        month = partitions.month_at(WORLD.now() - days * DAY)
        while month < partitions.month_at(WORLD.now()):
            partitions.create_month(PostgresTx(connection), month)
            month = partitions.next_month(month)


def _blocks(messages: int, days: int, slots: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield requests of a thousand messages, oldest first, as COPY lines of requests and of messages."""
    rng, count = Random(5), messages // REQUEST_RECEIVERS
    first_at = WORLD.now() - days * DAY
    rounds = max(1, count // MESSAGES_OF_A_REGULAR)
    for position in range(count):
        at = first_at + position * days * DAY // count
        slot = position % slots
        one = identifiers.make_request_id(at, slot, rng.getrandbits(identifiers.RANDOM_BITS)).hex()
        own = [int(regular_receiver(number)) for number in range(REGULARS) if number % rounds == position % rounds]
        receivers = own + [1_000_000_000 + rng.getrandbits(26) for _ in range(REQUEST_RECEIVERS - len(own))]
        yield _request(one, slot, at), _messages(one, slot, receivers, at)


def _request(one: str, slot: int, at: Instant) -> bytes:
    row = (f"\\\\x{one}", slot, ACCOUNT, Product.SMS.number, REQUEST_RECEIVERS, at, SENDER, TEXT, '["name"]', 0, 0)
    return ("\t".join(map(str, row)) + "\n").encode()


def _messages(one: str, slot: int, receivers: list[int], at: Instant) -> bytes:
    head, kind = f"\\\\x{one}", Product.SMS.number
    ended = f'{kind}\t{Status.COMPLETED.number}\t{Outcome.DELIVERED.number}\t{at + SECOND}\t["홍길동"]'
    lines = [f"{head}{number:06x}\t{slot}\t{ACCOUNT}\t{to}\t{ended}\n" for number, to in enumerate(receivers, 1)]
    return "".join(lines).encode()


def _copy(connection: "psycopg.Connection[Any]", into: str, lines: bytes) -> None:
    with connection.cursor().copy(f"copy {into} from stdin".encode()) as copying:
        copying.write(lines)


def _measure_lookups(env: PostgresEnvironment, data: Path) -> list[float]:
    with env.run_pabal(data, "months") as server:

        def looked_up(count: int, *, keeps_answers: bool = False) -> load.LoadResult:
            return load.run(
                load.LoadPlan(
                    port=server.port,
                    path=bodies.LIST,
                    key=env.key,
                    bodies=bodies.lookups(REGULARS),
                    count=count,
                    keeps_answers=keeps_answers,
                )
            )

        for answer in looked_up(CHECKED, keeps_answers=True).answers:
            if answer.count(b'"messageId"') != MESSAGES_OF_A_REGULAR:
                raise BenchmarkFailed(
                    f"a receiver's page does not show {MESSAGES_OF_A_REGULAR} messages: {answer!r}"
                )
        looked_up(WARM_UP)
        return looked_up(LOOKUPS).latencies_s
