"""Composes the content of one message, when it is sent and when it is looked up."""

from collections.abc import Mapping, Sequence

from pabal.domain.base import identifiers
from pabal.domain.content import advertising, text
from pabal.domain.content.button import Button
from pabal.domain.kakao.template_parts import NO_PARTS, TemplateParts, fill_parts
from pabal.domain.sends import sending
from pabal.domain.sends.message import Attempt, Product
from pabal.service.policy import Policy
from pabal.store.messages.messages import Message
from pabal.store.messages.requests import Request
from pabal.store.queue.queue import Lane, Lease


def is_fallback(message: Message, request: Request) -> bool:
    """Return whether a message is the fallback of a failed one."""
    return identifiers.number_of(message.id) > request.total


def origin_of(message: Message, request: Request) -> bytes | None:
    """Return the id of the failed message that this fallback replaces, None for other messages."""
    if not is_fallback(message, request):
        return None
    return identifiers.make_message_id(request.id, identifiers.number_of(message.id) - request.total)


def content_of(message: Message, request: Request) -> str:
    """Return the text of a message."""
    if message.content is not None:  # a fallback, or a receiver's own text: both are stored composed
        return message.content
    if is_fallback(message, request):
        return ""
    return sending.fill_text(request.content, request.variables, message.values)


def subject_of(message: Message, request: Request) -> str | None:
    """Return the subject of a message; that of an LMS fallback is the channel's id, if it fits."""
    if is_fallback(message, request):
        return fallback_subject(message.product, request.channel_id)
    if request.subject is None:
        return None
    return sending.fill_text(request.subject, request.variables, message.values)


def hides_digits(request: Request, policy: Policy, *, has_ended: bool, is_viewer: bool = False) -> bool:
    """Return whether the digits of a one-time code are hidden: from viewers, and from all once it has ended."""
    return request.is_code and (is_viewer or (has_ended and policy.masks_codes))


def buttons_of(message: Message, request: Request) -> tuple[Button, ...]:
    """Return the buttons of a message, their links filled in."""
    if is_fallback(message, request) or not request.buttons:
        return ()
    return sending.fill_buttons(request.buttons, variables_of(message, request), message.values)


def parts_of(message: Message, request: Request) -> TemplateParts:
    """Return what the template of a message has beside its text, filled in."""
    if is_fallback(message, request):
        return NO_PARTS
    return fill_parts(request.parts, variables_of(message, request), message.values)


def variables_of(message: Message, request: Request) -> Sequence[str]:
    """Return the names of a message's values: with an own text, the first ones of its request."""
    return request.variables if message.content is None else request.variables[: len(message.values)]


def fallback_content(own: str | None, content: str, buttons: Sequence[Button], policy: Policy) -> str:
    """Return the fallback text of a failed message: its own, or one made from the message."""
    whole = own if own is not None else sending.fallback_text(content, buttons)
    return text.replace_unsupported(whole) if policy.replaces_unsupported_characters else whole


def add_ad_marks(content: str, opt_out_number: str) -> str:
    """Return an advertising text with its marks; without a number it gets the label only."""
    return advertising.add_marks(content, opt_out_number) if opt_out_number else text.add_ad_label(content)


def fallback_subject(product: Product, channel_id: str | None) -> str | None:
    """Return the subject of a fallback: for LMS the channel's id, if it fits."""
    return channel_id if product is Product.LMS and sending.fits_subject(channel_id or "") else None


class ErasedMessage(Exception):
    """The number, the text or the values of a message were erased: no carrier may get it."""


def check_complete(message: Message, request: Request) -> None:
    """Raises ErasedMessage for a message that has lost its number, its text or the values of its variables."""
    text_of_request = "" if is_fallback(message, request) else request.content
    has_lost_values = message.content is None and bool(request.variables) and not message.values
    has_lost_text = not (message.content or text_of_request) and not _may_lack_text(message, request)
    if not message.receiver or has_lost_text or has_lost_values:
        raise ErasedMessage


def _may_lack_text(message: Message, request: Request) -> bool:
    """Return whether a message may be without a text: some brand messages show only what is attached."""
    return request.brand is not None and not is_fallback(message, request)


def parameters_of(message: Message, request: Request) -> dict[str, str] | None:
    """Return the values for the variables of a template that only the relay knows; None for other messages."""
    if message.product is not Product.BRAND_MESSAGE or request.template_code is None:
        return None
    if not message.values:  # it has none, or they were erased
        return {}
    return dict(zip(request.variables, message.values, strict=True))


def _values_of_template(message: Message, request: Request) -> Mapping[str, str] | None:
    """Return what a relay needs to fill in its template: the values of an Alimtalk, too."""
    if message.product is Product.ALIMTALK:
        return dict(zip(request.variables, message.values, strict=False))
    return None if request.brand is None else parameters_of(message, request)


def build_attempt(message: Message, request: Request, lease: Lease) -> Attempt:
    """Return the attempt that a carrier gets for a message.

    Raises ErasedMessage.
    """
    is_fallback_message = is_fallback(message, request)
    check_complete(message, request)
    sender = request.fallback_sender if is_fallback_message else request.sender or request.channel_id
    return Attempt(
        message.id,
        lease.attempt,
        message.account_id,
        message.product,
        message.receiver,
        sender or "",
        subject_of(message, request) if is_fallback_message or request.subject is not None else None,
        content_of(message, request),
        buttons_of(message, request) if request.buttons else (),
        request.id if request.images and not is_fallback_message else None,
        request.sender_key,
        request.template_code,
        lease.tries,
        request.is_ad,
        None if is_fallback_message else request.image_link,
        lease.lane == Lane.SMALL,
        lease.is_in_doubt,
        request.expires_at,
        None if is_fallback_message else request.brand,
        request.opt_out_number,
        None if is_fallback_message else _values_of_template(message, request),
        parts_of(message, request) if request.parts.has_any else NO_PARTS,
        request.is_code,
        0 if is_fallback_message else request.images,
    )
