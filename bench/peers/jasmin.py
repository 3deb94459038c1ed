"""Jasmin as a peer: its daemon with Redis and RabbitMQ of its own, all on free ports."""

import contextlib
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

from bench import bodies
from bench.load import LoadPlan
from bench.peers.gateway import DIFFERENT_MESSAGES, run_program, wait_for_port
from bench.server import BenchmarkFailed, Server, free_ports
from bench.smsc import Smsc
from bench.through import Running

BROKER = "/usr/lib/rabbitmq/bin/rabbitmq-server"
REDIS = "/usr/bin/redis-server"
JCLI_TIMEOUT_S = 10.0
NOWHERE = "http://127.0.0.1:9/"
"""Where receipts would be told: Jasmin wants an address, but nobody tells them while callbacks are not measured."""
CONFIGURATION = """\
[amqp-broker]
port = {amqp}
spec = {spec}
[redis-client]
port = {redis}
[http-api]
bind = 127.0.0.1
port = {http}
[jcli]
port = {jcli}
authentication = False
[router]
bind = 127.0.0.1
port = {router}
store_path = {folder}
[client-management]
bind = 127.0.0.1
port = {clients}
store_path = {folder}
[smpp-server]
bind = 127.0.0.1
port = {server}
[smpp-server-pb]
bind = 127.0.0.1
port = {pb}
[smpp-server-pb-client]
port = {pb}
"""
COMMANDS = """\
group -a
gid bench
ok
user -a
username bench
password bench
uid bench
gid bench
ok
smppccm -a
cid sink
host 127.0.0.1
port {smsc}
username bench
password bench
submit_throughput 0
ok
mtrouter -a
type DefaultRoute
connector smppc(sink)
rate 0.0
ok
smppccm -1 sink
persist
quit
"""


class Jasmin:
    """Jasmin, as PyPI has it, in a virtual environment; Redis and RabbitMQ as Debian packages them."""

    def __init__(self, environment: Path) -> None:
        self._python = environment / "bin/python"
        self._program = environment / "bin/jasmind.py"
        self._spec = next(environment.glob("lib/*/site-packages/txamqp/specs/standard/amqp0-9-1*.xml"), "")
        shown = subprocess.run(
            [self._python, "-c", "from importlib.metadata import version; print(version('jasmin'))"],
            capture_output=True,
            text=True,
        )
        self.name = f"Jasmin {shown.stdout.strip()}, RabbitMQ and Redis"

    @staticmethod
    def is_installed(environment: Path) -> bool:
        """Say whether it can be measured here."""
        return all(Path(each).exists() for each in (BROKER, REDIS, environment / "bin/jasmind.py"))

    @contextlib.contextmanager
    def start(
        self, folder: Path, smsc: Smsc, callback_port: int | None, *, has_receipts: bool
    ) -> Iterator[tuple[LoadPlan, Running]]:
        """Start broker, Redis and Jasmin; configure it where the folder is new."""
        names = ("amqp", "redis", "http", "jcli", "router", "clients", "server", "pb", "dist")
        ports = dict(zip(names, free_ports(len(names)), strict=True))
        is_new = not (folder / "jasmin.cfg").exists()
        (folder / "jasmin.cfg").write_text(
            CONFIGURATION.format(folder=folder, spec=self._spec, **ports), encoding="utf-8"
        )
        options = ["--enable-dlr-lookup", *(["--enable-dlr-thrower"] if callback_port else [])]
        jasmin = [str(self._python), str(self._program), "-c", str(folder / "jasmin.cfg"), *options]
        redis = [REDIS, "--port", str(ports["redis"]), "--dir", str(folder)]
        paths = {"LOG_PATH": str(folder), "ROOT_PATH": str(folder)}
        with contextlib.ExitStack() as stack:
            broker = run_program([BROKER], folder, ports["amqp"], _broker_settings(folder, ports))
            others = [stack.enter_context(broker), stack.enter_context(run_program(redis, folder, ports["redis"]))]
            pid = stack.enter_context(run_program(jasmin, folder, ports["jcli"], paths))
            if is_new:
                _configure(ports["jcli"], COMMANDS.format(smsc=smsc.port))
            wait_for_port(ports["http"])
            plan = _plan(ports["http"], callback_port, has_receipts=has_receipts)
            yield plan, Running([Server(each, ports["http"]) for each in (pid, *others)])


def _broker_settings(folder: Path, ports: dict[str, int]) -> dict[str, str]:
    home = folder / "rabbitmq"
    home.mkdir(exist_ok=True)
    return {
        "HOME": str(home),
        "RABBITMQ_NODENAME": f"bench{ports['amqp']}@localhost",
        "RABBITMQ_NODE_PORT": str(ports["amqp"]),
        "RABBITMQ_DIST_PORT": str(ports["dist"]),
        "RABBITMQ_MNESIA_BASE": str(home),
        "RABBITMQ_LOG_BASE": str(home),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(home / "plugins"),
        "RABBITMQ_PID_FILE": str(home / "pid"),
        "RABBITMQ_SERVER_START_ARGS": "-noshell",
    }


def _configure(port: int, commands: str) -> None:
    """Type commands into Jasmin's console."""
    with socket.create_connection(("127.0.0.1", port), JCLI_TIMEOUT_S) as console:
        console.settimeout(JCLI_TIMEOUT_S)
        console.sendall(b"\r\n")
        said = _read_prompt(console)
        for line in commands.splitlines():
            console.sendall(line.encode() + b"\r\n")
            if line == "quit":
                break
            said += _read_prompt(console)
    if b"Successfully persisted" not in said and b"configuration persisted" not in said:
        raise BenchmarkFailed(f"Jasmin's console said: {said.decode(errors='replace')[-1500:]}")


def _read_prompt(console: socket.socket) -> bytes:
    said = b""
    while b"jcli : " not in said and b"\n> " not in said:
        try:
            part = console.recv(4096)
        except TimeoutError:
            part = b""
        if not part:
            raise BenchmarkFailed(f"Jasmin's console waits or has ended after {said!r}")
        said += part
    return said


def _plan(port: int, callback_port: int | None, *, has_receipts: bool) -> LoadPlan:
    common = {
        "username": "bench",
        "password": "bench",
        "from": "0212345678",
        "coding": "8",
        "hex-content": bodies.TEXT.replace("#{name}", "홍길동").encode("utf-16-be").hex(),
    }
    if has_receipts:
        address = f"http://127.0.0.1:{callback_port}/result" if callback_port else NOWHERE
        common |= {"dlr": "yes", "dlr-level": "2", "dlr-url": address, "dlr-method": "GET"}
    queries = [urlencode(common | {"to": number}) for number in bodies.single_receivers(DIFFERENT_MESSAGES)]
    return LoadPlan(
        port=port, path="/send", key="", bodies=[f"/send?{query}".encode() for query in queries], is_get=True
    )
