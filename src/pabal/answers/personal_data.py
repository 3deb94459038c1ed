"""Builds records of opt-outs, and the export of everything that an account has stored about one phone number."""

from collections.abc import AsyncIterator

import msgspec
from msgspec import UNSET

from pabal.answers.message_records import build_inbound_item, build_message_items
from pabal.checks.body.locale import Locale
from pabal.domain.people import phone
from pabal.domain.people.opt_out import OptOut, to_record
from pabal.models.opt_outs import CampaignRowItem, ContactItem, OptOutItem, PersonalDataItem, StoredMessageItem
from pabal.service.policy import Policy
from pabal.service.upkeep import privacy
from pabal.service.upkeep.privacy import PersonalData
from pabal.store.engine.base import Store


def build_opt_out_item(opt_out: OptOut, locale: Locale) -> OptOutItem:
    """Return the record of an opt-out."""
    return msgspec.convert(to_record(opt_out, locale.zone, locale.language), OptOutItem)


def build_personal_data_item(number: str, data: PersonalData, locale: Locale) -> PersonalDataItem:
    """Return what is stored about a number, except its messages."""
    return PersonalDataItem(
        phoneNumber=phone.hyphenate(number),
        simulatedPhone=[
            StoredMessageItem(
                time=locale.format_timestamp(each.accepted_at),
                kind=each.kind,
                sender=each.sender,
                subject=each.subject or UNSET,
                content=each.content,
            )
            for each in data.phone_messages
        ],
        senderProfiles=data.channels,
        users=data.users,
        campaignRows=[
            CampaignRowItem(campaignId=row.campaign_id.hex(), cells=cells)
            for row in data.campaign_rows
            for cells in row.cells
        ],
        contacts=[
            ContactItem(
                name=each.name,
                fields=dict(each.fields),
                created=locale.format_timestamp(each.created_at),
                changed=locale.format_timestamp(each.changed_at),
            )
            for each in data.contacts
        ],
        drafts=data.draft_lines,
        inbound=[build_inbound_item(each, locale) for each in data.inbound],
        optOuts=[build_opt_out_item(each, locale) for each in data.opt_outs],
    )


async def write_export(
    store: Store, policy: Policy, account_id: int, account: str, number: str, locale: Locale
) -> AsyncIterator[bytes]:
    """Yield the pieces of a JSON document with everything; its messages come last, in batches."""
    item = build_personal_data_item(number, await privacy.export(store, policy, account_id, number), locale)
    head = msgspec.json.encode({"account": account, **msgspec.to_builtins(item)})
    yield head[:-1] + b',"messages":['
    after, separator = b"", b""
    while items := build_message_items(
        await privacy.list_messages(store, account_id, number, after), locale, policy
    ):
        after = bytes.fromhex(items[0].id)
        yield separator + msgspec.json.encode(items[::-1])[1:-1]
        separator = b","
    yield b"]}\n"
