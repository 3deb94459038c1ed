"""The release: one version everywhere, notes for its tag, and a bill of materials with what is vendored."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

from pabal import __version__

ROOT = Path(__file__).parents[2]
RELEASE = ROOT / "deploy" / "release"
CHANGELOG = """# Changelog

## [Unreleased]

## [0.2.0] - 2027-01-02

### Added
- a thing, see [this](#x)

## [0.1.0] - 2026-11-16

### Added
- everything
"""


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, RELEASE / f"{name}.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_notes_are_the_section_of_the_version() -> None:
    notes_of = load("notes").notes_of

    assert notes_of("0.2.0", CHANGELOG) == "Pabal 0.2.0\n\n### Added\n- a thing, see [this](#x)\n"
    assert notes_of("0.1.0", CHANGELOG) == "Pabal 0.1.0\n\n### Added\n- everything\n"
    assert notes_of("Unreleased", CHANGELOG) is None
    assert notes_of("0.3.0", CHANGELOG) is None


def test_notes_of_this_version_can_be_printed() -> None:
    done = subprocess.run(
        [sys.executable, str(RELEASE / "notes.py")], capture_output=True, text=True, encoding="utf-8", check=False
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"Pabal {__version__}\n\n")
    assert "### Added" in done.stdout


def test_bill_of_materials_names_what_is_vendored(tmp_path: Path) -> None:
    file = tmp_path / "bom.json"
    file.write_text('{"components": [{"purl": "pkg:pypi/httpx@0.28.1"}]}')

    for _ in range(2):  # a second run adds nothing
        subprocess.run([sys.executable, str(RELEASE / "add_vendored.py"), str(file)], check=True)

    found = json.loads(file.read_text(encoding="utf-8"))["components"]
    assert [each["purl"].partition("@")[0] for each in found] == ["pkg:pypi/httpx", "pkg:npm/htmx.org"]
    assert found[1]["licenses"] == [{"license": {"id": "0BSD"}}]
    assert len(found[1]["hashes"][0]["content"]) == 64
