"""The table of endpoints, which routing, the OpenAPI document, the reference page and the tests use."""

from collections.abc import Awaitable, Callable
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from pabal.checks.call import ApiCall
from pabal.domain.codes import Code
from pabal.models import answers, bodies
from pabal.web import history, profiles, sending, templates

InputSource = Literal["body", "query", "anywhere"]

COMMON_CODES = (
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
"""Codes that every endpoint may answer."""
_BODY_CODES = (Code.UNSUPPORTED_MEDIA_TYPE, Code.INVALID_JSON)
_FIELD_CODES = (Code.MISSING_PARAMETER, Code.INVALID_PARAMETER, Code.UNSUPPORTED_CHARACTER)
_SENDING_CODES = (
    *_FIELD_CODES,
    Code.INVALID_PHONE_NUMBER,
    Code.INVALID_DATE,
    Code.CONTENT_TOO_LONG,
    Code.MISSING_VARIABLE,
    Code.TOO_MANY_RECEIVERS,
    Code.PRODUCT_NOT_AVAILABLE,
    Code.SENDER_NUMBER_NOT_REGISTERED,
    Code.DUPLICATE,
)
_PROFILE_CODES = (Code.SENDER_NOT_FOUND, Code.SENDER_NOT_APPROVED)
_TEMPLATE_CODES = (*_FIELD_CODES, Code.SENDER_NOT_FOUND, Code.TEMPLATE_NOT_FOUND)
_TEMPLATE_WRITE_CODES = (
    *_FIELD_CODES,
    Code.SENDER_NOT_FOUND,
    Code.CATEGORY_NOT_FOUND,
    Code.CONTENT_TOO_LONG,
    Code.INVALID_IMAGE,
    Code.INVALID_BUTTON,
)


class Endpoint(NamedTuple):
    """One operation: its path, the scope it needs, its input, handler and answer."""

    number: int | None
    """Its number in the interface's specification; None for an extension."""
    method: str
    path: str
    operation_id: str
    """Its name in the OpenAPI document. Generated clients use it, so it never changes."""
    group: str
    scope: str
    input_source: InputSource
    """Where its fields come from: the JSON body, the query string, or either of them or a form."""
    body: type[Struct]
    answer: type[Struct]
    handler: Callable[[ApiCall], Awaitable[dict[str, Any]]]
    own_codes: tuple[Code, ...]
    """The codes that it may answer beyond those of every endpoint."""

    @property
    def codes(self) -> tuple[Code, ...]:
        """Every result code that it may answer."""
        form = (Code.INVALID_PARAMETER,) if self.input_source != "body" else ()
        body = _BODY_CODES if self.input_source != "query" else ()
        return tuple(dict.fromkeys((*COMMON_CODES, *body, *form, *self.own_codes)))

    @property
    def takes_idempotency_key(self) -> bool:
        """Whether it honours the Idempotency-Key header."""
        return self.answer is answers.AcceptedAnswer

    @property
    def summary(self) -> str:
        """The first sentence of the documentation: the handler's docstring."""
        return (self.handler.__doc__ or "").strip().rstrip(".")


# Groups of the documentation.
_SENDERS = "Sender profiles"
_SENDS = "Sending"
_HISTORY = "History"
_TEMPLATES = "Templates"
_TESTING = "Testing"

ENDPOINTS = (
    Endpoint(
        number=1,
        method="POST",
        path="/api/sender/categories.v1.0",
        operation_id="list_sender_categories",
        group=_SENDERS,
        scope="read",
        input_source="body",
        body=bodies.NoFields,
        answer=answers.CategoriesAnswer,
        handler=profiles.list_sender_categories,
        own_codes=(),
    ),
    Endpoint(
        number=2,
        method="POST",
        path="/api/sender/create.v1.0",
        operation_id="create_sender",
        group=_SENDERS,
        scope="manage",
        input_source="body",
        body=bodies.CreateSender,
        answer=answers.SenderAnswer,
        handler=profiles.create_sender,
        own_codes=(
            *_FIELD_CODES,
            Code.INVALID_PHONE_NUMBER,
            Code.CATEGORY_NOT_FOUND,
            Code.DUPLICATE,
            Code.PRODUCT_NOT_AVAILABLE,
        ),
    ),
    Endpoint(
        number=3,
        method="POST",
        path="/api/sender/delete.v1.0",
        operation_id="delete_sender",
        group=_SENDERS,
        scope="manage",
        input_source="body",
        body=bodies.DeleteSender,
        answer=answers.EnvelopeOnly,
        handler=profiles.delete_sender,
        own_codes=(*_FIELD_CODES, *_PROFILE_CODES),
    ),
    Endpoint(
        number=4,
        method="POST",
        path="/api/sender/auth.v1.0",
        operation_id="authenticate_sender",
        group=_SENDERS,
        scope="manage",
        input_source="body",
        body=bodies.AuthSender,
        answer=answers.EnvelopeOnly,
        handler=profiles.authenticate_sender,
        own_codes=(
            *_FIELD_CODES,
            Code.SENDER_NOT_FOUND,
            Code.INVALID_STATE,
            Code.TOKEN_INVALID,
            Code.TOKEN_EXPIRED,
            Code.TOKEN_LOCKED,
            Code.DUPLICATE,
            Code.PRODUCT_NOT_AVAILABLE,
        ),
    ),
    Endpoint(
        number=5,
        method="GET",
        path="/api/sender/list.v1.0",
        operation_id="list_senders",
        group=_SENDERS,
        scope="read",
        input_source="query",
        body=bodies.ListSenders,
        answer=answers.SendersAnswer,
        handler=profiles.list_senders,
        own_codes=(Code.INVALID_PARAMETER, Code.UNSUPPORTED_CHARACTER),
    ),
    Endpoint(
        number=6,
        method="POST",
        path="/api/message/sendSMS.v1.0",
        operation_id="send_sms",
        group=_SENDS,
        scope="send",
        input_source="body",
        body=bodies.SendSms,
        answer=answers.AcceptedAnswer,
        handler=sending.send_sms,
        own_codes=_SENDING_CODES,
    ),
    Endpoint(
        number=7,
        method="POST",
        path="/api/message/sendLMS.v1.0",
        operation_id="send_lms",
        group=_SENDS,
        scope="send",
        input_source="body",
        body=bodies.SendLms,
        answer=answers.AcceptedAnswer,
        handler=sending.send_lms,
        own_codes=_SENDING_CODES,
    ),
    Endpoint(
        number=8,
        method="POST",
        path="/api/message/sendMMS.v1.0",
        operation_id="send_mms",
        group=_SENDS,
        scope="send",
        input_source="body",
        body=bodies.SendMms,
        answer=answers.AcceptedAnswer,
        handler=sending.send_mms,
        own_codes=(*_SENDING_CODES, Code.INVALID_IMAGE),
    ),
    Endpoint(
        number=9,
        method="POST",
        path="/api/message/sendAlimtalk.v1.0",
        operation_id="send_alimtalk",
        group=_SENDS,
        scope="send",
        input_source="body",
        body=bodies.SendAlimtalk,
        answer=answers.AcceptedAnswer,
        handler=sending.send_alimtalk,
        own_codes=(
            *_SENDING_CODES,
            *_PROFILE_CODES,
            Code.TEMPLATE_NOT_FOUND,
            Code.TEMPLATE_NOT_APPROVED,
            Code.INVALID_BUTTON,
        ),
    ),
    Endpoint(
        number=10,
        method="POST",
        path="/api/message/sendFriendtalk.v1.0",
        operation_id="send_friendtalk",
        group=_SENDS,
        scope="send",
        input_source="body",
        body=bodies.SendFriendtalk,
        answer=answers.AcceptedAnswer,
        handler=sending.send_friendtalk,
        own_codes=(
            *_SENDING_CODES,
            *_PROFILE_CODES,
            Code.INVALID_IMAGE,
            Code.INVALID_BUTTON,
            Code.NIGHT_AD_RESTRICTED,
        ),
    ),
    Endpoint(
        number=11,
        method="POST",
        path="/api/message/list.v1.0",
        operation_id="list_messages",
        group=_HISTORY,
        scope="read",
        input_source="anywhere",
        body=bodies.ListMessages,
        answer=answers.MessagesAnswer,
        handler=history.list_messages,
        own_codes=(*_FIELD_CODES, Code.INVALID_PHONE_NUMBER, Code.INVALID_DATE),
    ),
    Endpoint(
        number=None,
        method="POST",
        path="/api/message/cancel.v1.0",
        operation_id="cancel",
        group=_SENDS,
        scope="send",
        input_source="body",
        body=bodies.CancelRequest,
        answer=answers.CancelAnswer,
        handler=sending.cancel_request,
        own_codes=(*_FIELD_CODES, Code.REQUEST_NOT_FOUND),
    ),
    Endpoint(
        number=None,
        method="GET",
        path="/api/message/request.v1.0",
        operation_id="look_up_request",
        group=_HISTORY,
        scope="read",
        input_source="query",
        body=bodies.GetRequest,
        answer=answers.RequestAnswer,
        handler=history.get_request,
        own_codes=(*_FIELD_CODES, Code.REQUEST_NOT_FOUND),
    ),
    Endpoint(
        number=None,
        method="GET",
        path="/api/template/categories.v1.0",
        operation_id="list_template_categories",
        group=_TEMPLATES,
        scope="read",
        input_source="query",
        body=bodies.NoFields,
        answer=answers.TemplateCategoriesAnswer,
        handler=templates.list_template_categories,
        own_codes=(),
    ),
    Endpoint(
        number=None,
        method="POST",
        path="/api/template/create.v1.0",
        operation_id="create_template",
        group=_TEMPLATES,
        scope="manage",
        input_source="body",
        body=bodies.WriteTemplate,
        answer=answers.TemplateAnswer,
        handler=templates.create_template,
        own_codes=(*_TEMPLATE_WRITE_CODES, Code.DUPLICATE),
    ),
    Endpoint(
        number=None,
        method="POST",
        path="/api/template/update.v1.0",
        operation_id="update_template",
        group=_TEMPLATES,
        scope="manage",
        input_source="body",
        body=bodies.WriteTemplate,
        answer=answers.TemplateAnswer,
        handler=templates.update_template,
        own_codes=(*_TEMPLATE_WRITE_CODES, Code.TEMPLATE_NOT_FOUND, Code.INVALID_STATE),
    ),
    Endpoint(
        number=None,
        method="POST",
        path="/api/template/delete.v1.0",
        operation_id="delete_template",
        group=_TEMPLATES,
        scope="manage",
        input_source="body",
        body=bodies.TemplateKey,
        answer=answers.EnvelopeOnly,
        handler=templates.delete_template,
        own_codes=(*_TEMPLATE_CODES, Code.INVALID_STATE, Code.SENDER_NOT_APPROVED),
    ),
    Endpoint(
        number=None,
        method="POST",
        path="/api/template/request.v1.0",
        operation_id="request_template",
        group=_TEMPLATES,
        scope="manage",
        input_source="body",
        body=bodies.TemplateKey,
        answer=answers.TemplateAnswer,
        handler=templates.request_template_review,
        own_codes=(
            *_TEMPLATE_CODES,
            Code.INVALID_STATE,
            Code.PRODUCT_NOT_AVAILABLE,
            Code.SENDER_NOT_APPROVED,
            Code.DUPLICATE,
            Code.CATEGORY_NOT_FOUND,
            Code.CONTENT_TOO_LONG,
            Code.INVALID_IMAGE,
            Code.INVALID_BUTTON,
        ),
    ),
    Endpoint(
        number=None,
        method="GET",
        path="/api/template/list.v1.0",
        operation_id="list_templates",
        group=_TEMPLATES,
        scope="read",
        input_source="query",
        body=bodies.ListTemplates,
        answer=answers.TemplatesAnswer,
        handler=templates.list_templates,
        own_codes=(Code.INVALID_PARAMETER, Code.UNSUPPORTED_CHARACTER),
    ),
    Endpoint(
        number=None,
        method="GET",
        path="/api/simulator/phone.v1.0",
        operation_id="look_at_phone",
        group=_TESTING,
        scope="read",
        input_source="query",
        body=bodies.ListPhoneMessages,
        answer=answers.PhoneAnswer,
        handler=history.list_phone_messages,
        own_codes=(*_FIELD_CODES, Code.INVALID_PHONE_NUMBER, Code.NOT_FOUND),
    ),
)

ENDPOINT_BY_PATH = {endpoint.path: endpoint for endpoint in ENDPOINTS}
