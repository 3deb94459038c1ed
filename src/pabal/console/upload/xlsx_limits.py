"""Limits the memory and time that reading an Excel file takes, however it was packed."""

import re
import zipfile
from typing import IO, Any

from pabal.domain.codes import Code, Refused, Text

MAX_UNPACKED_BYTES = 512 * 1024 * 1024
"""A larger file is no list of receivers."""
MAX_SHARED_STRINGS_BYTES = 64 * 1024 * 1024
"""The reader holds all shared strings in memory."""
MAX_SHARED_STRINGS_TAGS = 4_000_000
MAX_ROW_BYTES = 16 * 1024 * 1024
MAX_ROW_TAGS = 200_000
"""The reader also holds a whole row in memory, and everything outside of rows."""
MAX_TAGS = 40_000_000
"""Limits the time: the reader handles each tag."""
SHARED_STRINGS = "sharedStrings.xml"
_CHUNK_BYTES = 64 * 1024
_ROW_ENDS = re.compile(rb"</(?:\w+:)?row\s*>|<(?:\w+:)?row\b[^<>]*/>")


class LimitedZipFile(zipfile.ZipFile):
    """The parts of an Excel file, each limited while it is read.

    The sizes that the file declares do not say how much a reader holds: a few packed bytes can make a huge row.
    Raises Refused(INVALID_PARAMETER), also while a part is read.
    """

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(file)
        self.is_for_rows = False
        """Whether only rows are read from now on."""
        self._tags = 0
        sizes = {each.filename: each.file_size for each in self.infolist()}
        shared_strings = max((size for name, size in sizes.items() if name.endswith(SHARED_STRINGS)), default=0)
        if sum(sizes.values()) > MAX_UNPACKED_BYTES or shared_strings > MAX_SHARED_STRINGS_BYTES:
            raise _too_large()

    def open(self, name: Any, *args: Any, **options: Any) -> Any:
        """Return a part, limited while it is read."""
        spelled = name if isinstance(name, str) else name.filename
        is_shared_strings = spelled.endswith(SHARED_STRINGS) and not self.is_for_rows
        most_tags, most_bytes = (
            (MAX_SHARED_STRINGS_TAGS, MAX_SHARED_STRINGS_BYTES)
            if is_shared_strings
            else (MAX_ROW_TAGS, MAX_ROW_BYTES)
        )
        return LimitedPart(super().open(name, *args, **options), self, most_tags, most_bytes)

    def count(self, tags: int) -> None:
        """Count tags that were read from any part."""
        self._tags += tags
        if self._tags > MAX_TAGS:
            raise _too_large()


class LimitedPart:
    """A part that is being read: counts what the reader holds since the end of the last row."""

    def __init__(self, part: IO[bytes], whole: LimitedZipFile, most_tags: int, most_bytes: int) -> None:
        self._part = part
        self._whole = whole
        self._most_tags = most_tags
        self._most_bytes = most_bytes
        self._tags = self._bytes = 0
        self._is_plain = True
        """Whether what looks like the end of a row is one; within a comment it is not."""
        self._is_begun = False

    def read(self, size: int = -1) -> bytes:
        if size >= 0:
            return self._counted(self._part.read(size))
        return b"".join(iter(lambda: self._counted(self._part.read(_CHUNK_BYTES)), b""))

    def close(self) -> None:
        self._part.close()

    def __enter__(self) -> "LimitedPart":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _counted(self, piece: bytes) -> bytes:
        self._whole.count(piece.count(b"<"))
        self._is_plain = (
            self._is_plain and b"<!" not in piece and piece.rfind(b"<?") <= (-1 if self._is_begun else 0)
        )
        self._is_begun = True
        ends = [each.span() for each in _ROW_ENDS.finditer(piece)] if self._is_plain else []
        self._hold(piece[: ends[0][0]] if ends else piece)
        if ends:
            self._tags = self._bytes = 0
            self._hold(piece[ends[-1][1] :])
        return piece

    def _hold(self, piece: bytes) -> None:
        self._tags += piece.count(b"<")
        self._bytes += len(piece)
        if self._tags > self._most_tags or self._bytes > self._most_bytes:
            raise _too_large()


def _too_large() -> Refused:
    return Refused(
        Code.INVALID_PARAMETER,
        "file",
        Text(
            "Excel 파일이 너무 큽니다. 나누거나 CSV로 올리세요.",
            "The Excel file is too large. Split it, or upload it as CSV.",
        ),
    )
