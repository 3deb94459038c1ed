"""Parses a multipart form as it arrives; a file goes to memory or, beyond 1 MiB, to a temporary file."""

from collections.abc import AsyncGenerator
from typing import BinaryIO, NamedTuple

from python_multipart.multipart import parse_options_header
from starlette.datastructures import FormData, Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from pabal.domain.base.codes import Code, Refused

MULTIPART_TYPE = "multipart/form-data"
MAX_FILES = 2
"""The form of a template has the most: an image and a thumbnail."""
_CHARSETS = (b"utf-8", b"utf8")


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
            parsed.files[name] = _to_file(value)
        else:
            value.file.close()
    return parsed


def _to_file(upload: UploadFile) -> File:
    return File(upload.filename or "", upload.content_type or "", upload.size or 0, upload.file)
