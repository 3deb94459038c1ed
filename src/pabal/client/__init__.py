"""The client of the API: `Client`, `AsyncClient`, bodies, exceptions, and deliveries to webhooks.

Bodies and answers are the types that the service itself uses, so they have the names of the API.
"""

from typing import TYPE_CHECKING, Any

from pabal.client.errors import ApiError as ApiError
from pabal.client.errors import InvalidPostError as InvalidPostError
from pabal.client.errors import NoAnswerError as NoAnswerError
from pabal.client.errors import PabalError as PabalError
from pabal.client.exchange import NO_RETRIES as NO_RETRIES
from pabal.client.exchange import Retries as Retries
from pabal.client.webhook_posts import read_post as read_post
from pabal.models.bodies import AuthSender as AuthSender
from pabal.models.bodies import ButtonBody as ButtonBody
from pabal.models.bodies import CancelRequest as CancelRequest
from pabal.models.bodies import CreateSender as CreateSender
from pabal.models.bodies import DeleteSender as DeleteSender
from pabal.models.bodies import ErasePersonalData as ErasePersonalData
from pabal.models.bodies import ExportPersonalData as ExportPersonalData
from pabal.models.bodies import FriendtalkReceiverBody as FriendtalkReceiverBody
from pabal.models.bodies import GetRequest as GetRequest
from pabal.models.bodies import ImageBody as ImageBody
from pabal.models.bodies import ListMessages as ListMessages
from pabal.models.bodies import ListPhoneMessages as ListPhoneMessages
from pabal.models.bodies import ListSenders as ListSenders
from pabal.models.bodies import ReceiverBody as ReceiverBody
from pabal.models.bodies import SendAlimtalk as SendAlimtalk
from pabal.models.bodies import SendFriendtalk as SendFriendtalk
from pabal.models.bodies import SendLms as SendLms
from pabal.models.bodies import SendMms as SendMms
from pabal.models.bodies import SendSms as SendSms
from pabal.models.brand_bodies import SendBrandMessage as SendBrandMessage
from pabal.models.lookup import GetMessage as GetMessage
from pabal.models.lookup import ListInbound as ListInbound
from pabal.models.lookup import ListResults as ListResults
from pabal.models.opt_outs import AddOptOuts as AddOptOuts
from pabal.models.opt_outs import ListOptOuts as ListOptOuts
from pabal.models.opt_outs import RemoveOptOuts as RemoveOptOuts
from pabal.models.statistics import statistics_since as statistics_since
from pabal.models.template_bodies import ListTemplates as ListTemplates
from pabal.models.template_bodies import TemplateButtonBody as TemplateButtonBody
from pabal.models.template_bodies import TemplateKey as TemplateKey
from pabal.models.template_bodies import WriteTemplate as WriteTemplate
from pabal.models.webhooks import CreateWebhook as CreateWebhook
from pabal.models.webhooks import DeleteWebhook as DeleteWebhook
from pabal.models.webhooks import ListDeliveries as ListDeliveries
from pabal.models.webhooks import ListEvents as ListEvents
from pabal.models.webhooks import ReplayWebhook as ReplayWebhook
from pabal.models.webhooks import SendWebhookTest as SendWebhookTest
from pabal.models.webhooks import UpdateWebhook as UpdateWebhook

if TYPE_CHECKING:
    from pabal.client.async_client import AsyncClient as AsyncClient
    from pabal.client.sync_client import Client as Client


def __getattr__(name: str) -> Any:
    """Import a client when it is asked for: httpx and asyncio would slow the start of every other program."""
    if name == "Client":
        from pabal.client.sync_client import Client

        return Client
    if name == "AsyncClient":
        from pabal.client.async_client import AsyncClient

        return AsyncClient
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
