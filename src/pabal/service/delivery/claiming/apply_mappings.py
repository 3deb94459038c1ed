"""Gives messages the sender key and template code that the relay of their carrier knows."""

from collections.abc import Sequence

from pabal.store.engine.base import Tx
from pabal.store.kakao import profile_mappings
from pabal.store.messages.messages import Message
from pabal.store.messages.requests import Request
from pabal.store.queue.queue import Lease

LeasedMessage = tuple[Lease, Message, Request]


def apply_mappings(
    tx: Tx, carrier: str, leased: Sequence[LeasedMessage]
) -> tuple[list[LeasedMessage], dict[bytes, str | None]]:
    """Return the messages as a carrier's relay names their profile and template.

    Returns also those that it does not know, by id, each with the carrier whose relay owns its profile. A message
    in doubt is not among them: the carrier is asked about it by its id.
    """
    wanted = {_place_of(request) for _, message, request in leased if not message.product.is_text}
    places = profile_mappings.find_places(tx, carrier, [one for one in wanted if one is not None])
    if not places:
        return list(leased), {}
    found: list[LeasedMessage] = []
    unmapped: dict[bytes, str | None] = {}
    for lease, message, request in leased:
        place = None if message.product.is_text else places.get(_place_of(request) or (0, ""))
        if place is not None and not place.is_usable and not lease.is_in_doubt:
            unmapped[message.id] = place.home
        elif place is not None and place.sender_key is not None:
            request = request._replace(sender_key=place.sender_key, template_code=place.template_code)
        found.append((lease, message, request))
    return found, unmapped


def _place_of(request: Request) -> tuple[int, str] | None:
    return None if request.profile_id is None else (request.profile_id, request.template_code or "")
