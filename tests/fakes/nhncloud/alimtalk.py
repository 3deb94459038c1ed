"""Alimtalk API v2.3: messages, their list and their results."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import msgspec

from tests.fakes.nhncloud import kakaotalk
from tests.fakes.nhncloud.answers import ApiError, Json, Request
from tests.fakes.nhncloud.kakaotalk import SUCCESS, Button, Refusal, Resend
from tests.fakes.nhncloud.state import ALIMTALK, Message, Profile, State, Template
from tests.fakes.nhncloud.template_parts import Highlight, Items, RepresentativeLink, find_difference

MAX_CONTENT_CHARS = 1300
MAX_TITLE_CHARS = 50
MAX_LINK_CHARS = 500
"""Alimtalk ko/alimtalk-api-guide.md, "전문 발송", `buttons.linkMo`: at most 500 characters."""
_VARIABLE = re.compile(r"#\{([^}]*)\}")
NOT_MATCHED = "are not matched to template. This message can be resend by sms service if the resend setting is on."
TITLE_DIFFERS = "3028"


class RawRecipient(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A recipient with the complete text."""

    recipientNo: str | None = None
    content: str | None = None
    templateTitle: str | None = None
    templateHeader: str | None = None
    templateItem: Items | None = None
    templateItemHighlight: Highlight | None = None
    templateRepresentLink: RepresentativeLink | None = None
    buttons: list[Button] | None = None
    quickReplies: list[Button] | None = None
    resendParameter: Resend | None = None
    recipientGroupingKey: str | None = None


