"""`pabal serve` refuses to start when it cannot run, and warns when something cannot be sent."""

import asyncio
import inspect
import logging
import socket
from pathlib import Path

import pytest

from pabal.app import build_service
from pabal.cli.serving.serve import run
from pabal.settings.settings import load
from tests.fixtures.cli import CommandLine


def test_serve_reports_a_port_in_use(new_command_line: CommandLine) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]

        refused = new_command_line("serve", "--port", str(port))

    assert refused.status == 2
    assert f"cannot listen on 127.0.0.1 port {port}" in refused.err
    assert "--port" in refused.err


def test_serve_reports_an_address_that_the_machine_does_not_have(new_command_line: CommandLine) -> None:
    refused = new_command_line("serve", "--host", "203.0.113.1", "--port", "0")

    assert refused.status == 2
    assert "cannot listen on 203.0.113.1 port 0" in refused.err
    assert "choose another with --host" in refused.err


def test_stop_signal_before_the_service_begins_leaves_no_warning() -> None:
    async def serve() -> int:
        raise AssertionError("it has begun")

    def stop() -> asyncio.AbstractEventLoop:
        raise KeyboardInterrupt

    service = serve()
    with pytest.raises(KeyboardInterrupt):
        run(service, stop)

    assert inspect.getcoroutinestate(service) == inspect.CORO_CLOSED


def test_start_warns_of_a_carrier_that_no_route_names(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    tables = '[carriers.one]\nkind = "simulator"\n[carriers.two]\nkind = "simulator"\n[routes]\nsms = ["one"]'
    (tmp_path / "pabal.toml").write_text(tables)

    async def start() -> None:
        service = await build_service(load({}, tmp_path / "pabal.toml", data=tmp_path))
        await service.stop()

    with caplog.at_level(logging.WARNING, "pabal"):
        asyncio.run(start())

    assert [(each.message, vars(each)["carrier"]) for each in caplog.records] == [
        ("no route names this carrier; nothing is sent through it", "two")
    ]
