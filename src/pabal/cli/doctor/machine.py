"""What `pabal doctor` checks on the machine it runs on: who owns the files, who answers at the port, the clock."""

import http.client
import json
import os
import pwd
import shlex
from collections.abc import Iterator
from pathlib import Path

from pabal.cli.doctor.finding import Finding, note, ok, wrong
from pabal.domain.base.codes import Text
from pabal.domain.base.dates import SECOND, Instant
from pabal.settings.settings import Settings

HEALTH_TIMEOUT_S = 2.0
MAX_HEALTH_BYTES = 10_000
MIN_FREE_BYTES = 1024**3
"""With less free space on its disk, the embedded store is reported."""
MAX_CLOCK_DIFFERENCE_MS = 1 * SECOND
"""A greater difference from the database's clock is reported."""
STORE_REMEDIES = {
    "NotADBError": Text(
        "SQLite 파일이 아니거나 앞부분이 손상되었습니다. 백업을 복원하세요.",
        "It is no SQLite file, or its beginning is damaged. Restore a backup.",
    ),
    "CorruptError": Text("손상되었습니다. 백업을 복원하세요.", "It is damaged. Restore a backup."),
    "CantOpenError": Text(
        "파일인지, 이 사용자가 파일과 디렉터리를 읽고 쓸 수 있는지 확인하세요.",
        "Check that it is a file, and that this user may read and write it and its directory.",
    ),
    "ReadOnlyError": Text(
        "이 사용자가 파일과 디렉터리에 쓸 수 있는지, 디스크가 읽기 전용이 아닌지 확인하세요.",
        "Check that this user may write it and its directory, and that the disk is not read-only.",
    ),
    "PermissionsError": Text(
        "이 사용자가 파일과 디렉터리를 읽고 쓸 수 있는지 확인하세요.",
        "Check that this user may read and write it and its directory.",
    ),
    "FullError": Text("디스크 공간을 비우세요.", "Free some disk space."),
    **dict.fromkeys(
        ("BusyError", "LockedError"),
        Text(
            "다른 프로그램이 잡고 있습니다. 열려 있는 `sqlite3` 같은 프로그램을 끝내고 다시 시도하세요.",
            "Another program holds it. End that program, such as an open `sqlite3`, and try again.",
        ),
    ),
}
"""What to do, by the name of SQLite's error: a backup is restored only over a damaged file."""
UNKNOWN_STORE_REMEDY = Text(
    "시스템 로그에서 디스크 오류를 찾고, 다른 일을 하기 전에 데이터 디렉터리를 복사해 두세요.",
    "Look for errors of the disk in the system's log, and copy the data directory before you try anything else.",
)
FAST, SLOW = Text("빠릅니다", "ahead of"), Text("느립니다", "behind")
_ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}
_OTHER_SETTINGS = Text(
    "다른 포트로 시작한 서비스입니다. 같은 설정을 주세요: --config FILE 또는 환경 변수 PABAL_PORT.",
    "It was started with another port. Give doctor the same: --config FILE, or the variable PABAL_PORT.",
)
_OTHER_PORT = Text(
    "그것을 멈추거나, --port 또는 설정 `port`로 다른 포트를 고르세요.",
    "Stop it, or choose another port with --port or the setting `port`.",
)


def check_files(folder: Path) -> Iterator[Finding]:
    """Report the first file of the store that belongs to another user, or that this one cannot write."""
    me = os.geteuid()
    for path in sorted(folder.glob("pabal.*")):
        owner = path.stat().st_uid
        if owner != me:
            command = f"runuser -u {_user_name(owner)} -- pabal doctor"
            yield wrong(
                f"{path}의 소유자는 {_user_name(owner)}인데, 이 명령은 {_user_name(me)}(으)로 실행했습니다",
                f"{path} belongs to the user {_user_name(owner)}, but this command runs as {_user_name(me)}",
                f"서비스의 사용자로 명령을 실행하세요: `{command}`. 그 사용자가 서비스의 사용자가 아니면:"
                f" `{_chown(folder)}`.",
                f"Run commands as the service's user: `{command}`. If that is not the service's user:"
                f" `{_chown(folder)}`.",
            )
            return
        if not os.access(path, os.R_OK | os.W_OK):
            chmod = f"`chmod u+rw {shlex.quote(str(path))}`"
            yield wrong(f"{path}을(를) 읽고 쓸 수 없습니다", f"{path} cannot be read and written", chmod, chmod)
            return


