"""Images of MMS and friend-talk messages."""

import binascii
from collections.abc import Iterator
from typing import NamedTuple

from pabal.domain.base.codes import Code, Refused, Text

MAX_IMAGE_BYTES = 51_200
MAX_FILE_NAME_CHARACTERS = 255
JPEG = "image/jpeg"
_JPEG_MAGIC = b"\xff\xd8\xff"
_FRAME_MARKERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of the JPEG segments that have width and height."""
_SCAN_MARKER, _END_MARKER = 0xDA, 0xD9
"""Of the segment that the picture's data follow, and of the end."""
_SIZE_BYTES = 9
"""From the marker of a frame to the end of its width."""
_CONTENT_TYPES = {
    "image/jpeg": "image/jpeg",
    "image/jpg": "image/jpeg",
    "image/vnd.wap.sis": "image/vnd.wap.sis",
    "image,vnd.wap.sis": "image/vnd.wap.sis",
}


class Image(NamedTuple):
    """A checked image: type, file name and bytes."""

    content_type: str
    file_name: str
    body: bytes


def parse_image(content_type: str, file_name: str, body: str) -> Image:
    """Return the image of the three fields of an image object.

    Raises Refused(INVALID_IMAGE), naming the field.
    """
    kind = _CONTENT_TYPES.get(content_type.strip().lower())
    if kind is None:
        allowed = ", ".join(each for each in _CONTENT_TYPES if "/" in each)
        raise _refusal("contentType", f"사용할 수 있는 형식: {allowed}", f"Allowed types: {allowed}")
    if len(file_name) > MAX_FILE_NAME_CHARACTERS:
        raise _refusal(
            "fileName",
            f"파일 이름은 {MAX_FILE_NAME_CHARACTERS}자 이하여야 합니다.",
            f"The file name can have at most {MAX_FILE_NAME_CHARACTERS} characters.",
        )
    decoded = _decode_body(body)
    if kind == "image/jpeg" and not decoded.startswith(_JPEG_MAGIC):
        raise _refusal("body", "JPEG 파일이 아닙니다.", "The file is not a JPEG.")
    if kind == "image/jpeg" and not _is_whole_jpeg(decoded):
        raise _refusal(
            "body",
            "JPEG 파일이 손상되었거나 중간에 끊겼습니다. 그림을 JPEG로 다시 저장해 올리세요.",
            "The JPEG is damaged or cut off. Save the picture as JPEG again.",
        )
    return Image(kind, file_name, decoded)


def measure_px(image: Image) -> tuple[int, int] | None:
    """Return width and height of a JPEG in pixels; None if they cannot be read."""
    return _find_size(image.body) if image.content_type == "image/jpeg" else None


def _is_whole_jpeg(body: bytes) -> bool:
    """Return whether a file has the parts of a JPEG: a frame with its size, data, and an end; it is not decoded."""
    size = _find_size(body)
    scan = next((at for marker, at in _iterate_segments(body) if marker == _SCAN_MARKER), None)
    has_end = scan is not None and body.rfind(bytes((0xFF, _END_MARKER))) > scan
    return size is not None and min(size) > 0 and has_end


def _find_size(body: bytes) -> tuple[int, int] | None:
    for marker, at in _iterate_segments(body):
        if marker in _FRAME_MARKERS and at + _SIZE_BYTES <= len(body):
            return int.from_bytes(body[at + 7 : at + 9], "big"), int.from_bytes(body[at + 5 : at + 7], "big")
    return None


def _iterate_segments(body: bytes) -> Iterator[tuple[int, int]]:
    """Yield marker and place of the segments of a JPEG, up to the one that the data follow."""
    at = len(_JPEG_MAGIC) - 1
    while at + 4 <= len(body) and body[at] == 0xFF:
        marker = body[at + 1]
        if marker == 0xFF:  # a filler
            at += 1
            continue
        yield marker, at
        if marker in (_SCAN_MARKER, _END_MARKER):
            return
        at += 2 + int.from_bytes(body[at + 2 : at + 4], "big")


def check_size_px(image: Image, limit: int) -> None:
    """Raises Refused(INVALID_IMAGE) for a JPEG that is wider or higher than this."""
    size = measure_px(image)
    if size is not None and max(size) > limit:
        raise _refusal(
            "body",
            f"그림은 가로와 세로 모두 {limit:,}픽셀 이하여야 합니다. 지금은 {size[0]:,}×{size[1]:,}픽셀입니다.",
            f"The picture can be at most {limit:,} pixels wide and high; it has {size[0]:,} × {size[1]:,}.",
        )


def _decode_body(body: str) -> bytes:
    too_large = _refusal(
        "body",
        f"파일은 {MAX_IMAGE_BYTES}바이트 이하여야 합니다.",
        f"The file can have at most {MAX_IMAGE_BYTES} bytes.",
    )
    if len(body) > (MAX_IMAGE_BYTES + 2) // 3 * 4:
        raise too_large
    try:
        encoded = body.encode("ascii")
        decoded = binascii.a2b_base64(encoded)
        if binascii.b2a_base64(decoded, newline=False) != encoded:
            raise ValueError  # Python's strict mode accepts surplus padding and stray bits
    except ValueError:
        raise _refusal("body", "올바른 Base64가 아닙니다.", "It is not valid Base64.") from None
    if len(decoded) > MAX_IMAGE_BYTES:
        raise too_large
    return decoded


def _refusal(field: str, ko: str, en: str) -> Refused:
    return Refused(Code.INVALID_IMAGE, field, Text(ko, en))
