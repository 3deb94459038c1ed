"""Parameters and answers of the statistics."""

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import UNSET, Struct, UnsetType, defstruct

from pabal.models import describe
from pabal.models.answers import Date, LabelledValue, PagedEnvelope, StatusCounts
from pabal.models.lookup import WON

ListStatistics = defstruct(  # `from` is no name that a class statement could use
    "ListStatistics",
    [
        (
            "from",
            Annotated[
                str,
                describe(
                    "requestDate의 첫 분이나 날", "First minute or day, by requestDate.", examples=["2026-11-01"]
                ),
            ],
        ),
        (
            "to",
            Annotated[
                str | None,
                describe(
                    "마지막 분이나 날, 그것도 포함. 기본값: 지금",
                    "Last minute or day, included. Default: now.",
                    examples=["2026-11-30"],
                ),
            ],
            None,
        ),
        ("interval", Annotated[str, describe("`hour`, `day` 또는 `month`", "`hour`, `day` or `month`.")], "day"),
        (
            "groupBy",
            Annotated[
                str | None,
                describe(
                    "`product`, `status`, `resultCode`, `templateCode`, `sender`, `key`, `carrier`, `user` 중"
                    " 최대 세 가지, 쉼표로 구분",
                    "At most three, separated by commas, of `product`, `status`, `resultCode`, `templateCode`,"
                    " `sender`, `key`, `carrier` and `user`.",
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

    countedDate: Annotated[
        Date,
        describe(
            "가장 새로운 메시지를 집계한 시각. 15분 이내입니다",
            "When the newest messages were counted: within a quarter of an hour.",
        ),
    ]


class StatisticsItem(Struct, kw_only=True):
    """The messages of one group, requested in one hour, day or month."""

    date: Annotated[Date, describe("시간, 날 또는 달의 첫 초", "First second of the hour, day or month.")]
    product: Annotated[
        LabelledValue | UnsetType, describe("메시지 종류(messageProductType)", "messageProductType.")
    ] = UNSET
    status: Annotated[LabelledValue | UnsetType, describe("발송 상태(sendingStatus)", "sendingStatus.")] = UNSET
    resultCode: Annotated[
        LabelledValue | UnsetType,
        describe("아직 끝나지 않았거나 취소되었으면 없습니다", "Absent: they have not ended, or were cancelled."),
    ] = UNSET
    templateCode: Annotated[
        str | UnsetType, describe("없으면 해당 없음. `*`: 그 밖의 것", "Absent: none; `*`: others.")
    ] = UNSET
    sender: Annotated[
        str | UnsetType,
        describe(
            "수신자에게 보이는 발신번호 또는 채널. `*`: 그 밖의 것",
            "Sender number or channel that the receiver sees; `*`: others.",
        ),
    ] = UNSET
    key: Annotated[
        LabelledValue | UnsetType,
        describe(
            "API 키의 ID와 이름. 콘솔에서 요청했으면 없습니다. `*`: 그 밖의 것",
            "Id and name of the API key; absent: requested in the console; `*`: others.",
        ),
    ] = UNSET
    user: Annotated[
        LabelledValue | UnsetType,
        describe(
            "콘솔 사용자의 ID와 이름. API 키로 요청했으면 없습니다. `*`: 그 밖의 것",
            "Id and name of the user of the console; absent: requested with an API key; `*`: others.",
        ),
    ] = UNSET
    carrier: Annotated[
        str | UnsetType,
        describe(
            "결과를 낸 발송 경로. 아직 없으면 생략합니다",
            "The carrier that decided how they ended; absent: none has.",
        ),
    ] = UNSET
    count: Annotated[int, describe("대체 발송을 포함한 메시지 수", "Number of messages, fallbacks included.")]
    counts: Annotated[StatusCounts, describe("상태별", "By status.")]
    deliveredShare: Annotated[
        float | UnsetType,
        describe(
            "`completed` / (`completed` + `fail`). 끝난 것이 없으면 생략합니다",
            "`completed` / (`completed` + `fail`); absent if none has ended.",
        ),
    ] = UNSET
    fallbacks: Annotated[int, describe("그중 대체 발송의 수", "How many of them are fallbacks.")]
    reached: Annotated[
        int,
        describe(
            "대체 발송이 아닌 것 중 전달되었거나, 실패했지만 대체 발송이 전달된 수",
            "How many of the others were delivered, or failed and their fallback was delivered.",
        ),
    ]
    reachedShare: Annotated[
        float | UnsetType,
        describe(
            "대체 발송이 아니면서 `completed`나 `fail`로 끝난 것 중 `reached`의 비율. 그런 것이 없으면 생략합니다",
            "Share of `reached` among those that are no fallbacks and ended as `completed` or `fail`; absent if"
            " there are none.",
        ),
    ] = UNSET
    cost: Annotated[float | UnsetType, WON] = UNSET
    readCount: Annotated[
        int | UnsetType,
        describe(
            "그날 보낸 것 중 읽은 수. `interval=day`, `groupBy=templateCode`이고 중계사가 알려 줄 때만",
            "How many of those sent that day were read; only with `interval=day` and `groupBy=templateCode`, where"
            " the relay tells it.",
        ),
    ] = UNSET
    clickCount: Annotated[
        int | UnsetType,
        describe(
            "그 안의 링크를 누른 횟수. `readCount`와 함께 있습니다",
            "How often something in them was clicked; present with `readCount`.",
        ),
    ] = UNSET


class StatisticsAnswer(PagedEnvelope, kw_only=True):
    """Numbers of messages."""

    item: StatisticsInfo
    items: list[StatisticsItem]


def statistics_since(
    since: str, until: str | None = None, *, interval: str = "day", group_by: Sequence[str] = ()
) -> msgspec.Struct:
    """Return the body of `list_statistics`: messages requested from `since` to `until`, both included."""
    fields = {"from": since, "to": until, "interval": interval, "groupBy": ",".join(group_by) or None}
    return msgspec.convert(fields, ListStatistics)
