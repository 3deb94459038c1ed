"""Files are read in processes with limits of memory and CPU time, which end with their request."""

import asyncio
import os
import resource
import signal
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import pytest

from pabal.console.campaigns.campaign_file import read_head, validate_file
from pabal.console.campaigns.row_validation import RowValidator
from pabal.console.send.campaign_body import message_from_draft
from pabal.console.send.draft import read_draft
from pabal.console.sheets.mapping import FileHead
from pabal.console.sheets.sheet_limits import OUT_OF_MEMORY, OUT_OF_TIME, refuse_file
from pabal.console.shell.file_columns import preview_file
from pabal.console.shell.file_processes import FILE_ABANDONED, FILE_INTERRUPTED, NO_PROCESS, FileProcesses
from pabal.domain.base.codes import Code, Problem, Refused
from pabal.service.policy import build_policy
from pabal.service.sending.campaigns.campaign_files import FileFindings
from pabal.settings.settings import Settings
from pabal.world import RealWorld
from tests.fixtures.engines import sqlite_only
from tests.fixtures.live import wait_until
from tests.fixtures.processes import list_file_readers, list_file_servers
from tests.fixtures.sheets import MAIN, costly_excel, excel_of
from tests.fixtures.virtual import NOON, VirtualWorld, settings_for, settings_of

pytestmark = sqlite_only

HEAD = "휴대폰번호,이름\n"
ROWS = 5000
BAD_EVERY = 500
SMALL = f"{HEAD}010-1111-2222,홍길동\n".encode()

Read = Callable[[BinaryIO], Iterator[Any]]
preview = partial(preview_file, read_head=read_head, names=())


