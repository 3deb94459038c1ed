"""Backups of the embedded store: one snapshot, complete or absent, without blocking writers."""

from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from pabal.store.engine.base import StoreUnavailable, Tx
from pabal.store.engine.migrate import migrate
from pabal.store.engine.sqlite import sqlite_backup
from pabal.store.engine.sqlite.sqlite_backup import PAGES_PER_STEP, NotAStore
from pabal.store.engine.sqlite.sqlite_store import SqliteTx
from tests.fixtures.virtual import NOON

PAGE_BYTES = 4096


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return tmp_path / "pabal.db"


@pytest.fixture
def writer(source: Path) -> Iterator[apsw.Connection]:
    """The connection of a service that writes to the file and does not wait for locks."""
    connection = apsw.Connection(str(source))
    connection.execute("pragma journal_mode = wal; pragma synchronous = off")
    migrate(SqliteTx(connection), NOON)
    yield connection
    connection.close()


def mark(connection: apsw.Connection, name: str, value_bytes: int = 1) -> None:
    connection.execute("insert into cursors values (?, zeroblob(?))", (name, value_bytes))


def marks(tx: Tx) -> list[str]:
    return [row[0] for row in tx.fetch_all("select name from cursors order by name")]


def ignore(pages: int, total: int) -> None:
    """Ignore the progress."""


def there(folder: Path) -> set[str]:
    return {each.name for each in folder.iterdir()}


def test_backup_in_steps_is_one_snapshot_and_does_not_block_writers(
    source: Path, writer: apsw.Connection, tmp_path: Path
) -> None:
    mark(writer, "before", 2 * PAGES_PER_STEP * PAGE_BYTES)
    steps: list[tuple[int, int]] = []

    def write_meanwhile(pages: int, total: int) -> None:
        steps.append((pages, total))
        mark(writer, f"meanwhile {len(steps)}")

    with sqlite_backup.verified_copy(source, tmp_path / "copy", write_meanwhile) as part:
        sqlite_backup.install(part, tmp_path / "copy")

    assert sqlite_backup.query_file(tmp_path / "copy", marks) == ["before"]
    assert len(steps) == 3, "the backup did not restart"
    assert steps[-1][0] == steps[-1][1] > 2 * PAGES_PER_STEP
    assert len(sqlite_backup.query_file(source, marks)) == 4


def test_backup_is_one_file_readable_only_by_its_owner(
    source: Path, writer: apsw.Connection, tmp_path: Path
) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()

    with sqlite_backup.verified_copy(source, folder / "copy", ignore) as part:
        assert part.stat().st_mode & 0o777 == 0o600
        sqlite_backup.install(part, folder / "copy")

    assert there(folder) == {"copy"}
    assert (folder / "copy").stat().st_mode & 0o777 == 0o600
    assert sqlite_backup.query_file(folder / "copy", sqlite_backup.schema_version) > 0
    assert there(folder) == {"copy"}, "inspecting leaves no other file"


def test_backup_of_a_symlinked_store_includes_its_wal(
    source: Path, writer: apsw.Connection, tmp_path: Path
) -> None:
    mark(writer, "ahead")
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "linked.db"
    link.symlink_to(source)

    with sqlite_backup.verified_copy(link, tmp_path / "copy", ignore) as part:
        assert sqlite_backup.query_file(part, marks) == ["ahead"]


def test_interrupted_backup_leaves_no_file(source: Path, writer: apsw.Connection, tmp_path: Path) -> None:
    before = there(tmp_path)

    def interrupt(pages: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), sqlite_backup.verified_copy(source, tmp_path / "copy", interrupt):
        pass

    assert there(tmp_path) == before


def test_damaged_file_is_not_accepted_as_a_backup(source: Path, writer: apsw.Connection, tmp_path: Path) -> None:
    mark(writer, "much", 100 * PAGE_BYTES)
    writer.execute("pragma wal_checkpoint(truncate)")
    with source.open("r+b") as file:
        file.seek(3 * PAGE_BYTES)
        file.write(b"\xff" * 20 * PAGE_BYTES)

    with pytest.raises(NotAStore, match="damaged"), sqlite_backup.verified_copy(source, tmp_path / "copy", ignore):
        pass


def test_inspecting_an_unreadable_file_raises(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("not a database, and long enough to be looked at " * 10, encoding="utf-8")

    with pytest.raises(StoreUnavailable):
        sqlite_backup.query_file(tmp_path / "text", sqlite_backup.schema_version)
    with pytest.raises(StoreUnavailable):
        sqlite_backup.query_file(tmp_path / "absent", sqlite_backup.schema_version)

    assert there(tmp_path) == {"text"}


def test_archived_file_includes_its_wal(source: Path, writer: apsw.Connection, tmp_path: Path) -> None:
    mark(writer, "ahead")
    writer.close()

    sqlite_backup.archive(source, tmp_path / "archived")

    assert there(tmp_path) == {"pabal.db", "archived"}
    assert sqlite_backup.query_file(tmp_path / "archived", marks) == ["ahead"]


def test_wal_of_a_damaged_file_is_archived_with_it(source: Path, writer: apsw.Connection, tmp_path: Path) -> None:
    writer.execute("pragma wal_checkpoint(truncate)")
    mark(writer, "ahead")
    log = (tmp_path / "pabal.db-wal").read_bytes()
    writer.close()
    source.write_bytes(b"no header" * PAGE_BYTES)
    (tmp_path / "pabal.db-wal").write_bytes(log)

    sqlite_backup.archive(source, tmp_path / "archived")

    assert there(tmp_path) == {"pabal.db", "archived", "archived-wal"}
    assert (tmp_path / "archived-wal").read_bytes() == log


def test_file_in_use_is_not_archived(source: Path, writer: apsw.Connection, tmp_path: Path) -> None:
    before = there(tmp_path)

    with pytest.raises(sqlite_backup.StoreInUse):
        sqlite_backup.archive(source, tmp_path / "archived")

    assert there(tmp_path) == before
