"""The endpoint that shows a simulated phone."""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from pabal.answers.kakao_records import build_button_item, build_parts
from pabal.checks.body.call import ApiCall, read_paging
from pabal.checks.body.locale import Locale
from pabal.domain.base.codes import Code, Text
from pabal.domain.brand.message import BrandAttachment, to_documented
from pabal.domain.people import phone
from pabal.domain.sends.message import SimulatedMessage
from pabal.models import operations
from pabal.models.brand_bodies import AttachmentBody
from pabal.models.lookup import PhoneItem
from pabal.store.queue import simulator
from pabal.web import envelope
from pabal.web.endpoints.endpoint import FIELD_CODES, Group


async def _list_phone_messages(call: ApiCall) -> dict[str, Any]:
    number = call.form.read("phoneNumber", phone.parse_mobile)
    page, page_size = read_paging(call.form)
    call.form.raise_problems()
    total, found = await call.context.store.read(
        simulator.list_on_phone, call.account_id, number, call.now, page, page_size
    )
    return envelope.page_fields(total, page, page_size, [_build_phone_item(each, call.locale) for each in found])


def _build_attachment(attachment: BrandAttachment) -> AttachmentBody | UnsetType:
    """Return the attachment of a brand message as the API writes it; nothing for an empty one."""
    given = to_documented(attachment)
    return msgspec.convert(given, AttachmentBody) if given else UNSET


def _build_phone_item(message: SimulatedMessage, locale: Locale) -> PhoneItem:
    """Return the record of a message on a simulated phone."""
    brand = message.brand
    return PhoneItem(
        time=locale.format_timestamp(message.arrives_at or message.accepted_at),
        kind=message.kind,
        sender=message.sender,
        subject=message.subject or UNSET,
        content=message.content,
        buttons=[build_button_item(one) for one in message.buttons],
        image=message.images > 0,
        images=message.images,
        messageType=(brand.type if brand else None) or UNSET,
        targeting=brand.targeting if brand else UNSET,
        attachment=_build_attachment(brand.attachment) if brand else UNSET,
        **build_parts(message.parts),
    )


_TESTING = Group(Text("시험", "Testing"))
ENDPOINTS = (
    _TESTING.endpoint(
        operations.LOOK_AT_PHONE,
        _list_phone_messages,
        "read",
        Text(
            "가상 휴대폰이 이 계정에서 받은 메시지 조회",
            "List the messages that a simulated phone received from this account",
        ),
        *FIELD_CODES,
        Code.INVALID_PHONE_NUMBER,
        Code.NOT_FOUND,
    ),
)