def large_file(head: str = HEAD) -> bytes:
    numbers = [f"010-2{number // 10_000:03}-{number % 10_000:04}" for number in range(ROWS)]
    numbers[::BAD_EVERY] = ["12345"] * (ROWS // BAD_EVERY)
    return (head + "".join(f"{number},고객 가나다라마바사아\n" for number in numbers)).encode()


@pytest.fixture
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    return replace(settings_for(tmp_path), **settings_of(request))


@pytest.fixture
def processes(settings: Settings) -> Iterator[FileProcesses]:
    made = FileProcesses(RealWorld(), settings)
    yield made
    made.stop()


@pytest.fixture
def validate(settings: Settings) -> Read:
    draft = read_draft({"kind": "sms", "sender": "02-1234-5678", "content": "#{이름}님"})
    validator = RowValidator(message_from_draft(draft), build_policy(settings), NOON, None, None)
    return partial(validate_file, form={}, validator=validator.without_keys(), skips_duplicates=True)


async def stay() -> None:
    """Be a client that waits for its answer."""
    await asyncio.Event().wait()


async def read(
    processes: FileProcesses,
    body: bytes,
    read: Read,
    on_part: Callable[[], object] = list,
    wait_until_gone: Callable[[], Awaitable[None]] = stay,
) -> list[Any]:
    """Return the parts of a file."""
    found: list[Any] = []
    with tempfile.TemporaryFile() as content:
        content.write(body)
        content.flush()
        async for part in processes.read(content, read, wait_until_gone, is_preview=False):
            on_part()
            found.append(part)
    return found


async def refusal(processes: FileProcesses, body: bytes, read_it: Read, **options: Any) -> Problem:
    with pytest.raises(Refused) as refused:
        await read(processes, body, read_it, **options)
    return refused.value.problems[0]


def list_processes() -> list[int]:
    """Return the ids of the processes that read files for this one."""
    return list_file_readers(os.getpid())


@pytest.mark.real_time
async def test_file_is_read_in_a_process_with_the_same_result_as_here(
    settings: Settings, processes: FileProcesses, validate: Read
) -> None:
    seen: list[int] = []

    there = await read(processes, large_file(), validate, lambda: seen.extend(list_processes()))
    here = await read(FileProcesses(VirtualWorld(), settings), large_file(), validate)

    assert len(set(seen)) == 1
    assert there == here
    found = [each for each in there if isinstance(each, FileFindings)]
    assert sum(each.block.receivers for each in found if each.block) == ROWS - ROWS // BAD_EVERY
    assert sum(len(each.invalid_rows) for each in found) == ROWS // BAD_EVERY
    await asyncio.to_thread(wait_until, list_processes, lambda running: running == [])


@pytest.mark.real_time
async def test_refusal_in_the_process_names_the_problem(processes: FileProcesses, validate: Read) -> None:
    problem = await refusal(processes, large_file("휴대폰번호,성명\n"), validate)

    assert problem.code is Code.INVALID_PARAMETER
    assert problem.detail is not None
    assert problem.detail.ko.startswith("변수의 열이 없습니다: 이름")


@pytest.mark.real_time
@pytest.mark.settings(file_cpu_seconds=1)
async def test_costly_file_ends_at_its_limit_and_delays_no_other(processes: FileProcesses) -> None:
    costly = asyncio.create_task(refusal(processes, costly_excel(), preview))

    (head,) = await read(processes, SMALL, preview)

    assert isinstance(head, FileHead)
    assert not costly.done()
    assert await costly == refuse_file(OUT_OF_TIME).problems[0]


@pytest.mark.real_time
@pytest.mark.settings(file_memory_mb=80)
async def test_file_that_needs_too_much_memory_is_refused(processes: FileProcesses) -> None:
    text = f"<si><t>{'x' * 30_000}</t></si>"
    strings = f'<sst xmlns="{MAIN}">{text * 2000}</sst>'

    problem = await refusal(processes, excel_of("", sharedStrings=strings), preview)

    assert problem == refuse_file(OUT_OF_MEMORY).problems[0]


@pytest.mark.real_time
async def test_process_ends_when_its_client_leaves(processes: FileProcesses) -> None:
    leaves = asyncio.Event()

    async def wait_until_gone() -> None:
        await leaves.wait()

    reading = asyncio.create_task(refusal(processes, costly_excel(), preview, wait_until_gone=wait_until_gone))
    await asyncio.to_thread(wait_until, list_processes, lambda running: len(running) == 1)
    leaves.set()

    assert (await reading).detail == FILE_ABANDONED
    await asyncio.to_thread(wait_until, list_processes, lambda running: running == [])


@pytest.mark.real_time
async def test_file_whose_process_is_killed_is_to_be_uploaded_again(
    processes: FileProcesses, validate: Read
) -> None:

    def kill() -> None:
        for process in list_processes():
            os.kill(process, signal.SIGKILL)

    problem = await refusal(processes, large_file(), validate, on_part=kill)

    assert (problem.code, problem.detail) == (Code.INVALID_STATE, FILE_INTERRUPTED)


@pytest.mark.real_time
async def test_next_file_starts_a_file_server_that_was_killed(processes: FileProcesses) -> None:
    await read(processes, SMALL, preview)
    (server,) = list_file_servers(os.getpid())
    os.kill(server, signal.SIGKILL)
    await asyncio.to_thread(os.waitid, os.P_PID, server, os.WEXITED | os.WNOWAIT)

    assert len(await read(processes, SMALL, preview)) == 1


@pytest.mark.real_time
async def test_file_is_refused_for_now_where_no_process_can_be_started(processes: FileProcesses) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    with tempfile.TemporaryFile() as content:
        content.write(SMALL)
        os.close(lowest_free := os.dup(content.fileno()))
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free, before[1]))  # no socket can be opened
        try:
            with pytest.raises(Refused) as refused:
                await anext(processes.read(content, preview, stay, is_preview=True))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, before)

    assert (refused.value.code, refused.value.problems[0].detail) == (Code.SERVICE_UNAVAILABLE, NO_PROCESS)


def test_process_gets_no_keys(validate: Any) -> None:
    keys = validate.keywords["validator"]._policy.hash_keys

    with pytest.raises(AssertionError, match="no keys"):
        keys.seal(b"secret", "opt_outs")
