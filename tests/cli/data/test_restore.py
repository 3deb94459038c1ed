"""`pabal restore`: a backup in place of the store, and what was there kept aside."""

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from pabal.domain.base.dates import HOUR, Instant
from pabal.domain.sends.message import Status
from pabal.service.policy import build_policy
from pabal.service.upkeep.housekeeping import expire_overdue
from pabal.settings.data_directory import process_lock
from pabal.settings.settings import load
from pabal.store.accounts import accounts
from pabal.store.engine.base import Tx
from pabal.store.engine.migrate import all_migrations, split_statements
from pabal.store.engine.sqlite import sqlite_backup
from pabal.store.messages import messages
from pabal.store.queue import queue as job_queue
from pabal.world import RealWorld
from tests.fixtures.cli import CommandLine, count_by_status
from tests.fixtures.rows import CARRIER, message_id, sms, store_request
from tests.fixtures.second_step import LABEL, NUMBER

LAST = all_migrations()[-1]
NOW = RealWorld().now()
WAITING, SENDING, CANCEL = Status.WAITING.number, Status.SENDING.number, Status.CANCEL.number


@pytest.fixture
def backup(command_line: CommandLine, tmp_path: Path) -> Path:
    """A backup of the store, to which an account `late` was added since."""
    file = tmp_path / "backup.db"
    command_line("backup", file)
    command_line("key", "create", "--account", "late", "--new-account")
    return file


def names(tx: Tx) -> list[str]:
    return [each.name for each in accounts.list_accounts(tx)]


def aside(command_line: CommandLine) -> Path:
    (found,) = command_line.data.glob("pabal.db.before-*")
    return found


def untouched(command_line: CommandLine) -> bool:
    kept = sqlite_backup.query_file(command_line.store, names)
    return command_line.files() - {"pabal.lock"} == {"pabal.db"} and kept == ["acme", "late"]


def test_restore_replaces_the_store_and_keeps_the_previous_one(command_line: CommandLine, backup: Path) -> None:
    done = command_line("restore", backup)

    assert done.status == 0
    assert sqlite_backup.query_file(command_line.store, names) == ["acme"]
    assert sqlite_backup.query_file(aside(command_line), names) == ["acme", "late"]
    assert f"the previous store is {aside(command_line)}" in done.out
    assert command_line.store.stat().st_mode & 0o777 == 0o600
    assert "acme" in command_line("account", "list").out


def test_backup_is_restored_into_an_empty_directory(
    command_line: CommandLine, backup: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = CommandLine(tmp_path / "new", capsys)

    assert new("restore", backup).status == 0

    assert new.files() == {"pabal.db", "pabal.lock"}
    assert sqlite_backup.query_file(new.store, names) == ["acme"]


def test_store_behind_a_symlink_is_replaced_in_place(
    command_line: CommandLine, backup: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    command_line.store.rename(elsewhere / "kept.db")
    command_line.store.symlink_to(elsewhere / "kept.db")

    assert command_line("restore", backup).status == 0

    assert command_line.store.is_symlink()
    assert sqlite_backup.query_file(elsewhere / "kept.db", names) == ["acme"]
    assert len(list(elsewhere.iterdir())) == 2


def test_restore_is_refused_while_a_service_runs(command_line: CommandLine, backup: Path) -> None:
    with process_lock(load({}, data=command_line.data)):
        refused = command_line("restore", backup)

    assert refused.status == 2
    assert "another pabal is running on" in refused.err
    assert untouched(command_line)


def test_restore_is_refused_while_another_command_uses_the_store(command_line: CommandLine, backup: Path) -> None:
    other = apsw.Connection(str(command_line.store))
    other.execute("select count(*) from accounts")

    refused = command_line("restore", backup)
    other.close()

    assert refused.status == 2
    assert "another process has" in refused.err
    assert untouched(command_line)


def replace_by_another_database(backup: Path) -> None:
    backup.unlink()
    other = apsw.Connection(str(backup))
    other.execute("create table migrations (number integer)")
    other.close()


def make_newer(backup: Path) -> None:
    sqlite_backup.write_file(
        backup, lambda tx: tx.execute("insert into migrations values (?, 'x', 0)", (LAST.number + 1,))
    )


def damage(backup: Path) -> None:
    sqlite_backup.write_file(
        backup, lambda tx: store_request(tx, 1, sms([f"010{number:08}" for number in range(1000)]))
    )
    damaged = bytearray(backup.read_bytes())
    damaged[4 * 4096 : -4096] = b"\xff" * (len(damaged) - 5 * 4096)
    backup.write_bytes(damaged)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda backup: backup.write_bytes(b"not a database at all, but long " * 200), "it is not a SQLite file"),
        (lambda backup: backup.write_bytes(b""), "it is not a store of Pabal's"),
        (replace_by_another_database, "it is not a store of Pabal's"),
        (make_newer, "run the version that made it, or a newer one"),
        (damage, "use another backup"),
    ],
    ids=["text", "empty", "of another program", "newer", "damaged"],
)
def test_file_that_is_no_sound_backup_is_not_restored(
    command_line: CommandLine, backup: Path, spoil: Callable[[Path], object], said: str
) -> None:
    spoil(backup)

    refused = command_line("restore", backup)

    assert refused.status == 2
    assert said in refused.err
    assert untouched(command_line)


