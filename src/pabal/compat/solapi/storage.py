"""Pictures that are uploaded, and what Solapi's clients ask besides: the balance."""

import base64
import hashlib
from typing import Any

from pabal.compat.differences import CallDifference
from pabal.compat.solapi.bodies import FileBody, decode
from pabal.compat.solapi.call import FILE_ID_BYTES, CompatCall, format_file_id, parse_file_id
from pabal.compat.solapi.codes import CallRefused, invalid
from pabal.compat.solapi.translation import Item, image_id_of
from pabal.domain.base import dates
from pabal.domain.base.codes import Code, Refused
from pabal.domain.content.image import Image, parse_image
from pabal.domain.sends.message import Product
from pabal.store.messages import compat_files

MAX_FILES = 1000
"""Pictures of an account."""
PRODUCTS = {
    "MMS": Product.MMS,
    "KAKAO": Product.FRIENDTALK_IMAGE,
    "BMS": Product.BRAND_MESSAGE,
    "BMS_WIDE": Product.BRAND_MESSAGE,
}
"""The types of files that can be sent here, and for what; pictures of lists and carousels stay where they are."""
SHOWN_BALANCE = 1_000_000
"""What the balance says: there is no money here, and programs may stop sending when it is low."""
_PNG = b"\x89PNG"


async def upload(call: CompatCall) -> dict[str, Any]:
    """Store a picture and return its id; the same picture has the same id."""
    given = decode(call.raw, FileBody)
    product = PRODUCTS.get(given.type)
    if product is None:
        raise invalid(f"type 은 {', '.join(PRODUCTS)} 만 사용할 수 있습니다.")
    try:
        body = base64.b64decode(given.file, validate=True)
    except ValueError:  # also for letters that are not ASCII
        raise invalid("file 은 base64 이어야 됩니다.") from None
    content_type = "image/png" if body.startswith(_PNG) else "image/jpeg"
    name = given.name or "image"
    try:
        image = parse_image(content_type, name, given.file, call.context.policy.image_limits_of(product))
    except Refused as refused:
        raise CallRefused(400, "InvalidFileType", refused.problems[0].message("ko")) from None
    file_id = hashlib.sha256(image.content_type.encode() + b"\n" + image.body).digest()[:FILE_ID_BYTES]
    store = call.context.store
    if await store.read(compat_files.count, call.account_id) >= MAX_FILES:
        raise CallRefused(400, "TooManyFiles", f"이미지는 최대 {MAX_FILES}개까지 올릴 수 있습니다.")
    await store.write(compat_files.add, call.account_id, file_id, image, call.now)
    at = dates.format_iso(call.now, call.context.policy.zone)
    return {
        "fileId": format_file_id(file_id),
        "type": given.type,
        "name": name,
        "originalName": name,
        "link": given.link,
        "url": "",
        "accountId": call.account_name,
        "references": [],
        "dateCreated": at,
        "dateUpdated": at,
    }


async def get_image(call: CompatCall, item: Item) -> Image | None:
    """Return the picture of a message, if it names one; one of a brand message may be at the relay behind.

    Raises Refused(INVALID_IMAGE) where it was not uploaded.
    """
    spelling = image_id_of(item.body)
    if not spelling:
        return None
    file_id = parse_file_id(spelling)
    if file_id is None and item.product is Product.BRAND_MESSAGE:
        return None
    image = await call.context.store.read(compat_files.get, call.account_id, file_id) if file_id else None
    if image is None:
        raise Refused(Code.INVALID_IMAGE, "image")
    return image


async def show_balance(call: CompatCall) -> dict[str, Any]:
    """Return a balance that never runs out."""
    call.note(CallDifference.BALANCE)
    return {"balance": SHOWN_BALANCE, "point": 0, "accountId": call.account_name}
