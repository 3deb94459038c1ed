"""Brand messages on the send page: their types, attachments, preview and files of receivers."""

import json
import re

import pytest

from tests.fixtures.brand_bodies import BRAND_BODIES
from tests.fixtures.console import Browser, signed_in_browser
from tests.fixtures.console_send import IMAGE, errors, fallback_text, preview_text, review, send, talk
from tests.fixtures.console_upload import send_campaign, upload_file
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import PHONE, get_message, list_phone_messages, set_clock

TYPED = ("wideList", "carouselFeed", "carouselCommerce", "commerce with an image", "premiumVideo")


@pytest.mark.parametrize("name", TYPED)
async def test_attachment_is_sent_as_it_was_typed_and_shown_on_the_phone(
    env: Environment, call: Caller, sender_key: str, browser: Browser, name: str
) -> None:
    body = BRAND_BODIES[name]
    fields = {
        "messageType": body["messageType"],
        "targeting": "M",
        "attachment": json.dumps(body["attachment"], ensure_ascii=False),
        "content": body.get("content", "없어지는 글"),
        **(IMAGE if "image" in body else {}),
    }

    shown = await review(browser, talk("brand", sender_key, **fields))
    await send(browser, talk("brand", sender_key, **fields, receivers=PHONE))
    await env.wait(5)

    (message,) = await list_phone_messages(call)
    assert (message["attachment"], message["targeting"]) == (body["attachment"], "M")
    assert message["content"] == body.get("content", "")
    phone = await browser.get(f"/console/phone?number={PHONE}")
    record = await get_message(call)
    history = await browser.get(f"/console/history/{record['messageId']}")
    assert "M: 마케팅 수신 동의자" in history.text
    for page in (shown, phone, history):
        assert "겨울" in page.text
        assert 'class="brand-parts ' in page.text


async def test_choosing_a_type_offers_the_fields_of_its_attachment(sender_key: str, browser: Browser) -> None:
    async def chosen(**fields: str) -> str:
        given = talk("brand", sender_key, **fields)
        return (await browser.submit("/console/send/form", **given)).text

    listed = await chosen(messageType="wideList")
    carousel = await chosen(messageType="carouselFeed", attachment="")
    kept = await chosen(messageType="carouselFeed", attachment='{"carousel": {"list": "mine"}}')

    assert 'name="attachment.item.list[2].title"' in listed
    assert 'name="attachment.item.list[3].title"' not in listed
    assert 'name="attachment.carousel.list[1].buttons[0].name"' in carousel
    assert "mine" in kept
    assert 'name="attachment.carousel.list[0].header"' not in kept


async def test_attachment_is_written_in_fields_and_previewed(sender_key: str, browser: Browser) -> None:
    fields = {
        "attachment.commerce.title": "겨울 코트",
        "attachment.commerce.regularPrice": "30,000",
        "attachment.commerce.discountPrice": "27000",
        "attachment.commerce.discountRate": "10",
        "attachment.coupon.title": "아무 쿠폰",
    }
    given = talk("brand", sender_key, messageType="commerce", **fields)

    looked = (await browser.submit("/console/send/look", **given)).text
    form = (await browser.submit("/console/send/form", **given)).text

    for shown in ("겨울 코트", "27,000원", "<s>30,000원</s>", "<em>10%</em>"):
        assert shown in looked
    assert re.search(r'id="wrong-attachment-coupon-title"[^>]*>[^<]*할인 쿠폰', looked)
    assert 'name="attachment.commerce.regularPrice" type="text" value="30000"' in form


async def test_cards_of_a_carousel_are_added_and_removed(sender_key: str, browser: Browser) -> None:
    start = talk("brand", sender_key, messageType="carouselFeed")
    first = {"attachment.carousel.list[0].header": "첫째", "attachment.carousel.list[1].header": "둘째"}

    added = (await browser.submit("/console/send/form", **start, **first, act="card-add")).text
    more = first | {"attachment.carousel.list[2].header": "셋째"}
    removed = (await browser.submit("/console/send/form", **start, **more, act="card-0")).text

    assert 'name="attachment.carousel.list[2].header"' in added
    assert 'value="card-2" id="remove-card-2"' in added
    assert 'name="attachment.carousel.list[0].header" type="text" value="둘째"' in removed
    assert "첫째" not in removed


@pytest.mark.parametrize(
    ("fields", "field", "told"),
    [
        ({"messageType": "wideList", "attachment": "{"}, "attachment", "객체"),
        ({"messageType": "wideList", "attachment": "[" * 100_000}, "attachment", "객체"),
        ({"messageType": "wideList", "attachment": '{"header": 5}'}, "attachment-header", "문자열"),
        ({"messageType": "text", "attachment": '{"header": "가"}'}, "attachment", "attachment.header"),
        ({"messageType": "text", "content": "가" * 1301}, "content", "1300"),
        ({"messageType": "wide", "content": "가" * 77, **IMAGE}, "content", "76"),
        ({"messageType": "text", "optOutNumber": "1588-0000"}, "optOutNumber", "080"),
    ],
)
async def test_error_is_shown_at_its_field(
    sender_key: str, browser: Browser, fields: dict[str, str], field: str, told: str
) -> None:
    shown = await review(browser, talk("brand", sender_key, **fields))

    assert shown.status == 400
    assert told in errors(shown)[field]


async def test_preview_has_no_label_of_ours_and_its_fallback_has_both_marks(
    sender_key: str, browser: Browser
) -> None:
    fields = {"resend": "1", "resendPhoneNumber": "02-1234-5678", "optOutNumber": "080-123-4567"}

    shown = await review(browser, talk("brand", sender_key, **fields))

    assert preview_text(shown) == "안녕하세요"
    assert "(광고)안녕하세요 무료거부 0801234567" in fallback_text(shown)


async def test_brand_message_at_night_is_told_before_it_is_sent(env: Environment, sender_key: str) -> None:
    set_clock(env, "2026-11-15 23:00")
    browser = await signed_in_browser(env)

    shown = await review(browser, talk("brand", sender_key))

    assert shown.status == 422
    assert 'id="night"' in shown.text


async def test_brand_message_goes_to_every_row_of_a_file(
    env: Environment, call: Caller, sender_key: str, browser: Browser
) -> None:
    fields = talk("brand", sender_key, content="#{이름}님", messageType="text", targeting="N")
    address = await upload_file(browser, "phone,이름\n010-1111-1111,길동\n010-2222-2222,영희\n", **fields)

    await send_campaign(browser, address)
    await env.wait(60)

    (first,) = await list_phone_messages(call, "010-1111-1111")
    (second,) = await list_phone_messages(call, "010-2222-2222")
    assert [first["content"], second["content"]] == ["길동님", "영희님"]
    assert (first["kind"], first["targeting"]) == ("brandMessage", "N")
