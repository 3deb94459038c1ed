"""Alimtalk API v2.3: messages, their list and their results."""

import re
from collections.abc import Sequence
from functools import lru_cache

import msgspec

from tests.fakes.nhncloud import kakaotalk
from tests.fakes.nhncloud.answers import ApiError, Json, Request
from tests.fakes.nhncloud.kakaotalk import SUCCESS, Button, Refusal, Resend
from tests.fakes.nhncloud.state import ALIMTALK, State, Template
from tests.fakes.nhncloud.template_fields import Highlight, Items, RepresentativeLink, find_difference

AUTH_WORDS = ("auth", "password", "verif", "にんしょう", "認証", "비밀번호", "인증")
"""Alimtalk ko/alimtalk-api-guide.md, "인증 메시지"; ko/error-code.md has the code, -8006."""
NOT_MATCHED = "are not matched to template. This message can be resend by sms service if the resend setting is on."
TITLE_DIFFERS = "3028"


class Recipient(msgspec.Struct, forbid_unknown_fields=True, gc=False):
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


class Call(msgspec.Struct, forbid_unknown_fields=True):
    """The body of `raw-messages`."""

    senderKey: str | None = None
    templateCode: str | None = None
    senderGroupingKey: str | None = None
    recipientList: list[Recipient] | None = None


_CALL = msgspec.json.Decoder(Call)


def send(state: State, request: Request) -> Json:
    """Accept messages with their complete text: POST `raw-messages`, `auth/raw-messages`."""
    call: Call = kakaotalk.decode_body(_CALL, request.body)
    profile = kakaotalk.check_call(state, request, call)
    template = _get_usable_template(state, profile.sender_key, call.templateCode or "")
    fields = template.current.fields
    is_auth = "/auth/" in request.path
    for each in (call.recipientList or ()) if is_auth else ():
        if not any(word in (each.content or "").lower() for word in AUTH_WORDS):
            raise ApiError(-8006, "The content must contain auth guidement.")
    buttons = sorted(fields.get("buttons") or (), key=lambda each: each.get("ordering") or 0)

    def read(given: Recipient) -> tuple[str, Refusal]:
        return given.content or "", _compare(fields, buttons, given, given.content or "")

    has_title = fields.get("templateEmphasizeType") == "TEXT"
    late_code = (lambda message: _title_code(fields, message.recipient)) if has_title else None
    answer = kakaotalk.accept(state, request, call, profile, ALIMTALK, read, late_code)
    for message in state.by_request[answer["message"]["requestId"]]:
        message.is_auth = is_auth
    template.last_request = (state.clock(), answer["message"]["requestId"])
    return answer


def _get_usable_template(state: State, sender_key: str, code: str) -> Template:
    template = state.templates.get((sender_key, code))
    if template is None:
        raise ApiError(-3003, "Template does not exist.")
    if template.current.status != "TSC03" or template.is_blocked or template.is_dormant:
        raise ApiError(-3005, "Please check template status.")
    return template


def _compare(fields: Json, buttons: Sequence[Json], given: Recipient, content: str) -> Refusal:
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


def _title_code(fields: Json, given: Recipient) -> str | None:
    """Return Kakao's result code if the emphasized title differs from the template's."""
    return None if matches(fields["templateTitle"] or "", given.templateTitle or "") else TITLE_DIFFERS


def search(state: State, request: Request) -> Json:
    """List messages: GET `messages`, `auth/messages`."""
    is_auth = "/auth/" in request.path
    found = [each for each in kakaotalk.search(state, request, ALIMTALK) if each.is_auth is is_auth]
    return kakaotalk.listed(
        found, request, lambda each: {**kakaotalk.message_row(state, each), "templateCode": each.template_code}
    )


def results(state: State, request: Request) -> Json:
    """List results: GET `message-results`."""
    wanted = {"AUTH": True, "NORMAL": False}.get(request.query.get("alimtalkMessageType", ""))
    updated = kakaotalk.list_updated(state, request, ALIMTALK)
    found = [each for each in updated if wanted in (None, each.is_auth)]
    rows = [
        {**kakaotalk.result_row(each), "resendResultCode": None, "resendRequestId": None}
        for each in kakaotalk.page(found, request.query)
    ]
    return {"messages": rows}
