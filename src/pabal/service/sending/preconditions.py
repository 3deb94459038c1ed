"""What a send needs before it is stored or tried: carrier, sender numbers, profile, template, pictures."""

from pabal.domain.base.codes import Code, Refused, require
from pabal.domain.base.dates import MINUTE
from pabal.domain.kakao.profile import Profile
from pabal.domain.kakao.template import TemplateContent
from pabal.domain.people.opt_out import EVERY_SENDER, AdReceiver
from pabal.domain.sends.sending import Sending
from pabal.service.context import Context
from pabal.store.messages import images
from pabal.store.queue import slots

WAKE_HORIZON_MS = 1 * MINUTE
"""Sends scheduled later than this wake no deliverer: each polls the queue more often than that."""


async def choose_carrier(context: Context, account_id: int, sending: Sending) -> str:
    """Return the first carrier of a send, and check its sender numbers.

    Raises Refused: PRODUCT_NOT_AVAILABLE, SENDER_NUMBER_NOT_REGISTERED.
    """
    is_for_later = sending.scheduled_at is not None and sending.scheduled_at > context.world.now() + WAKE_HORIZON_MS
    carrier = context.choose_carrier(sending.product, is_scheduled=is_for_later)
    if context.policy.checks_sender_numbers:
        await _check_numbers(context, account_id, sending)
    return carrier


async def _check_numbers(context: Context, account_id: int, sending: Sending) -> None:
    used = [("sender", sending.sender)] if sending.sender else []
    if sending.fallback:
        used.append(("resendPhoneNumber", sending.fallback.sender))
    for field, number in used:
        if not await context.setup.is_approved_number(account_id, number):
            raise Refused(Code.SENDER_NUMBER_NOT_REGISTERED, field)


async def get_usable_profile(context: Context, account_id: int, sender_key: str) -> Profile:
    """Return the profile of a sender key.

    Raises Refused: SENDER_NOT_FOUND, SENDER_NOT_APPROVED.
    """
    profile = require(await context.setup.get_profile(account_id, sender_key), Code.SENDER_NOT_FOUND, "senderKey")
    if not profile.is_usable:
        raise Refused(
            Code.SENDER_NOT_APPROVED, "senderKey", profile.suspension.label if profile.suspension else None
        )
    return profile


async def get_usable_template(context: Context, profile: Profile, code: str) -> TemplateContent:
    """Return the approved content of a profile's template.

    Raises Refused: TEMPLATE_NOT_FOUND, TEMPLATE_NOT_APPROVED.
    """
    template = require(await context.setup.get_template(profile.id, code), Code.TEMPLATE_NOT_FOUND, "templateCode")
    if template.approved is None or not template.is_usable:
        raise Refused(
            Code.TEMPLATE_NOT_APPROVED, "templateCode", template.suspension.label if template.suspension else None
        )
    return template.approved


def build_ad_receivers(account_id: int, sending: Sending) -> list[AdReceiver]:
    """Return the receivers of an advertisement; of others none, because nobody opts out of them."""
    if not sending.is_ad:
        return []
    sender = sending.sender if sending.product.is_text else EVERY_SENDER
    return [AdReceiver(account_id, each.phone, sender) for each in sending.receivers]


async def build_images(
    context: Context, request_id: bytes, account_id: int, sending: Sending
) -> list[images.ImageRow]:
    """Return the rows of a send's images, which are shared unless a worker would not find them."""
    here = context.slots
    if not here.may_share_images:
        here.may_share_images = not await context.store.read(slots.has_older_workers, images.SHARED_SINCE_MIGRATION)
    return images.build_rows(request_id, account_id, sending.images, are_shared=here.may_share_images)
