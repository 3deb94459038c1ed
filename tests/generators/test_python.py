"""A client that openapi-python-client makes of the document has strict types, and drives the service."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pabal.web.endpoints.table import ENDPOINTS
from tests.generators.conftest import Target

HERE = Path(__file__).parent
GENERATORS = Path(sys.prefix) / "generators" / "bin"
"""Where `make setup` installs the generator."""
TIMEOUT_S = 300
CONFIG = "package_name_override: pabal_openapi\npost_hooks: []\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, target: Target) -> Path:
    """A folder with the generated package, and the program that uses it."""
    made = tmp_path_factory.mktemp("python")
    (made / "config.yaml").write_text(CONFIG)
    shutil.copy(HERE / "drive.py", made)
    words: list[str | Path] = ["generate", "--path", target.document, "--output-path", made / "pabal_openapi"]
    said = run(made, GENERATORS / "openapi-python-client", *words, "--meta", "none", "--config", "config.yaml")
    assert "warning" not in said.lower(), said
    return made


def run(folder: Path, *words: str | Path) -> str:
    """Run a program and return what it prints."""
    done = subprocess.run(
        words,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": "", "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.torture
@pytest.mark.slow
def test_program_with_a_generated_client_has_strict_types(folder: Path) -> None:
    run(folder, sys.executable, "-m", "mypy", "--strict", "--python-executable", GENERATORS / "python", "drive.py")


@pytest.mark.slow
def test_program_with_a_generated_client_drives_every_operation(folder: Path, target: Target) -> None:
    called = json.loads(run(folder, GENERATORS / "python", "-W", "error", "drive.py", *target.arguments))

    assert set(called) == {endpoint.path for endpoint in ENDPOINTS}
