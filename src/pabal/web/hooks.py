"""Webhooks: receipts that carriers deliver over HTTP."""

from collections.abc import Sequence

from starlette.requests import ClientDisconnect, Request

from pabal.carriers.base import Receipt
from pabal.domain.base.codes import Code, Refused
from pabal.service.access.keys.body_budget import BodyBudget, HeldBody
from pabal.service.context import Context
from pabal.service.delivery.receiving.receipts import build_inbox, store_receipts

MAX_WEBHOOK_BYTES = 8 * 2**20


async def receive_webhook(context: Context, bodies: BodyBudget, request: Request) -> None:
    """Store a carrier's receipts; return once they are durable.

    Raises Refused, StoreUnavailable.
    """
    carrier = context.carriers.get(request.path_params["carrier"])
    if carrier is None:
        raise Refused(Code.NOT_FOUND)

    async def on_receipts(receipts: Sequence[Receipt]) -> None:
        await store_receipts(context, carrier.name, receipts)

    carrier.attach_inbox(build_inbox(context, carrier.name))
    with bodies.hold(carrier.name, 0) as held:
        await carrier.handle_webhook(request.headers, lambda: _read_body(request, held), on_receipts)


async def _read_body(request: Request, held: HeldBody) -> bytes:
    """Return the body, which `held` grows with.

    Raises Refused: PAYLOAD_TOO_LARGE as soon as it exceeds the limit, else as `HeldBody.grow` does.
    """
    parts: list[bytes] = []
    size = 0
    try:
        async for part in request.stream():
            size += len(part)
            if size > MAX_WEBHOOK_BYTES:
                raise Refused(Code.PAYLOAD_TOO_LARGE)
            held.grow(size)
            parts.append(part)
    except ClientDisconnect:
        raise Refused(Code.INVALID_JSON) from None
    return b"".join(parts)
