"""Checks of files run in turns: few at a time, stopped with their request, and never in the way of a sign-in."""

import asyncio
import threading
from collections.abc import Sequence

import pytest

from pabal.console.campaigns.row_validation import BATCHES_PER_TURN, FileValidation, RowValidator, create_validator
from pabal.console.send.campaign_body import message_from_draft
from pabal.console.send.draft import read_draft
from pabal.console.sheets import sheet
from pabal.console.sheets.sheet import SheetRow
from pabal.console.shell.site import ConcurrencyLimit
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.sends.campaign import CampaignState
from pabal.domain.sends.sending import Sending
from pabal.models import bodies
from pabal.service.access.users import passwords
from pabal.service.access.users.passwords import MAX_WAITING, MAX_WORKER_THREADS, WorkerThreads
from pabal.service.sending.campaigns.campaign_files import FileFindings
from pabal.world import RealWorld
from tests.fixtures.console import Browser
from tests.fixtures.console_upload import LIST, create_campaign, get_campaign
from tests.fixtures.engines import sqlite_only
from tests.fixtures.virtual import Environment

BUSY = Text("바쁨", "busy")


def test_passwords_are_verified_while_files_keep_their_threads_busy() -> None:
    world = RealWorld()
    files, sign_ins = WorkerThreads(world), WorkerThreads(world, "passwords")
    ended = threading.Event()
    hash = passwords.hash_password("secret", world)

    async def scenario() -> bool:
        busy = [asyncio.create_task(files.run(ended.wait)) for _ in range(10 * MAX_WORKER_THREADS)]
        await asyncio.sleep(0)
        is_right = await sign_ins.run(passwords.verify, hash, "secret")
        assert not any(task.done() for task in busy)
        ended.set()
        await asyncio.gather(*busy)
        return is_right

    assert asyncio.run(scenario())


def test_work_beyond_the_limit_is_refused_and_cancelled_work_never_begins() -> None:
    threads = WorkerThreads(RealWorld())
    ended = threading.Event()
    begun: list[int] = []

    def work(number: int) -> None:
        begun.append(number)
        ended.wait()

    async def scenario() -> Code:
        tasks = [asyncio.create_task(threads.run(work, number)) for number in range(MAX_WAITING)]
        await asyncio.sleep(0)
        with pytest.raises(Refused) as refused:
            await threads.run(work, -1)
        for task in tasks[MAX_WORKER_THREADS:]:
            task.cancel()
        await asyncio.gather(*tasks[MAX_WORKER_THREADS:], return_exceptions=True)
        ended.set()
        await asyncio.gather(*tasks[:MAX_WORKER_THREADS])
        await threads.run(begun.append, -2)
        return refused.value.code

    assert asyncio.run(scenario()) is Code.SERVICE_UNAVAILABLE
    assert set(begun) == {*range(MAX_WORKER_THREADS), -2}


def test_limit_counts_by_account_and_in_all() -> None:
    limit = ConcurrencyLimit(3, 2, BUSY)

    with limit.hold(1), limit.hold(1):
        with pytest.raises(Refused) as refused, limit.hold(1):
            pass
        with limit.hold(2), pytest.raises(Refused), limit.hold(3):
            pass
        with limit.hold(3):
            pass
    with limit.hold(1):
        pass

    assert (refused.value.code, refused.value.problems[0].detail) == (Code.RATE_LIMITED, BUSY)


async def test_files_beyond_the_limit_of_an_account_are_refused_with_a_message(browser: Browser) -> None:
    addresses = [await create_campaign(browser) for _ in range(3)]

    answers = await asyncio.gather(*(browser.upload(f"{each}/file", LIST.encode()) for each in addresses))

    assert sorted(answer.status for answer in answers) == [303, 303, 429]
    refused = next(answer for answer in answers if answer.status == 429)
    assert "다른 파일을 확인하고 있습니다" in refused.text
    assert refused.headers["retry-after"]
    again = await browser.upload(f"{addresses[answers.index(refused)]}/file", LIST.encode())
    assert again.status == 303


async def test_check_stops_when_the_browser_closes_the_connection(env: Environment, browser: Browser) -> None:
    address = await create_campaign(browser)
    csrf = await browser.csrf()
    browser.closes_early = True

    await browser.upload(f"{address}/file", LIST.encode(), csrf=csrf)

    campaign = await get_campaign(env, address)
    assert campaign.receivers == 0
    assert campaign.state is not CampaignState.READING
    assert "연결이 끊겨" in campaign.reason[0]
    browser.closes_early = False
    again = await browser.upload(f"{address}/file", LIST.encode())
    assert (again.status, (await get_campaign(env, address)).receivers) == (303, 2)


@sqlite_only
async def test_blank_rows_are_read_in_turns(env: Environment) -> None:
    draft = read_draft({"kind": "sms", "sender": "02-1234-5678", "content": "안녕하세요"})
    validator = await create_validator(env.context, 1, message_from_draft(draft))
    blank: list[list[SheetRow]] = [[]] * (2 * BATCHES_PER_TURN)
    left = iter(blank)
    columns = sheet.find_columns(["phone"], ())
    validation = FileValidation(left, validator, columns=columns, skips_duplicates=True, has_names=False)

    findings = [validation.validate_next_rows(), validation.validate_next_rows()]

    assert findings == [FileFindings(None, [], 0)] * 2
    assert next(left, None) is None
    assert validation.validate_next_rows() is None


class _CountingValidator(RowValidator):
    """Counts the receivers that it gets."""

    given = 0

    def validate_receivers(self, receivers: Sequence[bodies.ReceiverBody]) -> Sending:
        self.given += len(receivers)
        return super().validate_receivers(receivers)


@sqlite_only
@pytest.mark.parametrize("bad", [1, 100, 101, 500, 999, 1000])
@pytest.mark.parametrize("is_bad_first", [False, True])
async def test_rows_are_validated_at_most_twice_however_many_are_bad(
    env: Environment, bad: int, is_bad_first: bool
) -> None:
    draft = read_draft({"kind": "sms", "sender": "02-1234-5678", "content": "#{a}"})
    validator = _CountingValidator(message_from_draft(draft), env.context.policy, env.world.now(), None, None)
    good = [(f"010{number:08}", "x", "") for number in range(1000 - bad)]
    wrong = [("1", "", "x" * 65)] * bad
    cells = wrong + good if is_bad_first else good + wrong
    rows = [SheetRow(number, each) for number, each in enumerate(cells, 1)]
    columns = sheet.find_columns(("phone", "a", "reference"), ["a"])

    found = FileValidation(
        iter([rows]), validator, columns=columns, skips_duplicates=True, has_names=False
    ).validate_next_rows()

    assert found is not None
    assert (found.block.receivers if found.block else 0, len(found.invalid_rows)) == (1000 - bad, bad)
    assert all(len(row.reason) == 6 for row in found.invalid_rows)
    assert validator.given == 2000 - bad
