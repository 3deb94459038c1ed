"""Parses a form that has a file."""

from collections.abc import AsyncGenerator
from typing import NamedTuple

from starlette.datastructures import Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from pabal.domain.codes import Code, Refused

FORM_TYPE = "multipart/form-data"
MAX_FILES = 1


class File(NamedTuple):
    """A file as a browser sends it; the browser chose its type, and nobody has checked it."""

    name: str
    content_type: str
    body: bytes


async def parse_form(
    headers: Headers, body: bytes, max_fields: int
) -> tuple[list[tuple[str, str]], dict[str, File]]:
    """Return the fields of a form, and its files by field; a file field that is left empty has none.

    Raises Refused(INVALID_PARAMETER).
    """

    async def stream() -> AsyncGenerator[bytes, None]:
        yield body

    parser = MultiPartParser(
        headers, stream(), max_files=MAX_FILES, max_fields=max_fields, max_part_size=len(body) + 1
    )
    try:
        form = await parser.parse()
    except (MultiPartException, KeyError, UnicodeError):
        raise Refused(Code.INVALID_PARAMETER) from None
    fields, files = [], {}
    for name, value in form.multi_items():
        if isinstance(value, str):
            fields.append((name, value))
        elif file := await _read_file(value):
            files[name] = file
    await form.close()
    return fields, files


async def _read_file(upload: UploadFile) -> File | None:
    body = await upload.read()
    return File(upload.filename or "", upload.content_type or "", body) if upload.filename or body else None
