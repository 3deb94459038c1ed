"""Scrubbing zeroes unused bytes of pages, and nothing else."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random

import apsw
import pytest

from pabal.store.engine.sqlite.sqlite_scrub import Scrubber, find_gap, scrub_pages

WORD = b"CANARY"
MANY = 10**6


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[apsw.Connection]:
    """A file whose pages were split and merged many times, with a row on several pages."""
    with closing(apsw.Connection(str(tmp_path / "a.db"))) as connection:
        connection.execute("pragma journal_mode = wal")
        connection.execute("pragma secure_delete = on")
        connection.execute("create table t (a blob primary key, b text) without rowid")
        connection.execute("create index i on t (b)")
        rng = Random(1)
        for number in range(3000):
            key = rng.randbytes(16)
            text = WORD.decode() * (2000 if number % 500 == 0 else rng.randrange(1, 30))
            connection.execute("insert into t values (?, ?)", (key, text))
        yield connection


def test_erased_text_is_gone_from_the_file_and_the_rest_is_intact(
    connection: apsw.Connection, tmp_path: Path
) -> None:
    connection.execute("update t set b = hex(a)")
    before = connection.execute("select * from t order by a").fetchall()
    connection.execute("pragma wal_checkpoint(truncate)").fetchall()
    assert WORD in (tmp_path / "a.db").read_bytes()  # SQLite alone leaves copies

    assert scrub_pages(tmp_path / "a.db", 1, MANY) == 1

    assert WORD not in (tmp_path / "a.db").read_bytes()
    assert connection.execute("pragma integrity_check").fetchall() == [("ok",)]
    assert connection.execute("select * from t order by a").fetchall() == before
    with closing(apsw.Connection(str(tmp_path / "a.db"))) as fresh:
        assert fresh.execute("select * from t order by a").fetchall() == before


def test_pages_are_scrubbed_a_few_at_a_time(connection: apsw.Connection, tmp_path: Path) -> None:
    total = connection.pragma("page_count")
    assert isinstance(total, int)

    assert scrub_pages(tmp_path / "a.db", 1, 2) == 3
    assert scrub_pages(tmp_path / "a.db", total, 2) == 1


def test_scrubbing_gives_way_to_a_writer(connection: apsw.Connection, tmp_path: Path) -> None:
    connection.execute("begin immediate")

    assert scrub_pages(tmp_path / "a.db", 1, MANY) is None

    connection.execute("commit")


def test_others_write_whenever_scrubbing_does_not_hold_them(connection: apsw.Connection, tmp_path: Path) -> None:
    connection.execute("update t set b = hex(a)")
    held = 0

    @contextmanager
    def hold() -> Iterator[None]:
        nonlocal held
        held += 1
        connection.execute("insert into t values (?, 'meanwhile')", (held.to_bytes(2, "big"),))  # waits for nobody
        yield

    assert scrub_pages(tmp_path / "a.db", 1, MANY, hold) == 1

    assert held > 1
    assert WORD not in (tmp_path / "a.db").read_bytes()
    assert connection.execute("pragma integrity_check").fetchall() == [("ok",)]
    assert connection.execute("select count(*) from t where b = 'meanwhile'").fetchall() == [(held,)]


def test_scrubbing_gives_way_to_a_reader_of_an_old_version(connection: apsw.Connection, tmp_path: Path) -> None:
    """The log cannot be folded into the file while somebody reads what was before."""
    connection.execute("pragma wal_checkpoint(truncate)").fetchall()
    with closing(apsw.Connection(str(tmp_path / "a.db"))) as reader:
        reader.execute("begin")
        reader.execute("select count(*) from t").fetchall()
        connection.execute("update t set b = ''")

        assert scrub_pages(tmp_path / "a.db", 1, MANY) is None


def test_scrubbing_rests_until_somebody_writes(connection: apsw.Connection, tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    connection.execute("update t set b = hex(a)")
    with closing(Scrubber(file)) as scrubber:
        assert scrubber.run()
        assert scrubber.run()  # the first round has emptied the log
        leave_in_gap(file, WORD)

        assert scrubber.run()
        assert WORD in file.read_bytes()

        connection.execute("delete from t where a = (select min(a) from t)")
        assert scrubber.run()
        assert WORD not in file.read_bytes()


def test_file_written_during_a_pass_is_scrubbed_again(connection: apsw.Connection, tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    with closing(Scrubber(file, pages_at_a_time=10)) as scrubber:
        total = connection.pragma("page_count")
        assert isinstance(total, int)
        rounds_of_a_pass = -(-total // 10)
        assert scrubber.run()
        connection.execute("update t set b = hex(a)")
        for _ in range(2 * rounds_of_a_pass + 1):
            assert scrubber.run()

        assert WORD not in file.read_bytes()


def leave_in_gap(file: Path, word: bytes) -> None:
    """Write a word into the unused bytes of the first page that has room for it, as SQLite may leave it."""
    with file.open("r+b") as raw:
        size = int.from_bytes(raw.read(18)[16:18], "big")
        for number in range(2, file.stat().st_size // size + 1):
            raw.seek((number - 1) * size)
            begin, end = find_gap(raw.read(size), number)
            if end - begin >= len(word):
                raw.seek((number - 1) * size + begin)
                raw.write(word)
                return
    raise AssertionError("no page has room")


@pytest.mark.parametrize(
    ("page", "gap"),
    [
        (bytes([13, 0, 0, 0, 2, 0, 60, 0]) + bytes(56), (12, 60)),  # two cells
        (bytes([5, 0, 0, 0, 1, 0, 60, 0]) + bytes(56), (14, 60)),  # an interior page has a longer header
        (bytes([0, 0, 0, 0, 2, 0, 60, 0]) + bytes(56), (0, 0)),  # no rows
        (bytes([13, 0, 0, 0, 2, 0, 65, 0]) + bytes(56), (0, 0)),  # beyond its end
        (bytes([13, 0, 0, 0, 26, 0, 60, 0]) + bytes(56), (0, 0)),  # full
    ],
)
def test_gap_of_a_page_is_between_its_pointers_and_its_cells(page: bytes, gap: tuple[int, int]) -> None:
    assert find_gap(page, 2) == gap
