"""The posts that webhooks get: one type for each event."""

from typing import Annotated, Any, get_args

from msgspec import Struct

from pabal.domain.events.event import EVENT_TYPE_BY_CODE, EventType
from pabal.models import describe
from pabal.models.answers import SenderItem, TemplateItem
from pabal.models.lookup import InboundItem, ResultItem
from pabal.models.opt_outs import OptOutItem

EventId = Annotated[
    str,
    describe(
        "영구히 고유하며, 되풀이된 이벤트는 같은 값입니다",
        "Unique for good; a repeated event has the same.",
        examples=["evt_0192f0c1a2b3c4d5e6f708192a3b4c5d"],
    ),
]
Timestamp = Annotated[
    str,
    describe(
        "전송을 만든 시각. ISO 8601, 밀리초와 시간대 오프셋 포함",
        "When the delivery was made, ISO 8601 with milliseconds and offset.",
        examples=["2026-11-15T10:12:03.123+09:00"],
    ),
]


class InboundEventItem(InboundItem, kw_only=True):
    """A message that a subscriber has sent, and the id of that event."""

    eventId: EventId


class TemplateEventItem(TemplateItem, kw_only=True):
    """A template as it was when its status changed, and the id of that event."""

    eventId: EventId


class SenderEventItem(SenderItem, kw_only=True):
    """A sender profile as it was when it changed, and the id of that event."""

    eventId: EventId


class OptOutEventItem(OptOutItem, kw_only=True):
    """A new opt-out, and the id of that event."""

    eventId: EventId


class CampaignCounts(Struct):
    """How the messages of a campaign ended."""

    completed: Annotated[int, describe("전달된 메시지 수", "Delivered messages.")]
    fail: Annotated[int, describe("실패한 메시지 수", "Failed messages.")]
    cancel: Annotated[int, describe("취소된 메시지 수", "Cancelled messages.")]
    fallbacks: Annotated[int, describe("그중 대체 발송의 수", "How many of them are fallbacks.")]


class CampaignFinishedItem(Struct, kw_only=True):
    """A campaign that has ended."""

    eventId: EventId
    campaignId: Annotated[str, describe("캠페인의 ID", "Id of the campaign.")]
    name: Annotated[str, describe("이름", "Its name.")]
    counts: Annotated[CampaignCounts, describe("메시지가 어떻게 끝났는지", "How its messages ended.")]


class LimitNearItem(Struct, kw_only=True):
    """A limit of the account that is nearly or fully used."""

    eventId: EventId
    limit: Annotated[
        str,
        describe(
            "receivers_per_day, receivers_per_month 또는 budget_per_month",
            "receivers_per_day, receivers_per_month or budget_per_month.",
            examples=["receivers_per_day"],
        ),
    ]
    value: Annotated[int, describe("한도. 예산이면 원", "The limit; a budget is in won.")]
    used: Annotated[int, describe("쓴 만큼", "How much of it is used.")]
    share: Annotated[
        int,
        describe(
            "도달한 퍼센트: `notice_quota_percent`의 값(기본값 70) 또는 100",
            "Percent that were reached: those of `notice_quota_percent`, 70 by default, or 100.",
        ),
    ]


class FailureHighItem(Struct, kw_only=True):
    """Many of the account's messages fail; told once until fewer do, at most once an hour."""

    eventId: EventId
    failed: Annotated[int, describe("실패한 메시지 수", "How many messages have failed.")]
    ended: Annotated[int, describe("종료된 메시지 수", "How many messages have ended.")]
    share: Annotated[int, describe("실패한 퍼센트", "Percent that have failed.")]
    since: Annotated[
        str,
        describe(
            "이때부터 요청한 메시지를 셉니다",
            "Messages requested from then on are counted.",
            examples=["2026-11-15 09:15:00"],
        ),
    ]


class CarrierStatusItem(Struct, kw_only=True):
    """A carrier that is down, or up again."""

    eventId: EventId
    carrier: Annotated[str, describe("발송 경로 이름", "Name of the carrier.", examples=["telco"])]
    state: Annotated[str, describe("down(장애) 또는 up(복구)", "down or up.", examples=["down"])]
    products: Annotated[
        list[str], describe("이 발송 경로로 보내는 메시지 종류", "The products that are routed to it.")
    ]
    since: Annotated[str, describe("그 상태가 된 시각", "Since when.", examples=["2026-11-15 10:11:03"])]


