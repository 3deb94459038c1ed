"""A draft as it will arrive: counted, filled in and cut to size by the rules that the service sends by."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from pabal.checks.receivers import CheckedText, accept_unchanged
from pabal.checks.sends import make_cleaner, make_talk_checker, make_text_checker
from pabal.console.send.draft import ALIMTALK, Draft
from pabal.domain import button, sending, text, variables
from pabal.domain.button import Button
from pabal.domain.codes import Refused, Text
from pabal.domain.message import Product
from pabal.domain.template import TemplateContent
from pabal.models import bodies
from pabal.service.policy import Policy
from pabal.service.sending import compose

MOST_SHOWN = 20


class Piece(NamedTuple):
    """A stretch of text that a text message can hold, or cannot."""

    text: str
    is_carried: bool


class Size(NamedTuple):
    """How long a text is, as carriers count it, and how long it may be."""

    size: int
    most: int
    is_in_bytes: bool
    is_over: bool
    lost: str = ""
    """The characters that cannot be sent; they are not counted."""


class Written(NamedTuple):
    """The texts of a draft, cleaned and marked as they would be kept."""

    content: str
    subject: str
    buttons: tuple[Button, ...]
    names: tuple[str, ...]
    """The variables, in the order of the columns."""
    stand_in: str | None
    """The fallback's own text."""
    clean: Callable[[str], str]
    lost: str
    """What the texts lost when they were cleaned, where the operator has that so."""


class Instead(NamedTuple):
    """The text message that goes when a talk fails."""

    product: Product | None
    """None where no text message can hold it."""
    subject: str
    content: list[Piece]
    size: Size


class Preview(NamedTuple):
    """The message of one receiver."""

    label: Text
    is_talk: bool
    sender: str
    subject: str
    content: list[Piece]
    assist: str
    more: str
    buttons: list[str]
    has_image: bool
    size: Size
    subject_size: Size | None
    instead: Instead | None


def written(draft: Draft, design: TemplateContent | None, policy: Policy) -> Written:
    """Return the texts of a draft; of an Alimtalk, those of its template."""
    clean = make_cleaner(draft.product, policy)
    body = draft.body([])
    content, subject = str(body.get("content", "")), str(body.get("subject", ""))
    buttons: tuple[Button, ...] = ()
    if draft.kind.word == ALIMTALK:
        content, subject = (design.content, design.title or "") if design else ("", "")
        buttons = tuple(Button(**one) for one in design.buttons) if design else ()  # type: ignore[arg-type]
    elif not draft.product.is_text:
        content = _marked(draft, content)
        buttons = _readable(draft)
    is_replaced = draft.product.is_text and policy.replaces_unsupported_characters
    lost = _lost(text.normalize(content) + text.normalize(subject)) if is_replaced else ""
    content, subject = _tidied(clean, content), _tidied(clean, subject)
    own = draft.texts["resendContent"] if draft.boxes["resend"] and not draft.product.is_text else ""
    stand_in = _marked(draft, _tidied(clean, own)) or None
    names = variables.find_names(subject, content, *button.links_of(buttons), stand_in)
    return Written(content, subject, buttons, names, stand_in, clean, lost)


def fit_of(draft: Draft, done: Written, receivers: int) -> Callable[[bodies.ReceiverBody], CheckedText]:
    """Return what says no where a receiver's text does not fit, as the interface does."""
    if not done.names:
        return accept_unchanged
    if draft.product.is_text:
        return make_text_checker(
            draft.product, done.content, done.subject or None, done.names, done.clean, receivers
        )
    return make_talk_checker(draft.product, done.content, done.buttons, done.names, done.subject or None)


def preview(
    draft: Draft,
    done: Written,
    design: TemplateContent | None,
    sender: str,
    values: Mapping[str, str],
    policy: Policy,
) -> Preview:
    """Return the message as a receiver with these values gets it; a variable without one stays as it is."""
    filling = [_tidied(done.clean, values.get(name, f"#{{{name}}}")) for name in done.names]

    def filled(template: str) -> str:
        return sending.fill_text(template, done.names, filling)

    content, subject = filled(done.content), filled(done.subject)
    is_titled = draft.product in (Product.LMS, Product.MMS)
    buttons = _filled_buttons(done, filling)
    instead = None
    if draft.boxes["resend"] and not draft.product.is_text:
        own = filled(done.stand_in) if done.stand_in else None
        instead = _instead(compose.fallback_content(own, content, [one.given() for one in buttons], policy), sender)
    return Preview(
        label=draft.product.label,
        is_talk=not draft.product.is_text,
        sender=sender,
        subject=subject,
        content=pieces(content, draft.product),
        assist=(design.emphasisAssistPhrase if design else None) or "",
        more=(design.moreInfo if design else None) or "",
        buttons=[one.name for one in buttons],
        has_image=draft.has_image and bool(draft.texts["image_name"]),
        size=measured(draft.product, content),
        subject_size=_measured_bytes(subject, text.SUBJECT_MAX_BYTES) if is_titled else None,
        instead=instead,
    )


def measured(product: Product, whole: str) -> Size:
    """Return how long a text is as the service counts it for this product."""
    if product.is_text:
        return _measured_bytes(whole, sending.MAX_BYTES[product])
    most = sending.MAX_CHARACTERS[product]
    return Size(len(whole), most, False, len(whole) > most)


def pieces(whole: str, product: Product) -> list[Piece]:
    """Return a text in stretches that can and cannot be sent."""
    if not product.is_text or not _lost(whole):
        return [Piece(whole, True)]
    return [Piece("".join(run), is_carried) for is_carried, run in groupby(whole, text.is_supported)]


def _measured_bytes(whole: str, most: int) -> Size:
    lost = _lost(whole)
    size = text.carried_bytes("".join(filter(text.is_supported, whole)) if lost else whole)
    return Size(size, most, True, size > most, "".join(dict.fromkeys(lost))[:MOST_SHOWN])


def _lost(whole: str) -> str:
    """Return the characters that no text message can hold."""
    try:
        text.carried_bytes(whole)
    except Refused:
        return "".join(character for character in whole if not text.is_supported(character))
    return ""


def _marked(draft: Draft, content: str) -> str:
    return text.add_ad_label(text.normalize(content)) if draft.is_ad and content else content


def _tidied(clean: Callable[[str], str], given: str) -> str:
    """Return a text cleaned, or cut where it is beyond all limits: how it is wrong is told elsewhere."""
    try:
        return clean(given)
    except Refused:
        return text.normalize(given)[: text.MAX_INPUT_CHARACTERS]


def _readable(draft: Draft) -> tuple[Button, ...]:
    """Return the buttons that are as they should be; the others are told of beside them."""
    return tuple(_readable_ones(draft.buttons[: draft.most_buttons]))


def _readable_ones(given: Sequence[Mapping[str, str]]) -> Iterator[Button]:
    for one in given:
        try:
            yield from button.parse_buttons([one], 1)
        except Refused:
            yield Button(one["buttonType"], one["name"] or button.DEFAULT_NAMES[one["buttonType"]])


def _filled_buttons(done: Written, filling: Sequence[str]) -> Sequence[Button]:
    try:
        return sending.fill_buttons(done.buttons, done.names, filling)
    except Refused:
        return done.buttons


def _instead(whole: str, channel_id: str) -> Instead:
    fitting = sending.choose_text_product(whole)
    product = fitting[0] if fitting else None
    subject = compose.fallback_subject(product, channel_id) if product else None
    return Instead(product, subject or "", pieces(whole, Product.LMS), measured(product or Product.LMS, whole))
