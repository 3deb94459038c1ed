"""A rehearsal before the documented servers: as they are, and with planted differences."""

import socket
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pabal.carriers.provider import RelayProvider
from pabal.cli.doctor.rehearsal import Observer, Rehearsal, RelaySettings, build_carrier, documents_of
from pabal.cli.doctor.rehearsal_messages import Choices, plan
from pabal.cli.doctor.rehearse_command import describe, exit_status
from pabal.domain.content.image import JPEG, Image
from pabal.settings.settings import Settings, load
from pabal.world import RealWorld
from tests.fakes.nhncloud.server import serving as serving_nhncloud
from tests.fakes.relay_server import RelayServer
from tests.fakes.solapi.server import serving as serving_solapi
from tests.fixtures.pictures import make_jpeg
from tests.fixtures.virtual import NOON

pytestmark = pytest.mark.real_time

SECRET = "a-secret-of-the-webhooks"
RECEIVER = "01012345678"
IMAGE = Image(JPEG, "try.jpg", make_jpeg(800, 600))
Plant = Callable[[str, Any], Any]


class NoonWorld(RealWorld):
    """A clock that was at noon when the test began: some kinds are not sent at night."""

    def __init__(self) -> None:
        super().__init__()
        self._ahead_ms = NOON - RealWorld().now()

    def now(self) -> int:
        return super().now() + self._ahead_ms


class Report(NamedTuple):
    """What a rehearsal printed, and its exit status."""

    lines: list[str]
    status: int

    @property
    def differences(self) -> list[str]:
        """The lines with differences, without how often each was seen."""
        return sorted(line.strip().rpartition(", ")[0] for line in self.lines if line.endswith("×"))


def nhncloud_settings(relay: Any) -> str:
    profile = relay.add_profile("@shop")
    relay.add_template(profile.sender_key, "welcome", "#{name}님, 환영합니다.")
    return f"""
[carriers.relay]
kind = "nhncloud"
sms_app_key = "{relay.sms_app_key}"
sms_secret_key = "{relay.sms_secret_key}"
talk_app_key = "{relay.talk_app_key}"
talk_secret_key = "{relay.talk_secret_key}"
sms_address = "{relay.address}"
talk_address = "{relay.address}"
poll_seconds = 1
webhook_signature = "{SECRET}"
"""


def solapi_settings(relay: Any) -> str:
    relay.numbers.add("15880000")
    relay.add_template(relay.add_channel("@shop").channel_id, "[welcome] 환영", "#{name}님, 환영합니다.")
    return f"""
[carriers.relay]
kind = "solapi"
api_key = "{relay.api_key}"
api_secret = "{relay.api_secret}"
address = "{relay.address}"
poll_seconds = 1
webhook_secret = "{SECRET}"
"""


class RelayKind(NamedTuple):
    """A documented server, and the settings for it."""

    serving: Callable[..., AbstractAsyncContextManager[RelayServer]]
    settings: Callable[[Any], str]


RELAYS = {
    "nhncloud": RelayKind(serving_nhncloud, nhncloud_settings),
    "solapi": RelayKind(serving_solapi, solapi_settings),
}


async def rehearse(
    folder: Path, kind: str, plant: Plant | None = None, *, only: str = "", wait_s: float = 10.0
) -> Report:
    """Rehearse a relay whose answers are changed by `plant`."""
    world = NoonWorld()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        async with RELAYS[kind].serving(clock=world.now, receipt_after_s=0.05) as relay:
            settings, carrier = load_settings(folder, RELAYS[kind].settings(relay))
            relay.webhooks.set(f"http://127.0.0.1:{listener.getsockname()[1]}/hooks/relay", SECRET)
            relay.plant = plant
            products = [each for each in carrier.products if each.code == only or not only]
            choices = Choices(RECEIVER, products, "15880000", image=IMAGE)
            observer = Observer(documents_of(carrier))
            provider = build_carrier(carrier, world, observer, None).provider
            assert isinstance(provider, RelayProvider)
            attempts, unsent = await plan(choices, provider, world, settings.zone)
            await provider.close()
            rehearsal = Rehearsal(settings, carrier, world, observer, choices.image, wait_s)
            followed = await rehearsal.run(attempts, listener)
    lines = [line.en for line in describe(carrier, "2026-11-18", followed, unsent, observer, has_webhook=True)]
    return Report(lines, exit_status(followed, unsent, observer, has_webhook=True))


