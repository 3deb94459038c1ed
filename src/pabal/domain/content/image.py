"""Images of messages and templates, and which of them a carrier takes."""

import binascii
import math
import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pabal.domain.base.codes import Code, Refused, Text

MAX_IMAGE_BYTES = 51_200
"""What every deployment accepts, whatever its carriers take."""
MAX_FILE_NAME_CHARACTERS = 255
MAX_IMAGES = 3
"""Of one message."""
JPEG, PNG, SIS = "image/jpeg", "image/png", "image/vnd.wap.sis"
_ALWAYS_ACCEPTED = frozenset((JPEG, SIS))
"""The types that are accepted up to `MAX_IMAGE_BYTES`, whatever the carriers take."""
_PNG_MAGIC, _PNG_END = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"IEND\xaeB`\x82"
_JPEG_MAGIC = b"\xff\xd8\xff"
_FRAME_MARKERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of the JPEG segments that have width and height."""
_SCAN_MARKER, _END_MARKER = 0xDA, 0xD9
"""Of the segment that the picture's data follow, and of the end."""
_SIZE_BYTES = 9
"""From the marker of a frame to the end of its width."""
_CONTENT_TYPES = {
    "image/jpeg": JPEG,
    "image/jpg": JPEG,
    "image/vnd.wap.sis": SIS,
    "image,vnd.wap.sis": SIS,
    "image/png": PNG,
}


class Image(NamedTuple):
    """A checked image: type, file name and bytes."""

    content_type: str
    file_name: str
    body: bytes


class ImageLimits(NamedTuple):
    """Which images a carrier documents that it takes, of one product."""

    max_bytes: int = MAX_IMAGE_BYTES
    max_width_px: int | None = None
    """None: no limit is known."""
    max_height_px: int | None = None
    types: frozenset[str] = frozenset((JPEG,))
    max_count: int = 1
    max_total_bytes: int | None = None
    """Of all images of a message together; None: no limit is known."""

    @property
    def max_side_px(self) -> int | None:
        """The most pixels of the longer side of any image that fits."""
        return min(filter(None, (self.max_width_px, self.max_height_px)), default=None)

    def find_excess(self, image: Image) -> str | None:
        """Return what of an image the carrier does not take: its type, bytes or pixels; None: it takes it."""
        if image.content_type not in self.types:
            return "type"
        if len(image.body) > self.max_bytes:
            return "bytes"
        return "pixels" if self._has_too_many_px(image) else None

    def find_excess_of_all(self, images: Sequence[Image]) -> str | None:
        """Return what of the images of a message the carrier does not take; None: it takes them."""
        if len(images) > self.max_count:
            return "number"
        if sum(len(each.body) for each in images) > (self.max_total_bytes or math.inf):
            return "bytes"
        return next(filter(None, map(self.find_excess, images)), None)

    def _has_too_many_px(self, image: Image) -> bool:
        width, height = measure_px(image) or (0, 0)
        return width > (self.max_width_px or width) or height > (self.max_height_px or height)


LEAST_LIMITS = ImageLimits()
"""Those of a carrier that documents none."""


def combine_limits(limits: Iterable[ImageLimits]) -> ImageLimits:
    """Return the limits of images that all these carriers take."""
    each = list(limits) or [LEAST_LIMITS]
    return ImageLimits(
        min(one.max_bytes for one in each),
        min((one.max_width_px for one in each if one.max_width_px), default=None),
        min((one.max_height_px for one in each if one.max_height_px), default=None),
        frozenset.intersection(*(one.types for one in each)),
        min(one.max_count for one in each),
        min((one.max_total_bytes for one in each if one.max_total_bytes), default=None),
    )


