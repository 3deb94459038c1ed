"""A temporary directory with the stores of the benchmarks, and the `pabal` command that is measured on them."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench.bodies import SEND_SMS
from bench.load import LoadPlan
from bench.server import BenchmarkFailed, Server, free_ports, running_server

THIS = Path(sys.executable).parent / "pabal"
"""The command of this checkout."""
SETTINGS_FILE = "pabal.toml"
ACCOUNT, SENDER = "bench", "02-1234-5678"
OTHER_ACCOUNT, OTHER_SENDER = "other", "02-1234-5679"
KEY_RATE = 20_000
IGNORED_VARIABLES = ("PABAL_", "PYTHONDONTWRITEBYTECODE")
"""Without compiled files, every start is slower than an operator's."""
LIMITS = (
    "--receivers-per-second=200000",
    "--receivers-per-day=1000000000",
    "--receivers-per-month=10000000000",
)
"""Limits as operators set them; they are counted, but never reached."""


class Environment:
    """Stores on SQLite, and services on them; each store is a copy of the seed, which has two accounts."""

    def __init__(
        self, root: Path, program: Path = THIS, processes: tuple[int, ...] = (1, 2), scale: float = 1.0
    ) -> None:
        self.root = root
        self.program = program
        self.processes = processes
        """The numbers of processes that are measured, in scenarios that compare them."""
        self.scale = scale
        self.key = self.other_key = ""
        self.peaks: dict[str, int] = {}
        """The peak resident memory of the service, by scenario."""
        self._stores: dict[str, Path] = {}
        self._count = 0

    def prepare(self) -> None:
        """Create the seed: accounts with keys, limits and registered numbers."""
        seed = self.root / "seed"
        seed.mkdir(parents=True, exist_ok=True)
        self.run_command(seed, "migrate")
        self.key = self._add_account(seed, ACCOUNT, SENDER)
        self.other_key = self._add_account(seed, OTHER_ACCOUNT, OTHER_SENDER)

    def scaled(self, count: int) -> int:
        """Return a number of messages, scaled as the command line wants it, in whole thousands."""
        return max(1, round(count * self.scale / 1000)) * 1000

    def stored(self, name: str, make: Callable[[Path], None]) -> Path:
        """Return the data directory of this name; `make` fills it where it is new."""
        if name not in self._stores:
            data = self.copy_store()
            make(data)
            self._stores[name] = data
        return self._stores[name]

    def make_folder(self) -> Path:
        """Return a new empty directory."""
        self._count += 1
        folder = self.root / f"data{self._count}"
        folder.mkdir()
        return folder

    def copy_store(self, origin: Path | None = None) -> Path:
        """Return a new data directory with a copy of the seed, or of the store in `origin`."""
        data = self.make_folder()
        self.copy_to(data, origin or self.root / "seed")
        return data

    def copy_to(self, data: Path, origin: Path | None = None) -> None:
        """Copy the seed, or the store in `origin`, to a data directory."""
        shutil.copy((origin or self.root / "seed") / "pabal.db", data / "pabal.db")

    def remove(self, data: Path) -> None:
        """Remove a store that is not needed any more."""
        shutil.rmtree(data)

    def store_setting(self, data: Path) -> str:
        """Return the line of the settings file that names the store."""
        return ""

    def store_cpu_s(self) -> float:
        """Return the CPU time that processes of the store have used so far; SQLite has none."""
        return 0.0

    def configure(self, data: Path, settings: str = "") -> None:
        """Write the settings file of a data directory."""
        (data / SETTINGS_FILE).write_text(self.store_setting(data) + settings, encoding="utf-8")

    @contextlib.contextmanager
    def run(
        self, data: Path, scenario: str, *words: str, processes: int = 1, port: int | None = None
    ) -> Iterator[Server]:
        """Run `pabal serve`, or the command in `words`, on a data directory; yield it when it is ready."""
        command, *options = words or ("serve",)
        port = port or free_ports(1)[0]
        many = ["--processes", str(processes)] if processes > 1 else []
        environment = self._environment(data) | {
            "PABAL_WORK_PORT" if command == "work" else "PABAL_PORT": str(port),
            "PABAL_KEY_RATE": "0",
        }
        full = [str(self.program), command, *options, *many]
        with running_server(full, port, environment, data / f"{command}-{port}.log") as server:
            try:
                yield server
            finally:
                self.peaks[scenario] = max(self.peaks.get(scenario, 0), server.peak_bytes())

    def plan(self, server: Server, requests: list[bytes], path: str = SEND_SMS, **options: Any) -> LoadPlan:
        """Return the load of these requests by the first account; `options` are those of LoadPlan."""
        fields: dict[str, Any] = {"key": self.key, **options}
        return LoadPlan(port=server.port, path=path, bodies=requests, **fields)

    def run_command(self, data: Path, *words: str) -> str:
        """Run a command on a data directory, and return its output."""
        return self.time_command(data, *words)[0]

    def time_command(self, data: Path, *words: str) -> tuple[str, float]:
        """Run a command on a data directory; return its output and its CPU time."""
        before = os.times()
        done = subprocess.run(
            [str(self.program), *words], capture_output=True, text=True, env=self._environment(data)
        )
        after = os.times()
        if done.returncode:
            raise BenchmarkFailed(f"pabal {' '.join(words)}: {done.stderr}")
        cpu_s = after.children_user + after.children_system - before.children_user - before.children_system
        return done.stdout.strip(), cpu_s

    def _add_account(self, seed: Path, name: str, sender: str) -> str:
        key = self.run_command(seed, "key", "create", "--account", name, "--new-account", "--rate", str(KEY_RATE))
        self.run_command(seed, "account", "limit", name, *LIMITS)
        self.run_command(seed, "number", "add", sender, "--account", name)
        return key

    def _environment(self, data: Path) -> dict[str, str]:
        others = {name: value for name, value in os.environ.items() if not name.startswith(IGNORED_VARIABLES)}
        file = data / SETTINGS_FILE
        if not file.exists():
            self.configure(data)
        return others | {"PABAL_DATA": str(data), "PABAL_CONFIG": str(file), "LC_ALL": "C.UTF-8"}


def call_api(server: Server, key: str, operation: str, body: object = None) -> Any:
    """Call an operation such as `sender/list`, with a body or without one; return its answer.

    Raises BenchmarkFailed if it was refused.
    """
    request = urllib.request.Request(
        f"http://127.0.0.1:{server.port}/api/{operation}",
        json.dumps(body).encode() if body is not None else None,
        {"apiKey": key, "Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        raise BenchmarkFailed(f"{operation}: {error.read().decode()}") from error
