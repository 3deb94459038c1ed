from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pabal.domain.base.codes import Code, Refused
from pabal.domain.content.image import (
    LEAST_LIMITS,
    MAX_IMAGE_BYTES,
    PNG,
    SIS,
    Image,
    ImageLimits,
    combine_limits,
    measure_px,
    parse_image,
)
from tests.fixtures.pictures import JPEG, PNG_FILE, make_jpeg
from tests.fixtures.refusals import refused

MAGIC = b"\xff\xd8\xff"


def base64(body: bytes) -> str:
    return b64encode(body).decode()


@pytest.mark.parametrize(
    ("content_type", "kept"),
    [
        ("image/jpeg", "image/jpeg"),
        ("image/jpg", "image/jpeg"),
        ("IMAGE/JPEG", "image/jpeg"),
        (" image/jpeg ", "image/jpeg"),
        ("image/vnd.wap.sis", SIS),
        ("image,vnd.wap.sis", SIS),  # the spelling of the API
    ],
)
def test_image_of_an_allowed_type_is_accepted(content_type: str, kept: str) -> None:
    assert parse_image(content_type, "a.jpg", base64(JPEG)) == Image(kept, "a.jpg", JPEG)


@pytest.mark.parametrize(
    "content_type",
    ["", "image", "image/png", "image/gif", "image,jpeg", "image/jpeg;q=1", "image/*", "text/html", "jpeg"],
)
def test_image_of_another_type_is_refused(content_type: str) -> None:
    with refused(Code.INVALID_IMAGE, "contentType"):
        parse_image(content_type, "a.jpg", base64(JPEG))


@pytest.mark.parametrize("content_type", ["image/jpeg", SIS])
def test_image_may_have_at_most_51200_decoded_bytes(content_type: str) -> None:
    largest = JPEG.ljust(MAX_IMAGE_BYTES, b"\0")
    assert len(largest) == 51_200
    assert parse_image(content_type, "a.jpg", base64(largest)).body == largest

    with refused(Code.INVALID_IMAGE, "body") as refusal:
        parse_image(content_type, "a.jpg", base64(largest + b"\0"))

    assert refusal.value.problems[0].message("en").endswith("at most 51,200 bytes; it has 51,201.")


@pytest.mark.parametrize(
    "body",
    [
        "/9j/4A",  # padding is missing
        "/9j/4B==",  # unused bits are set
        "/9j/\r\n4AAQ",
        "/9j/ 4AAQ",
        "/9j/\t",
        "_9j_",  # the URL-safe alphabet
        "/9j/!!!!",
        "/9j/4A\0\0",
        "data:image/jpeg;base64,/9j/",
        "／9j/",
        "/9j/가나다라",
        "/9j/\ud800",
    ],
)
@pytest.mark.parametrize("content_type", ["image/jpeg", SIS])
def test_body_that_is_not_strict_base64_is_refused(content_type: str, body: str) -> None:
    with refused(Code.INVALID_IMAGE, "body") as refusal:
        parse_image(content_type, "a.jpg", body)

    assert "Base64" in refusal.value.problems[0].message("en")


@given(st.binary())
def test_encoded_body_decodes_to_the_same_bytes(body: bytes) -> None:
    assert parse_image(SIS, "a.sis", base64(MAGIC + body)).body == MAGIC + body


@given(st.text(st.sampled_from("AB/+4=9j \n-")))
def test_base64_body_has_one_canonical_form(body: str) -> None:
    try:
        found = parse_image(SIS, "a.sis", body)
    except Refused:
        return
    assert base64(found.body) == body


@pytest.mark.parametrize(
    "body",
    [b"", b"\xff", b"\xff\xd8", b"\xff\xd8\x00", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"<svg>", b"\x00" + JPEG],
)
@pytest.mark.parametrize("content_type", ["image/jpeg", "image/jpg"])
def test_bytes_that_are_not_jpeg_are_refused_as_jpeg(content_type: str, body: bytes) -> None:
    with refused(Code.INVALID_IMAGE, "body"):
        parse_image(content_type, "a.jpg", base64(body))


@pytest.mark.parametrize(
    "body",
    [
        MAGIC + b"\xe0",
        MAGIC + b"\xd9",
        MAGIC + bytes(100),
        JPEG[:-2],
        JPEG[: JPEG.index(b"\xff\xda")] + b"\xff\xd9",
        make_jpeg(0, 1),
        make_jpeg(1, 0),
        JPEG.replace(b"\xff\xc0", b"\xff\xe0"),
    ],
    ids=["4 bytes", "only ends", "zeros", "cut off", "no data", "no width", "no height", "no frame"],
)
def test_jpeg_without_its_parts_is_refused_with_what_to_do(body: bytes) -> None:
    with refused(Code.INVALID_IMAGE, "body") as refusal:
        parse_image("image/jpeg", "a.jpg", base64(body))

    assert "Save the picture as JPEG again" in refusal.value.problems[0].message("en")