def parse_image(content_type: str, file_name: str, body: str, limits: ImageLimits = LEAST_LIMITS) -> Image:
    """Return the image of the three fields of an image object.

    A JPEG of at most `MAX_IMAGE_BYTES` is accepted whatever its pixels.
    Raises Refused(INVALID_IMAGE), naming the field.
    """
    kind = _CONTENT_TYPES.get(content_type.strip().lower())
    if kind is None or kind not in _ALWAYS_ACCEPTED | limits.types:
        allowed = ", ".join(
            name for name, each in _CONTENT_TYPES.items() if "/" in name and each in _ALWAYS_ACCEPTED | limits.types
        )
        raise _refusal("contentType", f"사용할 수 있는 형식: {allowed}", f"Allowed types: {allowed}")
    if len(file_name) > MAX_FILE_NAME_CHARACTERS:
        raise _refusal(
            "fileName",
            f"파일 이름은 {MAX_FILE_NAME_CHARACTERS}자 이하여야 합니다.",
            f"The file name can have at most {MAX_FILE_NAME_CHARACTERS} characters.",
        )
    most = max(MAX_IMAGE_BYTES, limits.max_bytes) if kind in limits.types else MAX_IMAGE_BYTES
    image = Image(kind, file_name, _decode_body(body, most))
    _check_is_whole(image)
    if kind not in _ALWAYS_ACCEPTED or len(image.body) > MAX_IMAGE_BYTES:
        _check_pixels(image, limits)
    return image


def check_images(images: Sequence[Image], limits: ImageLimits) -> None:
    """Raises Refused(INVALID_IMAGE) for more images, or more bytes of all together, than the route takes."""
    if len(images) > limits.max_count:
        most, count = limits.max_count, len(images)
        raise _refusal(
            "",
            f"이미지는 {most}개까지 보낼 수 있습니다. 지금은 {count}개입니다.",
            f"At most {most} images can be sent; there are {count}.",
        )
    total, limit = sum(len(each.body) for each in images), limits.max_total_bytes
    if limit is not None and total > limit:
        raise _refusal(
            "",
            f"이미지는 모두 합쳐 {limit:,}바이트 이하여야 합니다. 지금은 {total:,}바이트입니다.",
            f"All images together can have at most {limit:,} bytes; they have {total:,}.",
        )


def _check_is_whole(image: Image) -> None:
    name, magic = ("JPEG", _JPEG_MAGIC) if image.content_type == JPEG else ("PNG", _PNG_MAGIC)
    if image.content_type == SIS:
        return
    if not image.body.startswith(magic):
        raise _refusal("body", f"{name} 파일이 아닙니다.", f"The file is not a {name}.")
    if not (_is_whole_jpeg(image.body) if image.content_type == JPEG else _is_whole_png(image)):
        raise _refusal(
            "body",
            f"{name} 파일이 손상되었거나 중간에 끊겼습니다. 그림을 {name}로 다시 저장해 올리세요.",
            f"The {name} is damaged or cut off. Save the picture as {name} again.",
        )


def _check_pixels(image: Image, limits: ImageLimits) -> None:
    if limits.find_excess(image) != "pixels":
        return
    width, height = measure_px(image) or (0, 0)
    sides = f"{limits.max_width_px:,} × {limits.max_height_px:,}"
    raise _refusal(
        "body",
        f"그림은 {sides}픽셀 이하여야 합니다. 지금은 {width:,} × {height:,}픽셀입니다.",
        f"The picture can have at most {sides} pixels; it has {width:,} × {height:,}.",
    )


def measure_px(image: Image) -> tuple[int, int] | None:
    """Return width and height of a JPEG or PNG in pixels; None if they cannot be read."""
    if image.content_type == PNG:
        begin = len(_PNG_MAGIC)
        return struct.unpack(">II", image.body[begin : begin + 8]) if len(image.body) >= begin + 8 else None
    return _find_size(image.body) if image.content_type == JPEG else None


def _is_whole_png(image: Image) -> bool:
    """Return whether a file has a size and the end of a PNG; it is not decoded."""
    size = measure_px(image)
    return size is not None and min(size) > 0 and image.body.rfind(_PNG_END) > 0


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


def _decode_body(body: str, most: int) -> bytes:
    size = len(body) * 3 // 4 - body[-2:].count("=")
    if size > most:
        raise _refusal(
            "body",
            f"파일은 {most:,}바이트 이하여야 합니다. 지금은 {size:,}바이트입니다.",
            f"The file can have at most {most:,} bytes; it has {size:,}.",
        )
    try:
        encoded = body.encode("ascii")
        decoded = binascii.a2b_base64(encoded)
        if binascii.b2a_base64(decoded, newline=False) != encoded:
            raise ValueError  # Python's strict mode accepts surplus padding and stray bits
    except ValueError:
        raise _refusal("body", "올바른 Base64가 아닙니다.", "It is not valid Base64.") from None
    return decoded


def _refusal(field: str, ko: str, en: str) -> Refused:
    return Refused(Code.INVALID_IMAGE, field, Text(ko, en))
