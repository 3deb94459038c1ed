"""`pabal profile adopt` and `pabal mapping`, before the documented server on a real socket."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from pabal.domain.kakao.profile import Suspension
from pabal.service.context import Context
from pabal.store.kakao import profiles
from tests.fakes.nhncloud import channel
from tests.fakes.nhncloud.server import FakeNhnCloud, serving
from tests.fixtures.cli import CommandLine, CommandResult
from tests.fixtures.relay_thread import relay_in_thread
from tests.fixtures.virtual import NOON

OTHER = """
[carriers.relay2]
kind = "nhncloud"
talk_app_key = "a"
talk_secret_key = "b"
"""


@pytest.fixture
def relay() -> Iterator[FakeNhnCloud]:
    with relay_in_thread(serving, seed=1) as server:
        yield server


class RelayCommandLine:
    """A command line whose settings name the fake relay as a carrier."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str], relay: FakeNhnCloud) -> None:
        self.run = CommandLine(folder / "data", capsys)
        self.config = folder / "pabal.toml"
        self.config.write_text(
            f"""
[carriers.relay]
kind = "nhncloud"
talk_app_key = "{relay.talk_app_key}"
talk_secret_key = "{relay.talk_secret_key}"
talk_address = "{relay.address}"
"""
        )
        self.run("key", "create", "--account", "acme")

    def adopt(self, *words: str) -> CommandResult:
        return self.run("profile", "adopt", *words, "--config", str(self.config))


@pytest.fixture
def command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str], relay: FakeNhnCloud) -> RelayCommandLine:
    return RelayCommandLine(tmp_path, capsys, relay)


def test_account_adopts_a_profile_of_the_relay(command_line: RelayCommandLine, relay: FakeNhnCloud) -> None:
    key = relay.add_profile("@shop").sender_key

    adopted = command_line.adopt("shop", "--account", "acme")

    assert (adopted.status, adopted.err) == (0, "")
    assert adopted.out == "@shop is profile 1 of acme; its templates appear within a minute\n"
    ((_, name, channel, status, use, _, carrier),) = command_line.run("profile", "list").rows
    assert (name, channel, status, use, carrier) == ("acme", "@shop", "approval", "in use", "relay")
    kept = command_line.run.run_in_context(lambda context: context.store.read(profiles.get_by_any_sender_key, key))
    assert kept.carrier == "relay"


def test_failed_adoption_says_what_to_do(command_line: RelayCommandLine, relay: FakeNhnCloud) -> None:
    relay.add_profile("@shop")

    for words, says in (
        (("@nothing", "--account", "acme"), "no approved profile for this channel"),
        (("@shop", "--account", "nobody"), "pabal account list"),
        (("@shop", "--account", "acme", "--carrier", "telco"), "these are: relay"),
        (("with space", "--account", "acme"), "search ID of a KakaoTalk channel"),
    ):
        refused = command_line.adopt(*words)
        assert refused.status != 0
        assert says in refused.err
    assert command_line.run("profile", "list").rows == []

    command_line.config.write_text(command_line.config.read_text() + OTHER)
    assert "name one: relay, relay2" in command_line.adopt("@shop", "--account", "acme").err
    assert command_line.adopt("@shop", "--account", "acme", "--carrier", "relay").status == 0
    without = command_line.run("profile", "adopt", "@shop", "--account", "acme")
    assert 'kind = "nhncloud"' in without.err


def test_lists_say_why_a_profile_is_suspended(command_line: RelayCommandLine, relay: FakeNhnCloud) -> None:
    relay.add_profile("@shop")
    command_line.adopt("@shop", "--account", "acme")

    async def block(context: Context) -> None:
        await context.store.write(profiles.apply_remote, 1, "00100010001", Suspension.BLOCKED, NOON)

    command_line.run.run_in_context(block)

    use = command_line.run("profile", "list").rows[0][4]
    assert use == "out of use (blocked): The relay or Kakao has blocked it."


def test_profile_and_templates_are_mapped_to_another_relay(
    command_line: RelayCommandLine, relay: FakeNhnCloud
) -> None:
    key = relay.add_profile("@shop").sender_key
    relay.add_template(key, "theirs", "배송 #{name}")
    content = ("T1", "배송 #{name}")

    async def add_channel(context: Context) -> None:
        await context.store.write(channel.add_to_store, "acme", NOON, None, "5e" * 20, content)

    command_line.run.run_in_context(add_channel)
    words = ("@shop", "--account", "acme", "--carrier", "relay")
    config = ("--config", str(command_line.config))

    mapped = command_line.run("mapping", "add", *words, *config)
    listed = command_line.run("mapping", "list").rows
    by_hand = command_line.run("mapping", "add", *words, "--template", "T1", "--code", "nothing", *config)
    unknown = command_line.run("mapping", "add", *words[:3], "--carrier", "telco", *config)
    removed = command_line.run("mapping", "remove", *words, *config)
    again = command_line.run("mapping", "remove", *words, *config)

    assert (mapped.status, mapped.out) == (0, "@shop is mapped to relay\n")
    assert listed == [
        ["acme", "@shop", "relay", "-", key, "manual", "usable"],
        ["acme", "@shop", "relay", "T1", "theirs", "found", "usable"],
    ]
    assert by_hand.out.endswith("but cannot be used yet: The carrier no longer has it.\n")
    assert "these are: relay" in unknown.err
    assert (removed.status, again.status) == (0, 2)
    assert "pabal mapping list" in again.err
