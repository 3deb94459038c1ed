"""Follows the pages about relays from their settings to the first messages, on the servers that they name."""

import contextlib
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pabal.service.context import Context
from tests.fakes.nhncloud import channel
from tests.fakes.solapi.server import serving as serving_solapi
from tests.fixtures.cli import WORLD, CommandLine
from tests.fixtures.live import LiveService, serving, wait_until
from tests.fixtures.pages import blocks, lines, section
from tests.fixtures.relay_thread import relay_in_thread

FIRST_STEPS = {
    "nhncloud": "From an account to the first Alimtalk",
    "solapi": "From an account to the first delivered message",
}
ACCOUNT = "acme"
MAX_LINES = 100
SHOP = ("tracking", "배송이 시작되었습니다.")


@contextlib.contextmanager
def documented_server(page: str) -> Iterator[str]:
    """Run the command of a page that starts its server, on a free port; give the settings that it prints."""
    (command,) = lines(section(page, "Try it without an account"))
    words = [sys.executable, *shlex.split(command)[1:], "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, encoding="utf-8") as process:
        assert process.stdout
        try:
            greeting = ""
            for line, _ in zip(process.stdout, range(MAX_LINES), strict=False):
                greeting += line
                if re.match(r"(talk_)?address = ", line):
                    break
            yield greeting[greeting.index("[carriers.") :]
        finally:
            process.terminate()


def settings_file(page: str, printed: str, folder: Path) -> Path:
    """Write the first file of a page with the keys and addresses of its server; secrets get files of their own."""
    settings: dict[str, Any] = tomllib.loads(blocks(section(page, FIRST_STEPS[page]), "toml")[0])
    for name, table in tomllib.loads(printed)["carriers"].items():
        carrier = settings["carriers"][name]
        for key, value in table.items():
            if f"{key}_file" in carrier:
                file = folder / Path(carrier[f"{key}_file"]).name
                file.write_text(value, encoding="utf-8")
                carrier[f"{key}_file"] = str(file)
            else:
                carrier[key] = value
    tables = {f"carriers.{name}": each for name, each in settings["carriers"].items()} | {
        "routes": settings["routes"]
    }
    config = folder / "pabal.toml"
    config.write_text(
        "\n".join(
            line
            for name, table in tables.items()
            for line in (f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in table.items()))
        ),
        encoding="utf-8",
    )
    return config


def commands_of_steps(page: str) -> list[str]:
    """Return the commands that stand in the steps, for one account and the channel of the server."""
    found = re.findall(r"`\.venv/bin/pabal ([^`]+)`", section(page, FIRST_STEPS[page]))
    return [each.replace("NAME", ACCOUNT).replace("@shop", "@pabal") for each in found]


def list_messages(live: LiveService, key: str) -> list[str]:
    with live.client(key) as client:
        items = client.post("/api/message/list.v1.0", json={"receivers": "010-1234-5678"}).json()["items"]
    return [each["sendingStatus"]["value"] for each in items]


@pytest.mark.first_case
@pytest.mark.slow
@pytest.mark.parametrize("page", FIRST_STEPS)
def test_first_steps_end_with_a_delivered_text_and_the_adopted_channel(
    page: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command_line = CommandLine(tmp_path / "data", capsys)
    with documented_server(page) as printed:
        config = settings_file(page, printed, tmp_path)
        with serving(tmp_path / "data", "--config", str(config)) as live:
            wait_until(lambda: live.log.read_text(encoding="utf-8"), lambda log: "carrier is up" in log)
            key = ""
            for command in commands_of_steps(page):
                new = ["--new-account"] if command.startswith("key create") else []
                done = command_line(*shlex.split(command), *new, "--config", config)
                assert done.status == 0, f"{command}: {done}"
                key = done.out.strip() if new else key
            shell = subprocess.run(
                ["bash", "-eu"],
                input="\n".join(lines(section(page, FIRST_STEPS[page]))),
                env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "BASE": live.base_url, "KEY": key},
                capture_output=True,
                encoding="utf-8",
                timeout=60,
                check=True,
            )

            assert re.findall(r'"result":"(\w+)"', shell.stdout) == ["SUCCESS", "SUCCESS"]
            wait_until(lambda: list_messages(live, key), lambda found: found == ["completed"])
            with live.client(key) as client:
                profiles = client.get("/api/sender/list.v1.0").json()["items"]
            assert [each["channelId"] for each in profiles] == ["@pabal"]
            assert live.stop() == 0


def test_profile_and_templates_are_mapped_to_the_second_relay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command_line = CommandLine(tmp_path / "data", capsys)
    command_line("key", "create", "--account", "shop")

    async def add_channel(context: Context) -> None:
        await context.store.write(channel.add_to_store, "shop", WORLD.now(), None, "5e" * 20, SHOP)

    command_line.run_in_context(add_channel)
    with relay_in_thread(serving_solapi) as relay:
        relay.add_template(relay.add_channel("@shop").channel_id, "[ship-1] 배송", SHOP[1])
        (file,) = blocks(section("several-relays"), "toml")
        for name, secret in (("first", "a secret"), ("second", relay.api_secret)):
            (tmp_path / f"{name}.secret").write_text(secret, encoding="utf-8")
        here = f'address = "{relay.address}"\napi_key = "{relay.api_key}"'
        config = tmp_path / "pabal.toml"
        config.write_text(
            re.sub("^api_key = .+$", here, file.replace("/etc/pabal", str(tmp_path)), flags=re.MULTILINE),
            encoding="utf-8",
        )
        said = []
        for command in lines(section("several-relays")):
            result = command_line(*shlex.split(command)[1:], "--config", str(config))
            assert result.status == 0, f"{command}: {result.err}"
            said.append(result.out)

    assert [row.split("\t")[3:] for row in said[1].splitlines()][1] == ["tracking", "ship-1", "found", "usable"]
    assert said[2:] == [
        "template tracking of @shop is mapped to second\n",
        "tracking is no longer mapped to second\n",
        "@shop is no longer mapped to second\n",
    ]
