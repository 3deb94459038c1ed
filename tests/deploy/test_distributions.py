"""The two distributions: what each contains, its metadata, and its installation on this Python and others."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from pabal import __version__
from tests.deploy.test_release import load, modules_of_the_release

__all__ = ["modules_of_the_release"]

UV = str(Path(sys.executable).with_name("uv"))
CLIENT_ONLY = """
import importlib.util, pabal
from pabal.client import AsyncClient, Client, SendSms
from pabal.client.types import AcceptedAnswer, MessageItem, MessageResultPost
print(pabal.__file__, importlib.util.find_spec("pabal.cli"))
"""


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheels and the sdists, built as `make dist` does."""
    folder = tmp_path_factory.mktemp("dist")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parents[2] / "deploy" / "release")
        backend = load("build_backend")
        for name in (backend.CLIENT, backend.SERVICE):
            for kind in ("wheel", "sdist"):
                backend.build(name, kind, str(folder))
    return folder


def _wheels(dist: Path) -> list[str]:
    return [str(dist / f"{name}-{__version__}-py3-none-any.whl") for name in ("pabal_client", "pabal")]


def _run(*command: str) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.mark.parametrize("name", ["pabal", "pabal-client"])
def test_wheel_and_its_metadata_can_be_published(dist: Path, name: str) -> None:
    assert list(load("check").find_wheel_problems(dist, name, __version__)) == []


def test_check_finds_what_is_wrong_with_a_wheel(dist: Path, tmp_path: Path) -> None:
    client, _ = _wheels(dist)
    (tmp_path / f"pabal_client-{__version__}.tar.gz").touch()
    with zipfile.ZipFile(client) as good, zipfile.ZipFile(tmp_path / Path(client).name, "w") as bad:
        for name in good.namelist():
            changed = good.read(name).replace(b"Author: ", b"X-Author: ").replace(b"(https://", b"(docs/")
            bad.writestr(name, changed)
        bad.writestr("pabal/store/x.py", "0" * 300_000)

    problems = list(load("check").find_wheel_problems(tmp_path, "pabal-client", __version__))

    assert [each.partition(": ")[2].split()[0] for each in problems] == ["no", "the", "it", problems[-1].split()[1]]


def test_wheels_install_and_start_on_this_python(dist: Path, tmp_path: Path) -> None:
    client, service = _wheels(dist)
    install = (UV, "pip", "install", "--quiet", "--no-index", "--no-deps", "--target")
    _run(*install, str(tmp_path / "client"), client)
    _run(*install, str(tmp_path / "both"), client, service)

    alone = _run("env", f"PYTHONPATH={tmp_path / 'client'}", sys.executable, "-c", CLIENT_ONLY)
    both = _run("env", f"PYTHONPATH={tmp_path / 'both'}", str(tmp_path / "both" / "bin" / "pabal"), "--version")

    assert alone.stdout.strip() == f"{tmp_path / 'client' / 'pabal' / '__init__.py'} None"
    assert both.stdout == f"pabal {__version__}\n"


@pytest.mark.torture
@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
def test_wheels_install_on_other_pythons(dist: Path, tmp_path: Path, python: str) -> None:
    found = subprocess.run(
        [UV, "python", "find", "--no-python-downloads", python], capture_output=True, text=True, check=False
    )
    if found.returncode:
        pytest.skip(f"Python {python} is not installed")
    client, service = _wheels(dist)
    _run(UV, "venv", "--quiet", "--python", found.stdout.strip(), str(tmp_path / "venv"))
    folder = tmp_path / "venv" / "bin"
    program = str(folder / "python")

    _run(UV, "pip", "install", "--quiet", "--python", program, client, f"{service}[server]")

    assert _run(str(folder / "pabal"), "--version").stdout == f"pabal {__version__}\n"
    _run(program, "-c", "import pabal.app, pabal.client.types")
