"""The preview of a draft: measured and filled in by the same rules that the service sends by."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from pabal.checks.alimtalk import make_talk_checker
from pabal.checks.buttons import parse_buttons
from pabal.checks.receivers import CheckedText, accept_unchanged
from pabal.checks.text_messages import make_text_checker, make_text_cleaner, make_value_cleaner
from pabal.console.send.draft import ALIMTALK, MessageDraft
from pabal.domain import button, sending, text, variables
from pabal.domain.button import Button
from pabal.domain.codes import Refused, Text
from pabal.domain.message import Product
from pabal.domain.template import TemplateContent
from pabal.models import bodies
from pabal.service.policy import Policy
from pabal.service.sending import compose

SHOWN_CHARACTERS = 20


class TextRun(NamedTuple):
    """A run of text that can be sent, or that cannot."""

    text: str
    is_sendable: bool


class TextSize(NamedTuple):
    """The size of a text as carriers count it, and its limit."""

    size: int
    limit: int
    is_in_bytes: bool
    is_over: bool
    unsupported: str = ""
    """The characters that cannot be sent; the size does not include them."""


class ComposedMessage(NamedTuple):
    """The texts of a draft, cleaned and marked as an advertisement, as they would be stored."""

    content: str
    subject: str
    buttons: tuple[Button, ...]
    variables: tuple[str, ...]
    """The names of the variables, in the order of the columns."""
    fallback_content: str | None
    """The text of the fallback, where it has its own."""
    clean: Callable[[str], str]
    replaced: str
    """The characters that were replaced, if the operator has enabled that."""


class FallbackPreview(NamedTuple):
    """The text message that is sent when a KakaoTalk message fails."""

    product: Product | None
    """None where the text is too long for any text message."""
    subject: str
    content: list[TextRun]
    size: TextSize


class MessagePreview(NamedTuple):
    """The message as one receiver gets it."""

    label: Text
    is_talk: bool
    sender: str
    subject: str
    content: list[TextRun]
    assist: str
    more: str
    buttons: list[str]
    has_image: bool
    size: TextSize
    subject_size: TextSize | None
    fallback: FallbackPreview | None


def compose_message(draft: MessageDraft, design: TemplateContent | None, policy: Policy) -> ComposedMessage:
    """Return the texts of a draft; for an Alimtalk, those of its template."""
    clean = make_text_cleaner(draft.product, policy)
    body = draft.body([])
    content, subject = str(body.get("content", "")), str(body.get("subject", ""))
    buttons: tuple[Button, ...] = ()
    if draft.kind.word == ALIMTALK:
        content, subject = (design.content, design.title or "") if design else ("", "")
        buttons = design.buttons if design else ()
    elif not draft.product.is_text:
        content = _mark_as_ad(draft, content)
        buttons = _preview_buttons(draft)
    is_replaced = draft.product.is_text and policy.replaces_unsupported_characters
    literals = [*variables.split(text.normalize(content))[::2], *variables.split(text.normalize(subject))[::2]]
    lost = _unsupported_characters("".join(literals)) if is_replaced else ""
    content, subject = _clean_or_cut(clean, content), _clean_or_cut(clean, subject)
    own = draft.texts["resendContent"] if draft.checkboxes["resend"] and not draft.product.is_text else ""
    stand_in = _mark_as_ad(draft, _clean_or_cut(clean, own)) or None
    names = variables.find_names(subject, content, *button.links_of(buttons), stand_in)
    return ComposedMessage(
        content, subject, buttons, names, stand_in, make_value_cleaner(draft.product, policy), lost
    )


def length_check(draft: MessageDraft, message: ComposedMessage) -> Callable[[bodies.ReceiverBody], CheckedText]:
    """Return the check of a receiver's text that the interface makes: it refuses a text that is too long."""
    if not message.variables:
        return accept_unchanged
    if draft.product.is_text:
        return make_text_checker(
            draft.product, message.content, message.subject or None, message.variables, message.clean
        )
    return make_talk_checker(
        draft.product,
        message.content,
        message.buttons,
        message.variables,
        message.subject or None,
        message.fallback_content,
    )