def test_jpeg_may_have_fillers_other_segments_and_bytes_after_its_end() -> None:
    body = b"\xff\xd8\xff\xe1\x00\x04ab\xff\xff" + JPEG[2:].replace(b"\xff\xc0", b"\xff\xc2") + b"\0tail"

    assert parse_image("image/jpeg", "a.jpg", base64(body)).body == body


def test_file_name_may_have_at_most_255_characters() -> None:
    assert parse_image("image/jpeg", "가" * 255, base64(JPEG)).file_name == "가" * 255

    with refused(Code.INVALID_IMAGE, "fileName"):
        parse_image("image/jpeg", "가" * 256, base64(JPEG))


def jpeg(width: int, height: int, marker: int = 0xC0) -> Image:
    """Return a picture that begins as files of cameras do: two segments of other kinds, then the frame."""
    segment = b"\xff\xe0\x00\x04ab" + b"\xff\xe1\x00\x03c"
    frame = bytes((0xFF, marker, 0, 17, 8)) + height.to_bytes(2, "big") + width.to_bytes(2, "big")
    return Image("image/jpeg", "a.jpg", b"\xff\xd8" + segment + frame + b"\x03" * 10)


@pytest.mark.parametrize("marker", [0xC0, 0xC1, 0xC2, 0xCF])
def test_size_of_a_jpeg_is_read_from_its_frame(marker: int) -> None:
    assert measure_px(jpeg(640, 480, marker)) == (640, 480)


@pytest.mark.parametrize("body", [b"", MAGIC + b"\0" * 100, MAGIC + b"\xff" * 100, b"\xff" * 100])
def test_unreadable_size_is_none(body: bytes) -> None:
    assert measure_px(Image("image/jpeg", "a.jpg", body)) is None


@given(st.binary(max_size=300))
def test_any_bytes_can_be_measured(body: bytes) -> None:
    size = measure_px(Image("image/jpeg", "a.jpg", MAGIC + body))

    assert size is None or max(size) < 2**16


RELAY = ImageLimits(300_000, 1000, 900)
BRAND = ImageLimits(5_000_000, types=frozenset(("image/jpeg", PNG)))


def make_large_jpeg(size: int, width: int = 10, height: int = 10) -> bytes:
    return make_jpeg(width, height).ljust(size, b"\0")


@pytest.mark.parametrize(
    ("limits", "content_type", "body", "problem"),
    [
        (RELAY, "image/jpeg", make_large_jpeg(300_000, 1000, 900), None),
        (RELAY, "image/jpeg", make_large_jpeg(300_001), "at most 300,000 bytes; it has 300,001."),
        (RELAY, "image/jpeg", make_large_jpeg(51_201, 1001, 10), "at most 1,000 × 900 pixels; it has 1,001 × 10."),
        (RELAY, "image/jpeg", make_large_jpeg(51_201, 10, 901), "at most 1,000 × 900 pixels; it has 10 × 901."),
        (RELAY, "image/jpeg", make_large_jpeg(51_200, 65_535, 10), None),  # the contract: never for its pixels
        (RELAY, SIS, bytes(51_200), None),
        (RELAY, SIS, bytes(51_201), "at most 51,200 bytes; it has 51,201."),
        (RELAY, "image/png", PNG_FILE, "Allowed types: image/jpeg, image/jpg, image/vnd.wap.sis"),
        (BRAND, "image/png", PNG_FILE, None),
        (BRAND, "image/png", JPEG, "not a PNG."),
        (BRAND, "image/png", PNG_FILE[:-8], "Save the picture as PNG again."),
        (BRAND, "image/png", PNG_FILE.replace(b"\0\0\0\x02", bytes(4)), "Save the picture as PNG again."),
        (BRAND, "image/jpeg", PNG_FILE, "not a JPEG."),
        (LEAST_LIMITS, "image/jpeg", make_large_jpeg(51_201), "at most 51,200 bytes; it has 51,201."),
    ],
)
def test_image_is_accepted_within_the_limits_of_its_route(
    limits: ImageLimits, content_type: str, body: bytes, problem: str | None
) -> None:
    if problem is None:
        assert parse_image(content_type, "a", base64(body), limits).body == body
        return

    with refused(Code.INVALID_IMAGE) as refusal:
        parse_image(content_type, "a", base64(body), limits)

    assert refusal.value.problems[0].message("en").endswith(problem)


def test_size_of_a_png_is_read() -> None:
    assert measure_px(Image(PNG, "a.png", PNG_FILE)) == (2, 1)
    assert measure_px(Image(PNG, "a.png", PNG_FILE[:20])) is None


def test_limits_of_a_route_are_the_smallest_of_its_carriers() -> None:
    wide = ImageLimits(200_000, 1500, None, BRAND.types)

    assert combine_limits([RELAY, wide]) == ImageLimits(200_000, 1000, 900)
    assert combine_limits([BRAND]) == BRAND
    assert combine_limits([]) == LEAST_LIMITS
