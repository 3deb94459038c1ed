"""Commands that back up and restore the SQLite store, and cancel due messages after a restore."""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pabal.cli.shared.command import WORLD, audit_entry, require_store_file, with_store
from pabal.cli.shared.language import CommandError, say
from pabal.cli.shared.options import CommandParser
from pabal.domain.base import dates
from pabal.domain.base.codes import Text
from pabal.domain.base.dates import Instant
from pabal.service.delivery.workers import find_live_workers
from pabal.service.policy import build_policy
from pabal.service.upkeep.abandoned_jobs import CancelAfterRestoreResult, cancel_after_restore
from pabal.settings.data_directory import AlreadyRunning, process_lock
from pabal.settings.settings import Settings
from pabal.store.accounts import audit_log
from pabal.store.engine.base import Store, StoreUnavailable, Tx
from pabal.store.engine.migrate import UnsupportedSchema, migrate, pending
from pabal.store.engine.sqlite import sqlite_backup
from pabal.store.queue import queue_admin
from pabal.store.queue.queue_admin import RestoredQueue

BACKUP_GUIDE = "docs/how-to/backup.md"
PROGRESS_INTERVAL_S = 5.0
"""How often a long copy prints its progress."""


def declare_backup(parser: CommandParser) -> None:
    """Declare `pabal backup`."""
    parser.add_settings_options(_backup)
    parser.add_option(
        "file FILE", "쓸 파일. 없는 파일이어야 합니다", "the file to write; it must not exist", type=Path
    )
    parser.add_flag("--force", "파일이 있으면 바꿉니다", "replace the file if it exists")


def require_sqlite(settings: Settings, alternative: Text) -> None:
    """Raise CommandError unless the store is SQLite; `alternative` is what to use instead."""
    if settings.is_on_postgresql:
        raise CommandError(
            f"저장소가 PostgreSQL입니다. {alternative.ko}을(를) 쓰세요. {BACKUP_GUIDE} 참고",
            f"the store is PostgreSQL: use {alternative.en}; see {BACKUP_GUIDE}",
        )


class Progress:
    """Prints the progress of a long copy to standard error."""

    def __init__(self) -> None:
        self._reported_at = WORLD.monotonic()

    def __call__(self, pages: int, total: int) -> None:
        if WORLD.monotonic() - self._reported_at >= PROGRESS_INTERVAL_S:
            self._reported_at = WORLD.monotonic()
            say(f"{pages * 100 // total} % 복사함", f"copied {pages * 100 // total} %", is_error=True)


def _backup(settings: Settings, args: argparse.Namespace) -> None:
    require_sqlite(
        settings, Text("pg_dump 또는 기본 백업과 WAL 보관", "pg_dump, or a base backup plus WAL archive")
    )
    store_path, file = settings.store_path, args.file
    _check_target(store_path, file, is_forced=args.force)
    try:
        with sqlite_backup.verified_copy(store_path, file, Progress()) as part:
            schema = sqlite_backup.query_file(part, sqlite_backup.schema_version)
            size = part.stat().st_size
            sqlite_backup.install(part, file)
    except sqlite_backup.NotAStore as error:
        raise CommandError(
            f"{store_path}을(를) 복사하지 않았습니다: {error.text.ko}. `pabal doctor`를 실행하세요",
            f"{store_path} was not copied: {error.text.en}; run `pabal doctor`",
        ) from None
    except (OSError, StoreUnavailable) as error:
        raise CommandError(
            f"{store_path}을(를) {file}(으)로 복사하지 않았습니다: {error}. 그곳에는 아무것도 쓰지 않았습니다",
            f"{store_path} was not copied to {file}: {error}; nothing was written there",
        ) from None
    say(
        f"{store_path}을(를) {file}(으)로 복사하고 확인했습니다: 스키마 {schema}, {size / 1024**2:,.1f} MiB",
        f"copied {store_path} to {file} and verified it: schema {schema}, {size / 1024**2:,.1f} MiB",
    )


def _check_target(store: Path, file: Path, *, is_forced: bool) -> None:
    if not store.exists():
        raise CommandError(
            f"{store}에 저장소가 없습니다. --data나 --config로 서비스의 디렉터리를 알려 주세요",
            f"there is no store at {store}; name the service's directory with --data or --config",
        )
    if file.is_dir():
        raise CommandError(
            f"{file}은(는) 디렉터리입니다. 그 안의 파일 이름을 주세요", f"{file} is a directory; name a file in it"
        )
    if file.resolve() in {
        each.resolve() for each in (*sqlite_backup.store_files(store), store.with_suffix(".lock"))
    }:
        raise CommandError(
            f"{file}은(는) 저장소의 파일입니다. 다른 이름을 고르세요",
            f"{file} belongs to the store; choose another name",
        )
    if file.exists() and not is_forced:
        raise CommandError(
            f"{file}이(가) 있습니다. 다른 이름을 고르거나 --force로 바꾸세요",
            f"{file} exists; choose another name, or replace it with --force",
        )


