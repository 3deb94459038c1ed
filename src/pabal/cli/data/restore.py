"""Commands that restore a backup, and that cancel due messages after a restore."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pabal.cli.data.backup import BACKUP_GUIDE, Progress, require_sqlite
from pabal.cli.shared.command import WORLD, CommandError, add_command, current_actor, with_store
from pabal.cli.shared.translate import print_message
from pabal.domain.base import dates
from pabal.domain.base.dates import Instant
from pabal.service.delivery.workers.heartbeat import find_live_workers
from pabal.service.policy import build_policy
from pabal.service.upkeep.cancel_after_restore import CancelAfterRestoreResult, cancel_after_restore
from pabal.settings.data_directory import AlreadyRunning, process_lock
from pabal.settings.settings import Settings
from pabal.store.accounts import audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Store, StoreUnavailable, Tx
from pabal.store.engine.migrate import UnsupportedSchema, migrate, pending
from pabal.store.engine.sqlite import sqlite_backup
from pabal.store.queue import queue_admin
from pabal.store.queue.queue_admin import RestoredQueue

SEND, CANCEL = "send", "cancel"
"""The values of --due."""


def add_commands(subparsers: Any) -> None:
    """Add `restore` and `cancel-after-restore`."""
    help = "Replace the SQLite store by a backup. Stop the service first."
    parser = add_command(subparsers, "restore", _restore, help)
    parser.add_argument("file", type=Path, metavar="FILE", help="a file that `pabal backup` wrote")
    parser.add_argument(
        "--due",
        choices=(SEND, CANCEL),
        help="what to do with messages that may have been sent since the backup: send them (some may arrive twice)"
        " or cancel them (some may never arrive); required if there are any",
    )
    help = "Cancel due messages in a store that you restored by other means. Stop the service first."
    parser = add_command(subparsers, "cancel-after-restore", _cancel_after_restore, help)
    parser.add_argument("--check", action="store_true", help="change nothing; print how many messages it concerns")


def _restore(settings: Settings, given: argparse.Namespace) -> None:
    require_sqlite(settings, "pg_restore, or a base backup and its archive")
    store, file = settings.store_path.resolve(), given.file
    if not file.is_file():
        raise CommandError(f"{file} does not exist, or is not a file; name a file that `pabal backup` wrote")
    if store.exists() and file.samefile(store):
        raise CommandError(f"{file} is the store itself; name a backup")
    with (
        _require_stopped(settings),
        _report_errors(store, file),
        sqlite_backup.verified_copy(file, store, Progress()) as part,
    ):
        missing = sqlite_backup.query_file(part, pending)
        queue = sqlite_backup.query_file(part, queue_admin.summarize, WORLD.now())
        if queue.maybe_sent and not given.due:
            raise CommandError(_ask_about_due(queue, file, settings))
        actions = _cancel_due(part, settings) if queue.maybe_sent and given.due == CANCEL else []
        if not missing or actions:  # else it has another schema until it is migrated
            sqlite_backup.write_file(part, audit_log.add, _audit_entry("store.restore", file.name))
        for path in (part, settings.store_path.with_suffix(".lock")):
            sqlite_backup.copy_owner(path, like=store.parent)
        previous = _keep_previous(store, settings)
        sqlite_backup.install(part, store)
    print_message(f"restored {store} from {file}{_newest_request(queue, settings)}")
    if missing and not actions:
        print_message(f"missing migrations: {', '.join(missing)}; `pabal migrate` or the next start applies them")
    for line in actions or [f"{queue.maybe_sent:,} messages will be sent at the next start"]:
        print_message(line)
    print_message(
        f"{queue.scheduled:,} messages are scheduled for later, {queue.awaiting_receipt:,} await their receipts"
    )
    if previous:
        print_message(f"the previous store is {previous}; delete it when you no longer need it")
    print_message(f"changes made since the backup are lost, revoked keys among them: see {BACKUP_GUIDE}")


@contextmanager
def _require_stopped(settings: Settings) -> Iterator[None]:
    """Hold the process lock, so that no service runs on the store or starts meanwhile."""
    try:
        with process_lock(settings):
            yield
    except AlreadyRunning as error:
        raise CommandError(f"stop the service first: {error}") from None


@contextmanager
def _report_errors(store: Path, file: Path) -> Iterator[None]:
    """Turn what may go wrong with a backup into messages; the store is unchanged then."""
    try:
        yield
    except sqlite_backup.NotAStore as error:
        raise CommandError(f"{file} was not restored: {error}; use another backup") from None
    except UnsupportedSchema as error:
        raise CommandError(f"{file} was not restored: {error}") from None
    except sqlite_backup.StoreInUse:
        raise CommandError(f"another process has {store} open; wait until it ends, then try again") from None
    except (OSError, StoreUnavailable) as error:
        raise CommandError(f"{file} was not restored: {error}") from None


def _cancel_due(part: Path, settings: Settings) -> list[str]:
    """Cancel messages in the copy that may have been sent; return what was done, a line each."""

    def work(tx: Tx, now: Instant) -> list[str]:
        applied = [f"applied {name}" for name in migrate(tx, now)]  # what follows needs the current schema
        return applied + _describe(cancel_after_restore(tx, build_policy(settings), now))

    return sqlite_backup.write_file(part, work, WORLD.now())


def _describe(result: CancelAfterRestoreResult) -> list[str]:
    lines = [
        f"cancelled {result.cancelled:,} messages that may have been sent since the backup",
        f"{result.held:,} messages were in flight: each awaits its receipt, and fails as unknown without one",
    ]
    if result.halted_campaigns:
        lines.append(f"halted {result.halted_campaigns:,} campaigns; /console/requests shows them")
    return lines


def _cancel_after_restore(settings: Settings, given: argparse.Namespace) -> None:
    async def count(store: Store) -> list[str]:
        queue = await store.read(queue_admin.summarize, WORLD.now())
        return [
            f"{queue.maybe_sent:,} messages may have been sent since the backup{_newest_request(queue, settings)}"
        ]

    async def work(store: Store) -> list[str]:
        if workers := await find_live_workers(store):
            raise CommandError(f"these workers are running: {', '.join(workers)}; stop them, then try again")
        entry = _audit_entry("store.cancel_due")
        return _describe(
            await store.write(
                audit_log.run_audited, entry, cancel_after_restore, build_policy(settings), WORLD.now()
            )
        )

    with _require_stopped(settings):
        for line in with_store(settings, count if given.check else work):
            print_message(line)


def _audit_entry(action: str, target: str = "") -> AuditEntry:
    return AuditEntry(WORLD.now(), *current_actor(), None, action, target)


def _keep_previous(store: Path, settings: Settings) -> Path | None:
    """Move the current store out of the way; return its new path, or None if there is no store."""
    if not store.exists():
        return None
    now = dates.format_timestamp(WORLD.now(), settings.zone).translate(
        {ord("-"): None, ord(":"): None, ord(" "): "-"}
    )
    previous = store.with_name(f"{store.name}.before-{now}")
    sqlite_backup.archive(store, previous)
    return previous


def _ask_about_due(queue: RestoredQueue, file: Path, settings: Settings) -> str:
    return (
        f"nothing was restored yet. {file}{_newest_request(queue, settings)} has {queue.maybe_sent:,} due messages."
        " They may have been sent since the backup. Choose what to do with them:\n"
        f"  --due {SEND}    sends them at the next start; some receivers may get them twice\n"
        f"  --due {CANCEL}  cancels them; some receivers may never get them\n"
        f"See {BACKUP_GUIDE}."
    )


def _newest_request(queue: RestoredQueue, settings: Settings) -> str:
    if queue.newest_request_at is None:
        return " (no requests)"
    return f" (newest request: {dates.format_timestamp(queue.newest_request_at, settings.zone)})"
