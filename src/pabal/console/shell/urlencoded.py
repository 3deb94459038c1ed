"""Decodes a URL-encoded form in short turns of the event loop, so that a long one does not hold up other calls."""

import asyncio
from collections.abc import Iterator
from urllib.parse import unquote_to_bytes

URLENCODED_TYPE = "application/x-www-form-urlencoded"
TURN_BYTES = 32 * 1024
"""What is decoded before other calls get their turn, in a few milliseconds."""
_ESCAPE_BYTES = len(b"%00")


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
