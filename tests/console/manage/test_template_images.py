"""Emphasis images of templates: uploaded, validated as the API does, shown to one account only."""

import pytest

from pabal.console.manage.template_form import THUMBNAIL
from pabal.domain.people.user import Role
from pabal.store.kakao import templates as kept_templates
from tests.console.manage.test_templates import form_fields, only_template, save
from tests.fixtures.console import Browser, signed_in_browser
from tests.fixtures.pictures import make_jpeg
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import call_ok, image_body, template_body

JPEG = make_jpeg() + b" one\r\n--cu picture \x00\xff"
OTHER = make_jpeg(8, 8)
NEW = "/console/templates/new"


def emphasised(sender_key: str, **changes: str) -> dict[str, str]:
    return form_fields(sender_key, emphasisType="image", imageLink="https://shop.example/", **changes)


async def test_template_image_is_stored_shown_replaced_and_kept_on_edit(
    env: Environment, sender_key: str, sender: Browser
) -> None:
    path = (await sender.submit_with_file(NEW, ("봄.jpg", "image/jpeg", JPEG), emphasised(sender_key))).location
    page = await sender.get(path)
    first = await sender.get(f"{path}/picture")
    form = await sender.get(f"{path}/edit")
    await save(sender, f"{path}/edit", emphasised(sender_key, content="새 글"))
    stored = await sender.get(f"{path}/picture")
    await sender.submit_with_file(f"{path}/edit", ("b.jpg", "image/jpeg", OTHER), emphasised(sender_key))
    changed = await sender.get(f"{path}/picture")

    assert f'<img class="picture-shown" src="{path}/picture"' in page.text
    assert (first.body, first.headers["content-type"]) == (JPEG, "image/jpeg")
    assert first.headers["x-content-type-options"] == "nosniff"
    assert 'value="https://shop.example/"' in form.text
    assert "현재 이미지를 그대로" in form.text
    assert (stored.body, changed.body) == (JPEG, OTHER)
    design = (await only_template(env)).latest
    assert (design.image_name, design.emphasis_type, design.image_link) == (
        "b.jpg",
        "image",
        "https://shop.example/",
    )


async def test_template_image_is_removed_with_image_emphasis(
    env: Environment, sender_key: str, sender: Browser
) -> None:
    path = (await sender.submit_with_file(NEW, ("a.jpg", "image/jpeg", JPEG), emphasised(sender_key))).location

    await save(sender, f"{path}/edit", form_fields(sender_key))
    gone = await sender.get(f"{path}/picture")

    assert gone.status == 404
    assert (await only_template(env)).latest.image_name is None


async def test_template_image_set_by_api_survives_edit_with_any_emphasis(
    env: Environment, call: Caller, sender_key: str, sender: Browser
) -> None:
    made = await call_ok(call, "template/create", template_body(sender_key, image=image_body()))
    path = f"/console/templates/{made.item['id']}"

    await save(sender, f"{path}/edit", form_fields(sender_key, content="새 글"))

    assert (await sender.get(f"{path}/picture")).status == 200
    assert (await only_template(env)).latest.image_name == "photo.jpg"


@pytest.mark.parametrize(
    ("kind", "body", "error"),
    [
        ("image/png", b"\x89PNG", "image/jpeg"),
        ("image/jpeg", b"\x89PNG", "JPEG 파일이 아닙니다"),
        ("image/jpeg", JPEG + bytes(1_000_000), "500,000바이트 이하"),
        ("image/jpeg", JPEG + bytes(500_000), "500,000바이트 이하"),
        ("image/jpeg", b"", "wrong-image"),
    ],
)
async def test_invalid_template_image_is_reported_at_its_field(
    env: Environment, sender_key: str, sender: Browser, kind: str, body: bytes, error: str
) -> None:
    shown = await sender.submit_with_file(
        NEW, ("a.jpg", kind, body), emphasised(sender_key, content="다시 쓰지 않게")
    )

    assert shown.status == 400
    assert 'id="wrong-image"' in shown.text
    assert error in shown.text
    assert "다시 쓰지 않게" in shown.text
    assert await env.store.read(kept_templates.list_all) == []


