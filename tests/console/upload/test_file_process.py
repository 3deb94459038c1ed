"""A large file is validated in a process of its own, with the same result; it ends with its request."""

import asyncio
import os
import resource
import signal
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import pytest

from pabal.console.send.campaign_body import message_from_draft
from pabal.console.send.draft import read_draft
from pabal.console.sheets.sheet import Columns
from pabal.console.shell.form_body import File
from pabal.console.upload.file_process import (
    FILE_INTERRUPTED,
    MAX_THREAD_BYTES,
    FileCheck,
    PartwiseValidation,
    open_validation,
)
from pabal.console.upload.row_validation import RowValidator
from pabal.domain.base.codes import Code, Refused
from pabal.service.access.sign_in.passwords import WorkerThreads
from pabal.service.policy import build_policy
from pabal.service.sending.campaigns.campaign_files import FileFindings
from pabal.world import RealWorld
from tests.fixtures.virtual import NOON, settings_for

HEAD = "휴대폰번호,이름\n"
ROWS = 30_000
BAD_EVERY = 1000


def large_file(head: str = HEAD) -> bytes:
    numbers = [f"010-2{number // 10_000:03}-{number % 10_000:04}" for number in range(ROWS)]
    numbers[::BAD_EVERY] = ["12345"] * (ROWS // BAD_EVERY)
    return (head + "".join(f"{number},고객 가나다라마바사아\n" for number in numbers)).encode()


@pytest.fixture
def content() -> Iterator[BinaryIO]:
    with tempfile.TemporaryFile() as file:
        yield file


@pytest.fixture
def check(tmp_path: Path) -> FileCheck:
    draft = read_draft({"kind": "sms", "sender": "02-1234-5678", "content": "#{이름}님"})
    policy = build_policy(settings_for(tmp_path))
    return FileCheck(RowValidator(message_from_draft(draft), policy, NOON, None, None), None, True, True)


def as_upload(content: BinaryIO, body: bytes) -> File:
    content.write(body)
    content.flush()
    return File("list.csv", "text/csv", len(body), content)


class Validated(NamedTuple):
    """What was found in a file."""

    found: list[FileFindings]
    columns: Columns | None
    shared: str | None


async def validate(file: File, check: FileCheck, processes: int) -> tuple[Validated, bool]:
    """Return what was found, and whether that was in a process."""
    had_process = False
    found: list[FileFindings] = []
    async with open_validation(WorkerThreads(RealWorld()), asyncio.Semaphore(processes), file, check) as validation:
        while (findings := await validation.validate_next_rows()) is not None:
            found.append(findings)
            had_process = had_process or bool(list_processes())
        return Validated(found, validation.columns, validation.shared), had_process


async def open_and_run(
    file: File, check: FileCheck, scenario: Callable[[PartwiseValidation], Awaitable[None]]
) -> None:
    async with open_validation(WorkerThreads(RealWorld()), asyncio.Semaphore(1), file, check) as validation:
        await scenario(validation)


def list_processes() -> list[int]:
    """Return the ids of the processes of this one that validate files."""
    children = [
        int(child)
        for task in Path("/proc/self/task").iterdir()
        for child in (task / "children").read_text().split()
    ]
    return [each for each in children if b"file_process" in Path(f"/proc/{each}/cmdline").read_bytes()]


def test_large_file_is_validated_in_a_process_with_the_same_result(content: BinaryIO, check: FileCheck) -> None:
    file = as_upload(content, large_file())
    assert file.size_bytes > MAX_THREAD_BYTES

    there, had_process = asyncio.run(validate(file, check, processes=1))
    here, had_process_here = asyncio.run(validate(file, check, processes=0))

    assert (had_process, had_process_here) == (True, False)
    assert there == here
    assert sum(each.block.receivers for each in there.found if each.block) == ROWS - ROWS // BAD_EVERY
    assert sum(len(each.invalid_rows) for each in there.found) == ROWS // BAD_EVERY
    assert list_processes() == []


def test_small_file_needs_no_process(content: BinaryIO, check: FileCheck) -> None:
    file = as_upload(content, f"{HEAD}010-1111-2222,홍길동\n".encode())

    found, had_process = asyncio.run(validate(file, check, processes=1))

    assert found.shared
    assert not had_process


def test_refusal_of_a_large_file_names_the_problem(content: BinaryIO, check: FileCheck) -> None:
    file = as_upload(content, large_file(head="휴대폰번호,성명\n"))

    with pytest.raises(Refused) as refused:
        asyncio.run(validate(file, check, processes=1))

    detail = refused.value.problems[0].detail
    assert refused.value.code is Code.INVALID_PARAMETER
    assert detail is not None
    assert detail.ko.startswith("변수의 열이 없습니다: 이름")


def test_file_whose_process_is_killed_is_to_be_uploaded_again(content: BinaryIO, check: FileCheck) -> None:
    async def scenario(validation: PartwiseValidation) -> None:
        await validation.validate_next_rows()
        for process in list_processes():
            os.kill(process, signal.SIGKILL)
        while await validation.validate_next_rows() is not None:
            pass

    with pytest.raises(Refused) as refused:
        asyncio.run(open_and_run(as_upload(content, large_file()), check, scenario))

    assert (refused.value.code, refused.value.problems[0].detail) == (Code.INVALID_STATE, FILE_INTERRUPTED)


def test_process_ends_with_its_request(content: BinaryIO, check: FileCheck) -> None:
    seen: list[int] = []

    async def scenario(validation: PartwiseValidation) -> None:
        await validation.validate_next_rows()
        seen.extend(list_processes())

    asyncio.run(open_and_run(as_upload(content, large_file()), check, scenario))

    assert len(seen) == 1
    assert list_processes() == []


def test_file_is_validated_in_a_thread_where_no_process_can_be_started(
    content: BinaryIO, check: FileCheck, caplog: pytest.LogCaptureFixture
) -> None:
    found = 0

    async def scenario() -> None:
        nonlocal found
        file, before = as_upload(content, large_file()), resource.getrlimit(resource.RLIMIT_NOFILE)
        threads = WorkerThreads(RealWorld())
        os.close(lowest_free := os.dup(content.fileno()))
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free, before[1]))  # no pipe can be opened
        try:
            async with open_validation(threads, asyncio.Semaphore(1), file, check) as validation:
                resource.setrlimit(resource.RLIMIT_NOFILE, before)
                while (findings := await validation.validate_next_rows()) is not None:
                    found += findings.block.receivers if findings.block else 0
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)

    asyncio.run(scenario())

    assert caplog.messages == ["no process for a file; it is checked in a thread"]
    assert found == ROWS - ROWS // BAD_EVERY


def test_process_gets_no_keys(check: FileCheck) -> None:
    keys = check.validator.without_keys()._policy.hash_keys

    with pytest.raises(AssertionError, match="no keys"):
        keys.seal(b"secret", "opt_outs")
