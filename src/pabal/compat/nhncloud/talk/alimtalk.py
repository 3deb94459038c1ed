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
    TalkBody,
    TalkButton,
    TalkRecipient,
)
from pabal.compat.nhncloud.talk.codes import TalkCode
from pabal.compat.nhncloud.talk.sends import (
    RecipientPart,
    Resend,
    ResendRefused,
    TalkItem,
    api_call,
    check_call,
    cut,
    join_contents,
    read_date,
    read_resend,
    refuse_malformed,
    send_parts,
    shared_of,
)
from pabal.domain.base.codes import Refused
from pabal.domain.content import text, variables
from pabal.domain.content.button import DEFAULT_NAMES, Button
from pabal.domain.kakao.template import TemplateContent
from pabal.domain.kakao.template_parts import ItemEntry, TemplateParts
from pabal.domain.sends.sending import CODE_PURPOSE, MAX_CODE_RECEIVERS, Sending
from pabal.models.bodies import ReceiverBody, SendAlimtalk
from pabal.service.sending.preconditions import get_usable_profile, get_usable_template

Values = Mapping[str, Any]
"""The values of one recipient's variables, by their names."""


async def send(
    call: NhnCall, *, shape: type[AlimtalkBody] | type[FinishedBody], is_code: bool = False
) -> dict[str, Any]:
    """Send the text of a template, or finished texts, which may have one-time codes."""
    body: AlimtalkBody | FinishedBody = call.decode(shape)
    items = check_call(body, body.recipientList)
    date = read_date(call, body)
    profile = await get_usable_profile(call.context, call.account_id, body.senderKey or "")
    template = await get_usable_template(call.context, profile, body.templateCode or "")
    if isinstance(body, AlimtalkBody) and any(_has_buttons(each.recipient) for each in items[:MAX_READ_ITEMS]):
        call.note(CallDifference.FIELD, "recipientList.buttons")  # the message has those of its template
    refusals = refuse_malformed(items)
    values: dict[int, Values] = {}
    groups: dict[Any, list[TalkItem]] = {}
    resends: dict[int, Resend | None] = {}
    for item in refusals.left(items):
        try:
            resend = read_resend(item.recipient.resendParameter, profile.channel_id)
            values[item.seq] = _find_values(template, item.recipient)
        except (Differs, ResendRefused) as refused:
            refusals.add(item, refused.code)
            continue
        except Refused as refused:
            refusals.add_problems([item], refused.problems)
            continue
        resends[item.seq] = resend
        groups.setdefault(shared_of(resend), []).append(item)

    async def check(some: Sequence[TalkItem]) -> Sending:
        made = _build(body, some, values, resends, date, template, is_code=is_code)
        return await check_alimtalk(api_call(call, made))

    most = MAX_CODE_RECEIVERS if is_code else call.context.policy.max_receivers
    parts = [RecipientPart(some, check) for group in groups.values() for some in cut(group, most)]
    return await send_parts(call, body, items, parts, refusals)


def _has_buttons(recipient: TalkRecipient) -> bool:
    return isinstance(recipient, AlimtalkRecipient) and bool(recipient.buttons or recipient.quickReplies)


def _find_values(template: TemplateContent, recipient: Any) -> Values:
    if isinstance(recipient, FinishedRecipient):
        return find_values(template, recipient)
    assert isinstance(recipient, AlimtalkRecipient)
    check_buttons(template.buttons, recipient.buttons or ())
    check_buttons(template.parts.quick_replies, recipient.quickReplies or ())
    return recipient.templateParameter or {}


def _build(
    body: TalkBody,
    items: Sequence[TalkItem],
    values: Mapping[int, Values],
    resends: Mapping[int, Resend | None],
    date: str | None,
    template: TemplateContent,
    *,
    is_code: bool,
) -> SendAlimtalk:
    """Return the body of a send of ours."""
    assert isinstance(body, AlimtalkBody | FinishedBody)
    first = resends[items[0].seq]
    contents = [resend.content if (resend := resends[each.seq]) else None for each in items]
    content, variable = join_contents(contents, template.variables)
    receivers = []
    for item, own_content in zip(items, contents, strict=True):
        data = dict(values[item.seq])
        if variable is not None:
            data[variable] = own_content
        receivers.append(ReceiverBody(phoneNumber=item.recipient.recipientNo or "", templateData=data))
    return SendAlimtalk(
        senderKey=body.senderKey or "",
        templateCode=body.templateCode or "",
        sendDate=date,
        purpose=CODE_PURPOSE if is_code else None,
        resend=first is not None,
        resendPhoneNumber=first.sender if first else None,
        resendContent=content,
        receivers=receivers,
    )