def test_store_itself_or_a_missing_file_is_not_restored(command_line: CommandLine, backup: Path) -> None:
    itself, absent = (
        command_line("restore", command_line.store),
        command_line("restore", command_line.data / "absent"),
    )

    assert (itself.status, absent.status) == (2, 2)
    assert "is the store itself" in itself.err
    assert "does not exist" in absent.err
    assert untouched(command_line)


def test_restore_ignores_the_wal_that_a_killed_service_left(
    command_line: CommandLine, backup: Path, tmp_path: Path
) -> None:
    service = apsw.Connection(str(command_line.store))
    service.execute("insert into cursors values ('ahead', x'00')")
    left = {each: each.read_bytes() for each in command_line.data.iterdir()}
    service.close()
    for each, content in left.items():
        each.write_bytes(content)
    assert (command_line.data / "pabal.db-wal").stat().st_size

    assert command_line("restore", backup).status == 0

    assert command_line.files() == {"pabal.db", "pabal.lock", aside(command_line).name}
    marks = [
        sqlite_backup.query_file(each, lambda tx: tx.fetch_all("select name from cursors"))
        for each in (command_line.store, aside(command_line))
    ]
    assert marks == [[], [("ahead",)]]


def queue(tx: Tx, now: Instant) -> None:
    """Have messages of all kinds: two that are due, one in hand, one taken, one for later."""
    store_request(tx, 1, sms(["01000000001", "01000000002"]), at=now - HOUR)
    for number in (2, 3):
        store_request(tx, number, at=now - HOUR)
        job_queue.claim(tx, [message_id(number, at=now - HOUR)], now, now + HOUR)
        messages.mark_sending(tx, [message_id(number, at=now - HOUR)])
    job_queue.await_receipts(tx, [job_queue.AcceptedJob(message_id(3, at=now - HOUR), 1, "r3", now + HOUR)])
    store_request(tx, 4, at=now - HOUR, scheduled_at=now + 24 * HOUR)


@pytest.fixture
def busy(command_line: CommandLine, tmp_path: Path) -> Path:
    """A backup whose queue is not empty."""
    file = tmp_path / "busy.db"
    command_line.run_in_store(queue, NOW)
    command_line("backup", file)
    return file


def test_restore_asks_about_due_messages_first(command_line: CommandLine, busy: Path) -> None:
    before = command_line.store.read_bytes()

    asked = command_line("restore", busy)

    assert asked.status == 2
    assert "has 3 due messages" in asked.err
    assert "--due send" in asked.err
    assert "--due cancel" in asked.err
    assert command_line.files() == {"pabal.db", "pabal.lock"}
    assert command_line.store.read_bytes() == before


