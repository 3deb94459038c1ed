"""The phone beside a campaign: its message as the first receiver gets it, or as it is written."""

from typing import NamedTuple

from pabal.console.phone.brand_parts import preview_attachment
from pabal.console.phone.phone import Bubble
from pabal.console.shell.page_request import PageRequest
from pabal.domain.kakao.template_parts import fill_parts
from pabal.domain.sends.message import Product
from pabal.domain.sends.sending import fill_buttons, fill_text
from pabal.service.sending.campaigns import campaign_files
from pabal.service.sending.campaigns.campaign_files import Campaign


class FirstMessage(NamedTuple):
    """The message as the first receiver of a checked file gets it."""

    receiver: str
    bubble: Bubble


async def get_first_message(request: PageRequest, campaign: Campaign, sender: str) -> FirstMessage | None:
    """Return what the first receiver gets; None where nobody can be sent to."""
    found = await campaign_files.get_first_message(request.context, campaign)
    if found is None:
        return None
    sending, receiver = found
    names, values = sending.variables, receiver.values
    subject, content = fill_text(sending.subject or "", names, values), fill_text(sending.content, names, values)
    bubble = make_bubble(request, sending.product, sender, subject, content)._replace(
        buttons=[(each.name, "") for each in fill_buttons(sending.buttons, names, values)],
        images=len(sending.images),
        parts=preview_attachment(sending.brand.attachment) if sending.brand else (),
        talk_parts=fill_parts(sending.parts, names, values),
    )
    return FirstMessage(request.phone_number(receiver.phone), bubble)


def make_bubble(request: PageRequest, product: Product, sender: str, subject: str, content: str) -> Bubble:
    """Return a message as the phone beside a campaign shows it."""
    return Bubble(
        time="",
        shown_time="",
        kind=request.translate(product.label),
        is_token=False,
        is_talk=not product.is_text,
        is_alimtalk=product is Product.ALIMTALK,
        sender=sender,
        subject=subject,
        content=content,
        buttons=[],
        images=0,
    )
