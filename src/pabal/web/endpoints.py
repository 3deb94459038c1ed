"""The table of endpoints: it drives routing, the OpenAPI document, the reference page, and tests."""

from collections.abc import Awaitable, Callable
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from pabal.checks.call import Call
from pabal.domain.codes import Code
from pabal.models import answers, bodies
from pabal.web import looking_up, managing, sending

Takes = Literal["body", "query", "anywhere"]

COMMON = (
    Code.SUCCESS,
    Code.METHOD_NOT_ALLOWED,
    Code.PAYLOAD_TOO_LARGE,
    Code.UNAUTHORIZED,
    Code.KEY_EXPIRED,
    Code.FORBIDDEN,
    Code.RATE_LIMITED,
    Code.INTERNAL_ERROR,
    Code.SERVICE_UNAVAILABLE,
)
"""What every endpoint may answer."""
_BODY = (Code.UNSUPPORTED_MEDIA_TYPE, Code.INVALID_JSON)
_FIELDS = (Code.MISSING_PARAMETER, Code.INVALID_PARAMETER, Code.UNSUPPORTED_CHARACTER)
_SENDING = (
    *_FIELDS,
    Code.INVALID_PHONE_NUMBER,
    Code.INVALID_DATE,
    Code.CONTENT_TOO_LONG,
    Code.MISSING_VARIABLE,
    Code.TOO_MANY_RECEIVERS,
    Code.PRODUCT_NOT_AVAILABLE,
    Code.SENDER_NUMBER_NOT_REGISTERED,
    Code.DUPLICATE,
)
_PROFILE = (Code.SENDER_NOT_FOUND, Code.SENDER_NOT_APPROVED)
_TEMPLATE = (*_FIELDS, Code.SENDER_NOT_FOUND, Code.TEMPLATE_NOT_FOUND)
_WRITING = (
    *_FIELDS,
    Code.SENDER_NOT_FOUND,
    Code.CATEGORY_NOT_FOUND,
    Code.CONTENT_TOO_LONG,
    Code.INVALID_IMAGE,
    Code.INVALID_BUTTON,
)


class Endpoint(NamedTuple):
    """One operation: where it is, who may call it, what it takes, does and answers."""

    number: int | None
    """Its number in the interface's document; None for an extension."""
    method: str
    path: str
    scope: str
    takes: Takes
    body: type[Struct]
    answer: type[Struct]
    handle: Callable[[Call], Awaitable[dict[str, Any]]]
    own_codes: tuple[Code, ...]
    group: str

    @property
    def codes(self) -> tuple[Code, ...]:
        """Every result it may answer."""
        form = (Code.INVALID_PARAMETER,) if self.takes != "body" else ()
        body = _BODY if self.takes != "query" else ()
        return tuple(dict.fromkeys((*COMMON, *body, *form, *self.own_codes)))

    @property
    def is_repeatable(self) -> bool:
        """Whether it heeds an Idempotency-Key."""
        return self.answer is answers.SentAnswer

    @property
    def summary(self) -> str:
        return (self.handle.__doc__ or "").strip().rstrip(".")


_SENDERS, _SENDS, _HISTORY, _TEMPLATES, _TESTING = (
    "Sender profiles",
    "Sending",
    "History",
    "Templates",
    "Testing",
)

