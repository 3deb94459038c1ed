"""`pabal restore`: a backup in place of the embedded store; and `pabal stand-down`, for one restored otherwise."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pabal.app import AlreadyRunning, only_process
from pabal.cli.backup import PAGE, Progress, check_engine
from pabal.cli.command import WORLD, Stop, command, with_store
from pabal.domain import dates
from pabal.domain.dates import Instant
from pabal.service.delivery.heartbeat import at_work
from pabal.service.policy import policy_from
from pabal.service.upkeep.cancel_after_restore import StoodDown, stand_down
from pabal.settings.settings import Settings
from pabal.store import restored_queue
from pabal.store.engine import sqlite_backup
from pabal.store.engine.base import Store, StoreAway, Tx
from pabal.store.engine.migrate import SchemaTooNew, migrate, pending
from pabal.store.restored_queue import Queue

SEND, CANCEL = "send", "cancel"


def add_commands(words: Any) -> None:
    """Declare the commands of this file."""
    one = command(
        words, "restore", _restore, "Put a backup in place of the SQLite store; the service must not run."
    )
    one.add_argument("file", type=Path, metavar="FILE", help="what `pabal backup` made")
    one.add_argument(
        "--due",
        choices=(SEND, CANCEL),
        help="what to do with messages that may have been sent since the backup: send them, perhaps a second time,"
        " or cancel them, perhaps never sent; needed where there are any",
    )
    does = "Cancel what is due, in a store that was restored otherwise; the service must not run."
    one = command(words, "stand-down", _stand_down, does)
    one.add_argument("--check", action="store_true", help="change nothing; say how many messages it would be")


def _restore(settings: Settings, given: argparse.Namespace) -> None:
    check_engine(settings, "pg_restore, or a base backup and its archive")
    store, file = settings.store_path.resolve(), given.file
    if not file.is_file():
        raise Stop(f"there is no file {file}")
    if store.exists() and file.samefile(store):
        raise Stop(f"{file} is the store itself; name a backup")
    with _stopped(settings), _trouble_told(store, file), sqlite_backup.copied(file, store, Progress()) as part:
        missing = sqlite_backup.look(part, pending)
        queue = sqlite_backup.look(part, restored_queue.queue, WORLD.now())
        if queue.maybe_sent and not given.due:
            raise Stop(_question(queue, file, settings))
        done = _stood_down(part, settings) if queue.maybe_sent and given.due == CANCEL else []
        for each in (part, settings.store_path.with_suffix(".lock")):
            sqlite_backup.give_away(each, like=store.parent)
        aside = _set_aside(store, settings)
        sqlite_backup.put(part, store)
    print(f"{store} is now what {file} was{_newest(queue, settings)}")
    if missing and not done:
        print(f"its schema lacks {', '.join(missing)}: `pabal migrate`, or the next start, applies it")
    print("\n".join(done) or f"{queue.maybe_sent:,} messages will be sent at the next start")
    print(f"{queue.later:,} messages are for later, {queue.taken:,} wait for their receipts")
    if aside:
        print(f"what was there before is {aside}; remove it when you need it no more")
    print(f"what was done since the backup is forgotten, revoked keys among it: see {PAGE}")


@contextmanager
def _stopped(settings: Settings) -> Iterator[None]:
    """See that no service runs on the store, and that none starts meanwhile."""
    try:
        with only_process(settings):
            yield
    except AlreadyRunning as no:
        raise Stop(f"this cannot be done under a running service: {no}") from None


@contextmanager
def _trouble_told(store: Path, file: Path) -> Iterator[None]:
    """Say what a backup is not good for; nothing was changed then."""
    try:
        yield
    except sqlite_backup.NotAStore as no:
        raise Stop(f"{file} was not restored: {no}; take another backup") from None
    except SchemaTooNew as no:
        raise Stop(f"{file} was not restored: {no}") from None
    except sqlite_backup.InUse:
        raise Stop(f"another process has {store} open; let it end, then try again") from None
    except (OSError, StoreAway) as error:
        raise Stop(f"{file} was not restored: {error}") from None


def _stood_down(part: Path, settings: Settings) -> list[str]:
    """Cancel in the copy what may have been sent; return what was done, in words."""

    def work(tx: Tx, now: Instant) -> list[str]:
        applied = [f"applied {name}" for name in migrate(tx, now)]  # the works below are this version's
        return applied + _in_words(stand_down(tx, policy_from(settings), now))

    return sqlite_backup.change(part, work, WORLD.now())


def _in_words(done: StoodDown) -> list[str]:
    said = [
        f"{done.cancelled:,} messages that may have been sent since are cancelled",
        f"{done.held:,} that were being sent then wait for their receipts, and fail as unknown without one",
    ]
    if done.halted:
        said.append(f"{done.halted:,} campaigns on their way are halted; /console/requests shows them")
    return said


def _stand_down(settings: Settings, given: argparse.Namespace) -> None:
    async def count(store: Store) -> list[str]:
        queue = await store.read(restored_queue.queue, WORLD.now())
        return [f"{queue.maybe_sent:,} messages may have been sent since the backup{_newest(queue, settings)}"]

    async def work(store: Store) -> list[str]:
        if working := await at_work(store):
            raise Stop(f"this cannot be done while processes deliver; stop {', '.join(working)}, then try again")
        return _in_words(await store.write(stand_down, policy_from(settings), WORLD.now()))

    with _stopped(settings):
        print("\n".join(with_store(settings, count if given.check else work)))


def _set_aside(store: Path, settings: Settings) -> Path | None:
    if not store.exists():
        return None
    now = dates.stamp(WORLD.now(), settings.zone).translate({ord("-"): None, ord(":"): None, ord(" "): "-"})
    aside = store.with_name(f"{store.name}.before-{now}")
    sqlite_backup.set_aside(store, aside)
    return aside


def _question(queue: Queue, file: Path, settings: Settings) -> str:
    return (
        f"nothing was restored yet. {file}{_newest(queue, settings)} holds {queue.maybe_sent:,} messages that were"
        " waiting or being sent and are due: whoever had the store since may have sent them.\n"
        f"  --due {SEND}    hands them over at the next start; who got one already gets it twice\n"
        f"  --due {CANCEL}  cancels them; who has not got one will not get it\n"
        f"See {PAGE}."
    )


def _newest(queue: Queue, settings: Settings) -> str:
    if queue.newest_at is None:
        return " (it has no requests)"
    return f" (its newest request is of {dates.stamp(queue.newest_at, settings.zone)})"
