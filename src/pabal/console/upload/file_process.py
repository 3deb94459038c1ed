"""Validates large files in a process of their own.

Python runs one thread of a process at a time, so calls and sends would wait for a thread that reads 100,000 rows.
"""

import asyncio
import contextlib
import logging
import os
import pickle
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, BinaryIO, NamedTuple, Protocol, cast

from pabal.console.sheets import sheet
from pabal.console.sheets.sheet import Columns
from pabal.console.shell.form_body import File
from pabal.console.upload.row_validation import FileValidation, RowValidator
from pabal.domain.base.codes import Code, Problem, Refused, Text
from pabal.service.access.sign_in.passwords import WorkerThreads
from pabal.service.errors import describe_error
from pabal.service.sending.campaigns.campaign_files import FileFindings

MAX_THREAD_BYTES = 1024 * 1024
"""Files up to this size, which are in memory, are validated in a thread: a process takes half a second to start."""
NICENESS = 5
"""The process leaves the processor to others."""
FILE_INTERRUPTED = Text(
    "파일을 확인하다가 중단되었습니다. 파일을 다시 올리세요.",
    "The check of the file was interrupted. Upload the file again.",
)
_LENGTH_BYTES = 4
_COMMAND = "from pabal.console.upload.file_process import main; main()"

log = logging.getLogger("pabal.console")


class FileCheck(NamedTuple):
    """How a file is validated."""

    validator: RowValidator
    columns: Columns | None
    has_names: bool
    skips_duplicates: bool

    def open(self, content: BinaryIO) -> FileValidation:
        """Begin to validate a file.

        Raises Refused where it cannot be read.
        """
        return FileValidation(
            sheet.read_rows(content),
            self.validator,
            skips_duplicates=self.skips_duplicates,
            columns=self.columns,
            has_names=self.has_names,
        )


class PartwiseValidation(Protocol):
    """A file that is being validated elsewhere."""

    columns: Columns | None
    shared: str | None
    """What all receivers get; both are known at the end."""

    async def validate_next_rows(self) -> FileFindings | None:
        """Return what the next part has, None at the end.

        Raises Refused where the file cannot be used.
        """


@contextlib.asynccontextmanager
async def open_validation(
    threads: WorkerThreads, processes: asyncio.Semaphore, file: File, check: FileCheck
) -> AsyncIterator[PartwiseValidation]:
    """Validate a file while the block runs: a large one in a process, if one can be started.

    Raises Refused.
    """
    if file.size_bytes > MAX_THREAD_BYTES and not processes.locked():
        async with processes:
            if process := await _start(check, file.stream.fileno()):
                try:
                    yield _ProcessValidation(process)
                finally:
                    with contextlib.suppress(ProcessLookupError):
                        process.kill()
                    await process.wait()
                return
    yield _ThreadValidation(threads, await threads.run(check.open, file.stream))


class _ThreadValidation:
    def __init__(self, threads: WorkerThreads, validation: FileValidation) -> None:
        self._threads = threads
        self._validation = validation
        self.columns: Columns | None = None
        self.shared: str | None = None

    async def validate_next_rows(self) -> FileFindings | None:
        findings = await self._threads.run(self._validation.validate_next_rows)
        self.columns, self.shared = self._validation.columns, self._validation.shared
        return findings


class _ProcessValidation:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.columns: Columns | None = None
        self.shared: str | None = None

    async def validate_next_rows(self) -> FileFindings | None:
        answer = await self._read()
        if isinstance(answer, FileFindings):
            return answer
        if isinstance(answer, _Refusal):
            raise Refused.from_problems(answer.problems)
        if isinstance(answer, _End):
            self.columns, self.shared = answer
            return None
        log.error("file could not be checked", extra=answer.error if answer else {"status": await self._status()})
        raise Refused(Code.INVALID_STATE, "", FILE_INTERRUPTED)

    async def _read(self) -> "_Answer | None":
        """Return the next answer; None: the process has ended without one."""
        answers = self._process.stdout
        assert answers is not None
        try:
            size = int.from_bytes(await answers.readexactly(_LENGTH_BYTES), "big")
            return cast("_Answer", pickle.loads(await answers.readexactly(size)))  # noqa: S301  our own process
        except asyncio.IncompleteReadError:
            return None

    async def _status(self) -> int:
        return await self._process.wait()


async def _start(check: FileCheck, content: int) -> asyncio.subprocess.Process | None:
    """Start a process that validates the file of this descriptor; None: the system cannot start one."""
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",
            "-c",
            _COMMAND,
            str(content),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            pass_fds=(content,),
            start_new_session=True,  # Ctrl-C is for the parent, which ends it
        )
    except OSError as error:
        log.warning("no process for a file; it is checked in a thread", extra=describe_error(error))
        return None
    assert process.stdin is not None
    process.stdin.write(pickle.dumps(check._replace(validator=check.validator.without_keys())))
    process.stdin.close()
    return process


# In the process


class _Refusal(NamedTuple):
    problems: Sequence[Problem]


class _End(NamedTuple):
    columns: Columns | None
    shared: str | None


class _Failure(NamedTuple):
    error: dict[str, Any]


_Answer = FileFindings | _Refusal | _End | _Failure


def main() -> None:
    """Validate the file of a descriptor as standard input says, and write the answers to standard output."""
    os.nice(NICENESS)
    check: FileCheck = pickle.load(sys.stdin.buffer)  # noqa: S301  of our own parent
    # the pipe breaks where the service has gone, and nobody waits any more
    with os.fdopen(int(sys.argv[1]), "rb") as content, contextlib.suppress(BrokenPipeError):
        for answer in _validate(check, content):
            encoded = pickle.dumps(answer)
            sys.stdout.buffer.write(len(encoded).to_bytes(_LENGTH_BYTES, "big") + encoded)
            sys.stdout.buffer.flush()


def _validate(check: FileCheck, content: BinaryIO) -> Iterator[_Answer]:
    try:
        validation = check.open(content)
        while (findings := validation.validate_next_rows()) is not None:
            yield findings
        yield _End(validation.columns, validation.shared)
    except Refused as refused:
        yield _Refusal(refused.problems)
    except Exception as error:
        yield _Failure(describe_error(error))
