"""What `pabal doctor` checks on the machine it runs on: who owns the files, who answers at the port, the clock."""

import http.client
import json
import os
import pwd
import shlex
from pathlib import Path

from pabal.cli.doctor.finding import Finding
from pabal.domain.base.dates import SECOND, Instant
from pabal.settings.settings import Settings

HEALTH_TIMEOUT_S = 2.0
MAX_HEALTH_BYTES = 10_000
MIN_FREE_BYTES = 1024**3
"""With less free space on its disk, the embedded store is reported."""
MAX_CLOCK_DIFFERENCE_MS = 1 * SECOND
"""A greater difference from the database's clock is reported."""
STORE_REMEDIES = {
    "NotADBError": "It is no SQLite file, or its beginning is damaged. Restore a backup.",
    "CorruptError": "It is damaged. Restore a backup.",
    "CantOpenError": "Check that it is a file, and that this user may read and write it and its directory.",
    "ReadOnlyError": "Check that this user may write it and its directory, and that the disk is not read-only.",
    "PermissionsError": "Check that this user may read and write it and its directory.",
    "FullError": "Free some disk space.",
    "BusyError": "Another program holds it. End that program, such as an open `sqlite3`, and try again.",
    "LockedError": "Another program holds it. End that program, such as an open `sqlite3`, and try again.",
}
"""What to do, by the name of SQLite's error: a backup is restored only over a damaged file."""
UNKNOWN_STORE_REMEDY = (
    "Look for errors of the disk in the system's log, and copy the data directory before you try anything else."
)
_ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}
_OTHER_SETTINGS = (
    "It was started with another port. Give doctor the same: --config FILE, or the variable PABAL_PORT."
)
_OTHER_PORT = "Stop it, or choose another port with --port or the setting `port`."


def check_files(folder: Path) -> list[Finding]:
    """Report the first file of the store that belongs to another user, or that this one cannot write."""
    me = os.geteuid()
    for path in sorted(folder.glob("pabal.*")):
        owner = path.stat().st_uid
        if owner != me:
            message = f"{path} belongs to the user {_user_name(owner)}, but this command runs as {_user_name(me)}"
            remedy = (
                f"Run commands as the service's user: `runuser -u {_user_name(owner)} -- pabal doctor`. If that is"
                f" not the service's user: `{_chown(folder)}`."
            )
            return [Finding(False, message, remedy)]
        if not os.access(path, os.R_OK | os.W_OK):
            return [Finding(False, f"{path} cannot be read and written", f"`chmod u+rw {shlex.quote(str(path))}`")]
    return []


def explain_directory(folder: Path) -> str:
    """Return what to do about a data directory that cannot be written."""
    nearest = next((each for each in (folder, *folder.parents) if each.exists()), Path("/"))
    if nearest == folder and folder.is_dir() and folder.stat().st_uid != os.geteuid():
        return (
            f"It belongs to the user {_user_name(folder.stat().st_uid)}. `{_chown(folder)}`, or choose another"
            " directory with --data."
        )
    return "Fix its permissions, or choose another directory with --data."


def check_disk(free_bytes: int) -> list[Finding]:
    """Report a disk of the store that is nearly full."""
    if free_bytes >= MIN_FREE_BYTES:
        return []
    message = f"its disk has only {free_bytes // 1024**2} MiB free"
    return [Finding(False, message, "Free some disk space: without any, nothing is accepted.")]


def explain_store(error: str) -> str:
    """Return what to do about a SQLite file that cannot be read, by the name of SQLite's error."""
    return STORE_REMEDIES.get(error, UNKNOWN_STORE_REMEDY)


def check_port(settings: Settings, *, is_running: bool | None) -> list[Finding]:
    """Report what answers where the service listens.

    `is_running` says whether a service runs on this data; None: that is not known.
    """
    if not settings.port:
        return []
    host = _ANY_ADDRESS.get(settings.host, settings.host)
    place = f"port {settings.port} of {settings.host}"
    try:
        is_ours = _is_pabal(host, settings.port)
    except OSError:  # nothing listens there
        return [Finding(True, f"nothing answers at {place}, though a service is running", _OTHER_SETTINGS)] * bool(
            is_running
        )
    if not is_ours:
        return [Finding(False, f"another program, not Pabal, answers at {place}", _OTHER_PORT)]
    if is_running is False:
        return [Finding(False, f"a Pabal with other data answers at {place}", _OTHER_PORT)]
    return [Finding(True, f"Pabal answers at {place}")]


def compare_clocks(before: Instant, theirs: Instant, after: Instant) -> list[Finding]:
    """Report a clock that differs from the database's, which was read between `before` and `after`."""
    ahead_ms = before - theirs if theirs < before else min(0, after - theirs)
    if abs(ahead_ms) <= MAX_CLOCK_DIFFERENCE_MS:
        return []
    word = "ahead of" if ahead_ms > 0 else "behind"
    message = f"the clock of this machine is {abs(ahead_ms) / SECOND:.1f} s {word} that of the database"
    return [
        Finding(False, message, "Set up NTP on both: messages come due by the clock of the process that sends.")
    ]


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
