"""The data directory: created where it is missing, and locked by the one command that uses it."""

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from pabal.domain.base.codes import TextError
from pabal.settings.environment import explain_os_error
from pabal.settings.field import BadSetting
from pabal.settings.settings import Settings


class AlreadyRunning(TextError):
    """Another process uses this SQLite store."""


@contextlib.contextmanager
def process_lock(settings: Settings) -> Iterator[int]:
    """Hold the lock that lets only one command use a SQLite store; PostgreSQL needs none.

    Yields the lock's descriptor, 0 if there is none: processes that inherit it hold the lock as well.

    Raises AlreadyRunning, or BadSetting if the data directory cannot be used.
    """
    if settings.is_on_postgresql:
        yield 0
        return
    path = settings.store_path.with_suffix(".lock")
    create_folder(path.parent)
    file: IO[str]
    with _open_lock(path) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise AlreadyRunning(
                f"{path.parent}에서 다른 파발이 실행 중입니다. 그것을 멈추거나 --data로 다른 디렉터리를 고르세요",
                f"another pabal is running on {path.parent}; stop it, or choose another directory with --data",
            ) from None
        yield file.fileno()


def create_folder(folder: Path) -> None:
    """Create a directory that only this user can read.

    Raises BadSetting if it cannot be used.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise BadSetting(
            f"data: {folder}을(를) 쓸 수 없습니다({explain_os_error(error).ko}). --data로 다른 디렉터리를 고르세요",
            f"data: {folder} cannot be used ({explain_os_error(error).en}); choose another directory with --data",
        ) from None


def _open_lock(path: Path) -> IO[str]:
    try:
        return path.open("w")
    except OSError as error:
        raise BadSetting(
            f"data: {path}에 쓸 수 없습니다({explain_os_error(error).ko}). 소유자로 실행하거나, chown으로"
            f" {path.parent}을(를) 이 사용자에게 주거나, --data로 다른 디렉터리를 고르세요",
            f"data: {path} cannot be written ({explain_os_error(error).en}); run as its owner,"
            f" give {path.parent} to this one with chown, or choose another directory with --data",
        ) from None
