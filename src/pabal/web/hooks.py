"""Calls of carriers to us: what they tell of messages they have taken."""

from collections.abc import Sequence

from starlette.requests import ClientDisconnect, Request

from pabal.carriers.base import Receipt
from pabal.domain.codes import Code, Refused
from pabal.service.context import Context
from pabal.service.delivery.receive import store_receipts

MAX_WEBHOOK_BYTES = 8 * 2**20


async def receive_webhook(context: Context, request: Request) -> None:
    """Keep what a carrier tells; return once it is kept.

    Raises Refused, StoreAway.
    """
    carrier = context.carriers.get(request.path_params["carrier"])
    if carrier is None:
        raise Refused(Code.NOT_FOUND)

    async def keep(receipts: Sequence[Receipt]) -> None:
        await store_receipts(context, carrier.name, receipts)

    await carrier.handle_webhook(request.headers, lambda: _read_body(request), keep)


async def _read_body(request: Request) -> bytes:
    """Return the body, refusing one that grows beyond the limit before it is read whole."""
    parts: list[bytes] = []
    size = 0
    try:
        async for part in request.stream():
            size += len(part)
            if size > MAX_WEBHOOK_BYTES:
                raise Refused(Code.PAYLOAD_TOO_LARGE)
            parts.append(part)
    except ClientDisconnect:
        raise Refused(Code.INVALID_JSON) from None
    return b"".join(parts)
