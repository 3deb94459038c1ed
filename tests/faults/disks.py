"""A small disk of one test's own, which can be filled up: a file system in memory."""

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
    """A folder that holds no more than so much."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filler = folder / "ballast"

    def fill(self) -> None:
        """Leave not one octet free."""
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
    """Mount a small disk at a folder, which is made; a test that may not is skipped."""
    folder.mkdir(exist_ok=True)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=700", "tmpfs", str(folder)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("a small disk can be mounted by root alone")
    try:
        if owner := postgres.unprivileged_user():
            os.chown(folder, owner["user"], owner["group"])
        yield SmallDisk(folder)
    finally:
        subprocess.run(["umount", str(folder)], check=True)