def test_restore_sends_due_messages_on_request(command_line: CommandLine, busy: Path) -> None:
    done = command_line("restore", busy, "--due", "send")

    assert done.status == 0
    assert "3 messages will be sent at the next start" in done.out
    assert "1 messages are scheduled for later, 1 await their receipts" in done.out
    assert sqlite_backup.query_file(command_line.store, count_by_status) == [(WAITING, 3), (SENDING, 2)]
    assert command_line.run_in_store(lambda tx: tx.fetch_one("select count(*) from jobs")) == (5,)


def test_restore_cancels_due_messages_or_awaits_their_receipts(command_line: CommandLine, busy: Path) -> None:
    done = command_line("restore", busy, "--due", "cancel")

    assert done.status == 0
    assert "cancelled 2 messages that may have been sent since the backup" in done.out
    assert "1 messages were in flight: each awaits its receipt" in done.out
    assert sqlite_backup.query_file(command_line.store, count_by_status) == [
        (WAITING, 1),
        (SENDING, 2),
        (CANCEL, 2),
    ]
    due_tomorrow = command_line.run_in_store(lambda tx: job_queue.find_due(tx, 0, CARRIER, NOW + 48 * HOUR, 10))
    assert due_tomorrow == [message_id(4, at=NOW - HOUR)], "nothing but what is for later is ever handed over"


def test_restored_in_flight_message_without_receipt_ends_as_unknown(command_line: CommandLine, busy: Path) -> None:
    command_line("restore", busy, "--due", "cancel")

    policy = build_policy(load({}))
    ended = command_line.run_in_store(
        expire_overdue, 0, CARRIER, policy, RealWorld().now() + policy.sms_timeout_ms + HOUR
    ).ended

    assert sorted(outcome.number for _, outcome, *_ in ended) == [2000, 9001]


@pytest.fixture
def older(tmp_path: Path, second_step: None) -> Path:
    """A backup of a version that did not know the last migration, with a message that is due."""

    def make(tx: Tx) -> None:
        tx.execute(
            "create table migrations (number integer primary key, name text not null, applied_at {big} not null)"
        )
        for step in all_migrations()[:-1]:
            for statement in split_statements(step.sql):
                tx.execute(statement)
            tx.execute("insert into migrations values (?, ?, 0)", (step.number, step.name))
        store_request(tx, 1, at=NOW - HOUR)

    file = tmp_path / "older.db"
    sqlite_backup.write_file(file, make)
    return file


def test_older_backup_is_restored_without_migration(command_line: CommandLine, older: Path) -> None:
    done = command_line("restore", older, "--due", "send")

    assert done.status == 0
    assert f"{LABEL}; `pabal migrate` or the next start applies them" in done.out
    assert sqlite_backup.query_file(command_line.store, sqlite_backup.schema_version) == NUMBER - 1


def test_older_backup_is_migrated_if_messages_are_cancelled(command_line: CommandLine, older: Path) -> None:
    done = command_line("restore", older, "--due", "cancel")

    assert done.status == 0
    assert f"applied {LABEL}" in done.out
    assert sqlite_backup.query_file(command_line.store, sqlite_backup.schema_version) == NUMBER
    assert sqlite_backup.query_file(command_line.store, count_by_status) == [(CANCEL, 1)]


def test_cancel_after_restore_cancels_due_messages(command_line: CommandLine, busy: Path) -> None:
    counted = command_line("cancel-after-restore", "--check")
    before = sqlite_backup.query_file(command_line.store, count_by_status)

    done = command_line("cancel-after-restore")

    assert counted.out.startswith("3 messages may have been sent since the backup (newest request: ")
    assert before == [(WAITING, 3), (SENDING, 2)]
    assert "cancelled 2 messages that may have been sent since the backup" in done.out
    assert sqlite_backup.query_file(command_line.store, count_by_status) == [
        (WAITING, 1),
        (SENDING, 2),
        (CANCEL, 2),
    ]


def test_cancel_after_restore_is_refused_while_a_service_runs(command_line: CommandLine, busy: Path) -> None:
    with process_lock(load({}, data=command_line.data)):
        refused = command_line("cancel-after-restore")

    assert refused.status == 2
    assert "another pabal is running on" in refused.err
    assert sqlite_backup.query_file(command_line.store, count_by_status) == [(WAITING, 3), (SENDING, 2)]
