"""The preview of a draft: measured and filled in by the same rules that the service sends by.

An SMS that is too long becomes an LMS by itself, where the account's owners want that.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from pabal.checks.body.fields import parse_buttons
from pabal.checks.sends.alimtalk import make_talk_checker
from pabal.checks.sends.brand import brand_texts
from pabal.checks.sends.receivers import CheckedText, accept_unchanged
from pabal.checks.sends.text_messages import make_text_checker, make_text_cleaner, make_value_cleaner
from pabal.console.history.phone import BrandPreview, preview_attachment
from pabal.console.send.draft import ALIMTALK, KINDS, LMS, SMS, MessageDraft
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Refused, Text
from pabal.domain.content import advertising, button, text, variables
from pabal.domain.content.button import Button
from pabal.domain.kakao.template import TemplateContent
from pabal.domain.kakao.template_parts import NO_PARTS, TemplateParts, fill_parts
from pabal.domain.people import phone
from pabal.domain.sends import sending
from pabal.domain.sends.message import Product
from pabal.domain.sends.sending import fill_text
from pabal.models import bodies
from pabal.service.access.accounts import send_preferences, sender_numbers
from pabal.service.context import Context
from pabal.service.policy import Policy
from pabal.service.sending import compose

SHOWN_CHARACTERS = 20


class MarkedText(NamedTuple):
    """A text, and which of its characters cannot be sent: none of ASCII."""

    text: str
    lost: str = ""


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
    clean: Callable[[Sequence[str]], Sequence[str]]
    """Cleans the values of variables."""
    replaced: str
    """The characters that were replaced, if the operator has enabled that."""
    opt_out_number: str
    """The number for opting out that a fallback of an advertisement gets; empty: there is none."""
    parts: TemplateParts
    """What an Alimtalk has beside its text."""


class FallbackPreview(NamedTuple):
    """The text message that is sent when a KakaoTalk message fails."""

    product: Product | None
    """None where the text is too long for any text message."""
    subject: str
    content: MarkedText
    size: TextSize
    lacks_opt_out_number: bool
    """Whether it is an advertisement that cannot be sent as a text for want of a number for opting out."""


class MessagePreview(NamedTuple):
    """The message as one receiver gets it."""

    label: Text
    is_talk: bool
    sender: str
    subject: str
    content: MarkedText
    assist: str
    more: str
    buttons: list[str]
    images: tuple[str, ...]
    """The fields that have the content of its images."""
    size: TextSize
    subject_size: TextSize | None
    fallback: FallbackPreview | None
    talk_parts: TemplateParts
    """What an Alimtalk shows besides."""
    parts: Sequence[BrandPreview] = ()
    """What a brand message shows besides."""


def compose_message(
    draft: MessageDraft, design: TemplateContent | None, policy: Policy, opt_out_number: str = ""
) -> ComposedMessage:
    """Return the texts of a draft; for an Alimtalk, those of its template.

    `opt_out_number` is the default number for opting out of advertisements.
    """
    clean = make_text_cleaner(draft.product, policy)
    body = draft.body([])
    content, subject = str(body.get("content", "")), str(body.get("subject", ""))
    buttons: tuple[Button, ...] = ()
    parts = NO_PARTS
    if draft.kind.word == ALIMTALK:
        content, subject = (design.content, design.title or "") if design else ("", "")
        buttons, parts = (design.buttons, design.parts) if design else ((), NO_PARTS)
    elif not draft.product.is_text:
        content = _mark_as_ad(draft, content, policy)
        buttons = tuple(_preview_buttons(draft.buttons[: draft.max_buttons]))
    is_replaced = draft.product.is_text and policy.replaces_unsupported_characters
    literals = [*variables.split(text.normalize(content))[::2], *variables.split(text.normalize(subject))[::2]]
    lost = _unsupported_characters("".join(literals)) if is_replaced else ""
    content, subject = _clean_or_cut(clean, content), _clean_or_cut(clean, subject)
    if draft.product.is_text and draft.is_ad and content:
        content = compose.add_ad_marks(content, _opt_out_number(draft, opt_out_number))
    own = draft.texts["resendContent"] if draft.checkboxes["resend"] and not draft.product.is_text else ""
    stand_in = _mark_as_ad(draft, _clean_or_cut(clean, own), policy) or None
    names = variables.find_names(subject, content, *button.links_of(buttons), *parts.texts, stand_in)
    clean_values = make_value_cleaner(draft.product, policy)
    return ComposedMessage(content, subject, buttons, names, stand_in, clean_values, lost, opt_out_number, parts)


def length_check(draft: MessageDraft, message: ComposedMessage) -> Callable[[bodies.ReceiverBody], CheckedText]:
    """Return the check of a receiver's text that the API makes: it refuses a text that is too long."""
    if not message.variables:
        return accept_unchanged
    if draft.is_brand:
        texts = brand_texts(draft.brand_type, message.content, message.buttons, message.fallback_content)
        return texts.make_checker(message.variables)
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
        message.parts,
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
    shown = [values.get(name, f"#{{{name}}}")[: text.MAX_INPUT_CHARACTERS] for name in message.variables]
    filling = message.clean(shown)
    by_name = dict(zip(message.variables, filling, strict=True))

    def filled(template: str) -> str:
        return text.normalize(_fill_or_cut(template, by_name))

    content, subject = filled(message.content), filled(message.subject)
    is_titled = draft.product in (Product.LMS, Product.MMS)
    buttons = _fill_buttons(message, filling)
    instead = None
    if draft.checkboxes["resend"] and not draft.product.is_text:
        own = filled(message.fallback_content) if message.fallback_content else None
        text_of_fallback = compose.fallback_content(own, content, buttons, policy)
        is_ad = draft.is_ad or policy.sends_as_brand(draft.product)
        if is_ad:
            number = _opt_out_number(draft, message.opt_out_number)
            text_of_fallback = compose.add_ad_marks(text_of_fallback, number)
        lacks_marks = is_ad and not advertising.has_marks(text_of_fallback)
        instead = _preview_fallback(text_of_fallback, sender, lacks_marks=lacks_marks)
    return MessagePreview(
        label=draft.product.label,
        is_talk=not draft.product.is_text,
        sender=sender,
        subject=subject,
        content=find_unsupported(content, draft.product),
        assist=(design.emphasis_assist_phrase if design else None) or "",
        more=(design.more_info if design else None) or "",
        buttons=[one.name for one in buttons],
        images=draft.shown_images,
        size=_measure(draft, content, design),
        subject_size=_measure_bytes(subject, text.SUBJECT_MAX_BYTES) if is_titled else None,
        fallback=instead,
        talk_parts=_fill_parts(message, filling),
        parts=preview_attachment(draft.attachment),
    )


