"""Parameters and answers of the statistics."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType, defstruct

from pabal.models.answers import Date, LabelledValue, PagedEnvelope, StatusCounts
from pabal.models.lookup import WON


def _describe(description: str) -> Meta:
    return Meta(description=description)


ListStatistics = defstruct(  # `from` is no name that a class statement could use
    "ListStatistics",
    [
        (
            "from",
            Annotated[str, Meta(description="First minute or day, by requestDate.", examples=["2026-11-01"])],
        ),
        (
            "to",
            Annotated[
                str | None, Meta(description="Last minute or day, included. Default: now.", examples=["2026-11-30"])
            ],
            None,
        ),
        ("interval", Annotated[str, _describe("`hour`, `day` or `month`.")], "day"),
        (
            "groupBy",
            Annotated[
                str | None,
                Meta(
                    description="At most three, separated by commas, of `product`, `status`, `resultCode`,"
                    " `templateCode`, `sender`, `key`, `carrier` and `user`.",
                    examples=["product,status"],
                ),
            ],
            None,
        ),
        ("page", int, 1),
        ("pageSize", int, 1000),
    ],
    kw_only=True,
    omit_defaults=True,
    namespace={"__doc__": "The period and the groups to count messages by."},
    module=__name__,
)


class StatisticsInfo(Struct, kw_only=False):
    """How new the numbers are."""

    countedDate: Annotated[Date, _describe("When the newest messages were counted: within a quarter of an hour.")]


class StatisticsItem(Struct, kw_only=True):
    """The messages of one group, requested in one hour, day or month."""

    date: Annotated[Date, _describe("First second of the hour, day or month.")]
    product: Annotated[LabelledValue | UnsetType, _describe("messageProductType.")] = UNSET
    status: Annotated[LabelledValue | UnsetType, _describe("sendingStatus.")] = UNSET
    resultCode: Annotated[
        LabelledValue | UnsetType, _describe("Absent: they have not ended, or were cancelled.")
    ] = UNSET
    templateCode: Annotated[str | UnsetType, _describe("Absent: none; `*`: others.")] = UNSET
    sender: Annotated[
        str | UnsetType, _describe("Sender number or channel that the receiver sees; `*`: others.")
    ] = UNSET
    key: Annotated[
        LabelledValue | UnsetType,
        _describe("Id and name of the API key; absent: requested in the console; `*`: others."),
    ] = UNSET
    user: Annotated[
        LabelledValue | UnsetType,
        _describe("Id and name of the user of the console; absent: requested with an API key; `*`: others."),
    ] = UNSET
    carrier: Annotated[str | UnsetType, _describe("The carrier that decided how they ended; absent: none has.")] = (
        UNSET
    )
    count: Annotated[int, _describe("Number of messages, fallbacks included.")]
    counts: Annotated[StatusCounts, _describe("By status.")]
    deliveredShare: Annotated[
        float | UnsetType, _describe("`completed` / (`completed` + `fail`); absent if none has ended.")
    ] = UNSET
    fallbacks: Annotated[int, _describe("How many of them are fallbacks.")]
    reached: Annotated[
        int, _describe("How many of the others were delivered, or failed and their fallback was delivered.")
    ]
    reachedShare: Annotated[
        float | UnsetType, _describe("`reached` / (`count` - `fallbacks`); absent if all are fallbacks.")
    ] = UNSET
    cost: Annotated[float | UnsetType, WON] = UNSET


class StatisticsAnswer(PagedEnvelope, kw_only=True):
    """Numbers of messages."""

    item: StatisticsInfo
    items: list[StatisticsItem]
