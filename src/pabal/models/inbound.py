"""Parameters and answer of the list of inbound messages."""

from typing import Annotated

from msgspec import Meta, Struct

from pabal.models.answers import Date, Envelope

MAX_INBOUND = 1000
"""Most messages in one answer."""


class ListInbound(Struct, kw_only=True, omit_defaults=True):
    """From where on to list inbound messages."""

    cursor: Annotated[
        str | None, Meta(description="`nextCursor` of the answer before. Default: from the oldest that is stored.")
    ] = None
    limit: Annotated[int, Meta(description=f"How many at most, from 1 to {MAX_INBOUND:,}.")] = MAX_INBOUND


class InboundItem(Struct, kw_only=True):
    """A message that a subscriber has sent to a number of the account."""

    id: str
    label: str
    sender: str
    receiver: str
    content: str
    optOut: bool
    receivedDate: Date


class InboundPosition(Struct):
    """Where the next call goes on."""

    nextCursor: str


class InboundAnswer(Envelope, kw_only=True):
    """Inbound messages."""

    item: InboundPosition
    resultCount: int
    items: list[InboundItem]
