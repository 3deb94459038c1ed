"""Parses forms, multipart and URL-encoded, in short steps.

A file goes to memory or, beyond 1 MiB, to a temporary file.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterator
from typing import BinaryIO, NamedTuple
from urllib.parse import unquote_to_bytes

from python_multipart.multipart import parse_options_header
from starlette.datastructures import FormData, Headers
from starlette.formparsers import MultiPartException, MultiPartParser

from pabal.domain.base.codes import Code, Refused

MULTIPART_TYPE = "multipart/form-data"
MAX_FILES = 2
"""The form of a template has the most: an image and a thumbnail."""
_CHARSETS = (b"utf-8", b"utf8")
URLENCODED_TYPE = "application/x-www-form-urlencoded"
TURN_BYTES = 32 * 1024
"""What is decoded before other calls run, in a few milliseconds."""
_ESCAPE_BYTES = len(b"%00")


class File(NamedTuple):
    """A file as a browser sends it; the browser chose its type, and nobody has checked it."""

    name: str
    content_type: str
    size_bytes: int
    stream: BinaryIO
    """Open while the request is handled."""

    @property
    def body(self) -> bytes:
        """The whole file; only for pages that accept small files."""
        self.stream.seek(0)
        return self.stream.read()


class ParsedForm(NamedTuple):
    """The fields of a form in their order, and its files by field."""

    fields: list[tuple[str, str]]
    files: dict[str, File]


async def parse_form(
    headers: Headers, stream: AsyncGenerator[bytes, None], max_fields: int, max_field_bytes: int
) -> ParsedForm:
    """Return the fields and files of a form; a file field that is left empty has no file.

    The caller limits the stream, and closes the files.
    Raises Refused(INVALID_PARAMETER).
    """
    _, parameters = parse_options_header(headers.get("content-type", ""))
    if parameters.get(b"charset", b"utf-8").lower() not in _CHARSETS:  # some take quadratic time to decode
        raise Refused(Code.INVALID_PARAMETER)
    parser = _StrictParser(
        headers, stream, max_files=MAX_FILES, max_fields=max_fields, max_part_size=max_field_bytes
    )
    try:
        form = await parser.parse()
    except (MultiPartException, KeyError, UnicodeError):
        raise Refused(Code.INVALID_PARAMETER) from None
    return _split_form(form)


class _StrictParser(MultiPartParser):
    """Refuses a form that ends before its last boundary, and closes its files."""

    _is_complete = False

    def on_end(self) -> None:
        self._is_complete = True

    async def parse(self) -> FormData:
        self.stream = self._require_end(self.stream)
        return await super().parse()

    async def _require_end(self, stream: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
        async for chunk in stream:
            yield chunk
        if not self._is_complete:
            raise MultiPartException("The form ends early.")


def _split_form(form: FormData) -> ParsedForm:
    parsed = ParsedForm([], {})
    for name, value in form.multi_items():
        if isinstance(value, str):
            parsed.fields.append((name, value))
        elif value.filename or value.size:
            if name in parsed.files:  # the last one counts
                parsed.files[name].stream.close()
            parsed.files[name] = File(value.filename or "", value.content_type or "", value.size or 0, value.file)
        else:
            value.file.close()
    return parsed


async def parse_urlencoded(body: bytes, max_fields: int) -> list[tuple[str, str]]:
    """Return the fields of a form in their order, as `urllib.parse.parse_qsl` does.

    Raises ValueError for more fields than allowed, and for text that is not UTF-8.
    """
    if body.count(b"&") >= max_fields:
        raise ValueError("too many fields")
    fields: list[tuple[str, str]] = []
    turn_bytes = 0
    for pair in body.split(b"&"):
        name, _, value = pair.partition(b"=")
        decoded: list[str] = []
        for text in (name, value):
            pieces: list[bytes] = []
            for piece in _cut(text.replace(b"+", b" ")):
                pieces.append(unquote_to_bytes(piece))
                turn_bytes += len(piece)
                if turn_bytes >= TURN_BYTES:
                    turn_bytes = 0
                    await asyncio.sleep(0)
            decoded.append(b"".join(pieces).decode())
        if pair:
            fields.append((decoded[0], decoded[1]))
    return fields


def _cut(text: bytes) -> Iterator[bytes]:
    """Yield a text in short pieces, none of which ends within an escape."""
    start = 0
    while start < len(text):
        end = start + TURN_BYTES
        escape = text.rfind(b"%", end - _ESCAPE_BYTES + 1, end)
        if escape >= 0 and end < len(text):
            end = escape
        yield text[start:end]
        start = end