def _measure(draft: MessageDraft, content: str, design: TemplateContent | None) -> TextSize:
    if draft.product.is_text:
        return _measure_bytes(content, sending.MAX_BYTES[draft.product])
    most = draft.brand_rules.max_characters if draft.is_brand else sending.MAX_CHARACTERS[draft.product]
    most = design.max_characters if design else most
    return TextSize(len(content), most, False, len(content) > most)


def _fill_parts(message: ComposedMessage, filling: Sequence[str]) -> TemplateParts:
    try:
        return fill_parts(message.parts, message.variables, filling)
    except Refused:
        return message.parts


def find_unsupported(content: str, product: Product) -> MarkedText:
    """Return a text with the characters that a message of this product cannot contain."""
    return MarkedText(content, "".join(text.unsupported_characters(content)) if product.is_text else "")


def _measure_bytes(content: str, limit: int) -> TextSize:
    lost = _unsupported_characters(content)
    size = text.carried_bytes(text.drop_unsupported(content))
    return TextSize(size, limit, True, size > limit, "".join(dict.fromkeys(lost))[:SHOWN_CHARACTERS])


def _unsupported_characters(content: str) -> str:
    """Return the characters that text messages do not support."""
    lost = text.unsupported_characters(content)
    return "".join(filter(lost.__contains__, content)) if lost else ""


