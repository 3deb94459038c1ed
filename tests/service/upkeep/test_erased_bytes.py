"""What is erased is not readable in the files of the store either."""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from pabal.domain.base.dates import DAY
from pabal.domain.sends.message import Outcome, Product
from pabal.domain.sends.sending import Receiver
from pabal.service.upkeep import privacy
from pabal.service.upkeep.housekeeping import run_round
from pabal.service.upkeep.privacy import VACUUM_INTERVAL_S
from pabal.store.engine.postgres.postgres_store import connect
from pabal.store.engine.postgres.postgres_tx import Connection
from pabal.store.engine.postgres.vacuum import MARGIN_MS, vacuum_table
from pabal.store.engine.sqlite import sqlite_backup
from tests.fixtures import postgres
from tests.fixtures.engines import sqlite_only
from tests.fixtures.service import PHONE, FakeCarrier, Start, account_id_of, count_rows, sms
from tests.fixtures.virtual import NOON, Environment, VirtualWorld

postgresql_only = pytest.mark.parametrize("engine", ["postgresql"], indirect=True)

REQUESTS = 60
RECEIVERS = 20
WORD = "카나리아"
FIRST_NUMBER = 1_077_000_000
"""Receivers are stored as integers of four bytes, big-endian."""


def canary_texts(number: int) -> list[str]:
    return [f"{WORD}{kind}{number:04}" for kind in ("본문", "제목", "변수", "글", "참조")]


def found_in(folder: Path) -> list[bytes]:
    """Return the canaries that are readable in any file of a folder."""
    everything = b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())
    low, high = (each.to_bytes(4, "big") for each in (FIRST_NUMBER, FIRST_NUMBER + REQUESTS * RECEIVERS))
    starts = re.escape(FIRST_NUMBER.to_bytes(4, "big")[:2])
    numbers = re.findall(starts + rb"..", everything, re.DOTALL)
    return [*re.findall(WORD.encode() + rb".{10}", everything, re.DOTALL), *(n for n in numbers if low <= n < high)]


@sqlite_only
async def test_nothing_erased_is_readable_in_the_files(start: Start, tmp_path: Path) -> None:
    env = await start()
    for number in range(REQUESTS):
        content, subject, value, own, reference = canary_texts(number)
        receivers = [
            Receiver(
                f"0{FIRST_NUMBER + number * RECEIVERS + each}",
                (value * 3,),
                own * 20 if each % 7 == 0 else None,
                reference,
            )
            for each in range(RECEIVERS)
        ]
        await env.send(
            sms(
                product=Product.LMS,
                content=f"{content} " * (90 if number % 9 == 0 else 3),  # some need pages of their own
                subject=subject,
                variables=("name",),
                receivers=receivers,
            ),
        )
    await env.wait(30)
    assert len(found_in(tmp_path)) > REQUESTS * RECEIVERS

    env = await start(world=VirtualWorld(1, NOON + 181 * DAY))
    await env.wait(1)
    await run_round(env.context)
    assert found_in(tmp_path) == []
    assert await env.store.read(lambda tx: tx.fetch_all("pragma integrity_check")) == [("ok",)]
    copy = tmp_path / "backup.db"
    with sqlite_backup.verified_copy(tmp_path / "pabal.db", copy, lambda done, total: None) as part:
        sqlite_backup.install(part, copy)
    assert found_in(tmp_path) == []


@contextlib.contextmanager
def connected(folder: Path) -> Iterator[Connection]:
    """Connect to the store of a test beside the service."""
    with contextlib.closing(connect(postgres.address_in(folder) or "")) as connection:
        yield connection


def tables_with(word: str, folder: Path) -> list[str]:
    """Return the tables and indexes of a PostgreSQL store in whose files a word is readable."""
    with connected(folder) as connection:
        connection.execute(b"checkpoint")
        (data,) = connection.execute(b"show data_directory").fetchall()[0]
        files = connection.execute(
            b"select relname, pg_relation_filepath(oid) from pg_class where relkind in ('r', 'i', 't')"
        ).fetchall()
    return sorted(name for name, path in files if word.encode() in (Path(data) / path).read_bytes())


async def send_and_erase(env: Environment) -> None:
    """Send two texts to a number, one of its own and one beside another receiver, and erase the number."""
    own = [Receiver(PHONE, (), WORD * 3), Receiver("01087654321", (), "다른 글")]
    await env.send(sms(content=WORD * 3))
    await env.send(sms(receivers=own))
    await env.wait(60)
    await privacy.erase(env.context, await account_id_of(env), PHONE)


@postgresql_only
async def test_vacuum_removes_erased_texts_from_the_files(start: Start, tmp_path: Path) -> None:
    env = await start()
    await send_and_erase(env)
    assert tables_with(WORD, tmp_path) == ["messages_202611", "requests_202611", "simulated_messages"]
    assert await count_rows(env, "erased_tables") > 0

    await env.wait(2 * VACUUM_INTERVAL_S)

    assert tables_with(WORD, tmp_path) == []
    assert await count_rows(env, "erased_tables") == 0


@postgresql_only
async def test_what_is_erased_at_its_end_leaves_the_files_too(start: Start, tmp_path: Path) -> None:
    carrier = FakeCarrier()
    env = await start(carrier)
    await env.send(sms(content=WORD * 3))
    await env.wait(1)
    done = await privacy.erase(env.context, await account_id_of(env), PHONE)
    await env.wait(2 * VACUUM_INTERVAL_S)
    assert (done.pending, tables_with(WORD, tmp_path)) == (1, ["requests_202611"])

    await carrier.report((carrier.ids[0].hex(), Outcome.DELIVERED))
    await env.wait(4 * VACUUM_INTERVAL_S)

    assert tables_with(WORD, tmp_path) == []


@postgresql_only
async def test_vacuum_waits_for_transactions_that_may_read_what_was_erased(start: Start, tmp_path: Path) -> None:
    env = await start()
    with connected(tmp_path) as old, connected(tmp_path) as vacuuming:
        old.execute(b"begin isolation level repeatable read")
        old.execute(b"select 1 from messages")
        await send_and_erase(env)

        assert not vacuum_table(vacuuming, "messages_202611", erased_ms_ago=MARGIN_MS)
        assert "messages_202611" in tables_with(WORD, tmp_path)
        old.execute(b"commit")
        assert vacuum_table(vacuuming, "messages_202611", erased_ms_ago=MARGIN_MS + 10)
        assert "messages_202611" not in tables_with(WORD, tmp_path)
        assert vacuum_table(vacuuming, "messages_199901", erased_ms_ago=0)  # dropped meanwhile


@postgresql_only
async def test_large_table_is_vacuumed_without_a_lock_that_others_wait_for(start: Start, tmp_path: Path) -> None:
    env = await start()
    await send_and_erase(env)
    with connected(tmp_path) as reading, connected(tmp_path) as vacuuming:
        reading.execute(b"begin")
        reading.execute(b"select 1 from messages_202611")

        assert vacuum_table(vacuuming, "messages_202611", MARGIN_MS + 1000, max_rewritten_bytes=0)
        found = reading.execute(b"select n_dead_tup from pg_stat_user_tables where relname = 'messages_202611'")
        assert found.fetchall() == [(0,)]
