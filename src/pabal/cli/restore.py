"""`pabal restore`: a backup in place of the embedded store; and `pabal stand-down`, for one restored otherwise."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pabal.app import AlreadyRunning, process_lock
from pabal.cli.backup import BACKUP_GUIDE, Progress, require_sqlite
from pabal.cli.command import WORLD, CommandError, add_command, with_store
from pabal.domain import dates
from pabal.domain.dates import Instant
from pabal.service.delivery.heartbeat import find_live_workers
from pabal.service.policy import build_policy
from pabal.service.upkeep.cancel_after_restore import CancelAfterRestoreResult, cancel_after_restore
from pabal.settings.settings import Settings
from pabal.store import restored_queue
from pabal.store.engine import sqlite_backup
from pabal.store.engine.base import Store, StoreUnavailable, Tx
from pabal.store.engine.migrate import SchemaTooNew, migrate, pending
from pabal.store.restored_queue import RestoredQueue

SEND, CANCEL = "send", "cancel"


def add_commands(subparsers: Any) -> None:
    """Declare the commands of this file."""
    one = add_command(
        subparsers, "restore", _restore, "Put a backup in place of the SQLite store; the service must not run."
    )
    one.add_argument("file", type=Path, metavar="FILE", help="what `pabal backup` made")
    one.add_argument(
        "--due",
        choices=(SEND, CANCEL),
        help="what to do with messages that may have been sent since the backup: send them, perhaps a second time,"
        " or cancel them, perhaps never sent; needed where there are any",
    )
    does = "Cancel what is due, in a store that was restored otherwise; the service must not run."
    one = add_command(subparsers, "stand-down", _cancel_after_restore, does)
    one.add_argument("--check", action="store_true", help="change nothing; say how many messages it would be")


def _restore(settings: Settings, given: argparse.Namespace) -> None:
    require_sqlite(settings, "pg_restore, or a base backup and its archive")
    store, file = settings.store_path.resolve(), given.file
    if not file.is_file():
        raise CommandError(f"there is no file {file}")
    if store.exists() and file.samefile(store):
        raise CommandError(f"{file} is the store itself; name a backup")
    with (
        _require_stopped(settings),
        _report_errors(store, file),
        sqlite_backup.verified_copy(file, store, Progress()) as part,
    ):
        missing = sqlite_backup.read_file(part, pending)
        queue = sqlite_backup.read_file(part, restored_queue.summarize, WORLD.now())
        if queue.maybe_sent and not given.due:
            raise CommandError(_question(queue, file, settings))
        done = _cancel_due(part, settings) if queue.maybe_sent and given.due == CANCEL else []
        for each in (part, settings.store_path.with_suffix(".lock")):
            sqlite_backup.copy_owner(each, like=store.parent)
        aside = _keep_previous(store, settings)
        sqlite_backup.install(part, store)
    print(f"{store} is now what {file} was{_newest_request(queue, settings)}")
    if missing and not done:
        print(f"its schema lacks {', '.join(missing)}: `pabal migrate`, or the next start, applies it")
    print("\n".join(done) or f"{queue.maybe_sent:,} messages will be sent at the next start")
    print(f"{queue.scheduled:,} messages are for later, {queue.awaiting_receipt:,} wait for their receipts")
    if aside:
        print(f"what was there before is {aside}; remove it when you need it no more")
    print(f"what was done since the backup is forgotten, revoked keys among it: see {BACKUP_GUIDE}")


@contextmanager
def _require_stopped(settings: Settings) -> Iterator[None]:
    """See that no service runs on the store, and that none starts meanwhile."""
    try:
        with process_lock(settings):
            yield
    except AlreadyRunning as no:
        raise CommandError(f"this cannot be done under a running service: {no}") from None


@contextmanager
def _report_errors(store: Path, file: Path) -> Iterator[None]:
    """Say what a backup is not good for; nothing was changed then."""
    try:
        yield
    except sqlite_backup.NotAStore as no:
        raise CommandError(f"{file} was not restored: {no}; take another backup") from None
    except SchemaTooNew as no:
        raise CommandError(f"{file} was not restored: {no}") from None
    except sqlite_backup.StoreInUse:
        raise CommandError(f"another process has {store} open; let it end, then try again") from None
    except (OSError, StoreUnavailable) as error:
        raise CommandError(f"{file} was not restored: {error}") from None


def _cancel_due(part: Path, settings: Settings) -> list[str]:
    """Cancel in the copy what may have been sent; return what was done, in words."""

    def work(tx: Tx, now: Instant) -> list[str]:
        applied = [f"applied {name}" for name in migrate(tx, now)]  # the works below are this version's
        return applied + _describe(cancel_after_restore(tx, build_policy(settings), now))

    return sqlite_backup.write_file(part, work, WORLD.now())


def _describe(done: CancelAfterRestoreResult) -> list[str]:
    said = [
        f"{done.cancelled:,} messages that may have been sent since are cancelled",
        f"{done.held:,} that were being sent then wait for their receipts, and fail as unknown without one",
    ]
    if done.halted_campaigns:
        said.append(f"{done.halted_campaigns:,} campaigns on their way are halted; /console/requests shows them")
    return said


def _cancel_after_restore(settings: Settings, given: argparse.Namespace) -> None:
    async def count(store: Store) -> list[str]:
        queue = await store.read(restored_queue.summarize, WORLD.now())
        return [
            f"{queue.maybe_sent:,} messages may have been sent since the backup{_newest_request(queue, settings)}"
        ]

    async def work(store: Store) -> list[str]:
        if working := await find_live_workers(store):
            raise CommandError(
                f"this cannot be done while processes deliver; stop {', '.join(working)}, then try again"
            )
        return _describe(await store.write(cancel_after_restore, build_policy(settings), WORLD.now()))

    with _require_stopped(settings):
        print("\n".join(with_store(settings, count if given.check else work)))


def _keep_previous(store: Path, settings: Settings) -> Path | None:
    if not store.exists():
        return None
    now = dates.format_timestamp(WORLD.now(), settings.zone).translate(
        {ord("-"): None, ord(":"): None, ord(" "): "-"}
    )
    aside = store.with_name(f"{store.name}.before-{now}")
    sqlite_backup.archive(store, aside)
    return aside


def _question(queue: RestoredQueue, file: Path, settings: Settings) -> str:
    return (
        f"nothing was restored yet. {file}{_newest_request(queue, settings)} holds {queue.maybe_sent:,} messages"
        " that were waiting or being sent and are due: whoever had the store since may have sent them.\n"
        f"  --due {SEND}    hands them over at the next start; who got one already gets it twice\n"
        f"  --due {CANCEL}  cancels them; who has not got one will not get it\n"
        f"See {BACKUP_GUIDE}."
    )


def _newest_request(queue: RestoredQueue, settings: Settings) -> str:
    if queue.newest_request_at is None:
        return " (it has no requests)"
    return f" (its newest request is of {dates.format_timestamp(queue.newest_request_at, settings.zone)})"
