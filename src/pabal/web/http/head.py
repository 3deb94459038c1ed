"""The head of a request: what is refused in it, and what is read from it."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import unquote

import httptools

MAX_HEAD_BYTES = 64 * 1024
"""Limit of a request's line and headers."""
MAX_HEADERS = 100
VERSIONS = ("1.1", "1.0")
SINGLE_HEADERS = frozenset(
    {b"host", b"content-length", b"transfer-encoding", b"content-type", b"content-encoding"}
    | {b"apikey", b"idempotency-key"}
)
"""Headers that a request has at most once: two of them would mean one thing to a proxy and another to us."""
_HOST = re.compile(rb"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~%!$&'()*+,;=-]*)(:[0-9]{0,5})?")
_MAX_CACHED_HOST_BYTES = 256


class UnacceptableHead(Exception):
    """A request that is refused for its head."""


class RequestHead(NamedTuple):
    """The line and headers of a request."""

    method: str
    path: str
    raw_path: bytes
    query: bytes
    version: str
    header_lines: Sequence[tuple[bytes, bytes]]
    headers: dict[bytes, bytes]
    keeps_alive: bool


def read_head(
    parser: httptools.HttpRequestParser, url: bytes, header_lines: Sequence[tuple[bytes, bytes]], raw_bytes: int
) -> RequestHead:
    """Return the head that a parser has read, from at most `raw_bytes`.

    Raises UnacceptableHead.
    """
    version = parser.get_http_version()
    headers = dict(header_lines)
    _check(version, url, header_lines, headers, raw_bytes)
    keeps_alive = version == "1.1" and parser.should_keep_alive()
    method = parser.get_method().decode("ascii")
    return RequestHead(method, *_split_target(url), version, header_lines, headers, keeps_alive)


def asks_for_upgrade(header_lines: Sequence[tuple[bytes, bytes]]) -> bool:
    """Tell whether a head names another protocol."""
    return any(name == b"upgrade" for name, _ in header_lines)


def encode_plain_head(
    parser: httptools.HttpRequestParser, url: bytes, header_lines: Sequence[tuple[bytes, bytes]]
) -> bytes:
    """Return the head that a parser has read, without the wish to change to another protocol."""
    first = b"%b %b HTTP/%b" % (parser.get_method(), url, parser.get_http_version().encode("ascii"))
    lines = [b"%b: %b" % line for line in header_lines if line[0] != b"upgrade"]
    return b"\r\n".join([first, *lines, b"", b""])


def _check(
    version: str,
    url: bytes,
    header_lines: Sequence[tuple[bytes, bytes]],
    headers: dict[bytes, bytes],
    raw_bytes: int,
) -> None:
    if raw_bytes > MAX_HEAD_BYTES:
        size = len(url) + sum(len(name) + len(value) + 4 for name, value in header_lines)
        if size > MAX_HEAD_BYTES:
            raise UnacceptableHead("the head is too large")
    host = headers.get(b"host")
    if version not in VERSIONS or (version == "1.1" and host is None):
        raise UnacceptableHead("not HTTP/1.1 with a host, nor HTTP/1.0")
    if host is not None and not _is_host(host):
        raise UnacceptableHead("not a host")
    if version == "1.0" and b"transfer-encoding" in headers:
        raise UnacceptableHead("HTTP/1.0 has no chunks")
    if len(headers) < len(header_lines):
        names = [name for name, _ in header_lines]
        if any(names.count(name) > 1 for name in SINGLE_HEADERS & headers.keys()):
            raise UnacceptableHead("a header is there twice")


def _split_target(url: bytes) -> tuple[str, bytes, bytes]:
    """Return the decoded path, the path as it was sent, and the query of a request's target."""
    if url.startswith(b"/") and b"#" not in url:
        raw_path, _, query = url.partition(b"?")
    else:
        parsed = httptools.parse_url(url)
        raw_path, query = parsed.path, parsed.query or b""
        if raw_path is None:
            raise UnacceptableHead("a target without a path")
    path = raw_path.decode("ascii")
    return (unquote(path) if "%" in path else path), raw_path, query


def _is_host(host: bytes) -> bool:
    return _is_short_host(host) if len(host) <= _MAX_CACHED_HOST_BYTES else bool(_HOST.fullmatch(host))


@lru_cache(maxsize=64)
def _is_short_host(host: bytes) -> bool:
    return bool(_HOST.fullmatch(host))
