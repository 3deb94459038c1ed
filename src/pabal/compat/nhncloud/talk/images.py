"""Pictures that are uploaded, and sent by the addresses that they get: nobody but these endpoints knows them."""

import base64
import hashlib
from collections.abc import AsyncGenerator
from typing import Any, NamedTuple

from starlette.datastructures import Headers

from pabal.compat.nhncloud.call import NhnCall
from pabal.compat.nhncloud.talk.codes import TalkCode, refuse
from pabal.compat.own_values import decode_id, encode_id
from pabal.console.shell.form_body import MULTIPART_TYPE, parse_form
from pabal.domain.base.codes import Refused
from pabal.domain.content.image import Image, parse_image
from pabal.domain.sends.message import Product
from pabal.store.messages import compat_files

MAX_FILES = 10_000
"""Pictures of an account that are kept."""
MAX_BOUNDARY_BYTES = 200
MAX_FIELDS, MAX_FIELD_BYTES = 10, 1000
FILE_ID_BYTES = 16
_ADDRESS = "https://pabal.invalid/images/"
"""The beginning of every address; no host has this name."""
_NORMAL, _WIDE = "n", "w"
_SUFFIX = ".jpg"
_BRAND_KINDS = {"IMAGE": _NORMAL, "WIDE_IMAGE": _WIDE}
"""The types that can be sent; pictures of lists and carousels are uploaded where they are sent from."""
_PNG = b"\x89PNG"


class Uploaded(NamedTuple):
    """A picture, and whether it was uploaded as a wide one."""

    image: Image
    is_wide: bool


class _Form(NamedTuple):
    """The fields of an upload, and the name and the bytes of its picture."""

    fields: dict[str, str]
    picture: tuple[str, bytes] | None


async def upload_for_friendtalk(call: NhnCall) -> dict[str, Any]:
    """Store a picture of friend talk: POST `images`."""
    form = await _read_form(call)
    is_wide = form.fields.get("wide", call.query.get("wide", "")).lower() == "true"
    product = Product.FRIENDTALK_WIDE_IMAGE if is_wide else Product.FRIENDTALK_IMAGE
    return await _store(call, form, product, _WIDE if is_wide else _NORMAL)


async def upload_for_brand(call: NhnCall) -> dict[str, Any]:
    """Store a picture of brand messages: POST `images`."""
    form = await _read_form(call)
    kind = _BRAND_KINDS.get(form.fields.get("imageType", ""))
    if kind is None:
        raise refuse(TalkCode.BAD_IMAGE_TYPE, f"imageType: {', '.join(_BRAND_KINDS)}")
    return await _store(call, form, Product.BRAND_MESSAGE, kind)


async def find_image(call: NhnCall, address: str) -> Uploaded | None:
    """Return the picture of an address, None where the account has none there."""
    kind, _, name = address.removeprefix(_ADDRESS).partition("/")
    file_id = decode_id(name.removesuffix(_SUFFIX), FILE_ID_BYTES)
    if not is_ours(address) or kind not in (_NORMAL, _WIDE) or file_id is None:
        return None
    image = await call.context.store.read(compat_files.get, call.account_id, file_id)
    return Uploaded(image, kind == _WIDE) if image else None


def is_ours(address: str) -> bool:
    """Return whether an address is one that was given here."""
    return address.startswith(_ADDRESS)


def names_ours(part: Any) -> bool:
    """Return whether an address that was given here is anywhere in a part of a body."""
    if isinstance(part, dict):
        return any(map(names_ours, part.values()))
    return any(map(names_ours, part)) if isinstance(part, list) else isinstance(part, str) and is_ours(part)


async def _read_form(call: NhnCall) -> _Form:
    """Return the form of an upload, whose first line says what separates its parts.

    Raises NhnRefused.
    """
    boundary = call.raw[: MAX_BOUNDARY_BYTES + 4].partition(b"\r\n")[0]
    if not boundary.startswith(b"--") or not 2 < len(boundary) <= MAX_BOUNDARY_BYTES:
        raise refuse(TalkCode.NO_PART)
    headers = Headers({"content-type": f'{MULTIPART_TYPE}; boundary="{boundary[2:].decode("latin-1")}"'})

    async def stream() -> AsyncGenerator[bytes, None]:
        yield call.raw

    try:
        found = await parse_form(headers, stream(), MAX_FIELDS, MAX_FIELD_BYTES)
    except Refused:
        raise refuse(TalkCode.NO_PART) from None
    files = {name: (file.name, file.body) for name, file in found.files.items()}
    for file in found.files.values():
        file.stream.close()
    return _Form(dict(found.fields), files.get("image"))


async def _store(call: NhnCall, form: _Form, product: Product, kind: str) -> dict[str, Any]:
    """Store the picture of a form; the same one has the same address.

    Raises NhnRefused.
    """
    if form.picture is None:
        raise refuse(TalkCode.NO_PART, "image")
    name, body = form.picture
    content_type = "image/png" if body.startswith(_PNG) else "image/jpeg"
    try:
        limits = call.context.policy.image_limits_of(product)
        image = parse_image(content_type, name, base64.b64encode(body).decode(), limits)
    except Refused as refused:
        raise refuse(TalkCode.BAD_IMAGE, refused.problems[0].message("ko")) from None
    store = call.context.store
    if await store.read(compat_files.count, call.account_id) >= MAX_FILES:
        raise refuse(TalkCode.UPLOAD_FAILED, f"이미지는 최대 {MAX_FILES:,}개까지 보관합니다.")
    file_id = hashlib.sha256(content_type.encode() + b"\n" + body).digest()[:FILE_ID_BYTES]
    await store.write(compat_files.add, call.account_id, file_id, image, call.now)
    return {
        "image": {
            "imageSeq": int.from_bytes(file_id[:4], "big") >> 1,
            "imageUrl": f"{_ADDRESS}{kind}/{encode_id(file_id)}{_SUFFIX}",
            "imageName": name,
        }
    }