def load_settings(folder: Path, text: str) -> tuple[Settings, RelaySettings]:
    file = folder / "pabal.toml"
    file.write_text(text, encoding="utf-8")
    settings = load({}, file=file, data=folder)
    return settings, settings.carriers["relay"]  # type: ignore[return-value]


@pytest.mark.parametrize("kind", RELAYS)
async def test_documented_relay_has_no_differences(tmp_path: Path, kind: str) -> None:
    report = await rehearse(tmp_path, kind)

    assert report.status == 0, "\n".join(report.lines)
    assert report.lines[-1] == "Differences from the documents: 0"
    assert sum("accepted after" in line for line in report.lines) == 8
    for how in ("webhook: ", "list of results: "):
        assert sum(line.strip().startswith(how) and "Delivered" in line for line in report.lines) == 8
    assert "…" not in "\n".join(report.lines)


BY_ID = ("messageList", "countForCharge", "profit", "count")
"""Objects whose names are ids, or counters, as Solapi has some."""


def add_to_objects(value: Any, name: str = "") -> Any:
    """Add a field to every object in an answer."""
    if isinstance(value, list):
        return [add_to_objects(each) for each in value]
    if not isinstance(value, dict) or name in BY_ID[1:]:
        return value
    changed = {name: add_to_objects(each, name) for name, each in value.items()}
    return changed if name in BY_ID else changed | {"planted": RECEIVER}


@pytest.mark.parametrize("kind", RELAYS)
async def test_fields_that_are_not_documented_are_found_in_every_answer(tmp_path: Path, kind: str) -> None:
    seen: set[str] = set()

    def plant(where: str, value: Any) -> Any:
        seen.add(where.partition("?")[0])
        return add_to_objects(value)

    report = await rehearse(tmp_path, kind, plant)

    calls = {line.partition(": ")[0] for line in report.differences}
    documented = documents_of(load_settings(tmp_path, (tmp_path / "pabal.toml").read_text())[1])
    answered = {
        f"{call.method} {call.path}"
        for where in seen
        if (call := documented.find_call(*where.partition(" ")[::2])) is not None
    }
    assert report.status == 1
    assert calls == answered | {"webhook"}
    assert all("planted: a field that is not documented (string)" in line for line in report.differences)
    assert RECEIVER not in "\n".join(report.lines)


def change(where: str, *path: str | int, to: Any = None, drop: bool = False) -> Plant:
    """Return what changes, or drops, one value of some answers, where they have it."""

    def plant(call: str, value: Any) -> Any:
        place = value
        if where not in call:
            return value
        try:
            for step in path[:-1]:
                place = next(iter(place.values())) if step == "*" else place[step]
            if drop:
                del place[path[-1]]
            else:
                place[path[-1]] = to
        except (KeyError, IndexError, StopIteration):
            return value
        return value

    return plant


SMS = "/sms/v3.0/appKeys/{appKey}"
PLANTED = [
    pytest.param(
        "nhncloud",
        change("POST /sms/", "body", "data", "sendResultList", 0, "recipientSeq", to="1"),
        [
            f"POST {SMS}/sender/{{kind}}: body.data.sendResultList[].recipientSeq: another type than documented"
            " (string ≠ integer)"
        ],
        id="type of a field of an answer",
    ),
    pytest.param(
        "nhncloud",
        change("message-results", "body", "data", 0, "resultCode", to="7777"),
        [f"GET {SMS}/message-results: body.data[].resultCode: a code that is not documented (7777)"],
        id="code of a result",
    ),
    pytest.param(
        "nhncloud",
        change("webhook", "hooks", 0, "messageCount", drop=True),
        ["webhook: hooks[].messageCount: a documented field is missing"],
        id="missing field of a webhook",
    ),
    pytest.param(
        "solapi",
        change("GET /messages", "messageList", "*", "statusCode", to="9999"),
        ["GET /messages/v4/list: messageList[].statusCode: a code that is not documented (9999)"],
        id="Solapi: code of a listed message",
    ),
]


@pytest.mark.first_case
@pytest.mark.parametrize(("kind", "plant", "expected"), PLANTED)
async def test_planted_difference_is_reported(tmp_path: Path, kind: str, plant: Plant, expected: list[str]) -> None:
    report = await rehearse(tmp_path, kind, plant, only="sms", wait_s=3.0)

    assert (report.status, report.differences) == (1, expected)
    assert RECEIVER not in "\n".join(report.lines)
