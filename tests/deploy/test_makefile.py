"""`make` says in one line what is wrong with the Python it is given, in the language of the locale."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OLD_PYTHON = '#!/bin/sh\n[ "$1" = --version ] && { echo Python 3.9.2; exit 0; }\nexit 1\n'
NO_VENV = '#!/bin/sh\ncase "$2" in *venv*) exit 1;; esac\nexit 0\n'


def make_run(folder: Path, python: str, language: str) -> str:
    """Return what `make run` prints on standard error; it must fail, and leave nothing."""
    for name in ("Makefile", "pyproject.toml", "requirements.lock"):
        shutil.copy(ROOT / name, folder)
    environment = {"PATH": os.environ["PATH"], "LANG": language}
    done = subprocess.run(
        ["make", "run", f"PYTHON={python}"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2, done.stdout
    assert not (folder / ".venv").exists()
    return done.stderr.splitlines()[0]


def script(folder: Path, text: str) -> str:
    file = folder / "python-for-this-test"
    file.write_text(text)
    file.chmod(0o755)
    return str(file)


@pytest.mark.parametrize(("language", "word"), [("C.UTF-8", "is not installed"), ("ko_KR.UTF-8", "설치되어 있지")])
def test_missing_python_is_told(tmp_path: Path, language: str, word: str) -> None:
    said = make_run(tmp_path, "python-of-nowhere", language)

    assert "Python 3.11" in said
    assert word in said
    assert said.endswith("apt-get install python3 python3-venv")


@pytest.mark.parametrize(("language", "word"), [("C.UTF-8", "but"), ("ko_KR.UTF-8", "버전은")])
def test_old_python_is_told(tmp_path: Path, language: str, word: str) -> None:
    said = make_run(tmp_path, script(tmp_path, OLD_PYTHON), language)

    assert "Python 3.9.2." in said
    assert word in said
    assert said.endswith("PYTHON=python3.12 make run")


def test_python_without_venv_is_told(tmp_path: Path) -> None:
    said = make_run(tmp_path, script(tmp_path, NO_VENV), "C.UTF-8")

    assert said.endswith("cannot create virtual environments. On Debian or Ubuntu: apt-get install python3-venv")
