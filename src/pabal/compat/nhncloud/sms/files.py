"""Pictures that are uploaded, and attached to texts by their numbers; they are kept for a week, as at NHN Cloud."""

import base64
import hashlib
from collections.abc import Sequence
from typing import Any

from pabal.compat.nhncloud.call import NhnCall, format_time
from pabal.compat.nhncloud.sms.bodies import UploadBody
from pabal.compat.nhncloud.sms.codes import refuse
from pabal.domain.base.codes import Refused
from pabal.domain.content.image import MAX_IMAGES, Image, parse_image
from pabal.domain.sends.message import Product
from pabal.store.messages import compat_files
from pabal.store.messages.compat_files import NUMBER_BYTES

MAX_FILE_NAME_CHARACTERS, MAX_USER_CHARACTERS = 45, 100
MAX_FILES = 10_000
"""Pictures of an account that are kept."""
_LARGEST_NUMBER = 2**31 - 1
"""Programs keep these numbers in 32 bits."""
_BYTE = range(-128, 256)


async def upload(call: NhnCall) -> dict[str, Any]:
    """Store a picture and return its number; the same picture has the same number."""
    body = call.decode(UploadBody)
    name = body.fileName or ""
    if not 0 < len(name) <= MAX_FILE_NAME_CHARACTERS:
        raise refuse(-2002)
    if not name.lower().endswith((".jpg", ".jpeg")):
        raise refuse(-2003)
    if not 0 < len(body.createUser or "") <= MAX_USER_CHARACTERS:
        raise refuse(4, f"createUser: 1 ~ {MAX_USER_CHARACTERS}")
    try:
        limits = call.context.policy.image_limits_of(Product.MMS)
        image = parse_image("image/jpeg", name, _read_file(body.fileBody), limits)
    except Refused as refused:
        raise refuse(-2005 if body.fileBody else -2009, refused.problems[0].message("ko")) from None
    number = await _store(call, image)
    day = (format_time(call.now) or "")[: len("yyyy-MM-dd")]
    return {"body": {"data": {"fileId": number, "fileName": name, "filePath": f"0/pabal-{day}/{number}"}}}


def _read_file(given: str | list[int] | None) -> str:
    """Return a file in Base64.

    Raises NhnRefused.
    """
    if isinstance(given, str):
        return given
    if not given or not all(each in _BYTE for each in given):
        raise refuse(-2009)
    return base64.b64encode(bytes(each & 0xFF for each in given)).decode()


async def _store(call: NhnCall, image: Image) -> int:
    """Store a picture under a number that is made of its digest, or the next one that is free.

    Raises NhnRefused where the account has very many.
    """
    store = call.context.store
    if await store.read(compat_files.count, call.account_id) >= MAX_FILES:
        raise refuse(-2009, f"이미지는 최대 {MAX_FILES:,}개까지 보관합니다.")
    digest = hashlib.sha256(image.body).digest()
    number = int.from_bytes(digest[:NUMBER_BYTES], "big") % _LARGEST_NUMBER + 1
    while not await store.write(compat_files.put, call.account_id, _id_of(number), image, call.now):
        number = number % _LARGEST_NUMBER + 1
    return number


async def get_files(call: NhnCall, numbers: Sequence[int]) -> list[Image]:
    """Return pictures by their numbers.

    Raises NhnRefused.
    """
    if len(numbers) > MAX_IMAGES:
        raise refuse(4, f"attachFileIdList: 0 ~ {MAX_IMAGES}")
    found: list[Image] = []
    for number in numbers:
        known = 0 < number <= _LARGEST_NUMBER
        image = await call.context.store.read(compat_files.get, call.account_id, _id_of(number)) if known else None
        if image is None:
            raise refuse(-2004)
        found.append(image)
    return found


def _id_of(number: int) -> bytes:
    return number.to_bytes(NUMBER_BYTES, "big")
