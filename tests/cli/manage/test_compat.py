"""`pabal compat report`: what a team looks at before it switches."""

import json

import pytest

from pabal.domain.base import dates
from pabal.domain.base.dates import DAY
from pabal.settings.settings import Settings
from pabal.store.accounts import compat_differences
from pabal.store.accounts.compat_differences import DifferenceKey
from pabal.world import RealWorld
from tests.fixtures.cli import CommandLine

ACCOUNT_ID = 1
ZONE = Settings().zone
TODAY = dates.day_of(RealWorld().now(), ZONE).start or 0
COUNTED = (
    (0, ("call", "POST messages/v4/send"), 1200),
    (0, ("refused", "1062"), 3),
    (0, ("field", "surprise"), 40),
    (6, ("refused", "1062"), 2),
    (7, ("kind", "FAX"), 9),
)
"""How many days ago, what, and how often."""


@pytest.fixture
def line(command_line: CommandLine) -> CommandLine:
    for name in ("acme", "other"):
        command_line("key", "create", "--account", name, "--new-account")
    return command_line


def count(line: CommandLine, *counted: tuple[int, tuple[str, str], int]) -> None:
    for days, what, uses in counted:
        key = DifferenceKey(ACCOUNT_ID, "solapi", *what)
        line.run_in_store(compat_differences.add, TODAY - days * DAY, {key: uses})


def test_report_names_first_what_was_refused(line: CommandLine) -> None:
    count(line, *COUNTED)
    shown = line("compat", "report", "--account", "acme")
    longer = line("compat", "report", "--account", "acme", "--days", "8", "--json")
    first = json.loads(longer.out.splitlines()[0])

    assert [(row[1], row[3], row[4]) for row in shown.rows] == [
        ("refused", "1062 발신번호 미등록", "5"),
        ("different", "surprise", "40"),
        ("used", "POST messages/v4/send", "1,200"),
    ]
    assert (first["difference"], first["detail"], first["uses"], first["effect"]) == ("kind", "FAX", 9, "refused")
    assert line("compat", "report", "--account", "other").out == "nothing differs in 0 calls of the last 7 days\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--account", "acme", "--days", "0"), "from 1 to 92"),
        (("--account", "acme", "--days", "93"), "from 1 to 92"),
        (("--account", "nobody"), "nobody"),
        ((), "--account"),
    ],
)
def test_wrong_report_is_refused(line: CommandLine, words: tuple[str, ...], said: str) -> None:
    refused = line("compat", "report", *words)

    assert (refused.status in (1, 2), said in refused.err, refused.out) == (True, True, "")