SEND, CANCEL = "send", "cancel"
"""The values of --due."""


def declare_restore(parser: CommandParser) -> None:
    """Declare `pabal restore`."""
    parser.add_settings_options(_restore)
    parser.add_option("file FILE", "`pabal backup`이 쓴 파일", "a file that `pabal backup` wrote", type=Path)
    parser.add_option(
        "--due",
        "백업 이후 발송되었을 수 있는 메시지: send는 발송(두 번 갈 수 있음), cancel은 취소(못"
        " 받을 수 있음). 그런 메시지가 있으면 꼭 필요합니다",
        "what to do with messages that may have been sent since the backup: send them (some"
        " may arrive twice) or cancel them (some may never arrive); required if there are any",
        choices=(SEND, CANCEL),
    )


def declare_cancel_after_restore(parser: CommandParser) -> None:
    """Declare `pabal cancel-after-restore`."""
    parser.add_settings_options(_cancel_after_restore)
    parser.add_flag(
        "--check",
        "아무것도 바꾸지 않고, 해당하는 메시지 수를 출력합니다",
        "change nothing; print how many messages it concerns",
    )


def _restore(settings: Settings, given: argparse.Namespace) -> None:
    require_sqlite(
        settings, Text("pg_restore 또는 기본 백업과 WAL 보관", "pg_restore, or a base backup and its archive")
    )
    store, file = settings.store_path.resolve(), given.file
    if not file.is_file():
        raise CommandError(
            f"{file}이(가) 없거나 파일이 아닙니다. `pabal backup`이 쓴 파일을 주세요",
            f"{file} does not exist, or is not a file; name a file that `pabal backup` wrote",
        )
    if store.exists() and file.samefile(store):
        raise CommandError(
            f"{file}은(는) 저장소 자체입니다. 백업을 주세요", f"{file} is the store itself; name a backup"
        )
    with (
        require_stopped(settings),
        _report_errors(store, file),
        sqlite_backup.verified_copy(file, store, Progress()) as part,
    ):
        missing = sqlite_backup.query_file(part, pending)
        queue = sqlite_backup.query_file(part, queue_admin.summarize, WORLD.now())
        if queue.maybe_sent and not given.due:
            raise CommandError(*_ask_about_due(queue, file, settings))
        actions = _cancel_due(part, settings) if queue.maybe_sent and given.due == CANCEL else []
        if not missing or actions:  # else it has another schema until it is migrated
            sqlite_backup.write_file(part, audit_log.add, audit_entry(None, "store.restore", file.name))
        for path in (part, settings.store_path.with_suffix(".lock")):
            sqlite_backup.copy_owner(path, like=store.parent)
        previous = _keep_previous(store, settings)
        sqlite_backup.install(part, store)
    say(
        f"{file}에서 {store}을(를) 복원했습니다{_newest_request(queue, settings).ko}",
        f"restored {store} from {file}{_newest_request(queue, settings).en}",
    )
    if missing and not actions:
        say(
            f"적용하지 않은 마이그레이션이 있습니다: {', '.join(missing)}. `pabal migrate`나 다음"
            " 시작이 적용합니다",
            f"missing migrations: {', '.join(missing)}; `pabal migrate` or the next start applies them",
        )
    will_be_sent = Text(
        f"다음에 시작하면 메시지 {queue.maybe_sent:,}건을 발송합니다",
        f"{queue.maybe_sent:,} messages will be sent at the next start",
    )
    for line in actions or [will_be_sent]:
        say(*line)
    say(
        f"메시지 {queue.scheduled:,}건이 예약되어 있고, {queue.awaiting_receipt:,}건이 결과를 기다립니다",
        f"{queue.scheduled:,} messages are scheduled for later, {queue.awaiting_receipt:,} await their receipts",
    )
    if previous:
        say(
            f"이전 저장소는 {previous}입니다. 필요 없어지면 지우세요",
            f"the previous store is {previous}; delete it when you no longer need it",
        )
    say(
        f"백업 이후의 변경은 없어졌습니다. 폐기한 키도 되살아납니다: {BACKUP_GUIDE} 참고",
        f"changes made since the backup are lost, revoked keys among them: see {BACKUP_GUIDE}",
    )


async def require_no_workers(store: Store) -> None:
    """Raise CommandError while workers run on a store."""
    if workers := await find_live_workers(store):
        raise CommandError(
            f"실행 중인 워커가 있습니다: {', '.join(workers)}. 멈춘 뒤 다시 시도하세요",
            f"these workers are running: {', '.join(workers)}; stop them, then try again",
        )


@contextmanager
def require_stopped(settings: Settings) -> Iterator[None]:
    """Hold the process lock, so that no service runs on the store or starts meanwhile."""
    try:
        with process_lock(settings):
            yield
    except AlreadyRunning as error:
        raise CommandError(
            f"먼저 서비스를 멈추세요: {error.text.ko}", f"stop the service first: {error.text.en}"
        ) from None


