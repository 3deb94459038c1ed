"""The client for asyncio; `sync_client` is the same without `async`, made by `make docs`."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from types import TracebackType
from typing import Self, TypeVar

import httpx
import msgspec

from pabal.client.exchange import (
    NO_SETTINGS,
    USUAL_RETRIES,
    CallSettings,
    Exchange,
    ItemsPage,
    Retries,
    client_options,
    first_page,
    next_page,
)
from pabal.models import (
    answers,
    bodies,
    brand_bodies,
    lookup,
    operations,
    opt_outs,
    send_answers,
    statistics,
    template_bodies,
    webhooks,
)
from pabal.models.operations import Operation
from pabal.world import RealWorld

A = TypeVar("A", bound=answers.Envelope)
B = TypeVar("B", bound=msgspec.Struct)
P = TypeVar("P")
T = TypeVar("T")


class AsyncClient:
    """Calls the API for one account.

    Every method raises ApiError, of the class of its result code, if the service refuses the call, and
    NoAnswerError if there is no answer. What failed for the moment is tried again if that is safe: reads, sends,
    which carry the same idempotency key at every try, and what changes nothing the second time.

    A process that was forked opens connections of its own. An AsyncClient is used in one event loop.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        locale: str = "ko",
        timeout_s: float = 30.0,
        retries: Retries = USUAL_RETRIES,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._options = client_options(api_key, base_url, locale, timeout_s) | {"transport": transport}
        self._http = httpx.AsyncClient(**self._options)
        self._process_id = os.getpid()
        self._retries = retries
        self._world = RealWorld()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close its connections."""
        await self._http.aclose()

    async def iterate_pages(self, list_page: Callable[[B], Awaitable[P]], body: B) -> AsyncIterator[P]:
        """Yield every page of a list: `iterate_pages(client.list_results, lookup.ListResults(cursor=…))`.

        A page of results or inbound messages has the cursor to go on from when all in it is handled:
        `page.item.nextCursor`. They end where there is nothing new.
        """
        asked: B | None = first_page(body)
        while asked is not None:
            page = await list_page(asked)
            yield page
            asked = next_page(asked, page)

    async def iterate(self, list_page: Callable[[B], Awaitable[ItemsPage[T]]], body: B) -> AsyncIterator[T]:
        """Yield every item of a list: `iterate(client.list_messages, ListMessages(requestDate="2026-11-15"))`.

        Numbered pages are newest first, so what is added meanwhile may show an item twice.
        """
        async for page in self.iterate_pages(list_page, body):
            for item in page.items:
                yield item

    async def list_sender_categories(self) -> answers.CategoriesAnswer:
        """List the categories of sender profiles."""
        return await self._call(operations.LIST_SENDER_CATEGORIES, bodies.NoFields())

    async def create_sender(self, body: bodies.CreateSender) -> answers.SenderAnswer:
        """Register a channel; its administrator's phone gets a token."""
        return await self._call(operations.CREATE_SENDER, body)

    async def delete_sender(self, body: bodies.DeleteSender) -> answers.EnvelopeOnly:
        """Delete a sender profile and cancel its waiting messages."""
        return await self._call(operations.DELETE_SENDER, body)

    async def authenticate_sender(self, body: bodies.AuthSender) -> answers.EnvelopeOnly:
        """Approve a sender profile with the token that its administrator received."""
        return await self._call(operations.AUTHENTICATE_SENDER, body)

    async def list_senders(self, body: bodies.ListSenders | None = None) -> answers.SendersAnswer:
        """List sender profiles, newest first."""
        return await self._call(operations.LIST_SENDERS, body or bodies.ListSenders())

    async def send_sms(
        self, body: bodies.SendSms, *, idempotency_key: str | None = None, dry_run: bool = False
    ) -> send_answers.AcceptedAnswer:
        """Send an SMS to each receiver."""
        return await self._call(operations.SEND_SMS, body, CallSettings(idempotency_key, dry_run))

    async def send_lms(
        self, body: bodies.SendLms, *, idempotency_key: str | None = None, dry_run: bool = False
    ) -> send_answers.AcceptedAnswer:
        """Send an LMS to each receiver."""
        return await self._call(operations.SEND_LMS, body, CallSettings(idempotency_key, dry_run))

    async def send_mms(
        self, body: bodies.SendMms, *, idempotency_key: str | None = None, dry_run: bool = False
    ) -> send_answers.AcceptedAnswer:
        """Send an MMS to each receiver."""
        return await self._call(operations.SEND_MMS, body, CallSettings(idempotency_key, dry_run))

    async def send_alimtalk(
        self, body: bodies.SendAlimtalk, *, idempotency_key: str | None = None, dry_run: bool = False
    ) -> send_answers.AcceptedAnswer:
        """Send an Alimtalk to each receiver."""
        return await self._call(operations.SEND_ALIMTALK, body, CallSettings(idempotency_key, dry_run))

    async def send_friendtalk(
        self, body: bodies.SendFriendtalk, *, idempotency_key: str | None = None, dry_run: bool = False
    ) -> send_answers.AcceptedAnswer:
        """Send a friend talk to each receiver."""
        return await self._call(operations.SEND_FRIENDTALK, body, CallSettings(idempotency_key, dry_run))

    async def send_brand_message(
        self, body: brand_bodies.SendBrandMessage, *, idempotency_key: str | None = None, dry_run: bool = False
    ) -> send_answers.AcceptedAnswer:
        """Send a brand message to each receiver."""
        return await self._call(operations.SEND_BRAND_MESSAGE, body, CallSettings(idempotency_key, dry_run))

    async def cancel(self, body: bodies.CancelRequest) -> send_answers.CancelAnswer:
        """Cancel the waiting messages of a send request.

        After a lost answer it is repeated, and then counts only what the last try has cancelled.
        """
        return await self._call(operations.CANCEL, body)

    async def list_messages(self, body: bodies.ListMessages) -> answers.MessagesAnswer:
        """List messages of a receiver, a request or a period."""
        return await self._call(operations.LIST_MESSAGES, body)

    async def look_up_request(self, body: bodies.GetRequest) -> answers.RequestAnswer:
        """Get a send request, its counts and its messages."""
        return await self._call(operations.LOOK_UP_REQUEST, body)

    async def list_results(self, body: lookup.ListResults | None = None) -> lookup.ResultsAnswer:
        """List what has ended since a cursor, each message once."""
        return await self._call(operations.LIST_RESULTS, body or lookup.ListResults())

    async def look_up_message(self, body: lookup.GetMessage) -> lookup.MessageDetailAnswer:
        """Get one message and what happened to it."""
        return await self._call(operations.LOOK_UP_MESSAGE, body)

    async def list_statistics(self, body: msgspec.Struct) -> statistics.StatisticsAnswer:
        """Count messages by hour, day or month; `statistics_since` makes the body."""
        return await self._call(operations.LIST_STATISTICS, body)

    async def list_template_categories(self) -> answers.TemplateCategoriesAnswer:
        """List the categories of templates."""
        return await self._call(operations.LIST_TEMPLATE_CATEGORIES, bodies.NoFields())

    async def create_template(self, body: template_bodies.WriteTemplate) -> answers.TemplateAnswer:
        """Create a template."""
        return await self._call(operations.CREATE_TEMPLATE, body)

    async def update_template(self, body: template_bodies.WriteTemplate) -> answers.TemplateAnswer:
        """Replace a template's text."""
        return await self._call(operations.UPDATE_TEMPLATE, body)

    async def delete_template(self, body: template_bodies.TemplateKey) -> answers.EnvelopeOnly:
        """Delete a template that is registered or rejected."""
        return await self._call(operations.DELETE_TEMPLATE, body)

    async def request_template(self, body: template_bodies.TemplateKey) -> answers.TemplateAnswer:
        """Submit a template for review."""
        return await self._call(operations.REQUEST_TEMPLATE, body)

    async def list_templates(self, body: template_bodies.ListTemplates | None = None) -> answers.TemplatesAnswer:
        """List templates, newest first."""
        return await self._call(operations.LIST_TEMPLATES, body or template_bodies.ListTemplates())

    async def list_inbound_messages(self, body: lookup.ListInbound | None = None) -> lookup.InboundAnswer:
        """List what subscribers have sent since a cursor."""
        return await self._call(operations.LIST_INBOUND_MESSAGES, body or lookup.ListInbound())

    async def add_opt_outs(self, body: opt_outs.AddOptOuts) -> opt_outs.AddedOptOutsAnswer:
        """Add receivers who want no advertising."""
        return await self._call(operations.ADD_OPT_OUTS, body)

    async def remove_opt_outs(self, body: opt_outs.RemoveOptOuts) -> opt_outs.RemovedOptOutsAnswer:
        """Remove receivers who accept advertising again."""
        return await self._call(operations.REMOVE_OPT_OUTS, body)

    async def list_opt_outs(self, body: opt_outs.ListOptOuts | None = None) -> opt_outs.OptOutsAnswer:
        """List opt-outs, newest first."""
        return await self._call(operations.LIST_OPT_OUTS, body or opt_outs.ListOptOuts())

    async def create_webhook(self, body: webhooks.CreateWebhook) -> webhooks.NewWebhookAnswer:
        """Create a webhook; its secret is shown only in this answer."""
        return await self._call(operations.CREATE_WEBHOOK, body)

    async def update_webhook(self, body: webhooks.UpdateWebhook) -> webhooks.WebhookAnswer:
        """Change a webhook, enable or disable it, or rotate its secret."""
        return await self._call(operations.UPDATE_WEBHOOK, body)

    async def delete_webhook(self, body: webhooks.DeleteWebhook) -> answers.EnvelopeOnly:
        """Delete a webhook."""
        return await self._call(operations.DELETE_WEBHOOK, body)

    async def test_webhook(self, body: webhooks.SendWebhookTest) -> webhooks.WebhookTestAnswer:
        """Post a test to a webhook, and return what came back."""
        return await self._call(operations.TEST_WEBHOOK, body)

    async def replay_webhook(self, body: webhooks.ReplayWebhook) -> answers.EnvelopeOnly:
        """Post events of the last days again."""
        return await self._call(operations.REPLAY_WEBHOOK, body)

    async def list_webhooks(self) -> webhooks.WebhooksAnswer:
        """List the webhooks of the account."""
        return await self._call(operations.LIST_WEBHOOKS, webhooks.ListWebhooks())

    async def list_webhook_deliveries(self, body: webhooks.ListDeliveries) -> webhooks.DeliveriesAnswer:
        """List recent tries to deliver posts, newest first."""
        return await self._call(operations.LIST_WEBHOOK_DELIVERIES, body)

    async def list_events(self, body: webhooks.ListEvents | None = None) -> webhooks.EventsAnswer:
        """List what webhooks would be told, without signatures; for development."""
        return await self._call(operations.LIST_EVENTS, body or webhooks.ListEvents())

    async def export_personal_data(self, body: bodies.ExportPersonalData) -> opt_outs.PersonalDataAnswer:
        """Export what is stored about a phone number."""
        return await self._call(operations.EXPORT_PERSONAL_DATA, body)

    async def erase_personal_data(self, body: bodies.ErasePersonalData) -> opt_outs.ErasureAnswer:
        """Erase a phone number and the texts sent to it."""
        return await self._call(operations.ERASE_PERSONAL_DATA, body)

    async def look_at_phone(self, body: bodies.ListPhoneMessages) -> lookup.PhoneAnswer:
        """List what a simulated phone received, newest first."""
        return await self._call(operations.LOOK_AT_PHONE, body)

    def _own_connections(self) -> httpx.AsyncClient:
        """Return the connections of this process; those of a parent would mix up the answers of both."""
        if self._process_id != os.getpid():
            self._inherited, self._http = self._http, httpx.AsyncClient(**self._options)
            self._process_id = os.getpid()
        return self._http

    async def _call(self, operation: Operation[A], body: msgspec.Struct, settings: CallSettings = NO_SETTINGS) -> A:
        exchange = Exchange(operation, body, settings, self._retries, self._world)
        while True:
            try:
                response = await self._own_connections().request(**exchange.request)
            except httpx.RequestError as failure:
                delay_s = exchange.read_failure(failure)
            else:
                outcome = exchange.read_answer(response)
                if not isinstance(outcome, float):
                    return outcome
                delay_s = outcome
            await asyncio.sleep(delay_s)
