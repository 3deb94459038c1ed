"""Tries the wheels and the sdists in empty environments: `python tests/deploy/try_distribution.py dist`."""

import os
import re
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "requirements.lock"
UV = str(Path(sys.executable).with_name("uv"))
BODY = b'{"content": "hello", "sender": "02-1234-5678", "receivers": [{"phoneNumber": "010-1234-5678"}]}'
PATHS = (
    "/readyz",
    "/openapi.json",
    "/docs",
    "/docs/guide/ko/how-to/webhooks",
    "/docs/guide/ko/how-to/java",
    "/docs/guide/images/ko/send.png",
    "/console/login",
    "/metrics",
)
MAX_GREETING_LINES = 100
TIMEOUT_S = 60


def main() -> int:
    """Try the two wheels and the two sdists in a folder; return the exit status."""
    folder = Path(sys.argv[1]).resolve()
    wheels, sdists = sorted(folder.glob("*.whl"), reverse=True), sorted(folder.glob("*.tar.gz"), reverse=True)
    assert [len(wheels), len(sdists)] == [2, 2], (wheels, sdists)  # the client first: `_` comes after `-`
    with tempfile.TemporaryDirectory(prefix="pabal-dist-") as name:
        _try_client(Path(name) / "client", wheels[0])
        _try_command(Path(name) / "command", wheels)
        _try_service(Path(name) / "service", wheels)
        _try_service(Path(name) / "from-sdist", sdists)
    print("The wheels and the sdists install and run in empty environments")
    return 0


def _try_client(place: Path, wheel: Path) -> None:
    """Install what `pip install pabal-client` does."""
    _create(place)
    _install(place, "--constraint", str(_plain_lock(place)), str(wheel))
    _run(
        place,
        "python",
        "-c",
        "from pabal.client import AsyncClient, Client, types; Client('http://x', 'k').close()",
    )
    assert not (place / "bin" / "pabal").exists()


def _try_command(place: Path, wheels: list[Path]) -> None:
    """Install what `pip install pabal` does."""
    _create(place)
    _install(place, "--constraint", str(_plain_lock(place)), *map(str, wheels))
    assert _run(place, "pabal", "--version").startswith("pabal ")
    refused = subprocess.run([str(place / "bin" / "pabal"), "serve"], capture_output=True, text=True, check=False)
    assert "pip install 'pabal[server]'" in refused.stderr, refused.stderr


def _try_service(place: Path, distributions: list[Path]) -> None:
    """Install the locked packages and both distributions, run the service, and send a message."""
    _create(place)
    _install(place, "--require-hashes", "--requirement", str(LOCK))
    _install(place, "--no-deps", "--no-index", "--no-build-isolation", *map(str, distributions))
    imported = _run(place, "python", "-c", "import pabal; print(pabal.__file__)")
    assert imported.startswith(str(place)), imported
    command = [str(place / "bin" / "pabal"), "serve", "--port", "0", "--data", str(place / "data")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=place, env=_environment()) as process:
        try:
            _use(_read_greeting(process))
        finally:
            process.terminate()
    assert process.returncode == 0, process.returncode


def _use(greeting: str) -> None:
    base, key = re.findall(r"http://\S+(?=\n)", greeting)[0], re.findall(r"pb_\w+", greeting)[0]
    for path in PATHS:
        with urllib.request.urlopen(base + path, timeout=TIMEOUT_S) as answer:
            assert answer.status == 200, path
            found = answer.read().decode("utf-8", "replace")
        for asset in re.findall(r'"(/console/static/[^"]+)"', found):
            with urllib.request.urlopen(base + asset, timeout=TIMEOUT_S) as file:
                assert file.read(), asset
    headers = {"apiKey": key, "Content-Type": "application/json"}
    request = urllib.request.Request(f"{base}/api/message/sendSMS.v1.0", BODY, headers)
    with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
        assert b'"SUCCESS"' in answer.read()


def _read_greeting(process: "subprocess.Popen[str]") -> str:
    assert process.stdout
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line)
        if "Stop with Ctrl-C" in line or len(lines) > MAX_GREETING_LINES:
            break
    return "".join(lines)


def _plain_lock(place: Path) -> Path:
    """Return the locked versions without their hashes, which a constraint file cannot have for a local wheel."""
    names = re.findall(r"^\S+==\S+(?: ; [^\\\n]+)?", LOCK.read_text(encoding="utf-8"), re.MULTILINE)
    file = place / "constraints.txt"
    file.write_text("\n".join(each.strip() for each in names) + "\n", encoding="utf-8")
    return file


def _create(place: Path) -> None:
    _call(place.parent, UV, "venv", "--quiet", "--python", sys.executable, str(place))


def _install(place: Path, *words: str) -> None:
    """Install by uv, which takes a second where pip takes half a minute."""
    _call(place, UV, "pip", "install", "--quiet", "--python", str(place / "bin" / "python"), *words)


def _run(place: Path, program: str, *words: str) -> str:
    return _call(place, str(place / "bin" / program), *words)


def _call(folder: Path, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, env=_environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _environment() -> dict[str, str]:
    """Return the environment without what would lead Python or the service elsewhere, in English."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PABAL_", "PYTHON"))}
    return kept | {"LC_ALL": "C.UTF-8"}


if __name__ == "__main__":
    sys.exit(main())
