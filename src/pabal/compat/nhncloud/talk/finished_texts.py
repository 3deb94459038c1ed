"""Finds the values with which a template gives a finished message: its text, title, parts and links."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pabal.carriers.relay.kakao import BUTTON_TYPES
from pabal.compat.nhncloud.talk.bodies import FinishedRecipient, ItemLine, RepresentLink, TalkButton
from pabal.compat.nhncloud.talk.codes import TalkCode
from pabal.domain.content import text, variables
from pabal.domain.content.button import DEFAULT_NAMES, Button
from pabal.domain.kakao.template import TemplateContent
from pabal.domain.kakao.template_parts import ItemEntry, TemplateParts

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
