"""The endpoints that export and erase what is stored about one phone number."""

from typing import Any

from msgspec import UNSET

from pabal.checks.call import ApiCall, read_paging
from pabal.domain import identifiers, phone
from pabal.models.answers import CampaignRowItem, ErasureItem, PersonalDataItem, StoredMessageItem
from pabal.service.history import history
from pabal.service.upkeep import privacy
from pabal.store import audit_log
from pabal.store.audit_log import AuditEntry
from pabal.store.history import MessageFilter
from pabal.web import envelope, records

ACTOR = "API key"
"""The actor in the audit log."""


async def export_personal_data(call: ApiCall) -> dict[str, Any]:
    """Export what this account has stored about a phone number."""
    number = call.form.read("phoneNumber", phone.parse_mobile)
    page, page_size = read_paging(call.form)
    call.form.raise_problems()
    context = call.context
    await context.store.write(audit_log.add, _audit_entry(call, privacy.EXPORT_ACTION))
    data = await privacy.export(context.store, call.account_id, number)
    message_filter = MessageFilter(call.account_id, receiver=number)
    found = await history.find_messages(context, message_filter, page, page_size)
    items = [
        records.build_message_item(message, request, identifiers.requested_at(request.id), call.locale)
        for message, request in found.found
    ]
    stored = [
        StoredMessageItem(
            time=call.locale.format_timestamp(each.accepted_at),
            kind=each.kind,
            sender=each.sender,
            subject=each.subject or UNSET,
            content=each.content,
        )
        for each in data.phone_messages
    ]
    rows = [
        CampaignRowItem(campaignId=row.campaign_id.hex(), cells=cells)
        for row in data.campaign_rows
        for cells in row.cells
    ]
    item = PersonalDataItem(
        phoneNumber=phone.hyphenate(number),
        simulatedPhone=stored,
        senderProfiles=data.channels,
        users=data.users,
        campaignRows=rows,
    )
    return {"item": item, **envelope.page_fields(found.total, page, page_size, items)}


async def erase_personal_data(call: ApiCall) -> dict[str, Any]:
    """Erase a phone number of this account and the texts sent to it."""
    number = call.form.read("phoneNumber", phone.parse_mobile)
    call.form.raise_problems()
    done = await privacy.erase(call.context, call.account_id, number, _audit_entry(call, privacy.ERASE_ACTION))
    return {"item": ErasureItem(done.erased, done.cancelled, done.pending, done.campaign_rows)}


def _audit_entry(call: ApiCall, action: str) -> AuditEntry:
    """Return the entry of the audit log, which holds no phone number."""
    return call.audit_entry or AuditEntry(call.now, None, ACTOR, call.account_id, action)
