"""Kannel as a peer: its two boxes on free ports, with a file store."""

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

from bench import bodies
from bench.fill import TEXT
from bench.load import LoadPlan
from bench.peers.boxes import free_ports, wait_for_port, wait_or_kill
from bench.peers.callback_sink import CallbackSink
from bench.peers.peer import DIFFERENT_MESSAGES, Running
from bench.server import Server
from bench.sink import WINDOW, Sink

BOXES = ("/usr/sbin/bearerbox", "/usr/sbin/smsbox")
PASSWORD = "bench"
DELIVERED_OR_FAILED = 3
"""The mask of the receipts that are asked for."""
CONFIGURATION = """\
group = core
admin-port = {admin}
admin-password = {password}
smsbox-port = {box}
box-deny-ip = "*.*.*.*"
box-allow-ip = "127.0.0.1"
store-type = file
store-location = "{folder}/kannel.store"
dlr-storage = internal
log-level = 4
log-file = "{folder}/bearerbox.log"

group = smsc
smsc = smpp
smsc-id = sink
host = 127.0.0.1
port = {smsc}
smsc-username = bench
smsc-password = bench
system-type = ""
transceiver-mode = true
max-pending-submits = {window}
reconnect-delay = 1

group = smsbox
smsbox-id = bench
bearerbox-host = 127.0.0.1
sendsms-port = {http}
log-level = 4
log-file = "{folder}/smsbox.log"

group = sendsms-user
username = bench
password = {password}
concatenation = true
max-messages = 5
"""


class Kannel:
    """Kannel, as Debian packages it."""

    def __init__(self) -> None:
        self.name = f"Kannel {_version()}, file store"

    @staticmethod
    def is_installed() -> bool:
        """Say whether it can be measured here."""
        return all(Path(box).exists() for box in BOXES)

    @contextlib.contextmanager
    def start(
        self, folder: Path, smsc: Sink, callbacks: CallbackSink | None, *, has_receipts: bool
    ) -> Iterator[Running]:
        """Start both boxes, and stop them at the end."""
        ports = dict(zip(("admin", "box", "http"), free_ports(3), strict=True))
        file = folder / "kannel.conf"
        file.write_text(
            CONFIGURATION.format(folder=folder, password=PASSWORD, smsc=smsc.port, window=WINDOW, **ports),
            encoding="utf-8",
        )
        processes: list[subprocess.Popen[bytes]] = []
        try:
            for box, port in zip(BOXES, (ports["box"], ports["http"]), strict=True):
                process = subprocess.Popen([box, str(file)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                processes.append(process)
                wait_for_port(port, process, folder)
            servers = [Server(process.pid, ports["http"], 0.0) for process in processes]
            yield Running(_plan(ports["http"], callbacks, has_receipts=has_receipts), servers)
        finally:
            for process in reversed(processes):
                process.terminate()
            for process in processes:
                wait_or_kill(process)

    def count_callbacks(self, callbacks: CallbackSink) -> list[tuple[float, int]]:
        """Return when its callbacks arrived: one request for each result."""
        return callbacks.arrivals()


def _plan(port: int, callbacks: CallbackSink | None, *, has_receipts: bool) -> LoadPlan:
    common = {
        "username": "bench",
        "password": PASSWORD,
        "from": "0212345678",
        "text": TEXT.replace("#{name}", "홍길동"),
        "charset": "UTF-8",
        "coding": "2",
    }
    if has_receipts:
        common["dlr-mask"] = str(DELIVERED_OR_FAILED)
        if callbacks:
            common["dlr-url"] = f"http://127.0.0.1:{callbacks.port}/result?answer=%A"
    queries = [urlencode(common | {"to": number}) for number in bodies.single_receivers(DIFFERENT_MESSAGES)]
    return LoadPlan(
        port=port,
        path="/cgi-bin/sendsms",
        key="",
        bodies=[f"/cgi-bin/sendsms?{query}".encode() for query in queries],
        is_get=True,
        expected_status=202,
    )


def _version() -> str:
    shown = subprocess.run(
        ["dpkg-query", "--show", "--showformat=${Version}", "kannel"], capture_output=True, text=True
    )
    return shown.stdout.strip() if shutil.which("dpkg-query") else "of unknown version"
