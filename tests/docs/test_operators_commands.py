"""Carries out the commands of the pages for operators, in the order in which they stand, on one store."""

import shlex
from pathlib import Path

import pytest

from pabal.domain.kakao.template import TemplateContent
from pabal.domain.people.phone import NumberState
from pabal.service.context import Context
from pabal.service.relay import templates
from pabal.service.relay.templates import TemplateRef
from pabal.store.accounts import accounts, numbers
from tests.fixtures.cli import WORLD, CommandLine, add_profile
from tests.fixtures.pages import lines, section

PAGES = (
    "keys-and-accounts",
    "console",
    "behind-a-proxy",
    "advertising",
    "opt-outs",
    "move-from-a-relay",
    "templates",
    "sender-profiles",
)
NEEDS_A_RELAY = ("profile adopt",)
"""`tests/cli/manage/test_adopt.py` runs it."""


def commands(page: str) -> list[str]:
    """Return the commands of a page, without the program."""
    found = lines(section(page))
    ours = [line.removeprefix(".venv/bin/pabal ") for line in found if line.startswith(".venv/bin/pabal ")]
    return [line for line in ours if not line.startswith(NEEDS_A_RELAY)]


async def prepare(context: Context) -> None:
    """Store what the pages take for granted: numbers that wait for approval, and templates under review."""
    first = await context.store.write(accounts.ensure_account, "first", WORLD.now())
    for number in ("15880000", "15880001"):
        await context.store.write(numbers.add, first, number, WORLD.now(), NumberState.PENDING)
    sender_key = await add_profile(context)
    acme = await context.store.write(accounts.ensure_account, "acme", WORLD.now())
    for code in ("order", "refund"):
        template = TemplateRef(acme, sender_key, code)
        await templates.create(context, template, TemplateContent(f"{code} 보류", "안내", "999999"), None)
        await templates.request_review(context, template)


def test_commands_succeed_one_page_after_the_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command_line = CommandLine(tmp_path / "data", capsys)
    command_line.run_in_context(prepare)
    monkeypatch.chdir(tmp_path)
    Path("opt-outs.csv").write_text("휴대폰번호,사유\n010-1111-2222,전화\n", encoding="utf-8")

    for page in PAGES:
        given = commands(page)
        assert given, page
        for command in given:
            result = command_line(*shlex.split(command, comments=True))
            assert result.status == 0, f"{page}: {command}: {result}"