@contextmanager
def _report_errors(store: Path, file: Path) -> Iterator[None]:
    """Turn what may go wrong with a backup into messages; the store is unchanged then."""
    try:
        yield
    except sqlite_backup.NotAStore as error:
        raise CommandError(
            f"{file}을(를) 복원하지 않았습니다: {error.text.ko}. 다른 백업을 쓰세요",
            f"{file} was not restored: {error.text.en}; use another backup",
        ) from None
    except UnsupportedSchema as error:
        raise CommandError(
            f"{file}을(를) 복원하지 않았습니다: {error.text.ko}", f"{file} was not restored: {error.text.en}"
        ) from None
    except sqlite_backup.StoreInUse:
        raise CommandError(
            f"다른 프로세스가 {store}을(를) 열고 있습니다. 끝난 뒤 다시 시도하세요",
            f"another process has {store} open; wait until it ends, then try again",
        ) from None
    except (OSError, StoreUnavailable) as error:
        raise CommandError(
            f"{file}을(를) 복원하지 않았습니다: {error}", f"{file} was not restored: {error}"
        ) from None


def _cancel_due(part: Path, settings: Settings) -> list[Text]:
    """Cancel messages in the copy that may have been sent; return what was done, a line each."""

    def work(tx: Tx, now: Instant) -> list[Text]:
        applied = [
            Text(f"적용함: {name}", f"applied {name}") for name in migrate(tx, now)
        ]  # what follows needs the current schema
        return applied + _describe(cancel_after_restore(tx, build_policy(settings), now))

    return sqlite_backup.write_file(part, work, WORLD.now())


def _describe(result: CancelAfterRestoreResult) -> list[Text]:
    lines = [
        Text(
            f"백업 이후 발송되었을 수 있는 메시지 {result.cancelled:,}건을 취소했습니다",
            f"cancelled {result.cancelled:,} messages that may have been sent since the backup",
        ),
        Text(
            f"메시지 {result.held:,}건이 발송 중이었습니다. 결과를 기다리고, 오지 않으면 알 수 없음으로 실패합니다",
            f"{result.held:,} messages were in flight: each awaits its receipt, and fails as unknown without one",
        ),
    ]
    if result.halted_campaigns:
        lines.append(
            Text(
                f"대량 발송 {result.halted_campaigns:,}건을 멈췄습니다. /console/requests에 보입니다",
                f"halted {result.halted_campaigns:,} campaigns; /console/requests shows them",
            )
        )
    return lines


def _cancel_after_restore(settings: Settings, given: argparse.Namespace) -> None:
    async def count(store: Store) -> list[Text]:
        queue = await store.read(queue_admin.summarize, WORLD.now())
        count, newest = f"{queue.maybe_sent:,}", _newest_request(queue, settings)
        return [
            Text(
                f"백업 이후 발송되었을 수 있는 메시지: {count}건{newest.ko}",
                f"{count} messages may have been sent since the backup{newest.en}",
            )
        ]

    async def work(store: Store) -> list[Text]:
        await require_no_workers(store)
        entry = audit_entry(None, "store.cancel_due")
        return _describe(
            await store.write(
                audit_log.run_audited, entry, cancel_after_restore, build_policy(settings), WORLD.now()
            )
        )

    require_store_file(settings)
    with require_stopped(settings):
        for line in with_store(settings, count if given.check else work):
            say(*line)


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


def _ask_about_due(queue: RestoredQueue, file: Path, settings: Settings) -> Text:
    newest, due = _newest_request(queue, settings), f"{queue.maybe_sent:,}"
    return Text(
        f"아직 아무것도 복원하지 않았습니다. {file}{newest.ko}에는 보낼 때가 된 메시지가 {due}건 있습니다."
        " 백업 이후 이미 발송되었을 수 있습니다. 처리 방법을 고르세요:\n"
        f"  --due {SEND}    다음에 시작할 때 발송합니다. 두 번 받는 수신자가 있을 수 있습니다\n"
        f"  --due {CANCEL}  취소합니다. 받지 못하는 수신자가 있을 수 있습니다\n"
        f"{BACKUP_GUIDE} 참고.",
        f"nothing was restored yet. {file}{newest.en} has {due} due messages."
        " They may have been sent since the backup. Choose what to do with them:\n"
        f"  --due {SEND}    sends them at the next start; some receivers may get them twice\n"
        f"  --due {CANCEL}  cancels them; some receivers may never get them\n"
        f"See {BACKUP_GUIDE}.",
    )


def _newest_request(queue: RestoredQueue, settings: Settings) -> Text:
    if queue.newest_request_at is None:
        return Text(" (요청 없음)", " (no requests)")
    return Text(
        f" (가장 최근 요청: {dates.format_timestamp(queue.newest_request_at, settings.zone)})",
        f" (newest request: {dates.format_timestamp(queue.newest_request_at, settings.zone)})",
    )
