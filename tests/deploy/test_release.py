"""The release: one version everywhere, notes for its tag, and a bill of materials with what is vendored."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
import yaml

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


@pytest.fixture(autouse=True)
def modules_of_the_release(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the programs of the release import each other, as they do when they are run."""
    monkeypatch.syspath_prepend(RELEASE)


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
    assert "](docs/" not in done.stdout


def test_changelog_of_a_release_has_a_date_and_nothing_unreleased() -> None:
    find = load("check").find_changelog_problems

    assert list(find("0.2.0", CHANGELOG)) == []
    assert list(find("0.3.0", CHANGELOG)) == ["CHANGELOG.md has no section [0.3.0] with a date"]
    assert len(list(find("0.2.0", CHANGELOG.replace("[Unreleased]\n", "[Unreleased]\n\n- a change\n")))) == 1


def test_bill_of_materials_names_what_is_vendored(tmp_path: Path) -> None:
    file = tmp_path / "bom.json"
    file.write_text('{"components": [{"purl": "pkg:pypi/httpx@0.28.1"}]}')

    for _ in range(2):  # a second run adds nothing
        subprocess.run([sys.executable, str(RELEASE / "add_vendored.py"), str(file)], check=True)

    found = json.loads(file.read_text(encoding="utf-8"))["components"]
    assert [each["purl"].partition("@")[0] for each in found] == ["pkg:pypi/httpx", "pkg:npm/htmx.org"]
    assert found[1]["licenses"] == [{"license": {"id": "0BSD"}}]
    assert len(found[1]["hashes"][0]["content"]) == 64


def test_workflow_publishes_without_secrets_and_attests_packages_and_image() -> None:
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))["jobs"]
    steps = {name: [each.get("uses", "").split("@")[0] for each in job["steps"]] for name, job in jobs.items()}
    publishing = [each for each in jobs["packages"]["steps"] if "pypi-publish" in each.get("uses", "")]

    assert jobs["packages"]["permissions"] == {"id-token": "write"}
    assert [each["with"] for each in publishing] == [{"packages-dir": "client/"}, {"packages-dir": "service/"}]
    for name in ("build", "image"):
        assert "actions/attest-build-provenance" in steps[name]
        assert jobs[name]["permissions"]["attestations"] == "write"
    assert any(each.get("run") == "make release" for each in jobs["build"]["steps"])
    assert jobs["install"]["strategy"]["matrix"]["python"] == list(load("check").PYTHONS)
