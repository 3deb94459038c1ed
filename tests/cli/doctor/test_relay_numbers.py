"""`pabal doctor` compares the sender numbers of accounts with those that relays list."""

from collections.abc import Iterator

import pytest

from tests.fakes.nhncloud.server import FakeNhnCloud
from tests.fakes.nhncloud.server import serving as serving_nhncloud
from tests.fakes.solapi.server import FakeSolapi
from tests.fakes.solapi.server import serving as serving_solapi
from tests.fixtures.cli import CommandLine
from tests.fixtures.relay_thread import relay_in_thread

TABLES = {
    "nhn": """
[carriers.nhn]
kind = "nhncloud"
sms_app_key = "{0.sms_app_key}"
sms_secret_key = "{0.sms_secret_key}"
sms_address = "{0.address}"
timeout_seconds = 5
""",
    "solapi": """
[carriers.solapi]
kind = "solapi"
api_key = "{1.api_key}"
api_secret = "{1.api_secret}"
address = "{1.address}"
timeout_seconds = 5
""",
}


def settings_of(relays: tuple[FakeNhnCloud, FakeSolapi], routes: str) -> str:
    """Return settings with the carriers that the routes name."""
    tables = [table.format(*relays) for name, table in TABLES.items() if f'"{name}"' in routes]
    return "".join(tables) + f"[routes]\n{routes}"


@pytest.fixture(scope="module")
def relays() -> Iterator[tuple[FakeNhnCloud, FakeSolapi]]:
    with relay_in_thread(serving_nhncloud, seed=1) as nhncloud, relay_in_thread(serving_solapi, seed=1) as solapi:
        for place in range(101):
            nhncloud.add_number(f"021234{place:04}")
        nhncloud.add_number("15889999").block_reason = "스팸"
        nhncloud.add_number("15887777").is_used = False
        solapi.numbers.update({"15880000", "15889999"})
        yield nhncloud, solapi


MISSING = "WRONG sender numbers that are not registered at the relay {}: 02-123-4567"


@pytest.mark.parametrize(
    ("routes", "registered", "status", "says"),
    [
        (
            'sms = ["nhn"]\nlms = ["solapi"]',
            ["15880000"],
            0,
            [
                "ok    all 1 sender numbers of accounts are registered at the relay nhn",
                "ok    all 1 sender numbers of accounts are registered at the relay solapi",
            ],
        ),
        ('sms = ["nhn"]', ["0212340100"], 0, ["ok    all 1 sender numbers"]),
        ('sms = ["nhn"]', ["15880000", "021234567"], 1, [MISSING.format("nhn")]),
        ('sms = ["solapi"]', ["15880000", "021234567"], 1, [MISSING.format("solapi")]),
        (
            'sms = ["nhn"]',
            ["15889999", "15887777"],
            1,
            ["WRONG sender numbers that are blocked or out of use at the relay nhn: 1588-7777, 1588-9999"],
        ),
        (
            'sms = ["nhn", "solapi"]',
            ["15889999"],
            0,
            ["note  sender numbers that are blocked or out of use at the relay nhn: 1588-9999", "relay solapi"],
        ),
    ],
)
def test_sender_numbers_are_compared_with_the_relays(
    command_line: CommandLine,
    relays: tuple[FakeNhnCloud, FakeSolapi],
    routes: str,
    registered: list[str],
    status: int,
    says: list[str],
) -> None:
    for number in registered:
        assert command_line("number", "add", number, "--account", "acme").status == 0
    command_line.configure(settings_of(relays, routes))

    found = command_line("doctor")

    assert [each for each in says if each not in found.out] == []
    assert found.status == status, found.out


def test_list_that_cannot_be_read_is_a_note(
    command_line: CommandLine, relays: tuple[FakeNhnCloud, FakeSolapi]
) -> None:
    command_line("number", "add", "1588-0000", "--account", "acme")
    command_line.configure(settings_of(relays, 'sms = ["nhn"]').replace(relays[0].sms_secret_key, "wrong"))

    found = command_line("doctor")

    assert "note  the sender numbers of the relay nhn could not be read" in found.out
    assert "(-1000 Invalid appKey.)" in found.out
