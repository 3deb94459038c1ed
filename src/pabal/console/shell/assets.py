"""Static files of the console, at addresses that change when a file changes."""

import gzip
import hashlib
from functools import cache
from importlib import resources
from typing import NamedTuple

BASE = "/console/static/"
HASH_CHARACTERS = 12
CACHE_FOREVER = "public, max-age=31536000, immutable"
_MEDIA_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}


class Asset(NamedTuple):
    """A file, as it is and compressed."""

    name: str
    address: str
    media_type: str
    body: bytes
    compressed: bytes


@cache
def load() -> dict[str, Asset]:
    """Return every file by the name that templates use."""
    folder = resources.files("pabal.console").joinpath("static")
    files = [file for file in folder.iterdir() if file.name.rpartition(".")[2] in _MEDIA_TYPES]
    return {file.name: _asset(file.name, file.read_bytes()) for file in files}


def _asset(name: str, body: bytes) -> Asset:
    stem, _, extension = name.rpartition(".")
    digest = hashlib.sha256(body).hexdigest()[:HASH_CHARACTERS]
    address = f"{BASE}{stem}.{digest}.{extension}"
    return Asset(name, address, _MEDIA_TYPES[extension], body, gzip.compress(body, mtime=0))
