"""Every operation of the API: where it is, what it takes, what it answers, and whether it may be repeated."""

from collections.abc import Sequence
from typing import Generic, TypeVar

import msgspec
from msgspec import Struct

from pabal.models import (
    answers,
    bodies,
    brand_bodies,
    lookup,
    opt_outs,
    privacy,
    send_answers,
    statistics,
    template_bodies,
    webhooks,
)
from pabal.models.statistics import ListStatistics

A = TypeVar("A", bound=answers.Envelope)


class Operation(Struct, Generic[A], frozen=True, kw_only=True):
    """One operation."""

    path: str
    body: type[Struct]
    answer: type[A]
    method: str = "POST"
    is_repeatable: bool = False
    """Whether a repeat after a lost answer does no harm; a send is repeated with its idempotency key."""
    is_send: bool = False


def _read(path: str, body: type[Struct], answer: type[A], method: str = "GET") -> Operation[A]:
    return Operation(path=path, body=body, answer=answer, method=method, is_repeatable=True)


def _send(name: str, body: type[Struct]) -> Operation[send_answers.AcceptedAnswer]:
    return Operation(
        path=f"/api/message/{name}.v1.0",
        body=body,
        answer=send_answers.AcceptedAnswer,
        is_repeatable=True,
        is_send=True,
    )


def _change(path: str, body: type[Struct], answer: type[A], *, is_repeatable: bool = False) -> Operation[A]:
    return Operation(path=path, body=body, answer=answer, is_repeatable=is_repeatable)


LIST_SENDER_CATEGORIES = _read(
    "/api/sender/categories.v1.0", bodies.NoFields, answers.CategoriesAnswer, method="POST"
)
CREATE_SENDER = _change("/api/sender/create.v1.0", bodies.CreateSender, answers.SenderAnswer)
DELETE_SENDER = _change("/api/sender/delete.v1.0", bodies.DeleteSender, answers.EnvelopeOnly)
AUTHENTICATE_SENDER = _change("/api/sender/auth.v1.0", bodies.AuthSender, answers.EnvelopeOnly)
LIST_SENDERS = _read("/api/sender/list.v1.0", bodies.ListSenders, answers.SendersAnswer)
SEND_SMS = _send("sendSMS", bodies.SendSms)
SEND_LMS = _send("sendLMS", bodies.SendLms)
SEND_MMS = _send("sendMMS", bodies.SendMms)
SEND_ALIMTALK = _send("sendAlimtalk", bodies.SendAlimtalk)
SEND_FRIENDTALK = _send("sendFriendtalk", bodies.SendFriendtalk)
SEND_BRAND_MESSAGE = _send("sendBrandMessage", brand_bodies.SendBrandMessage)
LIST_MESSAGES = _read("/api/message/list.v1.0", bodies.ListMessages, answers.MessagesAnswer, method="POST")
CANCEL = _change("/api/message/cancel.v1.0", bodies.CancelRequest, send_answers.CancelAnswer, is_repeatable=True)
LOOK_UP_REQUEST = _read("/api/message/request.v1.0", bodies.GetRequest, answers.RequestAnswer)
LIST_RESULTS = _read("/api/message/results.v1.0", lookup.ListResults, lookup.ResultsAnswer)
LOOK_UP_MESSAGE = _read("/api/message/detail.v1.0", lookup.GetMessage, lookup.MessageDetailAnswer)
LIST_STATISTICS = _read("/api/statistics/list.v1.0", statistics.ListStatistics, statistics.StatisticsAnswer)
LIST_TEMPLATE_CATEGORIES = _read("/api/template/categories.v1.0", bodies.NoFields, answers.TemplateCategoriesAnswer)
CREATE_TEMPLATE = _change("/api/template/create.v1.0", template_bodies.WriteTemplate, answers.TemplateAnswer)
UPDATE_TEMPLATE = _change("/api/template/update.v1.0", template_bodies.WriteTemplate, answers.TemplateAnswer)
DELETE_TEMPLATE = _change("/api/template/delete.v1.0", template_bodies.TemplateKey, answers.EnvelopeOnly)
REQUEST_TEMPLATE = _change("/api/template/request.v1.0", template_bodies.TemplateKey, answers.TemplateAnswer)
LIST_TEMPLATES = _read("/api/template/list.v1.0", template_bodies.ListTemplates, answers.TemplatesAnswer)
LIST_INBOUND_MESSAGES = _read("/api/message/inbound.v1.0", lookup.ListInbound, lookup.InboundAnswer)
ADD_OPT_OUTS = _change("/api/optOut/add.v1.0", opt_outs.AddOptOuts, opt_outs.AddedOptOutsAnswer, is_repeatable=True)
REMOVE_OPT_OUTS = _change(
    "/api/optOut/remove.v1.0", opt_outs.RemoveOptOuts, opt_outs.RemovedOptOutsAnswer, is_repeatable=True
)
LIST_OPT_OUTS = _read("/api/optOut/list.v1.0", opt_outs.ListOptOuts, opt_outs.OptOutsAnswer)
CREATE_WEBHOOK = _change("/api/webhook/create.v1.0", webhooks.CreateWebhook, webhooks.NewWebhookAnswer)
UPDATE_WEBHOOK = _change("/api/webhook/update.v1.0", webhooks.UpdateWebhook, webhooks.WebhookAnswer)
DELETE_WEBHOOK = _change("/api/webhook/delete.v1.0", webhooks.DeleteWebhook, answers.EnvelopeOnly)
TEST_WEBHOOK = _change("/api/webhook/test.v1.0", webhooks.SendWebhookTest, webhooks.WebhookTestAnswer)
REPLAY_WEBHOOK = _change("/api/webhook/replay.v1.0", webhooks.ReplayWebhook, answers.EnvelopeOnly)
LIST_WEBHOOKS = _read("/api/webhook/list.v1.0", webhooks.ListWebhooks, webhooks.WebhooksAnswer)
LIST_WEBHOOK_DELIVERIES = _read("/api/webhook/deliveries.v1.0", webhooks.ListDeliveries, webhooks.DeliveriesAnswer)
EXPORT_PERSONAL_DATA = _read(
    "/api/privacy/export.v1.0", bodies.ExportPersonalData, privacy.PersonalDataAnswer, method="POST"
)
ERASE_PERSONAL_DATA = _change(
    "/api/privacy/erase.v1.0", bodies.ErasePersonalData, privacy.ErasureAnswer, is_repeatable=True
)
LOOK_AT_PHONE = _read("/api/simulator/phone.v1.0", bodies.ListPhoneMessages, lookup.PhoneAnswer)


def statistics_since(
    since: str, until: str | None = None, *, interval: str = "day", group_by: Sequence[str] = ()
) -> msgspec.Struct:
    """Return the body of `list_statistics`: messages requested from `since` to `until`, both included."""
    fields = {"from": since, "to": until, "interval": interval, "groupBy": ",".join(group_by) or None}
    return msgspec.convert(fields, ListStatistics)
