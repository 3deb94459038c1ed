"""The columns of a chosen file, each with what it seems to hold, to be changed."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import BinaryIO

from starlette.responses import Response

from pabal.console.sheets import sheet
from pabal.console.sheets.mapping import IGNORE, PHONE, FileHead
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Refused

ReadHead = Callable[[BinaryIO, Sequence[str]], FileHead]
"""Returns the columns of a file, by the names of what they may hold; it can be pickled."""


async def preview_columns(request: PageRequest, read_head: ReadHead, names: Sequence[str]) -> FileHead:
    """Return the columns of the form's file.

    Raises Refused as `read_head` and `PageRequest.open_file` do.
    """
    async with request.open_file(partial(preview_file, read_head=read_head, names=names), is_preview=True) as parts:
        return await anext(parts)


def preview_file(file: BinaryIO, *, read_head: ReadHead, names: Sequence[str]) -> Iterator[FileHead]:
    """Yield the columns of a file; raises Refused as `read_head` does."""
    yield read_head(file, names)


def render_columns(
    request: PageRequest,
    found: FileHead | Refused,
    needed: Sequence[tuple[str, str]] = (),
    roles: Sequence[tuple[str, str]] = (),
) -> Response:
    """Answer with the columns of a file, or with why it cannot be read.

    `needed` and `roles` are what columns must and may hold besides the number, each with what it is called.
    """
    head = None if isinstance(found, Refused) else found
    number = (PHONE, request.t("word.phone_number"))
    held = {each.role for each in head.columns} if head else set()
    return request.render(
        "shell/columns.html",
        head=head,
        problem=request.tell(found.problems[0]) if isinstance(found, Refused) else "",
        needed=[number, *needed],
        missing=[name for role, name in (number, *needed) if role not in held][: sheet.MAX_SHOWN_NAMES],
        roles=[(IGNORE, request.t("columns.ignore")), number, *roles],
    )
