"""Parameters and answers of looking up one message."""

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
