"""Bodies and answers of the endpoints of webhooks."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from pabal.models.answers import Date, Envelope, LabelledValue, ListEnvelope, PagedEnvelope

_ID = Meta(description="Id of the webhook, from `create` or `list`.", examples=["1"])
_URL = Meta(
    description="Where to post events: an https address of at most 1,000 characters.",
    examples=["https://shop.example/pabal"],
)
_EVENTS = Meta(
    description="Which events: message.result, message.inbound, template.status, sender.auth, campaign.finished,"
    " optOut.added, limit.near, failure.high, carrier.status.",
    examples=[["message.result"]],
)
_PRODUCTS = Meta(
    description="Which products' messages, such as sms or alimTalk; empty: all. Events that are not about a message"
    " are posted all the same.",
    examples=[["alimTalk", "sms"]],
)
_DESCRIPTION = Meta(description="Your own note, at most 200 characters.")
_SECRET = Meta(
    description="What posts are signed with: `whsec_` and Base64. Shown only here.",
    examples=["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"],
)


class CreateWebhook(Struct, kw_only=True, omit_defaults=True):
    """A new webhook."""

    url: Annotated[str, _URL]
    events: Annotated[list[str], _EVENTS]
    products: Annotated[list[str] | None, _PRODUCTS] = None
    description: Annotated[str | None, _DESCRIPTION] = None


class UpdateWebhook(Struct, kw_only=True, omit_defaults=True):
    """What to change of a webhook; absent fields stay as they are."""

    webhookId: Annotated[str, _ID]
    url: Annotated[str | None, _URL] = None
    events: Annotated[list[str] | None, _EVENTS] = None
    products: Annotated[list[str] | None, _PRODUCTS] = None
    description: Annotated[str | None, _DESCRIPTION] = None
    enabled: Annotated[
        bool | None,
        Meta(
            description="false: nothing is posted any more. true: posts go on; what a paused webhook has left is"
            " posted at once."
        ),
    ] = None
    rotateSecret: Annotated[
        bool | None, Meta(description="true: make a new secret. The old one signs along for 24 hours.")
    ] = None


class DeleteWebhook(Struct, kw_only=True, omit_defaults=True):
    """The webhook to delete."""

    webhookId: Annotated[str, _ID]


class SendWebhookTest(Struct, kw_only=True, omit_defaults=True):
    """The webhook to test."""

    webhookId: Annotated[str, _ID]


class ReplayWebhook(Struct, kw_only=True, omit_defaults=True):
    """What to post again."""

    webhookId: Annotated[str, _ID]
    since: Annotated[
        str,
        Meta(
            description="Events from then on, `yyyy-MM-dd HH:mm`, at most 7 days ago.",
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


class NewWebhookItem(Struct):
    """The new webhook."""

    webhookId: Annotated[str, _ID]
    secret: Annotated[str, _SECRET]


class WebhookItem(Struct, kw_only=True):
    """A webhook."""

    id: str
    label: Annotated[str, Meta(description="Same as url.")]
    webhookId: Annotated[str, _ID]
    url: Annotated[str, _URL]
    events: Annotated[list[str], _EVENTS]
    products: Annotated[list[str], _PRODUCTS]
    description: Annotated[str | UnsetType, _DESCRIPTION] = UNSET
    state: Annotated[
        LabelledValue,
        Meta(description="`active`, `paused` (it keeps failing, and is tried every 5 minutes) or `disabled`."),
    ]
    secret: Annotated[str | UnsetType, Meta(description="The new secret, if it was rotated now.")] = UNSET
    previousSecretUntil: Date | UnsetType = UNSET
    lastSuccess: Date | UnsetType = UNSET
    failures: Annotated[int, Meta(description="Failed posts since then.")]
    backlog: Annotated[int, Meta(description="Events that wait for it, counted up to about 10,000.")]
    dropped: Annotated[int, Meta(description="Events that were given up.")]
    created: Date
    changed: Date


class WebhookTestItem(Struct, kw_only=True):
    """What came back from a post."""

    status: Annotated[int | UnsetType, Meta(description="HTTP status; absent: there was no answer.")] = UNSET
    answer: Annotated[
        str, Meta(description="The first 1,024 bytes of the answer; empty for exceptions in `webhook_allow`.")
    ]
    error: Annotated[
        str | UnsetType,
        Meta(
            description="Why there was no answer: a word (dns, address_not_allowed, connection, tls, timeout,"
            " invalid_answer, invalid_url, unreadable_secret), and in English what happened.",
            examples=["tls: certificate has expired"],
        ),
    ] = UNSET
    durationMs: Annotated[int, Meta(description="How long it took, in milliseconds.")]


class DeliveryItem(WebhookTestItem, kw_only=True):
    """A try to deliver a post."""

    id: Annotated[str, Meta(description="The `webhook-id` of the post, the same at every try.")]
    time: Annotated[Date, Meta(description="When it was tried.")]
    tryNumber: Annotated[int, Meta(description="Which try of its post it was, from 1.")]
    eventIds: Annotated[list[str], Meta(description="The events that it contains.")]


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
