"""`pabal work` and several API processes on one PostgreSQL, as processes of their own."""

import json
import re
from pathlib import Path

import httpx
import pytest

from pabal import __version__
from tests.fixtures import postgres
from tests.fixtures.live import LiveService, serving, wait_until, working
from tests.fixtures.postgres_store import query_outside
from tests.fixtures.processes import free_ports

pytestmark = pytest.mark.slow
BODY = {"content": "안녕하세요", "sender": "02-1234-5678", "receivers": [{"phoneNumber": "010-1234-5678"}]}
GREETING = re.compile(r"Pabal worker \S+:[0-9]+ is running\. Stop with Ctrl-C\.\n")


@pytest.fixture
def store() -> str:
    """The address of an empty database."""
    return postgres.empty_database()


def send(client: httpx.Client, key: str | None = None) -> str:
    """Send one message; return its request's id."""
    headers = {"Idempotency-Key": key} if key else {}
    said = client.post("/api/message/sendSMS.v1.0", json=BODY, headers=headers).json()
    assert said["result"] == "SUCCESS", said
    return str(said["item"]["requestId"])


def is_delivered(client: httpx.Client, request: str) -> bool:
    """Say whether all of a request has been delivered."""
    said = client.get("/api/message/request.v1.0", params={"requestId": request}).json()
    assert said["result"] == "SUCCESS", said
    return bool(said["item"]["counts"]["completed"] == said["item"]["totalCount"])


def deliver(live: LiveService, number: int = 5) -> None:
    """Send some messages by an API process, and see them delivered."""
    with live.client() as client:
        requests = [send(client) for _ in range(number)]
        wait_until(lambda: [is_delivered(client, one) for one in requests], all)


def check_process_figures(shown: str) -> None:
    """Check that the metrics of a process say which version runs, and what the process uses."""
    build = re.search(r"^pabal_build_info\{(.*)\} 1\.0$", shown, re.M)
    assert build
    assert f'version="{__version__}"' in build[1]
    for name in ("cpu_seconds_total", "resident_memory_bytes", "open_fds", "max_fds", "start_time_seconds"):
        figure = re.search(rf"^process_{name} (\S+)$", shown, re.M)
        assert figure, name
        assert float(figure[1]) > 0, name


def test_worker_delivers_tells_its_figures_alone_and_stops_on_signal(tmp_path: Path, store: str) -> None:
    port = free_ports()
    with (
        serving(tmp_path / "web", "--no-deliver", store=store, key_rate=0) as web,
        working(tmp_path / "work", store=store, work_port=port) as work,
        httpx.Client(base_url=f"http://127.0.0.1:{port}") as client,
    ):
        assert GREETING.fullmatch(work.greeting)
        assert str(work.process.pid) in work.greeting
        assert [client.get(path).status_code for path in ("/healthz", "/readyz", "/metrics")] == [200, 200, 200]
        assert client.post("/api/message/sendSMS.v1.0", json=BODY).status_code == 404

        deliver(web)

        shown = client.get("/metrics").text
        counted = re.search(r"^pabal_carrier_verdicts_total\{.*taken.*\} (\S+)$", shown, re.M)
        assert counted
        assert float(counted[1]) == 5
        with web.client() as interface:
            check_process_figures(interface.get("/metrics").text)
        check_process_figures(shown)
        assert work.stop() == 0
        assert web.stop() == 0
        told = [json.loads(line)["event"] for line in work.log.read_text(encoding="utf-8").splitlines()]
        assert [each for each in told if each.startswith("service ")] == [
            "service started",
            "service stopping",
            "service stopped",
        ]
    assert query_outside(store, "select name from workers") == []