class TemplateRecipient(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A recipient with template parameters."""

    recipientNo: str | None = None
    templateParameter: dict[str, str] | None = None
    resendParameter: Resend | None = None
    buttons: list[Button] | None = None
    quickReplies: list[Button] | None = None
    recipientGroupingKey: str | None = None


class _Call(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    senderKey: str | None = None
    templateCode: str | None = None
    requestDate: str | None = None
    senderGroupingKey: str | None = None
    createUser: str | None = None
    messageOption: dict[str, Any] | None = None
    statsId: str | None = None


class RawCall(_Call, kw_only=True):
    """The body of `raw-messages`."""

    recipientList: list[RawRecipient] | None = None


class TemplateCall(_Call, kw_only=True):
    """The body of `messages`."""

    recipientList: list[TemplateRecipient] | None = None


_RAW = msgspec.json.Decoder(RawCall)
_TEMPLATE = msgspec.json.Decoder(TemplateCall)


def send_raw(state: State, request: Request) -> Json:
    """Accept messages with their complete text: POST `raw-messages`."""
    call: RawCall = kakaotalk.decode_body(_RAW, request.body)
    return _send(state, request, call)


def send_from_template(state: State, request: Request) -> Json:
    """Accept messages with template parameters: POST `messages`."""
    call: TemplateCall = kakaotalk.decode_body(_TEMPLATE, request.body)
    return _send(state, request, call)


def _send(state: State, request: Request, call: RawCall | TemplateCall) -> Json:
    app_key = request.path_params["appkey"]
    profile, begins_at = kakaotalk.check_call(state, request, app_key, call)
    template = _get_usable_template(
        state, profile.sender_key, kakaotalk.require_text("templateCode", call.templateCode, 20)
    )
    fields = template.current.fields
    buttons = sorted(fields.get("buttons") or (), key=lambda each: each.get("ordering") or 0)
    now, request_id = state.clock(), state.new_request_id()
    made = []
    recipients: Sequence[RawRecipient | TemplateRecipient] = call.recipientList or ()
    for seq, given in enumerate(recipients, 1):
        content, (refused, why) = _read(profile, fields, buttons, given)
        message = Message(
            ALIMTALK,
            "ALIMTALK",
            request_id,
            seq,
            given.recipientNo or "",
            profile.sender_key,
            call.senderGroupingKey,
            given.recipientGroupingKey,
            content,
            now,
            begins_at,
            call,
            given,
            refused=refused,
        )
        made.append((message, why))
    has_title = fields.get("templateEmphasizeType") == "TEXT"
    late_code = (lambda message: _title_code(fields, message.recipient)) if has_title else None
    answer = kakaotalk.accept(state, request, app_key, call, profile, made, late_code)
    template.last_request = (now, request_id)
    return answer


def _get_usable_template(state: State, sender_key: str, code: str) -> Template:
    template = state.templates.get((sender_key, code))
    if template is None:
        raise ApiError(-3003, "Template does not exist.")
    if template.current.status != "TSC03" or template.is_blocked or template.is_dormant:
        raise ApiError(-3005, "Please check template status.")
    return template


def _read(
    profile: Profile, fields: Json, buttons: Sequence[Json], given: RawRecipient | TemplateRecipient
) -> tuple[str, Refusal]:
    """Return the text of a message, and the refusal."""
    refusal = kakaotalk.check_recipient(profile, given)
    if isinstance(given, TemplateRecipient):
        parameters = given.templateParameter or {}
        template = fields["templateContent"]
        if any(name not in parameters for name in _VARIABLE.findall(template)):
            return template, (-3004, "Please check template parameter.")
        content = _VARIABLE.sub(lambda found: parameters[found[1]], template)
        if len(content) > MAX_CONTENT_CHARS:
            why = "The content that is replaced by the template parameters can not exceed 1,300 characters."
            return content, (-2019, why)
        return content, refusal
    content = given.content or ""
    return content, refusal if refusal[0] else _compare(fields, buttons, given, content)


def _compare(fields: Json, buttons: Sequence[Json], given: RawRecipient, content: str) -> Refusal:
    if not content.strip():
        return -2001, "The 'content' must not be blank."
    if len(content) > MAX_CONTENT_CHARS:
        return -2000, f"The 'content' must be at less than or equal to {MAX_CONTENT_CHARS}."
    for each in given.buttons or ():
        if any(len(link or "") > MAX_LINK_CHARS for link in (each.linkMo, each.linkPc, each.schemeIos)):
            return -2000, f"The 'link' must be at less than or equal to {MAX_LINK_CHARS}."
    if len(given.templateTitle or "") > MAX_TITLE_CHARS:
        why = "The templateTitle that is replaced by the template parameters can not exceed 50 characters."
        return -2032, why
    if not matches(fields["templateContent"], content):
        return -3010, f"The contents {NOT_MATCHED}"
    replies = sorted(fields.get("quickReplies") or (), key=lambda each: each.get("ordering") or 0)
    if not _buttons_match(buttons, given.buttons or ()) or not _buttons_match(replies, given.quickReplies or ()):
        return -3011, f"The buttons or quickReplies {NOT_MATCHED}"
    return find_difference(fields, given, matches, NOT_MATCHED) or SUCCESS


def matches(template: str, text: str) -> bool:
    """Return whether a text is a template with each variable replaced."""
    return _pattern(template).fullmatch(text) is not None


@lru_cache(maxsize=1000)
def _pattern(template: str) -> "re.Pattern[str]":
    fixed = [re.escape(each) for each in re.split(r"#\{[^}]*\}", template)]
    return re.compile(".*?".join(fixed), re.DOTALL)


def _buttons_match(registered: Sequence[Json], given: Sequence[Button]) -> bool:
    """Return whether buttons match those of the template, which are sorted."""
    if len(registered) != len(given) or any(each.ordering is None for each in given):
        return False
    in_order = sorted(given, key=lambda each: each.ordering or 0) if len(given) > 1 else given
    return all(_button_matches(*pair) for pair in zip(registered, in_order, strict=True))


def _button_matches(registered: Json, given: Button) -> bool:
    return (
        registered["type"] == given.type
        and registered["name"] == given.name
        and registered.get("telNumber") == given.telNumber
        and _link_matches(registered.get("linkMo"), given.linkMo)
        and _link_matches(registered.get("linkPc"), given.linkPc)
        and _link_matches(registered.get("schemeIos"), given.schemeIos)
        and _link_matches(registered.get("schemeAndroid"), given.schemeAndroid)
    )


def _link_matches(registered: str | None, given: str | None) -> bool:
    return matches(registered, given or "") if registered else not given


def _title_code(fields: Json, given: RawRecipient | TemplateRecipient) -> str | None:
    """Return Kakao's result code if the emphasized title differs from the template's."""
    if isinstance(given, TemplateRecipient):
        return None
    return None if matches(fields["templateTitle"] or "", given.templateTitle or "") else TITLE_DIFFERS


def search(state: State, request: Request) -> Json:
    """List messages: GET `messages`."""
    found = kakaotalk.search(state, request, ALIMTALK)
    rows = [
        {**kakaotalk.message_row(state, each), "templateCode": each.template_code}
        for each in kakaotalk.page(found, request.query)
    ]
    return {"messageSearchResultResponse": {"messages": rows, "totalCount": len(found)}}


def show(state: State, request: Request) -> Json:
    """Show a message: GET `messages/{requestId}/{recipientSeq}`."""
    message = kakaotalk.find_message(state, request, ALIMTALK)
    more = {
        "templateCode": message.template_code,
        "templateTitle": getattr(message.recipient, "templateTitle", None),
        "buttons": msgspec.to_builtins(message.recipient.buttons or []),
        "resendResultCode": None,
        "resendRequestId": None,
    }
    return {"message": {**kakaotalk.message_row(state, message), **more}}


def results(state: State, request: Request) -> Json:
    """List results: GET `message-results`."""
    found = _list_updated(state, request)
    rows = [
        {**kakaotalk.result_row(each), "resendResultCode": None, "resendRequestId": None}
        for each in kakaotalk.page(found, request.query)
    ]
    return {"messages": rows}


def count_results(state: State, request: Request) -> Json:
    """Count results: GET `message-results/count`."""
    return {"totalCount": len(_list_updated(state, request))}


def _list_updated(state: State, request: Request) -> list[Message]:
    is_other = request.query.get("alimtalkMessageType") == "AUTH"
    found = kakaotalk.list_updated(state, request, ALIMTALK)
    return [] if is_other else found