async def test_image_emphasis_requires_an_image(sender_key: str, sender: Browser) -> None:
    shown = await save(sender, NEW, emphasised(sender_key))

    assert shown.status == 400
    assert 'id="wrong-image"' in shown.text


async def test_template_copy_keeps_image_but_never_one_of_another_account(
    env: Environment, sender_key: str, sender: Browser
) -> None:
    path = (await sender.submit_with_file(NEW, ("a.jpg", "image/jpeg", JPEG), emphasised(sender_key))).location
    number = path.rpartition("/")[2]
    stranger = await signed_in_browser(env, Role.OWNER, "other")
    viewer = await signed_in_browser(env, Role.VIEWER)

    form = await sender.get(f"{NEW}?copy={number}")
    copied = await save(sender, NEW, emphasised(sender_key, templateCode="T2", pictureOf=number))
    theft = await save(stranger, NEW, emphasised(sender_key, templateCode="T3", pictureOf=number))
    look = await stranger.get(f"{path}/picture")
    allowed = await viewer.get(f"{path}/picture")

    assert f'name="pictureOf" value="{number}"' in form.text
    assert (await sender.get(f"{copied.location}/picture")).body == JPEG
    assert (theft.status, look.status) == (404, 404)
    assert JPEG not in look.body
    assert allowed.body == JPEG


async def test_preview_shows_image_placeholder(sender_key: str, sender: Browser) -> None:
    new = await save(sender, "/console/templates/preview", emphasised(sender_key))
    stored = await save(sender, "/console/templates/preview", emphasised(sender_key, pictureOf="7"))
    odd = await save(sender, "/console/templates/preview", emphasised(sender_key, pictureOf='"><b>'))

    assert '<p class="picture">' in new.text
    assert 'src="/console/templates/7/picture"' in stored.text
    assert "<b>" not in odd.text
    assert "<canvas" in new.text


@pytest.mark.parametrize("kind", ["multipart/form-data", "multipart/form-data; boundary=other"])
async def test_malformed_multipart_form_is_refused(env: Environment, kind: str) -> None:
    await env.caller()
    browser = await signed_in_browser(env)

    broken = await browser.post(NEW, {"csrf": await browser.csrf()}, **{"content-type": kind})

    assert broken.status == 400


async def test_multipart_form_requires_csrf_token(env: Environment, sender_key: str, sender: Browser) -> None:
    shown = await sender.submit_with_file(
        NEW, ("a.jpg", "image/jpeg", JPEG), {**emphasised(sender_key), "csrf": "0" * 64}
    )

    assert shown.status == 403
    assert await env.store.read(kept_templates.list_all) == []


async def test_thumbnail_of_a_highlight_is_uploaded_and_kept_on_edit(
    env: Environment, sender_key: str, sender: Browser
) -> None:
    parts = {"itemHighlight.title": "제목", "itemHighlight.description": "설명"}
    fields = form_fields(sender_key, emphasisType="itemList", **parts)
    wrong = await sender.submit_with_file(NEW, ("a.jpg", "image/jpeg", b"PNG"), fields, THUMBNAIL)
    path = (await sender.submit_with_file(NEW, ("a.jpg", "image/jpeg", JPEG), fields, THUMBNAIL)).location
    first = (await only_template(env)).latest.parts.highlight
    assert first is not None
    again = fields | {"content": "새 글", "itemHighlight.imageUrl": first.image_url or ""}
    await save(sender, f"{path}/edit", again)
    kept = (await only_template(env)).latest.parts.highlight
    await sender.submit_with_file(f"{path}/edit", ("b.jpg", "image/jpeg", OTHER), again, THUMBNAIL)
    changed = (await only_template(env)).latest.parts.highlight
    large = JPEG.ljust(500_000, b"\0")
    await sender.submit_with_file(f"{path}/edit", ("c.jpg", "image/jpeg", large), again, THUMBNAIL)
    larger = (await only_template(env)).latest.parts.highlight

    assert 'id="wrong-itemHighlight.image">' in wrong.text
    assert (first.image_url or "").startswith("https://simulator.invalid/")
    assert kept == first
    assert changed is not None
    assert changed.image_url not in (None, first.image_url)
    assert larger is not None
    assert larger.image_url not in (None, changed.image_url)
