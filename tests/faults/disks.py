"""A small disk that a test can fill up: a file system in memory."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fixtures import postgres

CHUNK = bytes(64 * 1024)


class SmallDisk:
    """A folder with little disk space."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filler = folder / "ballast"

    def fill(self) -> None:
        """Use up every byte."""
        with self._filler.open("ab", buffering=0) as file:
            for chunk in (CHUNK, CHUNK[:4096], CHUNK[:1]):
                with contextlib.suppress(OSError):
                    while file.write(chunk):
                        pass

    @property
    def free_bytes(self) -> int:
        return shutil.disk_usage(self.folder).free

    def free_space(self) -> None:
        self._filler.unlink()


@contextlib.contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[SmallDisk]:
    """Mount a small disk at a folder, created if missing; skip the test where mounting is not allowed."""
    folder.mkdir(exist_ok=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=700", "tmpfs", str(folder)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("only root can mount a small disk")
    try:
        if owner := postgres.unprivileged_user():
            os.chown(folder, owner["user"], owner["group"])
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", str(folder)], check=True)
