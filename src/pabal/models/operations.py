"""Every operation of the API: where it is, what it takes, what it answers, and whether it may be repeated."""

from typing import Generic, TypeVar

from msgspec import Struct

from pabal.models import (
    answers,
    bodies,
    brand_bodies,
    lookup,
    opt_outs,
    send_answers,
    statistics,
    template_bodies,
    webhooks,
)

A = TypeVar("A", bound=answers.Envelope)


class Operation(Struct, Generic[A], frozen=True, kw_only=True):
    """One operation."""

    id: str
    """Its name in the OpenAPI document. Generated clients use it, so it never changes."""
    path: str
    body: type[Struct]
    answer: type[A]
    method: str = "POST"
    is_repeatable: bool = False
    """Whether a repeat after a lost answer does no harm; a send is repeated with its idempotency key."""
    is_send: bool = False
    """Whether it sends messages: it takes the headers Idempotency-Key and Dry-Run."""


def _read(id: str, path: str, body: type[Struct], answer: type[A], method: str = "GET") -> Operation[A]:
    return Operation(id=id, path=f"/api/{path}.v1.0", body=body, answer=answer, method=method, is_repeatable=True)


def _send(id: str, name: str, body: type[Struct]) -> Operation[send_answers.AcceptedAnswer]:
    return Operation(
        id=id,
        path=f"/api/message/{name}.v1.0",
        body=body,
        answer=send_answers.AcceptedAnswer,
        is_repeatable=True,
        is_send=True,
    )


def _change(
    id: str, path: str, body: type[Struct], answer: type[A], *, is_repeatable: bool = False
) -> Operation[A]:
    return Operation(id=id, path=f"/api/{path}.v1.0", body=body, answer=answer, is_repeatable=is_repeatable)


LIST_SENDER_CATEGORIES = _read(
    "list_sender_categories", "sender/categories", bodies.NoFields, answers.CategoriesAnswer, method="POST"
)
CREATE_SENDER = _change("create_sender", "sender/create", bodies.CreateSender, answers.SenderAnswer)
DELETE_SENDER = _change("delete_sender", "sender/delete", bodies.DeleteSender, answers.EnvelopeOnly)
AUTHENTICATE_SENDER = _change("authenticate_sender", "sender/auth", bodies.AuthSender, answers.EnvelopeOnly)
LIST_SENDERS = _read("list_senders", "sender/list", bodies.ListSenders, answers.SendersAnswer)
SEND_SMS = _send("send_sms", "sendSMS", bodies.SendSms)
SEND_LMS = _send("send_lms", "sendLMS", bodies.SendLms)
SEND_MMS = _send("send_mms", "sendMMS", bodies.SendMms)
SEND_ALIMTALK = _send("send_alimtalk", "sendAlimtalk", bodies.SendAlimtalk)
SEND_FRIENDTALK = _send("send_friendtalk", "sendFriendtalk", bodies.SendFriendtalk)
SEND_BRAND_MESSAGE = _send("send_brand_message", "sendBrandMessage", brand_bodies.SendBrandMessage)
LIST_MESSAGES = _read("list_messages", "message/list", bodies.ListMessages, answers.MessagesAnswer, method="POST")
CANCEL = _change("cancel", "message/cancel", bodies.CancelRequest, send_answers.CancelAnswer, is_repeatable=True)
LOOK_UP_REQUEST = _read("look_up_request", "message/request", bodies.GetRequest, answers.RequestAnswer)
LIST_RESULTS = _read("list_results", "message/results", lookup.ListResults, lookup.ResultsAnswer)
LOOK_UP_MESSAGE = _read("look_up_message", "message/detail", lookup.GetMessage, lookup.MessageDetailAnswer)
LIST_STATISTICS = _read(
    "list_statistics", "statistics/list", statistics.ListStatistics, statistics.StatisticsAnswer
)
LIST_TEMPLATE_CATEGORIES = _read(
    "list_template_categories", "template/categories", bodies.NoFields, answers.TemplateCategoriesAnswer
)
CREATE_TEMPLATE = _change(
    "create_template", "template/create", template_bodies.WriteTemplate, answers.TemplateAnswer
)
UPDATE_TEMPLATE = _change(
    "update_template", "template/update", template_bodies.WriteTemplate, answers.TemplateAnswer
)
DELETE_TEMPLATE = _change("delete_template", "template/delete", template_bodies.TemplateKey, answers.EnvelopeOnly)
REQUEST_TEMPLATE = _change(
    "request_template", "template/request", template_bodies.TemplateKey, answers.TemplateAnswer
)
LIST_TEMPLATES = _read("list_templates", "template/list", template_bodies.ListTemplates, answers.TemplatesAnswer)
LIST_INBOUND_MESSAGES = _read("list_inbound_messages", "message/inbound", lookup.ListInbound, lookup.InboundAnswer)
ADD_OPT_OUTS = _change(
    "add_opt_outs", "optOut/add", opt_outs.AddOptOuts, opt_outs.AddedOptOutsAnswer, is_repeatable=True
)
REMOVE_OPT_OUTS = _change(
    "remove_opt_outs", "optOut/remove", opt_outs.RemoveOptOuts, opt_outs.RemovedOptOutsAnswer, is_repeatable=True
)
LIST_OPT_OUTS = _read("list_opt_outs", "optOut/list", opt_outs.ListOptOuts, opt_outs.OptOutsAnswer)
CREATE_WEBHOOK = _change("create_webhook", "webhook/create", webhooks.CreateWebhook, webhooks.NewWebhookAnswer)
UPDATE_WEBHOOK = _change("update_webhook", "webhook/update", webhooks.UpdateWebhook, webhooks.WebhookAnswer)
DELETE_WEBHOOK = _change("delete_webhook", "webhook/delete", webhooks.DeleteWebhook, answers.EnvelopeOnly)
TEST_WEBHOOK = _change("test_webhook", "webhook/test", webhooks.SendWebhookTest, webhooks.WebhookTestAnswer)
REPLAY_WEBHOOK = _change("replay_webhook", "webhook/replay", webhooks.ReplayWebhook, answers.EnvelopeOnly)
LIST_WEBHOOKS = _read("list_webhooks", "webhook/list", webhooks.ListWebhooks, webhooks.WebhooksAnswer)
LIST_WEBHOOK_DELIVERIES = _read(
    "list_webhook_deliveries", "webhook/deliveries", webhooks.ListDeliveries, webhooks.DeliveriesAnswer
)
LIST_EVENTS = _read("list_events", "webhook/events", webhooks.ListEvents, webhooks.EventsAnswer)
EXPORT_PERSONAL_DATA = _read(
    "export_personal_data", "privacy/export", bodies.ExportPersonalData, opt_outs.PersonalDataAnswer, method="POST"
)
ERASE_PERSONAL_DATA = _change(
    "erase_personal_data", "privacy/erase", bodies.ErasePersonalData, opt_outs.ErasureAnswer, is_repeatable=True
)
LOOK_AT_PHONE = _read("look_at_phone", "simulator/phone", bodies.ListPhoneMessages, lookup.PhoneAnswer)
