"""The client of the API: `Client`, `AsyncClient`, bodies, exceptions, and deliveries to webhooks.

Bodies and answers are the types that the service itself uses, so they have the names of the API.
"""

from typing import TYPE_CHECKING, Any

from pabal.client.errors import ApiError, InvalidPostError, NoAnswerError, PabalError
from pabal.client.exchange import NO_RETRIES, Retries
from pabal.client.webhook_posts import read_post
from pabal.models.bodies import (
    AuthSender,
    ButtonBody,
    CancelRequest,
    CreateSender,
    DeleteSender,
    ErasePersonalData,
    ExportPersonalData,
    FriendtalkReceiverBody,
    GetRequest,
    ImageBody,
    ListMessages,
    ListPhoneMessages,
    ListSenders,
    ReceiverBody,
    SendAlimtalk,
    SendFriendtalk,
    SendLms,
    SendMms,
    SendSms,
)
from pabal.models.brand_bodies import SendBrandMessage
from pabal.models.lookup import GetMessage, ListInbound, ListResults
from pabal.models.opt_outs import AddOptOuts, ListOptOuts, RemoveOptOuts
from pabal.models.statistics import statistics_since
from pabal.models.template_bodies import ListTemplates, TemplateButtonBody, TemplateKey, WriteTemplate
from pabal.models.webhooks import (
    CreateWebhook,
    DeleteWebhook,
    ListDeliveries,
    ListEvents,
    ReplayWebhook,
    SendWebhookTest,
    UpdateWebhook,
)

if TYPE_CHECKING:
    from pabal.client.async_client import AsyncClient
    from pabal.client.sync_client import Client

__all__ = [
    "NO_RETRIES",
    "AddOptOuts",
    "ApiError",
    "AsyncClient",
    "AuthSender",
    "ButtonBody",
    "CancelRequest",
    "Client",
    "CreateSender",
    "CreateWebhook",
    "DeleteSender",
    "DeleteWebhook",
    "ErasePersonalData",
    "ExportPersonalData",
    "FriendtalkReceiverBody",
    "GetMessage",
    "GetRequest",
    "ImageBody",
    "InvalidPostError",
    "ListDeliveries",
    "ListEvents",
    "ListInbound",
    "ListMessages",
    "ListOptOuts",
    "ListPhoneMessages",
    "ListResults",
    "ListSenders",
    "ListTemplates",
    "NoAnswerError",
    "PabalError",
    "ReceiverBody",
    "RemoveOptOuts",
    "ReplayWebhook",
    "Retries",
    "SendAlimtalk",
    "SendBrandMessage",
    "SendFriendtalk",
    "SendLms",
    "SendMms",
    "SendSms",
    "SendWebhookTest",
    "TemplateButtonBody",
    "TemplateKey",
    "UpdateWebhook",
    "WriteTemplate",
    "read_post",
    "statistics_since",
]


def __getattr__(name: str) -> Any:
    """Import a client when it is asked for: httpx and asyncio would slow the start of every other program."""
    if name == "Client":
        from pabal.client.sync_client import Client

        return Client
    if name == "AsyncClient":
        from pabal.client.async_client import AsyncClient

        return AsyncClient
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
