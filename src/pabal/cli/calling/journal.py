"""The journal of a file that is sent: which of its requests were begun and accepted, so that none is sent twice."""

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple, Self

import msgspec

from pabal.cli.shared.language import CommandError
from pabal.domain.base.dates import Instant
from pabal.settings.environment import cannot_write

MAX_JOURNAL_BYTES = 256 * 1024 * 1024


class BegunRequest(NamedTuple):
    """A request that was begun: when for the first time, and which rows it leaves out."""

    at: Instant
    dropped: frozenset[int]


class Journal:
    """The journal of one file, open and locked; every line is on the disk before it returns."""

    def __init__(self, path: Path) -> None:
        """Open a journal, or create it.

        Raises CommandError if it cannot be used, or if another process uses it.
        """
        self.path = path
        self.digest = ""
        self.run = 0
        """How often sending the file was begun from its first row."""
        self.is_finished = False
        self.begun: dict[int, BegunRequest] = {}
        self.accepted: dict[int, str] = {}
        """The request id by number of the request; empty: left out, since it may have been sent long ago."""
        self.wrong: dict[int, str] = {}
        """Why the service refused a row, by row number."""
        try:
            self._file: IO[bytes] = path.open("a+b")
        except OSError as error:
            raise CommandError(*cannot_write(path, error)) from None
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._read()
        except BlockingIOError:
            self._file.close()
            raise CommandError(
                f"{path}: 다른 pabal이 이 파일을 보내고 있습니다", f"{path}: another pabal is sending this file"
            ) from None
        except CommandError:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    @property
    def is_new(self) -> bool:
        """Whether nothing was sent yet."""
        return not self.digest

    def start(self, digest: str) -> None:
        """Start to send a file, from its first row."""
        self._add({"digest": digest, "run": self.run + 1})

    def begin(self, number: int, at: Instant, dropped: frozenset[int]) -> None:
        """Record that a request is about to be sent."""
        known = self.begun.get(number)
        if known is None or known.dropped != dropped:
            self._add({"begin": number, "at": at, "dropped": sorted(dropped)})

    def withdraw(self, number: int) -> None:
        """Record that a request that was begun was refused."""
        self._add({"withdrawn": number})

    def accept(self, number: int, request_id: str) -> None:
        """Record that a request was accepted."""
        self._add({"accepted": number, "requestId": request_id})

    def refuse(self, wrong: dict[int, str]) -> None:
        """Record why the service refused some rows."""
        self._add({"wrong": [[row, reason] for row, reason in wrong.items()]})

    def finish(self) -> None:
        """Record that the whole file was sent."""
        self._add({"finished": True})

    def _add(self, line: dict[str, Any]) -> None:
        self._file.write(msgspec.json.encode(line) + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self._apply(line)

    def _read(self) -> None:
        self._file.seek(0)
        content = self._file.read(MAX_JOURNAL_BYTES + 1)
        if len(content) > MAX_JOURNAL_BYTES:
            raise CommandError(
                f"{self.path}: {MAX_JOURNAL_BYTES:,}바이트를 넘습니다. 다른 곳으로 옮기세요",
                f"{self.path}: more than {MAX_JOURNAL_BYTES:,} bytes; move it away",
            )
        *lines, rest = content.split(b"\n")
        try:
            for line in lines:
                self._apply(msgspec.json.decode(line))
        except (msgspec.DecodeError, KeyError, TypeError, ValueError, AttributeError):
            raise CommandError(
                f"{self.path}: pabal의 기록 파일이 아닙니다. 다른 곳으로 옮기세요",
                f"{self.path}: is not a journal of pabal; move it away",
            ) from None
        if rest:  # the process was killed while it wrote its last line
            self._file.truncate(len(content) - len(rest))

    def _apply(self, line: dict[str, Any]) -> None:
        if "digest" in line:
            self.digest, self.run = str(line["digest"]), int(line["run"])
            self.begun, self.accepted, self.wrong, self.is_finished = {}, {}, {}, False
        elif "begin" in line:
            self.begun[int(line["begin"])] = BegunRequest(int(line["at"]), frozenset(line["dropped"]))
        elif "withdrawn" in line:
            self.begun.pop(int(line["withdrawn"]), None)
        elif "accepted" in line:
            self.accepted[int(line["accepted"])] = str(line["requestId"])
        elif "wrong" in line:
            self.wrong |= {int(row): str(reason) for row, reason in line["wrong"]}
        else:
            self.is_finished = bool(line["finished"])