def _mark_as_ad(draft: MessageDraft, content: str, policy: Policy) -> str:
    """Return a text with the label of an advertisement; the relay adds its own to a brand message."""
    is_labelled = draft.is_ad and not draft.is_brand and not policy.sends_as_brand(draft.product)
    return text.add_ad_label(text.normalize(content)) if is_labelled and content else content


def _clean_or_cut(clean: Callable[[str], str], content: str) -> str:
    """Return a text cleaned; one that is beyond all limits is cut, and its error is shown elsewhere."""
    try:
        return clean(content)
    except Refused:
        return text.normalize(content[: text.MAX_INPUT_CHARACTERS])


def _fill_or_cut(template: str, values: Mapping[str, str]) -> str:
    """Return a text with its variables filled in; it is cut where it exceeds all limits."""
    filled = list(variables.split(template))
    filled[1::2] = [values[name] for name in filled[1::2]]
    if sum(map(len, filled)) <= text.MAX_INPUT_CHARACTERS:
        return "".join(filled)
    shown: list[str] = []
    remaining = text.MAX_INPUT_CHARACTERS
    for piece in filled:
        if remaining <= 0:
            break
        shown.append(piece[:remaining])
        remaining -= len(piece)
    return "".join(shown)


def _preview_buttons(buttons: Sequence[Mapping[str, str]]) -> Iterator[Button]:
    """Yield the buttons to show; errors of invalid ones are shown beside their fields."""
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


def _preview_fallback(content: str, channel_id: str, *, lacks_marks: bool) -> FallbackPreview:
    fitting = None if lacks_marks else sending.choose_text_product(content)
    product = fitting[0] if fitting else None
    subject = compose.fallback_subject(product, channel_id) if product else None
    return FallbackPreview(
        product,
        subject or "",
        find_unsupported(content, Product.LMS),
        _measure_bytes(content, sending.MAX_BYTES[product or Product.LMS]),
        lacks_marks,
    )


def _opt_out_number(draft: MessageDraft, default: str) -> str:
    """Return the number for opting out to show; the error of an invalid one is shown beside its field."""
    typed = draft.texts["optOutNumber"].strip()
    try:
        return phone.parse_opt_out(typed) if typed else default
    except Refused:
        return default


def as_lms(draft: MessageDraft) -> MessageDraft:
    """Return an SMS as the LMS that it becomes, without a subject."""
    return replace(draft.changed(subject=""), kind=KINDS[LMS])


async def default_opt_out_number(context: Context, account_id: int, *, is_ad: bool) -> str:
    """Return the number for opting out that an advertisement has by default; empty: none, or it is no such one."""
    return await sender_numbers.get_default_opt_out_number(context, account_id) if is_ad else ""


async def is_upgrade_wanted(context: Context, account_id: int, kind: str) -> bool:
    """Return whether a message of this kind becomes an LMS if it is too long for an SMS."""
    if kind != SMS or context.policy.routes.first(Product.LMS) is None:
        return False
    return (await send_preferences.get(context, account_id)).upgrades_to_lms


async def upgrade_if_long(request: PageRequest, draft: MessageDraft) -> MessageDraft:
    """Return a draft whose receivers are not known yet as it is sent: an LMS if its text alone is too long."""
    if not await is_upgrade_wanted(request.context, request.account_id, draft.kind.word):
        return draft
    number = await default_opt_out_number(request.context, request.account_id, is_ad=draft.is_ad)
    message = compose_message(draft, None, request.context.policy, number)
    try:
        bare = fill_text(message.content, message.variables, [""] * len(message.variables))
        return as_lms(draft) if text.carried_bytes(bare) > text.SMS_MAX_BYTES else draft
    except Refused:  # characters that no text can have: that is told
        return draft
