"""The text that one receiver gets: composed when a message is sent, and again when it is looked up."""

from pabal.domain import identity, sending
from pabal.domain.message import Attempt, Product
from pabal.store.jobs import Lease
from pabal.store.messages import Message
from pabal.store.requests import Request


def is_fallback(message: Message, request: Request) -> bool:
    """Say whether a message stands in for a failed one of its request."""
    return identity.number_of(message.id) > request.total


def origin_of(message: Message, request: Request) -> bytes | None:
    """Return the id of the failed message that this one stands in for, if it does."""
    if not is_fallback(message, request):
        return None
    return identity.message_id(request.id, identity.number_of(message.id) - request.total)


def content_of(message: Message, request: Request) -> str:
    """Return the text of a message."""
    if is_fallback(message, request):
        return message.content or ""
    template = message.content if message.content is not None else request.content
    return sending.filled(template, request.variables, message.values)


def subject_of(message: Message, request: Request) -> str | None:
    """Return the subject of a message; a long fallback text bears the channel's id, if that fits."""
    if is_fallback(message, request):
        is_titled = message.product is Product.LMS and sending.fits_subject(request.channel_id or "")
        return request.channel_id if is_titled else None
    if request.subject is None:
        return None
    return sending.filled(request.subject, request.variables, message.values)


def buttons_of(message: Message, request: Request) -> tuple[dict[str, str | int], ...]:
    """Return the buttons of a message, their links filled in."""
    if is_fallback(message, request) or not request.buttons:
        return ()
    done = sending.filled_buttons(request.buttons, request.variables, message.values)
    return tuple(one.given() for one in done)


def attempt_of(message: Message, request: Request, lease: Lease) -> Attempt:
    """Return what a carrier is handed for a message."""
    is_stand_in = is_fallback(message, request)
    sender = request.fallback_sender if is_stand_in else request.sender or request.channel_id
    return Attempt(
        message.id,
        lease.attempt,
        message.account_id,
        message.product,
        message.receiver,
        sender or "",
        subject_of(message, request) if is_stand_in or request.subject is not None else None,
        content_of(message, request),
        buttons_of(message, request) if request.buttons else (),
        request.id if request.has_image and not is_stand_in else None,
        request.sender_key,
        request.template_code,
        lease.tries,
        request.is_ad,
        None if is_stand_in else request.image_link,
        lease.is_in_doubt,
    )
