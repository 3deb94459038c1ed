"""`pabal serve --processes` and `pabal work --processes`: processes that are kept running, and end together."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from pabal.cli.main import main
from pabal.cli.serving.supervise import ChildCommand, supervise
from pabal.domain.sends.message import Outcome
from tests.fixtures import postgres
from tests.fixtures.live import LiveService, run, serving, wait_until, working
from tests.fixtures.postgres_store import query_outside
from tests.fixtures.processes import children_of, free_ports, is_running

BODY = {"content": "안녕하세요", "sender": "02-1234-5678", "receivers": [{"phoneNumber": "010-1234-5678"}]}
SHARES = """select substring(workers.name from '[0-9]+$')::int, count(*)
    from workers join slots on slots.worker_id = workers.id group by workers.name"""
"""How many slots each process has."""
REPORT_READY = "import socket, sys; link = socket.socket(fileno=int(sys.argv[-1])); link.send(b'r')"
WAIT = "link.recv(1)"
CALLERS, ROUNDS = 32, 40
IGNORE_SIGTERM = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"


@pytest.fixture
def store() -> str:
    """The address of an empty database."""
    return postgres.empty_database()


@pytest.fixture
def ports() -> int:
    """The first of three ports in a row that nobody listens on."""
    return free_ports(3)


@pytest.fixture
def two(tmp_path: Path, store: str, ports: int) -> Iterator[LiveService]:
    """Two processes of one command, which share the slots."""
    with serving(tmp_path / "two", "--processes", "2", store=store, work_port=ports, key_rate=0) as live:
        wait_for_workers(live, store)
        yield live


def wait_for_workers(live: LiveService, store: str) -> None:
    """Wait until each of two processes has half of the slots."""
    wait_until(
        lambda: dict(query_outside(store, SHARES)) == dict.fromkeys(children_of(live.process.pid), 4),
        lambda is_shared: is_shared,
    )


def send_and_await_delivery(client: httpx.Client, number: int = 10) -> None:
    """Send messages over connections of their own, and see them delivered."""
    requests = []
    for _ in range(number):
        answer = client.post("/api/message/sendSMS.v1.0", json=BODY, headers={"Connection": "close"}).json()
        assert answer["result"] == "SUCCESS", answer
        requests.append(answer["item"]["requestId"])

    def count_delivered() -> int:
        found = [client.get("/api/message/request.v1.0", params={"requestId": each}).json() for each in requests]
        return sum(each["item"]["counts"]["completed"] for each in found)

    wait_until(count_delivered, lambda delivered: delivered == number)


def run_supervised(*scripts: str, stop_timeout_s: float = 30.0, stops: bool = False) -> int:
    """Supervise processes that run these scripts, and return the status; `stops`: at once when all are ready."""

    async def whole() -> int:
        commands = [ChildCommand([sys.executable, "-c", each], ()) for each in scripts]

        def on_ready() -> None:
            if stops:
                os.kill(os.getpid(), signal.SIGTERM)

        return await supervise(commands, stop_timeout_s=stop_timeout_s, on_ready=on_ready)

    return asyncio.run(whole())


@pytest.mark.slow
def test_processes_share_a_port_and_the_work(two: LiveService, ports: int) -> None:
    pids = children_of(two.process.pid)

    with two.client() as client:
        send_and_await_delivery(client)

        assert client.get("/readyz").status_code == 200
        assert client.get("/metrics").status_code == 404, "the figures of one process by chance are worth nothing"
    for port in (ports, ports + 1):
        with httpx.Client(base_url=f"http://127.0.0.1:{port}") as own:
            assert "pabal_queue_jobs" in own.get("/metrics").text
            assert own.get("/healthz").status_code == 200
            assert own.post("/api/message/sendSMS.v1.0", json=BODY).status_code == 404
    assert len(pids) == 2
    assert two.greeting.count("running at") == 1
    assert two.stop() == 0
    assert not any(map(is_running, pids))


@pytest.mark.torture
@pytest.mark.slow
def test_many_sends_at_once_are_each_delivered_at_the_first_attempt(two: LiveService, store: str) -> None:
    async def send_all() -> None:
        limits = httpx.Limits(max_connections=CALLERS)
        headers = {"apiKey": two.key}
        async with httpx.AsyncClient(base_url=two.base_url, headers=headers, limits=limits, timeout=60) as client:
            for _ in range(ROUNDS):
                sends = [client.post("/api/message/sendSMS.v1.0", json=BODY) for _ in range(CALLERS)]
                for answer in await asyncio.gather(*sends):
                    assert answer.json()["result"] == "SUCCESS", answer.text

    asyncio.run(send_all())

    # before a lease runs out: a verdict that was not stored would be found by the next attempt then
    wait_until(lambda: query_outside(store, "select count(*) from jobs"), lambda found: found == [(0,)])
    assert query_outside(store, "select count(*) from attempts") == [(0,)]
    assert query_outside(store, "select count(*), min(outcome), max(outcome) from messages") == [
        (ROUNDS * CALLERS, Outcome.DELIVERED.number, Outcome.DELIVERED.number)
    ]
    assert two.stop() == 0


@pytest.mark.slow
def test_killed_process_is_started_again_while_the_other_serves(two: LiveService, store: str) -> None:
    victim, other = sorted(children_of(two.process.pid))
    os.kill(victim, signal.SIGKILL)

    with two.client() as client:
        send_and_await_delivery(client)
        pids = wait_until(lambda: children_of(two.process.pid), lambda found: len(found - {victim}) == 2)
        wait_for_workers(two, store)
        send_and_await_delivery(client)

    log = wait_until(lambda: two.log.read_text(encoding="utf-8"), lambda log: '"process is running again"' in log)
    assert other in pids
    assert two.stop() == 0
    assert '"process ended; starting it again"' in log
    assert '"status": -9' in log


@pytest.mark.slow
def test_processes_stop_by_themselves_when_their_parent_is_killed(two: LiveService, store: str) -> None:
    pids = children_of(two.process.pid)
    with two.client() as client:
        send_and_await_delivery(client, 3)

    two.process.kill()
    two.process.wait()

    wait_until(lambda: [is_running(pid) for pid in pids], lambda found: not any(found))
    assert query_outside(store, "select name from workers") == []
    assert two.log.read_text(encoding="utf-8").count("the parent process has died; stopping") == 2


@pytest.mark.torture
@pytest.mark.slow
def test_workers_of_one_command_deliver_for_an_interface(tmp_path: Path, store: str) -> None:
    with (
        serving(tmp_path / "web", "--no-deliver", store=store, key_rate=0) as web,
        working(tmp_path / "work", "--processes", "2", store=store) as work,
        web.client() as client,
    ):
        assert work.greeting == "2 Pabal workers are running. Stop with Ctrl-C.\n"
        wait_for_workers(work, store)
        send_and_await_delivery(client)

        assert work.stop() == 0
        assert web.stop() == 0


@pytest.mark.first_case
@pytest.mark.slow
@pytest.mark.parametrize("count", [2, 3])
def test_interfaces_and_delivery_are_processes_on_sqlite(tmp_path: Path, ports: int, count: int) -> None:
    with (
        serving(tmp_path / "data", "--processes", str(count), work_port=ports, key_rate=0) as live,
        live.client() as client,
    ):
        pids = children_of(live.process.pid)
        send_and_await_delivery(client)

        assert client.get("/readyz").status_code == 200
        for port in range(ports, ports + count):
            with httpx.Client(base_url=f"http://127.0.0.1:{port}") as own:
                assert "pabal_queue_jobs" in own.get("/metrics").text
        assert len(pids) == count
        assert live.stop() == 0
        assert not any(map(is_running, pids))


@pytest.mark.slow
def test_no_other_command_serves_a_file_until_the_last_process_has_ended(tmp_path: Path) -> None:
    with serving(tmp_path / "two", "--processes", "2") as live:
        pids = children_of(live.process.pid)
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        live.process.kill()
        live.process.wait()
        refused = run("serve", "--port", "0", data=live.data)
        for pid in pids:
            os.kill(pid, signal.SIGCONT)
        wait_until(lambda: [is_running(pid) for pid in pids], lambda found: not any(found))

    assert refused.returncode == 2
    assert "another pabal is running" in refused.stderr
    with serving(tmp_path / "two") as again:
        assert again.stop() == 0


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["work"], "`pabal work` needs PostgreSQL"),
        (["work", "--processes", "2"], "`pabal work --processes 2` needs PostgreSQL"),
        (["serve", "--no-deliver"], "`pabal serve --no-deliver` needs PostgreSQL"),
        (["serve", "--processes", "4"], "with SQLite at most 3 processes can share the work"),
        (["serve", "--processes", "2", "--no-deliver"], "`pabal serve --no-deliver` needs PostgreSQL"),
    ],
)
def test_what_only_postgresql_can_is_refused_on_sqlite(
    words: list[str], reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main([*words, "--data", str(tmp_path)])

    told = capsys.readouterr().err
    assert status == 2
    assert told.startswith(f"pabal: {reason}")
    assert "set `store` to postgresql://" in told
    assert list(tmp_path.iterdir()) == []


def test_ports_of_processes_must_exist(store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["work", "--processes", "2", "--port", "65535", "--config", str(tmp_path / "pabal.toml")]
    (tmp_path / "pabal.toml").write_text(f'store = "{store}"\n', encoding="utf-8")

    assert main(words) == 2
    assert "2 processes need as many ports from 65535 on; choose a lower --port" in capsys.readouterr().err


def test_port_of_a_process_that_is_taken_is_told_with_its_setting(
    store: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "pabal.toml"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        config.write_text(f'store = "{store}"\nwork_port = {taken.getsockname()[1]}\n', encoding="utf-8")
        status = main(["serve", "--port", "0", "--processes", "2", "--config", str(config)])

    assert status == 2
    assert "choose another with work_port" in capsys.readouterr().err


def test_first_process_that_cannot_start_ends_all_with_its_status() -> None:
    assert run_supervised(f"{REPORT_READY}; {WAIT}", "raise SystemExit(3)") == 3


def test_stopped_processes_end_with_status_0() -> None:
    assert run_supervised(*[f"{REPORT_READY}; {WAIT}"] * 2, stops=True) == 0


def test_process_that_does_not_stop_in_time_is_killed() -> None:
    script = f"{IGNORE_SIGTERM}; {REPORT_READY}; {WAIT}"

    assert run_supervised(script, stop_timeout_s=0.1, stops=True) == 1
