"""Bodies and answers of the endpoints of webhooks."""

from typing import Annotated

from msgspec import UNSET, Struct, UnsetType

from pabal.models import describe
from pabal.models.answers import Date, Envelope, LabelledValue, ListEnvelope, PagedEnvelope

_ID = describe("`create`나 `list`에 있는 웹훅의 ID", "Id of the webhook, from `create` or `list`.", examples=["1"])
_URL = describe(
    "이벤트를 보낼 곳: 1,000자 이하의 https 주소",
    "Where to deliver events: an https address of at most 1,000 characters.",
    examples=["https://shop.example/pabal"],
)
_EVENTS = describe(
    "이벤트: message.result, message.inbound, template.status, sender.auth, campaign.finished,"
    " optOut.added, limit.near, failure.high, carrier.status",
    "Which events: message.result, message.inbound, template.status, sender.auth, campaign.finished,"
    " optOut.added, limit.near, failure.high, carrier.status.",
    examples=[["message.result"]],
)
_PRODUCTS = describe(
    "sms나 alimTalk처럼 어느 종류의 메시지를 알릴지. 비어 있으면 모두. 메시지에 관한 것이 아닌"
    " 이벤트는 어느 경우든 보냅니다",
    "Which products' messages, such as sms or alimTalk; empty: all. Events that are not about a"
    " message are delivered all the same.",
    examples=[["alimTalk", "sms"]],
)
_FORMAT = describe(
    "전송의 형식: pabal(기본값), 다른 중계사의 API로 만든 프로그램이 받는 solapi 또는 nhncloud."
    " 두 형식은 message.result만 보냅니다",
    "What deliveries look like: pabal (the default), or solapi or nhncloud, for programs that were written for"
    " these relays. Both tell only message.result.",
    examples=["pabal"],
)
_DESCRIPTION = describe("자체 메모, 최대 200자", "Your own note, at most 200 characters.")
_SECRET = describe(
    "전송에 서명하는 값: `whsec_`와 Base64. 여기서만 보여 줍니다",
    "What deliveries are signed with: `whsec_` and Base64. Shown only here.",
    examples=["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
)


class CreateWebhook(Struct, kw_only=True, omit_defaults=True):
    """A new webhook."""

    url: Annotated[str, _URL]
    events: Annotated[list[str], _EVENTS]
    products: Annotated[list[str] | None, _PRODUCTS] = None
    description: Annotated[str | None, _DESCRIPTION] = None
    format: Annotated[str | None, _FORMAT] = None


class UpdateWebhook(Struct, kw_only=True, omit_defaults=True):
    """What to change of a webhook; absent fields stay as they are."""

    webhookId: Annotated[str, _ID]
    url: Annotated[str | None, _URL] = None
    events: Annotated[list[str] | None, _EVENTS] = None
    products: Annotated[list[str] | None, _PRODUCTS] = None
    description: Annotated[str | None, _DESCRIPTION] = None
    format: Annotated[str | None, _FORMAT] = None
    enabled: Annotated[
        bool | None,
        describe(
            "false: 더는 보내지 않습니다. true: 다시 보냅니다. 그동안 보내지 못한 최근 7일분부터 바로 보냅니다",
            "false: nothing is delivered any more. true: deliveries go on, with what it has missed, of at most"
            " 7 days, at once.",
        ),
    ] = None
    replay: Annotated[
        bool | None,
        describe(
            "`enabled: true`와 함께 쓰는 false: 그동안 보내지 못한 것은 보내지 않고 `dropped`에 셉니다."
            " 기본값은 true",
            "false, with `enabled: true`: what it has missed is not delivered, and counted in `dropped`."
            " The default is true.",
        ),
    ] = None
    rotateSecret: Annotated[
        bool | None,
        describe(
            "true: 새 비밀 키를 만듭니다. 이전 것도 24시간 동안 함께 서명합니다",
            "true: make a new secret. The old one signs along for 24 hours.",
        ),
    ] = None


class DeleteWebhook(Struct, kw_only=True, omit_defaults=True):
    """The webhook to delete."""

    webhookId: Annotated[str, _ID]


class SendWebhookTest(Struct, kw_only=True, omit_defaults=True):
    """The webhook to test."""

    webhookId: Annotated[str, _ID]


class ReplayWebhook(Struct, kw_only=True, omit_defaults=True):
    """What to deliver again."""

    webhookId: Annotated[str, _ID]
    since: Annotated[
        str,
        describe(
            "이때부터의 이벤트, `yyyy-MM-dd HH:mm`, 최대 7일 전",
            "Events from then on, `yyyy-MM-dd HH:mm`, at most 7 days ago.",
            examples=["2026-12-24 18:00"],
        ),
    ]


class ListWebhooks(Struct, kw_only=True, omit_defaults=True):
    """No parameters."""


class ListDeliveries(Struct, kw_only=True, omit_defaults=True):
    """The webhook whose deliveries to list."""

    page: int = 1
    pageSize: int = 10
    webhookId: Annotated[str, _ID]


class ListEvents(Struct, kw_only=True, omit_defaults=True):
    """From where on to list events; without both, from now on."""

    cursor: Annotated[str | None, describe("지난 응답의 `nextCursor`", "The `nextCursor` of the last answer.")] = (
        None
    )
    since: Annotated[
        str | None,
        describe(
            "`cursor` 대신: 이때부터의 이벤트, `yyyy-MM-dd HH:mm`, 최대 7일 전",
            "Instead of `cursor`: events from then on, `yyyy-MM-dd HH:mm`, at most 7 days ago.",
        ),
    ] = None


class EventsItem(Struct, kw_only=True):
    """Where to go on."""

    nextCursor: Annotated[
        str,
        describe(
            "다음 호출의 `cursor`. 아직 새것이 없을 때도 있습니다",
            "`cursor` of the next call, also where there is nothing new yet.",
        ),
    ]


class UnsignedPost(Struct, kw_only=True):
    """What a webhook would be told, without a signature."""

    id: Annotated[str, describe("전송의 `webhook-id`", "The `webhook-id` of the delivery.")]
    type: Annotated[str, describe("이벤트의 종류", "The type of its events.", examples=["message.result"])]
    eventIds: Annotated[list[str], describe("전송에 담긴 이벤트의 ID", "The ids of its events.")]
    body: Annotated[
        str,
        describe(
            "전송의 본문: 받은 그대로 서명하고 보낼 JSON",
            "The body of the delivery: JSON, to be signed and posted as it is.",
        ),
    ]


class EventsAnswer(Envelope, kw_only=True):
    """What webhooks would be told."""

    item: EventsItem
    resultCount: int
    items: list[UnsignedPost]


class NewWebhookItem(Struct):
    """The new webhook."""

    webhookId: Annotated[str, _ID]
    secret: Annotated[str, _SECRET]


class WebhookItem(Struct, kw_only=True):
    """A webhook."""

    id: str
    label: Annotated[str, describe("url과 같음", "Same as url.")]
    webhookId: Annotated[str, _ID]
    url: Annotated[str, _URL]
    events: Annotated[list[str], _EVENTS]
    products: Annotated[list[str], _PRODUCTS]
    description: Annotated[str | UnsetType, _DESCRIPTION] = UNSET
    format: Annotated[str, _FORMAT]
    state: Annotated[
        LabelledValue,
        describe(
            "`active`, `paused`(계속 실패해 5분마다 시도합니다) 또는 `disabled`",
            "`active`, `paused` (it keeps failing, and is tried every 5 minutes) or `disabled`.",
        ),
    ]
    disabledReason: Annotated[
        str | UnsetType,
        describe(
            "`disabled`인 이유: `owner`(관리자가 껐습니다) 또는 `gone`(10분 이상에 걸쳐 다섯 번 연속 410으로"
            " 응답했습니다)",
            "Why it is `disabled`: `owner`, or `gone` (it answered 410 five times in a row, over 10 minutes or"
            " more).",
            examples=["gone"],
        ),
    ] = UNSET
    secret: Annotated[
        str | UnsetType, describe("지금 교체했으면 새 비밀 키", "The new secret, if it was rotated now.")
    ] = UNSET
    previousSecretUntil: Date | UnsetType = UNSET
    lastSuccess: Date | UnsetType = UNSET
    failures: Annotated[int, describe("그때부터 실패한 전송 수", "Failed deliveries since then.")]
    backlog: Annotated[
        int,
        describe(
            "기다리는 이벤트 수. 사용하지 않는 동안의 것도 포함하고, 10,000쯤까지만 셉니다",
            "Events that wait for it, also while it is disabled, counted up to about 10,000.",
        ),
    ]
    dropped: Annotated[int, describe("포기한 이벤트 수", "Events that were given up.")]
    created: Date
    changed: Date


class WebhookTestItem(Struct, kw_only=True):
    """What came back from a delivery."""

    status: Annotated[
        int | UnsetType,
        describe("HTTP 상태. 응답이 없었으면 생략합니다", "HTTP status; absent: there was no answer."),
    ] = UNSET
    answer: Annotated[
        str,
        describe(
            "응답의 처음 1,024바이트. `webhook_allow`의 예외이면 비어 있습니다",
            "The first 1,024 bytes of the answer; empty for exceptions in `webhook_allow`.",
        ),
    ]
    error: Annotated[
        str | UnsetType,
        describe(
            "응답이 없었던 이유: 단어 하나(dns, address_not_allowed, connection, tls, timeout,"
            " invalid_answer, invalid_url, unreadable_secret)와 영어 설명",
            "Why there was no answer: a word (dns, address_not_allowed, connection, tls, timeout,"
            " invalid_answer, invalid_url, unreadable_secret), and in English what happened.",
            examples=["tls: certificate has expired"],
        ),
    ] = UNSET
    durationMs: Annotated[int, describe("걸린 시간, 밀리초", "How long it took, in milliseconds.")]


class DeliveryItem(WebhookTestItem, kw_only=True):
    """One try of a delivery."""

    id: Annotated[
        str,
        describe(
            "전송의 `webhook-id`. 시도할 때마다 같습니다",
            "The `webhook-id` of the delivery, the same at every try.",
        ),
    ]
    time: Annotated[Date, describe("시도한 시각", "When it was tried.")]
    tryNumber: Annotated[
        int, describe("그 전송의 몇 번째 시도인지, 1부터", "Which try of its delivery it was, from 1.")
    ]
    eventIds: Annotated[list[str], describe("들어 있는 이벤트", "The events that it contains.")]


class NewWebhookAnswer(Envelope, kw_only=True):
    """A new webhook."""

    item: NewWebhookItem


class WebhookAnswer(Envelope, kw_only=True):
    """A webhook."""

    item: WebhookItem


class WebhooksAnswer(ListEnvelope, kw_only=True):
    """The webhooks of the account."""

    items: list[WebhookItem]


class WebhookTestAnswer(Envelope, kw_only=True):
    """What came back."""

    item: WebhookTestItem


class DeliveriesAnswer(PagedEnvelope, kw_only=True):
    """Recent tries, newest first; at most 1,000 are kept."""

    items: list[DeliveryItem]