TYPES = {**BUTTON_TYPES, "phoneCall": "TN"}
"""NHN Cloud's names of buttons, by ours."""
LINKS = {"linkMo": "mobile_url", "linkPc": "pc_url", "schemeIos": "ios_url", "schemeAndroid": "android_url"}
_CHAT_FIELDS = {"chatExtra": "chat_extra", "chatEvent": "chat_event", "target": "target"}


class Differs(Exception):
    """A message differs from its template; `code` says in what."""

    def __init__(self, code: TalkCode) -> None:
        super().__init__(code.name)
        self.code = code


class _Pair(NamedTuple):
    """A text of a template, the finished one, and the code for a difference."""

    template: str
    finished: str
    code: TalkCode


def find_values(template: TemplateContent, given: FinishedRecipient) -> dict[str, str]:
    """Return values of all variables with which the template gives exactly this message.

    Texts with fewer variables are solved first: what they say about a variable holds for the others.

    Raises Differs, and Refused(UNSUPPORTED_CHARACTER).
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
            raise Differs(pair.code)
        values = found
    return values


def check_buttons(registered: Sequence[Button], given: Sequence[TalkButton]) -> None:
    """Check what is sent with the buttons of a template: here they have it already, so it must be the same.

    Raises Differs.
    """
    for each in given:
        place = each.ordering or 0
        if not 1 <= place <= len(registered) or each.has_plugin:
            raise Differs(TalkCode.NO_SUCH_BUTTON)
        _check_fields(registered[place - 1], each)


def _pair(template: str | None, finished: str | None, code: TalkCode) -> list[_Pair]:
    if bool(template) != bool(finished):
        raise Differs(code)
    return [_Pair(template, text.normalize(finished), code)] if template and finished else []


def _pair_parts(parts: TemplateParts, given: FinishedRecipient) -> Iterable[_Pair]:
    yield from _pair(parts.header, given.templateHeader, TalkCode.HEADER_DIFFERS)
    items = given.templateItem
    lines = (items.lines if items else None) or []
    if len(parts.items) != len(lines):
        raise Differs(TalkCode.ITEMS_DIFFER)
    for registered, line in zip(parts.items, lines, strict=True):
        yield from _pair_line(registered, line)
    yield from _pair_line(parts.summary, items.summary if items else None)
    highlight, shown = parts.highlight, given.templateItemHighlight
    if bool(highlight) != bool(shown):
        raise Differs(TalkCode.ITEMS_DIFFER)
    if highlight and shown:
        if (highlight.image_url or None) != (shown.imageUrl or None):
            raise Differs(TalkCode.ITEMS_DIFFER)
        yield from _pair(highlight.title, shown.title, TalkCode.ITEMS_DIFFER)
        yield from _pair(highlight.description, shown.description, TalkCode.ITEMS_DIFFER)
    yield from _pair_links(parts.link, given.templateRepresentLink, TalkCode.LINK_DIFFERS)


def _pair_line(registered: ItemEntry | None, line: ItemLine | None) -> list[_Pair]:
    if registered is None and line is None:
        return []
    if registered is None or line is None or registered.title != text.normalize(line.title or ""):
        raise Differs(TalkCode.ITEMS_DIFFER)
    return _pair(registered.description, line.description, TalkCode.ITEMS_DIFFER)


def _pair_buttons(registered: Sequence[Button], given: Sequence[TalkButton]) -> list[_Pair]:
    if len(registered) != len(given):
        raise Differs(TalkCode.BUTTONS_DIFFER)
    in_order = sorted(given, key=lambda each: each.ordering or 0)
    found: list[_Pair] = []
    for button, shown in zip(registered, in_order, strict=True):
        name = text.normalize(shown.name or "")
        has_same_name = name == button.name or (shown.type == "AC" and name == DEFAULT_NAMES["channelAddition"])
        if TYPES[button.type] != shown.type or not has_same_name or shown.has_plugin:
            raise Differs(TalkCode.BUTTONS_DIFFER)
        _check_fields(button, shown)
        found += _pair_links(button, shown, TalkCode.BUTTONS_DIFFER)
    return found


def _check_fields(button: Button, shown: TalkButton) -> None:
    """Raises Differs where a button is to be sent with what our template does not have."""
    if shown.telNumber and shown.telNumber != button.tel_number:
        raise Differs(TalkCode.BUTTONS_DIFFER)
    for theirs, ours in _CHAT_FIELDS.items():
        if getattr(shown, theirs) and getattr(shown, theirs) != getattr(button, ours):
            raise Differs(TalkCode.BUTTONS_DIFFER)


def _pair_links(button: Button | None, shown: TalkButton | RepresentLink | None, code: TalkCode) -> list[_Pair]:
    found: list[_Pair] = []
    for theirs, ours in LINKS.items():
        found += _pair(getattr(button, ours, None), getattr(shown, theirs, None), code)
    return found