def explain_directory(folder: Path) -> Text:
    """Return what to do about a data directory that cannot be written."""
    nearest = next((each for each in (folder, *folder.parents) if each.exists()), Path("/"))
    if nearest == folder and folder.is_dir() and folder.stat().st_uid != os.geteuid():
        return Text(
            f"소유자는 {_user_name(folder.stat().st_uid)}입니다. `{_chown(folder)}`을 실행하거나,"
            " --data로 다른 디렉터리를 고르세요.",
            f"It belongs to the user {_user_name(folder.stat().st_uid)}. `{_chown(folder)}`, or"
            " choose another directory with --data.",
        )
    return Text(
        "권한을 고치거나, --data로 다른 디렉터리를 고르세요.",
        "Fix its permissions, or choose another directory with --data.",
    )


def check_disk(free_bytes: int) -> Iterator[Finding]:
    """Report a disk of the store that is nearly full."""
    if free_bytes < MIN_FREE_BYTES:
        yield wrong(
            f"디스크의 남은 공간이 {free_bytes // 1024**2} MiB뿐입니다",
            f"its disk has only {free_bytes // 1024**2} MiB free",
            "디스크 공간을 비우세요. 공간이 없으면 아무것도 접수하지 못합니다.",
            "Free some disk space: without any, nothing is accepted.",
        )


def explain_store(error: str) -> Text:
    """Return what to do about a SQLite file that cannot be read, by the name of SQLite's error."""
    return STORE_REMEDIES.get(error, UNKNOWN_STORE_REMEDY)


def check_port(settings: Settings, *, is_running: bool | None) -> Iterator[Finding]:
    """Report what answers where the service listens.

    `is_running` says whether a service runs on this data; None: that is not known.
    """
    if not settings.port:
        return
    host = _ANY_ADDRESS.get(settings.host, settings.host)
    ko, en = f"{settings.host}의 포트 {settings.port}에서", f"at port {settings.port} of {settings.host}"
    try:
        is_pabal = _is_pabal(host, settings.port)
    except OSError:  # nothing listens there
        if is_running:
            missing = f"nothing answers {en}, though a service is running"
            yield note(f"서비스가 실행 중인데 {ko} 응답이 없습니다", missing, *_OTHER_SETTINGS)
        return
    if not is_pabal:
        other = f"another program, not Pabal, answers {en}"
        yield wrong(f"{ko} 파발이 아닌 다른 프로그램이 응답합니다", other, *_OTHER_PORT)
    elif is_running is False:
        other = f"a Pabal with other data answers {en}"
        yield wrong(f"{ko} 데이터가 다른 파발이 응답합니다", other, *_OTHER_PORT)
    else:
        yield ok(f"{ko} 파발이 응답합니다", f"Pabal answers {en}")


def compare_clocks(before: Instant, theirs: Instant, after: Instant) -> Iterator[Finding]:
    """Report a clock that differs from the database's, which was read between `before` and `after`."""
    ahead_ms = before - theirs if theirs < before else min(0, after - theirs)
    if abs(ahead_ms) > MAX_CLOCK_DIFFERENCE_MS:
        word = FAST if ahead_ms > 0 else SLOW
        seconds = f"{abs(ahead_ms) / SECOND:.1f}"
        yield wrong(
            f"이 컴퓨터의 시계가 데이터베이스보다 {seconds}초 {word.ko}",
            f"the clock of this machine is {seconds} s {word.en} that of the database",
            "양쪽에 NTP를 설정하세요. 발송 시각은 발송하는 프로세스의 시계를 따릅니다.",
            "Set up NTP on both: messages come due by the clock of the process that sends.",
        )


def _is_pabal(host: str, port: int) -> bool:
    """Return whether Pabal answers there. Raises OSError if nothing does."""
    connection = http.client.HTTPConnection(host, port, timeout=HEALTH_TIMEOUT_S)
    try:
        connection.connect()
        connection.request("GET", "/healthz")
        answer = json.loads(connection.getresponse().read(MAX_HEALTH_BYTES))
        return isinstance(answer, dict) and {"time", "result", "locale"} <= set(answer)
    except (http.client.HTTPException, ValueError, TimeoutError):
        return False
    finally:
        connection.close()


def _user_name(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def _chown(folder: Path) -> str:
    return f"chown -R {_user_name(os.geteuid())} {shlex.quote(str(folder))}"
