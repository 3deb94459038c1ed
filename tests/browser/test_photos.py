"""Pictures of an MMS in a browser: each is converted and fits its route, and all together what a relay takes."""

import zlib
from random import Random

import pytest
from playwright.sync_api import Browser, FilePayload, Request, Route, expect

from tests.fixtures.browser import (
    BrowserEnvironment,
    Way,
    check_page,
    in_both_ways,
    open_send_page,
    review,
    send_it,
    write,
)
from tests.fixtures.live import serving
from tests.fixtures.pictures import make_jpeg

pytestmark = pytest.mark.slow


def noise(width: int, height: int) -> bytes:
    """Return a PNG that does not compress."""
    chance = Random(7)
    rows = b"".join(b"\0" + chance.randbytes(3 * width) for _ in range(height))

    def chunk(kind: bytes, body: bytes) -> bytes:
        whole = kind + body
        return len(body).to_bytes(4, "big") + whole + zlib.crc32(whole).to_bytes(4, "big")

    head = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes([8, 2, 0, 0, 0])
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows, 1)) + chunk(b"IEND", b"")
    )


PLACES = ("image", "image2")
LARGE_PHOTO = make_jpeg(400, 300).ljust(300_000, b"\0")
"""Its end comes long before that of the file."""
RELAY = """
[carriers.relay]
kind = "nhncloud"
sms_app_key = "a"
sms_secret_key = "b"
sms_address = "http://127.0.0.1:9"
[routes]
mms = ["relay"]
"""


@pytest.mark.torture
def test_large_pictures_fit_what_a_relay_takes_of_all_together(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """NHN Cloud takes three of 300 KB, but 800 KB in all; one is chosen, then two at once."""
    file = tmp_path_factory.mktemp("relay") / "pabal.toml"
    file.write_text(RELAY, encoding="utf-8")
    photos = [FilePayload(name=f"{name}.jpg", mimeType="image/jpeg", buffer=LARGE_PHOTO) for name in "abc"]
    with (
        serving(file.parent / "data", config=file, key_rate=0) as live,
        BrowserEnvironment(live, browser).signed_in() as page,
    ):
        page.goto("/console/send?kind=mms")
        page.locator("input[data-picture]").set_input_files(photos[:1])
        expect(page.locator("[name=image_name]")).to_have_value("a.jpg")
        page.locator("input[data-picture]").set_input_files(photos[1:])
        expect(page.locator("[name=image3_body]")).not_to_have_value("")
        sizes = [
            page.evaluate(f"atob(document.querySelector('[name={name}_body]').value).length")
            for name in (*PLACES, "image3")
        ]

    assert sizes[0] == 300_000
    assert sum(sizes) <= 819_200


def test_preview_of_pictures_outlives_one_that_was_asked_before_it(env: BrowserEnvironment) -> None:
    held: list[Route] = []
    given_up: list[Request] = []

    def hold(route: Route) -> None:
        if "image_body" in (route.request.post_data or ""):
            route.continue_()
        else:
            held.append(route)

    with env.signed_in() as page:
        open_send_page(page, "?kind=mms")
        page.locator("[name=content]").fill("사진입니다")
        expect(page.locator(".size")).not_to_have_attribute("data-size", "0")
        page.route("**/console/send/look", hold)
        page.on("requestfailed", lambda request: given_up.append(request))
        photos = [
            FilePayload(name=f"{number}.png", mimeType="image/png", buffer=noise(900, 600)) for number in range(2)
        ]
        page.locator("input[data-picture]").set_input_files(photos)
        expect(page.locator("canvas.picture-shown")).to_have_count(2)

        early = [each.request for each in held if "image2_name=&" in (each.request.post_data or "")]
        assert early == given_up  # else its answer would hide a picture again


@pytest.mark.torture
@in_both_ways
def test_large_pictures_are_converted_and_made_to_fit_their_route(env: BrowserEnvironment, way: Way) -> None:
    with env.signed_in(way=way) as page:
        write(page, "사진입니다", "010-3500-0001", "?kind=mms")
        wrong = FilePayload(name="wrong.jpg", mimeType="image/jpeg", buffer=b"no picture")
        page.locator("input[data-picture]").set_input_files(wrong)
        expect(page.locator("#wrong-image")).not_to_be_empty()
        page.locator("#unpicture").click()  # at once, before the form is made anew
        expect(page.locator("[name=image_name]")).to_have_value("")
        expect(page.locator("#unpicture")).to_have_count(0)
        photos = [
            FilePayload(name=f"photo{number}.png", mimeType="image/png", buffer=noise(900, 600 + number))
            for number in range(4)
        ]
        page.locator("input[data-picture]").set_input_files(photos[:2])
        expect(page.locator("[name=image2_name]")).to_have_value("photo1.jpg")
        expect(page.locator("canvas.picture-shown")).to_have_count(2)
        page.locator("input[data-picture]").set_input_files(photos[2:])  # one too many: none is taken
        expect(page.locator("#picture-fitted")).to_contain_text("3")
        expect(page.locator("[name=image3_name]")).to_have_value("")
        sizes = [
            page.evaluate(f"atob(document.querySelector('[name={name}_body]').value).length") for name in PLACES
        ]
        assert all(51_200 < size <= 307_200 for size in sizes)
        review(page)
        expect(page.locator("canvas.picture-shown")).to_have_count(2)
        page.locator("#unpicture").click()
        expect(page.locator("[name=image_name]")).to_have_value("photo1.jpg")
        expect(page.locator("[name=image2_name]")).to_have_value("")
        review(page)
        check_page(page, "picture-fitted")
        send_it(page)
