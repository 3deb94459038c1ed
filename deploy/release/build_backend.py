"""Builds the two distributions by flit, `pabal` and `pabal-client`, from the one source tree.

Each is staged first: a folder of its own with the files that it has, and a pyproject.toml that names flit and the
version. Its wheel and its sdist are built there, so an sdist needs nothing of this module. The checkout, where one
editable installation has everything, is not changed.
"""

import contextlib
import gzip
import os
import re
import shutil
import tarfile
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from flit_core import buildapi
from flit_core.buildapi import (
    build_editable,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
]

ROOT = Path(__file__).parents[2]
SERVICE, CLIENT = "pabal", "pabal-client"
CLIENT_PARTS = ("__init__.py", "py.typed", "world.py", "client", "domain", "models")
"""What of src/pabal is in `pabal-client`: whole packages, since pip loses a file that changes its distribution."""
DOCUMENTS = ("README.md", "README.ko.md", "SECURITY.md")
DOCUMENTS_IN_PACKAGE = Path("src/pabal/web/guide/shipped")
_LINK = re.compile(r"(!?\[[^\]]*\])\((?!https?://|mailto:|#)([^)]+)\)")
_BUILD_SYSTEM = '[build-system]\nrequires = ["flit-core>=3.12,<5"]\nbuild-backend = "flit_core.buildapi"\n\n'


def build_wheel(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    """Build the wheel of the service; return the name of its file."""
    return build(SERVICE, "wheel", wheel_directory)


def build_sdist(sdist_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    """Build the sdist of the service; return the name of its file."""
    return build(SERVICE, "sdist", sdist_directory)


def build(name: str, kind: str, folder: str) -> str:
    """Build the wheel or the sdist of a distribution; return the name of its file."""
    target = str(Path(folder).resolve())
    with staged(name) as stage, contextlib.chdir(stage):
        if kind == "sdist":
            return _pack_sdist(stage, f"{name.replace('-', '_')}-{read_version()}", Path(target))
        wheel: str = buildapi.build_wheel(target)
        return wheel


@contextlib.contextmanager
def staged(name: str) -> Iterator[Path]:
    """Make a folder with what a distribution consists of."""
    project = ROOT / "client" if name == CLIENT else ROOT
    with tempfile.TemporaryDirectory() as folder:
        stage = Path(folder)
        (stage / "pyproject.toml").write_text(_stage_project(name, project), encoding="utf-8")
        readme = (project / "README.md").read_text(encoding="utf-8")
        (stage / "README.md").write_text(make_links_absolute(readme), encoding="utf-8")
        _copy(ROOT / "LICENSE", stage / "LICENSE")
        for path in sorted((ROOT / "src" / "pabal").iterdir()):
            if (path.name in CLIENT_PARTS) == (name == CLIENT) and path.name != "__pycache__":
                _copy(path, stage / "src" / "pabal" / path.name)
        if name == SERVICE:
            _copy_documents(stage / DOCUMENTS_IN_PACKAGE)
        yield stage


def read_version() -> str:
    """Return the version of both distributions."""
    source = (ROOT / "src" / "pabal" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', source, re.MULTILINE)
    assert found, "src/pabal/__init__.py has no version"
    return found[1]


def read_source_url() -> str:
    """Return the address of the repository, which pyproject.toml has once for everything."""
    url: str = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Source"]
    return url


def make_links_absolute(text: str) -> str:
    """Return a document of the repository's root with links that work wherever it is shown."""
    base = f"{read_source_url()}/blob/v{read_version()}"
    return _LINK.sub(lambda link: f"{link[1]}({base}/{link[2]})", text)


def _stage_project(name: str, project: Path) -> str:
    version = read_version()
    text = (project / "pyproject.toml").read_text(encoding="utf-8")
    text = _BUILD_SYSTEM + text[text.index("[project]") :]
    text = re.sub(r'^dynamic = \["version"\].*$', f'version = "{version}"', text, count=1, flags=re.MULTILINE)
    if name == SERVICE:
        text = text.replace("\ndependencies = [\n", f'\ndependencies = [\n    "{CLIENT}=={version}",\n', 1)
    return text


def _pack_sdist(stage: Path, base: str, folder: Path) -> str:
    """Pack a staged folder, always to the same bytes; flit's own sdist needs an __init__.py in every package."""
    made_at = int(os.environ.get("SOURCE_DATE_EPOCH", "1700000000"))
    with tempfile.TemporaryDirectory() as metadata:
        name = buildapi.prepare_metadata_for_build_wheel(metadata)
        _copy(Path(metadata) / name / "METADATA", stage / "PKG-INFO")
    file = folder / f"{base}.tar.gz"
    with (
        open(file, "wb") as raw,
        gzip.GzipFile("", "wb", fileobj=raw, mtime=made_at) as packed,
        tarfile.open(mode="w", fileobj=packed, format=tarfile.PAX_FORMAT) as archive,
    ):
        for path in sorted(stage.rglob("*")):
            if path.is_file():
                entry = tarfile.TarInfo(f"{base}/{path.relative_to(stage).as_posix()}")
                entry.size, entry.mtime = path.stat().st_size, made_at
                with open(path, "rb") as content:
                    archive.addfile(entry, content)
    return file.name


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)


def _copy_documents(folder: Path) -> None:
    """Copy what users read: pages, pictures and examples, not the decisions."""
    for name in DOCUMENTS:
        _copy(ROOT / name, folder / name)
    for pattern in ("*.md", "*.png", "examples/**/*.*"):
        for path in (ROOT / "docs").rglob(pattern):
            if "decisions" not in path.parts:
                _copy(path, folder / path.relative_to(ROOT))
