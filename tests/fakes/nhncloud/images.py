"""Uploaded images: which are accepted, and their width and height."""

import struct

from tests.fakes.nhncloud.answers import ApiError, File, Request
from tests.fakes.nhncloud.state import State, UploadedFile

_PNG, _JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"
_FRAME_MARKERS = frozenset((0xC0, 0xC1, 0xC2, 0xC3, 0xC5, 0xC6, 0xC7, 0xC9, 0xCA, 0xCB, 0xCD, 0xCE, 0xCF))
MIN_WIDTH_PX = 500


def store_image(state: State, request: Request, field: str, brand_type: str = "") -> UploadedFile:
    form = request.form()
    file = form.get(field)
    if not isinstance(file, File):
        raise ApiError(-9993, "Required request part is not present.")
    if not file.body.startswith((_PNG, _JPEG)):
        raise ApiError(-8001, "The image you upload is invalid.")
    is_wide = request.query.get("wide") == "true"
    if state.behavior.measures_images and brand_type and not _has_valid_brand_size(file.body, brand_type):
        raise ApiError(-8001, "The image you upload is invalid.")
    number = state.new_serial()
    picture = UploadedFile(number, file.name, f"{state.base}/pictures/{number}", file.body, is_wide, brand_type)
    state.pictures[picture.address] = picture
    return picture


def _has_valid_brand_size(body: bytes, brand_type: str) -> bool:
    """ko/friendtalkupgrade-api-guide.md, "업로드 이미지 규격": "가로 500px 이상", "0.5 ≤ 세로 ÷ 가로 ≤ 1.333"."""
    width, height = measure(body)
    high = 1.0 if brand_type == "WIDE_IMAGE" else 1.333
    return width >= MIN_WIDTH_PX and 0.5 <= height / width <= high


def measure(body: bytes) -> tuple[int, int]:
    """Return width and height of an image; zero if they cannot be read."""
    if body.startswith(_PNG) and len(body) >= 24:
        width, height = struct.unpack(">II", body[16:24])
        return width, height
    at = 2
    while at + 9 <= len(body) and body[at] == 0xFF:
        if body[at + 1] in _FRAME_MARKERS:
            height, width = struct.unpack(">HH", body[at + 5 : at + 9])
            return width, height
        at += 2 + int.from_bytes(body[at + 2 : at + 4], "big")
    return 0, 0
