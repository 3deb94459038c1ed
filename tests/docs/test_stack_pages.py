"""Runs the programs of the pages on other languages, by the commands of these pages, with a service and a webhook.

Between program and service is a gateway that loses an answer and is busy once, so that the programs have to repeat.
"""

import base64
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import httpx
import pytest

from docs import generate
from pabal.testing.account import TemporaryAccount
from pabal.testing.plugin import pabal, pabal_service
from pabal.webhooks.poster import sign
from pabal.world import RealWorld
from tests.fakes.smsc.peer import NODE, PACKAGES
from tests.fixtures.live import wait_until
from tests.fixtures.pages import blocks, section
from tests.fixtures.processes import free_ports

__all__ = ["pabal", "pabal_service"]

EXAMPLES = generate.DOCS / "examples"
KOTLINC = PACKAGES / "kotlin-compiler" / "bin" / "kotlinc"
JARS = Path("/usr/share/java")
JACKSON = [JARS / f"jackson-{part}.jar" for part in ("annotations", "core", "databind")]
SPRING = [JARS / f"spring3-{part}.jar" for part in ("beans", "context", "core", "web")]
PHONE = "010-1234-5678"
TOO_OLD_S = 400


class Stack(NamedTuple):
    """A page with its programs, and what must be there to run them."""

    folders: tuple[str, ...]
    commands: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()

    @property
    def missing(self) -> list[str]:
        """What is not installed: commands and files."""
        unknown = [each for each in self.commands if shutil.which(each, path=search_path()) is None]
        return [*unknown, *(str(each) for each in self.files if not each.exists())]


STACKS = {
    "java": Stack(("java",), ("javac",), (*JACKSON,)),
    "kotlin": Stack(("kotlin",), ("java",), (*JACKSON, KOTLINC)),
    "php": Stack(("php",), ("php",)),
    "go": Stack(("go",), ("go",)),
    "node": Stack(("node",)),
    "django": Stack(("django",)),
    "fastapi": Stack(("fastapi",)),
}


def search_path() -> str:
    """Return where commands are looked for: our own Python and Node.js before those of the machine."""
    return os.pathsep.join([str(Path(sys.executable).parent), str(NODE.parent), os.environ["PATH"]])


def skip_without(stack: Stack) -> None:
    """Skip a test whose runtime is not installed."""
    if stack.missing:
        pytest.skip(
            f"not installed: {', '.join(stack.missing)}; run `make languages`, as root or with their packages"
        )


class Gateway(ThreadingHTTPServer):
    """Passes calls on to a service; of some orders it loses the first answer, or is busy at first."""

    daemon_threads = True

    def __init__(self, base_url: str) -> None:
        super().__init__(("127.0.0.1", 0), _GatewayHandler)
        self.sends: Counter[str] = Counter()
        self.service = httpx.Client(base_url=base_url, timeout=30)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _GatewayHandler(BaseHTTPRequestHandler):
    server: Gateway

    def do_GET(self) -> None:
        self._answer(self._pass_on(b""))

    def do_POST(self) -> None:
        key = self.headers["Idempotency-Key"] or "webhook"
        self.server.sends[key] += 1
        is_first = self.server.sends[key] == 1
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if is_first and key == "order-busy":
            self._answer(httpx.Response(503, headers={"Retry-After": "1"}, json={"result": "SERVICE_UNAVAILABLE"}))
            return
        answer = self._pass_on(body)
        if not (is_first and key == "order-lost"):  # else the connection ends without an answer
            self._answer(answer)

    def _pass_on(self, body: bytes) -> httpx.Response:
        names = ("apiKey", "Content-Type", "Idempotency-Key", "Connection", "Upgrade", "HTTP2-Settings")
        headers = {name: self.headers[name] for name in names if self.headers[name]}
        return self.server.service.request(self.command, self.path, content=body, headers=headers)

    def _answer(self, answer: httpx.Response) -> None:
        self.send_response(answer.status_code)
        for name in ("Content-Type", "Retry-After"):
            if name in answer.headers:
                self.send_header(name, answer.headers[name])
        self.send_header("Content-Length", str(len(answer.content)))
        self.end_headers()
        self.wfile.write(answer.content)

    def log_message(self, format: str, *values: object) -> None:
        """Say nothing."""


class Shop:
    """A running program."""

    def __init__(self, gateway: Gateway, client: httpx.Client, output: Path) -> None:
        self.gateway = gateway
        self._client = client
        self._output = output

    @property
    def results(self) -> list[str]:
        """The results that it has printed, sorted."""
        lines = self._output.read_text(encoding="utf-8").splitlines()
        return sorted(line for line in lines if re.fullmatch(r"[\w-]+ (completed|fail)", line))

    def is_up(self) -> bool:
        try:
            self._client.get("/nothing")
        except httpx.TransportError:
            return False
        return True

    def order(self, number: str, phone: str = PHONE) -> httpx.Response:
        """Order; where a task sends, wait until it has."""
        answer = self._client.post(f"/orders/{number}/{phone}")
        if answer.status_code == httpx.codes.ACCEPTED:
            answer = wait_until(
                lambda: self._client.get(f"/orders/{number}"), lambda seen: seen.status_code != httpx.codes.ACCEPTED
            )
        return answer

    def counts(self, request_id: str) -> dict[str, int]:
        counts: dict[str, int] = self._client.get(f"/requests/{request_id}").json()
        return counts

    def deliver(self, event_id: str, reference: str, *, age_s: int = 0, secret: bytes | None = None) -> int:
        """Deliver an event as the service does, or with another time or secret; return the status of the answer."""
        body = EVENT.replace("EVENT", event_id).replace("REFERENCE", reference).encode()
        key = secret or base64.b64decode((self._output.parent / "secret.txt").read_text().removeprefix("whsec_"))
        headers = sign([key], "msg_1", RealWorld().now() - age_s * 1_000_000, body)
        return self._client.post("/pabal", content=body, headers=headers).status_code