ENDPOINTS = (
    Endpoint(
        1, "POST", "/api/sender/categories.v1.0", "read", "body", bodies.Nothing, answers.CategoriesAnswer,
        managing.list_sender_categories, (), _SENDERS,
    ),
    Endpoint(
        2, "POST", "/api/sender/create.v1.0", "manage", "body", bodies.CreateSender, answers.SenderAnswer,
        managing.create_sender,
        (*_FIELDS, Code.INVALID_PHONE_NUMBER, Code.CATEGORY_NOT_FOUND, Code.DUPLICATE, Code.PRODUCT_NOT_AVAILABLE),
        _SENDERS,
    ),
    Endpoint(
        3, "POST", "/api/sender/delete.v1.0", "manage", "body", bodies.DeleteSender, answers.Empty,
        managing.delete_sender, (*_FIELDS, *_PROFILE), _SENDERS,
    ),
    Endpoint(
        4, "POST", "/api/sender/auth.v1.0", "manage", "body", bodies.AuthSender, answers.Empty,
        managing.authenticate_sender,
        (
            *_FIELDS,
            Code.SENDER_NOT_FOUND,
            Code.INVALID_STATE,
            Code.TOKEN_INVALID,
            Code.TOKEN_EXPIRED,
            Code.TOKEN_LOCKED,
            Code.DUPLICATE,
            Code.PRODUCT_NOT_AVAILABLE,
        ),
        _SENDERS,
    ),
    Endpoint(
        5, "GET", "/api/sender/list.v1.0", "read", "query", bodies.ListSenders, answers.SendersAnswer,
        managing.list_senders, (Code.INVALID_PARAMETER, Code.UNSUPPORTED_CHARACTER), _SENDERS,
    ),
    Endpoint(
        6, "POST", "/api/message/sendSMS.v1.0", "send", "body", bodies.SendSms, answers.SentAnswer,
        sending.send_sms, _SENDING, _SENDS,
    ),
    Endpoint(
        7, "POST", "/api/message/sendLMS.v1.0", "send", "body", bodies.SendLms, answers.SentAnswer,
        sending.send_lms, _SENDING, _SENDS,
    ),
    Endpoint(
        8, "POST", "/api/message/sendMMS.v1.0", "send", "body", bodies.SendMms, answers.SentAnswer,
        sending.send_mms, (*_SENDING, Code.INVALID_IMAGE), _SENDS,
    ),
    Endpoint(
        9, "POST", "/api/message/sendAlimtalk.v1.0", "send", "body", bodies.SendAlimtalk, answers.SentAnswer,
        sending.send_alimtalk,
        (*_SENDING, *_PROFILE, Code.TEMPLATE_NOT_FOUND, Code.TEMPLATE_NOT_APPROVED, Code.INVALID_BUTTON),
        _SENDS,
    ),
    Endpoint(
        10, "POST", "/api/message/sendFriendtalk.v1.0", "send", "body", bodies.SendFriendtalk, answers.SentAnswer,
        sending.send_friendtalk,
        (*_SENDING, *_PROFILE, Code.INVALID_IMAGE, Code.INVALID_BUTTON, Code.NIGHT_AD_RESTRICTED),
        _SENDS,
    ),
    Endpoint(
        11, "POST", "/api/message/list.v1.0", "read", "anywhere", bodies.ListMessages, answers.MessagesAnswer,
        looking_up.list_messages, (*_FIELDS, Code.INVALID_PHONE_NUMBER, Code.INVALID_DATE), _HISTORY,
    ),
    Endpoint(
        None, "POST", "/api/message/cancel.v1.0", "send", "body", bodies.Cancel, answers.CancelAnswer,
        sending.cancel, (*_FIELDS, Code.REQUEST_NOT_FOUND), _SENDS,
    ),
    Endpoint(
        None, "GET", "/api/message/request.v1.0", "read", "query", bodies.LookUpRequest, answers.RequestAnswer,
        looking_up.look_up_request, (*_FIELDS, Code.REQUEST_NOT_FOUND), _HISTORY,
    ),
    Endpoint(
        None, "GET", "/api/template/categories.v1.0", "read", "query", bodies.Nothing,
        answers.TemplateCategoriesAnswer, managing.list_template_categories, (), _TEMPLATES,
    ),
    Endpoint(
        None, "POST", "/api/template/create.v1.0", "manage", "body", bodies.WriteTemplate, answers.TemplateAnswer,
        managing.create_template, (*_WRITING, Code.DUPLICATE), _TEMPLATES,
    ),
    Endpoint(
        None, "POST", "/api/template/update.v1.0", "manage", "body", bodies.WriteTemplate, answers.TemplateAnswer,
        managing.update_template, (*_WRITING, Code.TEMPLATE_NOT_FOUND, Code.INVALID_STATE), _TEMPLATES,
    ),
    Endpoint(
        None, "POST", "/api/template/delete.v1.0", "manage", "body", bodies.TemplatePlace, answers.Empty,
        managing.delete_template, (*_TEMPLATE, Code.INVALID_STATE, Code.SENDER_NOT_APPROVED), _TEMPLATES,
    ),
    Endpoint(
        None, "POST", "/api/template/request.v1.0", "manage", "body", bodies.TemplatePlace, answers.TemplateAnswer,
        managing.request_template,
        (
            *_TEMPLATE,
            Code.INVALID_STATE,
            Code.PRODUCT_NOT_AVAILABLE,
            Code.SENDER_NOT_APPROVED,
            Code.DUPLICATE,
            Code.CATEGORY_NOT_FOUND,
            Code.CONTENT_TOO_LONG,
            Code.INVALID_IMAGE,
            Code.INVALID_BUTTON,
        ),
        _TEMPLATES,
    ),
    Endpoint(
        None, "GET", "/api/template/list.v1.0", "read", "query", bodies.ListTemplates, answers.TemplatesAnswer,
        managing.list_templates, (Code.INVALID_PARAMETER, Code.UNSUPPORTED_CHARACTER), _TEMPLATES,
    ),
    Endpoint(
        None, "GET", "/api/simulator/phone.v1.0", "read", "query", bodies.LookAtPhone, answers.PhoneAnswer,
        looking_up.look_at_phone, (*_FIELDS, Code.INVALID_PHONE_NUMBER, Code.NOT_FOUND), _TESTING,
    ),
)  # fmt: skip

BY_PATH = {endpoint.path: endpoint for endpoint in ENDPOINTS}
