"""Sends Alimtalk: by the values of a template's variables, or as finished texts, whose values are found."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pabal.carriers.relay.kakao import BUTTON_TYPES
from pabal.checks.sends.alimtalk import check_alimtalk
from pabal.compat.differences import MAX_READ_ITEMS, CallDifference
from pabal.compat.nhncloud.call import NhnCall
from pabal.compat.nhncloud.talk.bodies import (
    AlimtalkBody,
    AlimtalkRecipient,
    FinishedBody,
    FinishedRecipient,
    ItemLine,
    RepresentLink,
    TalkButton,
    TalkRecipient,
)
from pabal.compat.nhncloud.talk.codes import TalkCode
from pabal.compat.nhncloud.talk.sends import (
    PreparedSend,
    RecipientRefused,
    TalkItem,
    api_call,
    join_resends,
    open_call,
    read_resend,
    send_recipients,
)
from pabal.domain.content import text, variables
from pabal.domain.content.button import DEFAULT_NAMES, Button
from pabal.domain.kakao.template import TemplateContent
from pabal.domain.kakao.template_parts import ItemEntry, TemplateParts
from pabal.domain.sends.sending import CODE_PURPOSE, MAX_CODE_RECEIVERS, Sending
from pabal.models.bodies import ReceiverBody, SendAlimtalk
from pabal.service.sending.preconditions import get_usable_template


async def send(
    call: NhnCall, *, shape: type[AlimtalkBody] | type[FinishedBody], is_code: bool = False
) -> dict[str, Any]:
    """Send the text of a template, or finished texts, which may have one-time codes."""
    body: AlimtalkBody | FinishedBody = call.decode(shape)
    opened = await open_call(call, body, body.recipientList)
    template = await get_usable_template(call.context, opened.profile, body.templateCode or "")
    if any(_has_buttons(each.recipient) for each in opened.items[:MAX_READ_ITEMS]):
        call.note(CallDifference.FIELD, "recipientList.buttons")  # the message has those of its template

    async def prepare(recipient: AlimtalkRecipient | FinishedRecipient) -> PreparedSend:
        resend = read_resend(recipient.resendParameter, opened.profile.channel_id)
        return PreparedSend(_find_values(template, recipient), None, resend)

    async def check(items: Sequence[TalkItem]) -> Sending:
        resends = join_resends(items, template.variables)
        made = SendAlimtalk(
            senderKey=body.senderKey or "",
            templateCode=body.templateCode or "",
            sendDate=opened.date,
            purpose=CODE_PURPOSE if is_code else None,
            receivers=[
                ReceiverBody(phoneNumber=each.recipient.recipientNo, templateData=resends.values_of(each, each.own))
                for each in items
            ],
            **resends.fields,
        )
        return await check_alimtalk(api_call(call, made))

    return await send_recipients(call, body, opened, prepare, check, most=MAX_CODE_RECEIVERS if is_code else None)


def _has_buttons(recipient: TalkRecipient) -> bool:
    return isinstance(recipient, AlimtalkRecipient) and bool(recipient.buttons or recipient.quickReplies)


def _find_values(template: TemplateContent, recipient: AlimtalkRecipient | FinishedRecipient) -> Mapping[str, Any]:
    """Return the values of a recipient's variables, by their names."""
    if isinstance(recipient, FinishedRecipient):
        return find_values(template, recipient)
    check_buttons(template.buttons, recipient.buttons or ())
    check_buttons(template.parts.quick_replies, recipient.quickReplies or ())
    return recipient.templateParameter or {}


TYPES = {**BUTTON_TYPES, "phoneCall": "TN"}
"""NHN Cloud's names of buttons, by ours."""
LINKS = {"linkMo": "mobile_url", "linkPc": "pc_url", "schemeIos": "ios_url", "schemeAndroid": "android_url"}
_CHAT_FIELDS = {"chatExtra": "chat_extra", "chatEvent": "chat_event", "target": "target"}


class _Pair(NamedTuple):
    """A text of a template, the finished one, and the code for a difference."""

    template: str
    finished: str
    code: TalkCode