EVENT = """{"type": "message.result", "timestamp": "2026-11-15T12:00:03.123+09:00", "data": {"items": [
 {"eventId": "EVENT", "id": "1", "label": "", "messageId": "1", "requestId": "1", "receiver": "01012345678",
  "messageProductType": {"value": "sms", "label": ""}, "sendingStatus": {"value": "fail", "label": ""},
  "yyyyMM": "202611", "requestDate": "", "scheduledDate": "", "content": "", "reference": "REFERENCE"}]}}"""


@contextlib.contextmanager
def running(name: str, account: TemporaryAccount, folder: Path) -> Iterator[Shop]:
    """Run the program of a page, with a webhook to it and the gateway in front of the service."""
    for each in STACKS[name].folders:
        shutil.copytree(EXAMPLES / each, folder, dirs_exist_ok=True)
    if name in ("java", "kotlin"):
        (folder / "lib").mkdir()
        for jar in JACKSON:
            (folder / "lib" / jar.name).symlink_to(jar)
    (folder / "kotlinc").write_text(f'#!/bin/sh\nexec bash {KOTLINC} "$@"\n', encoding="utf-8")
    (folder / "kotlinc").chmod(0o755)
    (folder / "tested_settings.py").write_text(DJANGO_SETTINGS, encoding="utf-8")
    port = free_ports()
    webhook = blocks(section("other-languages"))[0].replace("3000", str(port))
    commands = ["set -eu", webhook, 'printf %s "$WEBHOOK_SECRET" > secret.txt', blocks(section(name))[0]]
    output = folder / "output.txt"
    with Gateway(account.base_url) as gateway, output.open("wb") as file:
        Thread(target=gateway.serve_forever, daemon=True).start()
        environment = {
            "PATH": f"{folder}:{search_path()}",
            "HOME": os.environ.get("HOME", "/"),
            "LC_ALL": "C",  # sources are UTF-8 whatever the machine's charset is, such as MS949
            "BASE": gateway.url,
            "KEY": account.api_key,
            "JAVA_OPTS": "-XX:TieredStopAtLevel=1",
            "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "DJANGO_SETTINGS_MODULE": "tested_settings",
        }
        process = subprocess.Popen(
            ["bash", "-c", "\n".join(commands)],
            cwd=folder,
            env=environment,
            stdout=file,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30)
        try:
            shop = Shop(gateway, client, output)
            wait_until(shop.is_up, lambda is_up: is_up or process.poll() is not None)
            assert process.poll() is None, output.read_text(encoding="utf-8")
            yield shop
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            client.close()
            gateway.shutdown()
            gateway.service.close()


DJANGO_SETTINGS = """
from shop.settings import *

CELERY_BROKER_URL = "filesystem://"
CELERY_BROKER_TRANSPORT_OPTIONS = {"data_folder_in": ".", "data_folder_out": ".", "polling_interval": 0.1}
CELERY_WORKER_POOL = "solo"
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=pytest.mark.torture if each == "kotlin" else ()) for each in STACKS]
)
def test_program_sends_once_and_stores_results(name: str, pabal: TemporaryAccount, tmp_path: Path) -> None:
    skip_without(STACKS[name])
    with running(name, pabal, tmp_path) as shop, ThreadPoolExecutor() as pool:
        usual, lost, busy, wrong = pool.map(shop.order, ["usual", "lost", "busy", "wrong"], [PHONE] * 3 + ["010-1"])
        again = shop.order("usual")

        assert [each.status_code for each in (usual, lost, busy)] == [200] * 3, shop.results
        assert again.text == usual.text
        assert (wrong.status_code, wrong.text.partition(":")[0]) == (400, "INVALID_PHONE_NUMBER")
        tries = {"webhook": 1, "order-usual": 2, "order-lost": 2, "order-busy": 2, "order-wrong": 1}
        wait_until(lambda: shop.gateway.sends["order-usual"], lambda seen: seen == 2)  # a task may come later
        assert shop.gateway.sends == tries

        sent = ["busy completed", "lost completed", "usual completed"]
        wait_until(lambda: shop.results, lambda seen: len(seen) >= len(sent))
        assert shop.results == sent
        assert [each.kind for each in pabal.list_received(PHONE)] == ["sms"] * len(sent)
        assert shop.counts(busy.text)["completed"] == 1

        assert shop.deliver("evt_1", "forged", secret=b"x" * 32) == 401
        assert shop.deliver("evt_1", "old", age_s=TOO_OLD_S) == 401
        assert shop.deliver("evt_1", "other") == 204
        assert shop.deliver("evt_1", "other") == 204
        wait_until(lambda: shop.results, lambda seen: len(seen) > len(sent))
        assert shop.results == sorted([*sent, "other fail"])


@pytest.mark.slow
def test_spring_controller_compiles(tmp_path: Path) -> None:
    stack = Stack(("java", "spring"), ("javac",), (*JACKSON, *SPRING))
    skip_without(stack)
    sources = [EXAMPLES / "java" / "Pabal.java", EXAMPLES / "spring" / "ShopController.java"]
    path = os.pathsep.join(map(str, stack.files))

    subprocess.run(["javac", "-Werror", "-cp", path, "-d", tmp_path, *sources], check=True, timeout=60)
