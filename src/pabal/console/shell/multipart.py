"""A form that brings a file along, taken apart."""

from collections.abc import AsyncGenerator
from typing import NamedTuple

from starlette.datastructures import Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from pabal.domain.codes import Code, Refused

FORM_TYPE = "multipart/form-data"
MOST_FILES = 1


class File(NamedTuple):
    """A file as a browser sends it; the browser chose its type, and nobody has checked it."""

    name: str
    content_type: str
    body: bytes


async def take_apart(
    headers: Headers, body: bytes, most_fields: int
) -> tuple[list[tuple[str, str]], dict[str, File]]:
    """Return the fields of a form and its files by their fields; a field of a file that is left empty has none.

    Raises Refused(INVALID_PARAMETER).
    """

    async def stream() -> AsyncGenerator[bytes, None]:
        yield body

    parser = MultiPartParser(
        headers, stream(), max_files=MOST_FILES, max_fields=most_fields, max_part_size=len(body) + 1
    )
    try:
        form = await parser.parse()
    except (MultiPartException, KeyError, UnicodeError):
        raise Refused(Code.INVALID_PARAMETER) from None
    fields, files = [], {}
    for name, value in form.multi_items():
        if isinstance(value, str):
            fields.append((name, value))
        elif given := await _file(value):
            files[name] = given
    await form.close()
    return fields, files


async def _file(given: UploadFile) -> File | None:
    body = await given.read()
    return File(given.filename or "", given.content_type or "", body) if given.filename or body else None
