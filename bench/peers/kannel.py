"""Kannel as a peer: its two boxes on free ports, with a file store."""

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

from bench import bodies
from bench.load import LoadPlan
from bench.peers.gateway import DIFFERENT_MESSAGES, run_program
from bench.server import Server, free_ports
from bench.smsc import WINDOW, Smsc
from bench.through import Running

BOXES = ("/usr/sbin/bearerbox", "/usr/sbin/smsbox")
PASSWORD, SENDER = "bench", "0212345678"
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
        self, folder: Path, smsc: Smsc, callback_port: int | None, *, has_receipts: bool
    ) -> Iterator[tuple[LoadPlan, Running]]:
        """Start both boxes, and stop them at the end."""
        ports = dict(zip(("admin", "box", "http"), free_ports(3), strict=True))
        file = folder / "kannel.conf"
        file.write_text(
            CONFIGURATION.format(folder=folder, password=PASSWORD, smsc=smsc.port, window=WINDOW, **ports),
            encoding="utf-8",
        )
        with contextlib.ExitStack() as stack:
            pids = [
                stack.enter_context(run_program([box, str(file)], folder, port))
                for box, port in zip(BOXES, (ports["box"], ports["http"]), strict=True)
            ]
            plan = _plan(ports["http"], callback_port, has_receipts=has_receipts)
            yield plan, Running([Server(pid, ports["http"]) for pid in pids])


def _plan(port: int, callback_port: int | None, *, has_receipts: bool) -> LoadPlan:
    common = {
        "username": "bench",
        "password": PASSWORD,
        "from": SENDER,
        "text": bodies.TEXT.replace("#{name}", "홍길동"),
        "charset": "UTF-8",
        "coding": "2",
    }
    if has_receipts:
        common["dlr-mask"] = str(DELIVERED_OR_FAILED)
        if callback_port:
            common["dlr-url"] = f"http://127.0.0.1:{callback_port}/result?answer=%A"
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