def find_values(template: TemplateContent, given: FinishedRecipient) -> dict[str, str]:
    """Return values of all variables with which the template gives exactly this message.

    Texts with fewer variables are solved first: what they say about a variable holds for the others.

    Raises RecipientRefused, and Refused(UNSUPPORTED_CHARACTER).
    """
    pairs = [_Pair(template.content, text.normalize(given.content or ""), TalkCode.CONTENT_DIFFERS)]
    pairs += _pair(template.title, given.templateTitle, TalkCode.CONTENT_DIFFERS)
    pairs += _pair_parts(template.parts, given)
    pairs += _pair_buttons(template.buttons, given.buttons or ())
    pairs += _pair_buttons(template.parts.quick_replies, given.quickReplies or ())
    pairs.sort(key=lambda pair: len(variables.find_names(pair.template)))
    values: dict[str, str] = {}
    for pair in pairs:
        found = variables.solve(pair.template, pair.finished, values)
        if found is None:
            raise RecipientRefused(pair.code)
        values = found
    return values


def check_buttons(registered: Sequence[Button], given: Sequence[TalkButton]) -> None:
    """Check what is sent with the buttons of a template: here they have it already, so it must be the same.

    Raises RecipientRefused.
    """
    for each in given:
        place = each.ordering or 0
        if not 1 <= place <= len(registered) or each.has_plugin:
            raise RecipientRefused(TalkCode.NO_SUCH_BUTTON)
        _check_fields(registered[place - 1], each)


def _pair(template: str | None, finished: str | None, code: TalkCode) -> list[_Pair]:
    if bool(template) != bool(finished):
        raise RecipientRefused(code)
    return [_Pair(template, text.normalize(finished), code)] if template and finished else []


def _pair_parts(parts: TemplateParts, given: FinishedRecipient) -> Iterable[_Pair]:
    yield from _pair(parts.header, given.templateHeader, TalkCode.HEADER_DIFFERS)
    items = given.templateItem
    lines = (items.lines if items else None) or []
    if len(parts.items) != len(lines):
        raise RecipientRefused(TalkCode.ITEMS_DIFFER)
    for registered, line in zip(parts.items, lines, strict=True):
        yield from _pair_line(registered, line)
    yield from _pair_line(parts.summary, items.summary if items else None)
    highlight, shown = parts.highlight, given.templateItemHighlight
    if bool(highlight) != bool(shown):
        raise RecipientRefused(TalkCode.ITEMS_DIFFER)
    if highlight and shown:
        if (highlight.image_url or None) != (shown.imageUrl or None):
            raise RecipientRefused(TalkCode.ITEMS_DIFFER)
        yield from _pair(highlight.title, shown.title, TalkCode.ITEMS_DIFFER)
        yield from _pair(highlight.description, shown.description, TalkCode.ITEMS_DIFFER)
    yield from _pair_links(parts.link, given.templateRepresentLink, TalkCode.LINK_DIFFERS)


def _pair_line(registered: ItemEntry | None, line: ItemLine | None) -> list[_Pair]:
    if registered is None and line is None:
        return []
    if registered is None or line is None or registered.title != text.normalize(line.title or ""):
        raise RecipientRefused(TalkCode.ITEMS_DIFFER)
    return _pair(registered.description, line.description, TalkCode.ITEMS_DIFFER)


def _pair_buttons(registered: Sequence[Button], given: Sequence[TalkButton]) -> list[_Pair]:
    if len(registered) != len(given):
        raise RecipientRefused(TalkCode.BUTTONS_DIFFER)
    in_order = sorted(given, key=lambda each: each.ordering or 0)
    found: list[_Pair] = []
    for button, shown in zip(registered, in_order, strict=True):
        name = text.normalize(shown.name or "")
        has_same_name = name == button.name or (shown.type == "AC" and name == DEFAULT_NAMES["channelAddition"])
        if TYPES[button.type] != shown.type or not has_same_name or shown.has_plugin:
            raise RecipientRefused(TalkCode.BUTTONS_DIFFER)
        _check_fields(button, shown)
        found += _pair_links(button, shown, TalkCode.BUTTONS_DIFFER)
    return found


def _check_fields(button: Button, shown: TalkButton) -> None:
    """Raises RecipientRefused where a button is to be sent with what our template does not have."""
    if shown.telNumber and shown.telNumber != button.tel_number:
        raise RecipientRefused(TalkCode.BUTTONS_DIFFER)
    for theirs, ours in _CHAT_FIELDS.items():
        if getattr(shown, theirs) and getattr(shown, theirs) != getattr(button, ours):
            raise RecipientRefused(TalkCode.BUTTONS_DIFFER)


def _pair_links(button: Button | None, shown: TalkButton | RepresentLink | None, code: TalkCode) -> list[_Pair]:
    found: list[_Pair] = []
    for theirs, ours in LINKS.items():
        found += _pair(getattr(button, ours, None), getattr(shown, theirs, None), code)
    return found
