"""SMS that become LMS by themselves, where the account's owners want that and a text is too long."""

from dataclasses import replace

from pabal.console.send import preview
from pabal.console.send.draft import KINDS, LMS, SMS, MessageDraft
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Refused
from pabal.domain.content import text
from pabal.domain.sends.message import Product
from pabal.domain.sends.sending import fill_text
from pabal.service.access.accounts import opt_out_numbers, send_preferences
from pabal.service.context import Context


def as_lms(draft: MessageDraft) -> MessageDraft:
    """Return an SMS as the LMS that it becomes, without a subject."""
    return replace(draft, kind=KINDS[LMS], texts={**draft.texts, "subject": ""})


async def is_wanted(context: Context, account_id: int, kind: str) -> bool:
    """Say whether a message of this kind becomes an LMS if it is too long for an SMS."""
    if kind != SMS or context.policy.routes.first(Product.LMS) is None:
        return False
    return (await send_preferences.get(context, account_id)).upgrades_to_lms


async def upgrade_if_long(request: PageRequest, draft: MessageDraft) -> MessageDraft:
    """Return a draft whose receivers are not known yet as it is sent: an LMS if its text alone is too long."""
    if not await is_wanted(request.context, request.account_id, draft.kind.word):
        return draft
    number = await opt_out_numbers.get_default(request.context, request.account_id) if draft.is_ad else ""
    message = preview.compose_message(draft, None, request.context.policy, number)
    try:
        bare = fill_text(message.content, message.variables, [""] * len(message.variables))
        return as_lms(draft) if text.carried_bytes(bare) > text.SMS_MAX_BYTES else draft
    except Refused:  # characters that no text can have: that is told
        return draft
