"""Builds `pabal-client` from the repository that this folder is in: see deploy/release/build_backend.py."""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "deploy" / "release"))

from build_backend import CLIENT, build


def build_wheel(
    wheel_directory: str, config_settings: dict[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    """Build the wheel; return the name of its file."""
    return build(CLIENT, "wheel", wheel_directory)


def build_sdist(sdist_directory: str, config_settings: dict[str, Any] | None = None) -> str:
    """Build the sdist; return the name of its file."""
    return build(CLIENT, "sdist", sdist_directory)
