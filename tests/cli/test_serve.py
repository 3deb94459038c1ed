"""`pabal serve` refuses to start when it cannot run."""

import socket

from pabal.app import process_lock
from pabal.settings.settings import load
from pabal.world import RealWorld
from tests.fixtures.cli import CommandLine

WORLD = RealWorld()


def test_serve_reports_another_process_on_the_same_data(new_command_line: CommandLine) -> None:
    with process_lock(load({}, data=new_command_line.data)):
        refused = new_command_line("serve", "--port", "0")

    assert refused.status == 2
    assert "another pabal is running on" in refused.err


def test_serve_reports_a_port_in_use(new_command_line: CommandLine) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]

        refused = new_command_line("serve", "--port", str(port))

    assert refused.status == 2
    assert f"cannot listen on 127.0.0.1 port {port}" in refused.err
    assert "--port" in refused.err


def test_serve_refuses_an_invalid_port(new_command_line: CommandLine) -> None:
    refused = new_command_line("serve", "--port", "65536")

    assert (refused.status, refused.err) == (2, "pabal: port: at most 65535\n")


def test_serve_reports_an_address_that_the_machine_does_not_have(new_command_line: CommandLine) -> None:
    refused = new_command_line("serve", "--host", "203.0.113.1", "--port", "0")

    assert refused.status == 2
    assert "cannot listen on 203.0.113.1 port 0" in refused.err
    assert "choose another with --host" in refused.err
