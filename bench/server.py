"""Servers under test, each a separate process on a free port."""

import contextlib
import http.client
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 60.0
POLL_INTERVAL_S = 0.005
SETTINGS_FILE = "pabal.toml"
ACCOUNT, SENDER = "bench", "02-1234-5678"
KEY_RATE = 20_000
ACCOUNT_LIMITS = (
    "--receivers-per-second=200000",
    "--receivers-per-day=1000000000",
    "--receivers-per-month=10000000000",
)
"""Limits as operators set them; they are counted, but never reached."""
_LAG_BUCKET = re.compile(r'^pabal_loop_lag_seconds_bucket\{le="([^"]+)"\} ([0-9.e+]+)$', re.MULTILINE)
_TICKS = os.sysconf("SC_CLK_TCK")


class BenchmarkFailed(Exception):
    """A benchmark failed, so its figures would be meaningless."""


class Server(NamedTuple):
    """A running server."""

    pid: int
    port: int
    ready_after_s: float

    def cpu_s(self) -> float:
        """Return the CPU time it has used so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / _TICKS

    def peak_bytes(self) -> int:
        """Return its peak resident memory."""
        return self._memory("VmHWM:")

    def resident_bytes(self) -> int:
        """Return its resident memory."""
        return self._memory("VmRSS:")

    def loop_lag_p99_ms(self) -> float:
        """Return by how much its event loop was late at most, 99 times of 100; a bound of its histogram."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics") as answer:
            found = _LAG_BUCKET.findall(answer.read().decode())
        counts = [(float(bound), float(count)) for bound, count in found]
        total = counts[-1][1]
        return next(bound for bound, count in counts if count >= total * 0.99) * 1000

    def _memory(self, field: str) -> int:
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith(field):
                return int(line.split()[1]) * 1024
        return 0


class BenchEnvironment:
    """A temporary directory with the stores of the benchmarks, and their peak memory."""

    def __init__(self, root: Path, processes: int = 1) -> None:
        self.root = root
        self.processes = processes
        """How many processes `pabal serve` starts on SQLite, in the benchmarks that heed it."""
        self.key = ""
        self.peaks: dict[str, int] = {}
        """The peak resident memory of the service, by benchmark."""
        self._data_count = 0

    def prepare(self) -> None:
        """Create the seed store, which all others are copied from: an account with key, limits and a number."""
        seed = self.root / "seed"
        seed.mkdir(parents=True, exist_ok=True)
        self.key = run_command(seed, "key", "create", "--account", ACCOUNT, "--rate", str(KEY_RATE))
        run_command(seed, "account", "limit", ACCOUNT, *ACCOUNT_LIMITS)
        run_command(seed, "number", "add", SENDER, "--account", ACCOUNT)
        run_command(seed, "migrate")  # it creates the slots

    def copy_store(self, origin: Path | None = None) -> Path:
        """Return a new data directory with a copy of the seed store, or of the one in `origin`."""
        data = self.make_folder()
        self._copy(origin or self.root / "seed", data)
        return data

    def copy_seed(self, data: Path) -> None:
        """Copy the seed store to a data directory."""
        self._copy(self.root / "seed", data)

    def make_folder(self) -> Path:
        """Return a new empty directory."""
        self._data_count += 1
        data = self.root / f"data{self._data_count}"
        data.mkdir()
        return data

    def _copy(self, origin: Path, data: Path) -> None:
        shutil.copy(origin / "pabal.db", data / "pabal.db")

    @contextlib.contextmanager
    def run_pabal(self, data: Path, benchmark: str, command: str = "serve", *options: str) -> Iterator[Server]:
        """Run `pabal serve` or `pabal work` on a data directory, with its settings file; yield it when ready."""
        port = _free_port()
        environment = _environment(data) | {
            "PABAL_WORK_PORT" if command == "work" else "PABAL_PORT": str(port),
            "PABAL_KEY_RATE": "0",
        }
        file = data / f"{command}-{port}.log"
        with file.open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "pabal.cli", command, *options],
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
            with _running(process, port, file) as server:
                try:
                    yield server
                finally:
                    if process.poll() is None:
                        self.peaks[benchmark] = max(self.peaks.get(benchmark, 0), server.peak_bytes())

    def store_cpu_s(self) -> float:
        """Return the CPU time that processes of the store have used so far; SQLite has none."""
        return 0.0

    @contextlib.contextmanager
    def run_bare_server(self) -> Iterator[Server]:
        """Run the bare HTTP server."""
        port = _free_port()
        process = subprocess.Popen([sys.executable, "-m", "bench.bare", str(port)], stderr=subprocess.DEVNULL)
        with _running(process, port) as server:
            yield server


def report_progress(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)


@contextlib.contextmanager
def _running(process: "subprocess.Popen[bytes]", port: int, log: Path | None = None) -> Iterator[Server]:
    began = time.perf_counter()
    try:
        while not _is_ready(port):
            if process.poll() is not None or time.perf_counter() - began > START_TIMEOUT_S:
                raise BenchmarkFailed(f"a server did not start: {log.read_text()[-2000:] if log else ''}")
            time.sleep(POLL_INTERVAL_S)
        yield Server(process.pid, port, time.perf_counter() - began)
    finally:
        process.terminate()
        try:
            process.wait(STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _is_ready(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    except OSError:
        return False
    finally:
        connection.close()


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def run_command(data: Path, *words: str) -> str:
    """Run a pabal command on a data directory, and return its output."""
    completed = subprocess.run(
        [sys.executable, "-m", "pabal.cli", *words], capture_output=True, text=True, env=_environment(data)
    )
    if completed.returncode:
        raise BenchmarkFailed(f"pabal {' '.join(words)}: {completed.stderr}")
    return completed.stdout.strip()


def _environment(data: Path) -> dict[str, str]:
    others = {name: value for name, value in os.environ.items() if not name.startswith("PABAL_")}
    file = data / SETTINGS_FILE
    return others | {"PABAL_DATA": str(data)} | ({"PABAL_CONFIG": str(file)} if file.exists() else {})
