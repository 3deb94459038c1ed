"""Files that pages bring along, at addresses that change when the file does."""

import gzip
import hashlib
from functools import cache
from importlib import resources
from typing import NamedTuple

BASE = "/console/static/"
HASH_CHARACTERS = 12
FOR_GOOD = "public, max-age=31536000, immutable"
_KINDS = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}


class Asset(NamedTuple):
    """A file, as it is and compressed."""

    name: str
    address: str
    kind: str
    body: bytes
    compressed: bytes


@cache
def load() -> dict[str, Asset]:
    """Return every file by its name, as templates know it."""
    folder = resources.files("pabal.console").joinpath("static")
    files = [each for each in folder.iterdir() if each.name.rpartition(".")[2] in _KINDS]
    return {each.name: _asset(each.name, each.read_bytes()) for each in files}


def _asset(name: str, body: bytes) -> Asset:
    stem, _, kind = name.rpartition(".")
    digest = hashlib.sha256(body).hexdigest()[:HASH_CHARACTERS]
    return Asset(name, f"{BASE}{stem}.{digest}.{kind}", _KINDS[kind], body, gzip.compress(body, mtime=0))
