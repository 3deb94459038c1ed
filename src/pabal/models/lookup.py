"""Parameters and answers of looking up messages, results and replies."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from pabal.models.answers import Date, Envelope, LabelledValue, MessageItem

WON = Meta(description="In won, with two decimals.", examples=[9.0])


class GetMessage(Struct, kw_only=True, omit_defaults=True):
    """The message to look up."""

    messageId: str


class MessageEventItem(Struct, kw_only=True):
    """One thing that happened to a message."""

    event: Annotated[
        str,
        Meta(
            description="`accepted`, `scheduled`, `submitted` to a carrier, its `verdict`, its `receipt`,"
            " `fallback` or `ended`.",
            examples=["submitted"],
        ),
    ]
    date: Date | UnsetType = UNSET
    carrier: str | UnsetType = UNSET
    attempt: Annotated[int | UnsetType, Meta(description="The number of the attempt that was not accepted.")] = (
        UNSET
    )
    verdict: Annotated[
        str | UnsetType,
        Meta(description="`accepted`, `rejected`, `declined`, `busy`, `unknown`, `notSent` or `unmapped`."),
    ] = UNSET
    carrierCode: Annotated[str | UnsetType, Meta(description="The carrier's own code.")] = UNSET
    sendingStatus: Annotated[LabelledValue | UnsetType, Meta(description="How it ended.")] = UNSET
    resultCode: LabelledValue | UnsetType = UNSET
    messageId: Annotated[
        str | UnsetType, Meta(description="The fallback, or the failed message that this one is the fallback of.")
    ] = UNSET


class MessageDetailItem(MessageItem, kw_only=True):
    """A message, and what happened to it."""

    carrier: Annotated[
        str | UnsetType, Meta(description="The carrier that decided how it ended, or has it now.")
    ] = UNSET
    carrierCode: Annotated[str | UnsetType, Meta(description="That carrier's own code of the result.")] = UNSET
    submittedDate: Date | UnsetType = UNSET
    cost: Annotated[float | UnsetType, WON] = UNSET
    key: Annotated[
        LabelledValue | UnsetType, Meta(description="Id and name of the API key that it was requested with.")
    ] = UNSET
    events: list[MessageEventItem]


class MessageDetailAnswer(Envelope, kw_only=True):
    """One message and its timeline."""

    item: MessageDetailItem


MAX_RESULTS = 1000


class ListResults(Struct, kw_only=True, omit_defaults=True):
    """From where on to list results."""

    cursor: Annotated[
        str | None, Meta(description="The `nextCursor` of the last answer; absent: from the oldest result on.")
    ] = None
    limit: Annotated[int, Meta(description=f"Most results to list, from 1 to {MAX_RESULTS:,}.")] = MAX_RESULTS


class ResultItem(MessageItem, kw_only=True):
    """A message that has ended, and the id of that event."""

    eventId: Annotated[str, Meta(description="Unique for good, and the same in webhooks.")]


class ResultsItem(Struct, kw_only=True):
    """Where to go on."""

    nextCursor: Annotated[str, Meta(description="`cursor` of the next call, also where there is nothing new yet.")]


class ResultsAnswer(Envelope, kw_only=True):
    """Messages that have ended."""

    item: ResultsItem
    resultCount: int
    items: list[ResultItem]


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
    """Where the next call continues."""

    nextCursor: str


class InboundAnswer(Envelope, kw_only=True):
    """Inbound messages."""

    item: InboundPosition
    resultCount: int
    items: list[InboundItem]