def build_preview(
    draft: MessageDraft,
    message: ComposedMessage,
    design: TemplateContent | None,
    sender: str,
    values: Mapping[str, str],
    policy: Policy,
) -> MessagePreview:
    """Return the message as a receiver with these values gets it; a variable without a value stays visible."""
    filling = [_clean_or_cut(message.clean, values.get(name, f"#{{{name}}}")) for name in message.variables]
    by_name = dict(zip(message.variables, filling, strict=True))

    def filled(template: str) -> str:
        return text.normalize(_fill_or_cut(template, by_name))

    content, subject = filled(message.content), filled(message.subject)
    is_titled = draft.product in (Product.LMS, Product.MMS)
    buttons = _fill_buttons(message, filling)
    instead = None
    if draft.checkboxes["resend"] and not draft.product.is_text:
        own = filled(message.fallback_content) if message.fallback_content else None
        instead = _preview_fallback(compose.fallback_content(own, content, buttons, policy), sender)
    return MessagePreview(
        label=draft.product.label,
        is_talk=not draft.product.is_text,
        sender=sender,
        subject=subject,
        content=split_unsupported(content, draft.product),
        assist=(design.emphasis_assist_phrase if design else None) or "",
        more=(design.more_info if design else None) or "",
        buttons=[one.name for one in buttons],
        has_image=draft.has_image and bool(draft.texts["image_name"]),
        size=measure(draft.product, content),
        subject_size=_measure_bytes(subject, text.SUBJECT_MAX_BYTES) if is_titled else None,
        fallback=instead,
    )


def measure(product: Product, content: str) -> TextSize:
    """Return the size of a text as the service counts it for this product."""
    if product.is_text:
        return _measure_bytes(content, sending.MAX_BYTES[product])
    most = sending.MAX_CHARACTERS[product]
    return TextSize(len(content), most, False, len(content) > most)


def split_unsupported(content: str, product: Product) -> list[TextRun]:
    """Return a text as runs of characters that can and cannot be sent."""
    if not product.is_text or not _unsupported_characters(content):
        return [TextRun(content, True)]
    return [TextRun("".join(run), is_carried) for is_carried, run in groupby(content, text.is_supported)]


def _measure_bytes(content: str, limit: int) -> TextSize:
    lost = _unsupported_characters(content)
    size = text.carried_bytes("".join(filter(text.is_supported, content)) if lost else content)
    return TextSize(size, limit, True, size > limit, "".join(dict.fromkeys(lost))[:SHOWN_CHARACTERS])


def _unsupported_characters(content: str) -> str:
    """Return the characters that text messages do not support."""
    try:
        text.carried_bytes(content)
    except Refused:
        return "".join(character for character in content if not text.is_supported(character))
    return ""


def _mark_as_ad(draft: MessageDraft, content: str) -> str:
    return text.add_ad_label(text.normalize(content)) if draft.is_ad and content else content


def _clean_or_cut(clean: Callable[[str], str], content: str) -> str:
    """Return a text cleaned; one that is beyond all limits is cut, and its error is shown elsewhere."""
    try:
        return clean(content)
    except Refused:
        return text.normalize(content[: text.MAX_INPUT_CHARACTERS])


def _fill_or_cut(template: str, values: Mapping[str, str]) -> str:
    """Return a text with its variables filled in; it is cut where it exceeds all limits."""
    filled: list[str] = []
    room = text.MAX_INPUT_CHARACTERS
    for number, piece in enumerate(variables.split(template)):
        if room <= 0:
            break
        shown = (values[piece] if number % 2 else piece)[:room]
        room -= len(shown)
        filled.append(shown)
    return "".join(filled)


def _preview_buttons(draft: MessageDraft) -> tuple[Button, ...]:
    """Return the buttons to show; errors of invalid ones are shown beside their fields."""
    return tuple(_read_valid_buttons(draft.buttons[: draft.max_buttons]))


def _read_valid_buttons(buttons: Sequence[Mapping[str, str]]) -> Iterator[Button]:
    for one in buttons:
        try:
            yield from parse_buttons([one], 1)
        except Refused:
            yield Button(one["buttonType"], one["name"] or button.DEFAULT_NAMES[one["buttonType"]])


def _fill_buttons(message: ComposedMessage, filling: Sequence[str]) -> Sequence[Button]:
    try:
        return sending.fill_buttons(message.buttons, message.variables, filling)
    except Refused:
        return message.buttons


def _preview_fallback(content: str, channel_id: str) -> FallbackPreview:
    fitting = sending.choose_text_product(content)
    product = fitting[0] if fitting else None
    subject = compose.fallback_subject(product, channel_id) if product else None
    return FallbackPreview(
        product, subject or "", split_unsupported(content, Product.LMS), measure(product or Product.LMS, content)
    )