class WebhookTestEventItem(Struct, kw_only=True):
    """A test that a caller asked for."""

    eventId: EventId
    webhookId: Annotated[str, describe("시험하는 웹훅", "The webhook that is tested.")]


class ResultEvents(Struct):
    """Messages that have ended."""

    items: list[ResultItem]


class InboundEvents(Struct):
    """Messages of subscribers."""

    items: list[InboundEventItem]


class TemplateEvents(Struct):
    """Templates whose status has changed."""

    items: list[TemplateEventItem]


class SenderEvents(Struct):
    """Sender profiles that have changed."""

    items: list[SenderEventItem]


class CampaignEvents(Struct):
    """Campaigns that have ended."""

    items: list[CampaignFinishedItem]


class OptOutEvents(Struct):
    """New opt-outs."""

    items: list[OptOutEventItem]


class LimitEvents(Struct):
    """Limits that are nearly used up."""

    items: list[LimitNearItem]


class FailureEvents(Struct):
    """High failure rates."""

    items: list[FailureHighItem]


class CarrierEvents(Struct):
    """Carriers that are down, or up again."""

    items: list[CarrierStatusItem]


class WebhookTestEvents(Struct):
    """Tests."""

    items: list[WebhookTestEventItem]


class MessageResultPost(Struct, kw_only=True, tag_field="type", tag=EventType.MESSAGE_RESULT.code):
    """Messages have ended."""

    timestamp: Timestamp
    data: ResultEvents


class MessageInboundPost(Struct, kw_only=True, tag_field="type", tag=EventType.MESSAGE_INBOUND.code):
    """Subscribers have sent messages to numbers of the account."""

    timestamp: Timestamp
    data: InboundEvents


class TemplateStatusPost(Struct, kw_only=True, tag_field="type", tag=EventType.TEMPLATE_STATUS.code):
    """Templates were submitted, approved, rejected or edited, or a relay has suspended or released them."""

    timestamp: Timestamp
    data: TemplateEvents


class SenderAuthPost(Struct, kw_only=True, tag_field="type", tag=EventType.SENDER_AUTH.code):
    """Sender profiles were approved, disabled or enabled, or a relay has suspended or released them."""

    timestamp: Timestamp
    data: SenderEvents


class CampaignFinishedPost(Struct, kw_only=True, tag_field="type", tag=EventType.CAMPAIGN_FINISHED.code):
    """Campaigns have ended."""

    timestamp: Timestamp
    data: CampaignEvents


class OptOutAddedPost(Struct, kw_only=True, tag_field="type", tag=EventType.OPT_OUT_ADDED.code):
    """Receivers want no more advertising."""

    timestamp: Timestamp
    data: OptOutEvents


class LimitNearPost(Struct, kw_only=True, tag_field="type", tag=EventType.LIMIT_NEAR.code):
    """Limits of the account are nearly used up."""

    timestamp: Timestamp
    data: LimitEvents


class FailureHighPost(Struct, kw_only=True, tag_field="type", tag=EventType.FAILURE_HIGH.code):
    """Many of the account's messages fail."""

    timestamp: Timestamp
    data: FailureEvents


class CarrierStatusPost(Struct, kw_only=True, tag_field="type", tag=EventType.CARRIER_STATUS.code):
    """Carriers are down, or up again."""

    timestamp: Timestamp
    data: CarrierEvents


class WebhookTestPost(Struct, kw_only=True, tag_field="type", tag=EventType.WEBHOOK_TEST.code):
    """A test of the webhook."""

    timestamp: Timestamp
    data: WebhookTestEvents


class OtherPost(Struct, kw_only=True):
    """A delivery of an event that this version does not know."""

    type: str
    timestamp: str
    data: dict[str, Any]


KnownPost = (
    MessageResultPost
    | MessageInboundPost
    | TemplateStatusPost
    | SenderAuthPost
    | CampaignFinishedPost
    | OptOutAddedPost
    | LimitNearPost
    | FailureHighPost
    | CarrierStatusPost
    | WebhookTestPost
)
POSTS: dict[EventType, type[Struct]] = {
    EVENT_TYPE_BY_CODE[each.__struct_config__.tag]: each for each in get_args(KnownPost)
}
"""The post of each event."""
