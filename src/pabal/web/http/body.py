"""Reads the body of a request, within its limits."""

from pabal.domain.base.codes import Code, Refused, Text
from pabal.service.access.keys.limits import HeldBody
from pabal.web.http.messages import ReceivedRequest


def too_large_refusal(limit: int) -> Refused:
    """Return the refusal of a body that exceeds a limit."""
    detail = Text(f"최대 {limit:,}바이트입니다.", f"The limit is {limit:,} bytes.")
    return Refused(Code.PAYLOAD_TOO_LARGE, detail=detail)


async def read_body(request: ReceivedRequest, limit: int, held: HeldBody | None = None) -> bytes:
    """Return the whole body, which `held` grows with; without `held`, only measure it.

    Raises Refused: PAYLOAD_TOO_LARGE as soon as the body exceeds the limit, else as `HeldBody.grow` does.
    """
    parts: list[bytes] = []
    size = 0
    while True:
        part = await request.read()
        size += len(part)
        if size > limit:
            raise too_large_refusal(limit)
        if held:
            held.grow(size)
            parts.append(part)
        if request.is_received:
            return b"".join(parts)
