"""Builds the package by flit, its wheel with the documents that the guide at /docs/guide shows.

flit takes into a wheel only what is in the package's folder. So the wheel is built from a copy of the sources, in
which the documents stand in that folder; the checkout, where the guide reads docs/ itself, is not changed.
"""

import contextlib
import shutil
import tempfile
from pathlib import Path
from typing import Any

from flit_core import buildapi
from flit_core.buildapi import (
    build_editable,
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

ROOT = Path(__file__).parents[2]
PACKAGE_FILES = ("pyproject.toml", "README.md", "LICENSE", "src")
DOCUMENTS = ("README.md", "README.ko.md", "SECURITY.md")
DOCUMENTS_IN_PACKAGE = Path("src/pabal/web/guide/shipped")


def build_wheel(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    """Build the wheel; return the name of its file."""
    target = str(Path(wheel_directory).resolve())
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in PACKAGE_FILES:
            _copy(ROOT / name, copy / name)
        _copy_documents(copy / DOCUMENTS_IN_PACKAGE)
        with contextlib.chdir(copy):
            wheel: str = buildapi.build_wheel(target, config_settings, metadata_directory)
            return wheel


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)


def _copy_documents(folder: Path) -> None:
    """Copy what users read: pages and pictures, not the decisions."""
    for name in DOCUMENTS:
        _copy(ROOT / name, folder / name)
    for pattern in ("*.md", "*.png"):
        for path in (ROOT / "docs").rglob(pattern):
            if "decisions" not in path.parts:
                _copy(path, folder / path.relative_to(ROOT))
