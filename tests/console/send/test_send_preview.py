"""What the send page shows while someone types: sizes, receivers, the phone, the fallback."""

import re

import pytest

from tests.fixtures.console import Browser, signed_in_browser
from tests.fixtures.console_send import (
    IMAGE,
    errors,
    fallback_text,
    form,
    hidden_fields,
    preview,
    preview_text,
    receiver_rows,
    review,
    talk,
)
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import BUTTON, PHONE, SENDER, approve_template

HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>'


def size(text: str) -> tuple[int, int]:
    found = re.search(r'data-size="(\d+)" data-most="(\d+)"', text)
    assert found
    return int(found[1]), int(found[2])


async def test_a_text_is_counted_as_it_will_be_sent(alimtalk_key: str, browser: Browser) -> None:
    cases = [
        (form(content="가나다"), (6, 90)),
        (form(content="가\r\n나"), (5, 90)),
        (form(content="a" * 91), (91, 90)),
        (form("lms", content="가나다"), (6, 2000)),
        (form(content="가나다", adFlag="1"), (12, 90)),
        (form(content="가나다", adFlag="1", optOutNumber="080-123-4567"), (32, 90)),
        (form(content="(광고)가나다", adFlag="1"), (12, 90)),
        (form(content="#{이름}님", receivers=f"{PHONE}, 홍길동"), (8, 90)),
        (form(content="#{이름}님", receivers=""), (9, 90)),
        (form(content="가😀나"), (4, 90)),
        (talk("alimtalk", alimtalk_key), (12, 1300)),
        (talk("friendtalk", alimtalk_key, content="가\r\n나"), (3, 1000)),
        (talk("friendtalk", alimtalk_key, content="가나", messageType="friendTalkWideImage"), (2, 76)),
    ]
    for fields, expected in cases:
        assert size((await preview(browser, fields)).text) == expected, fields


async def test_sms_that_is_too_long_can_be_changed_to_lms(browser: Browser) -> None:
    fields = form(content="가" * 46)

    fits, long = await preview(browser, form(content="가" * 45)), await preview(browser, fields)
    changed = await browser.submit("/console/send/form", **fields, to="lms")

    assert "offer-lms" not in fits.text
    assert "offer-lms" in long.text
    assert "최대 90바이트인데 92바이트입니다" in errors(long)["content"]
    assert 'name="kind" value="lms"' in changed.text
    assert "가" * 46 + "</textarea>" in changed.text
    assert size(changed.text) == (92, 2000)
    assert errors(changed) == {}


async def test_lines_of_any_length_are_read(env: Environment) -> None:
    shown = await preview(await signed_in_browser(env), form(receivers='"1' + "x" * 200_000))
    assert [len(row) for row in receiver_rows(shown)] == [3]


async def test_unsupported_characters_are_marked(alimtalk_key: str, browser: Browser) -> None:
    text = await preview(browser, form(content="가😀나<b>"))
    app = await preview(browser, talk("friendtalk", alimtalk_key, content="가😀나"))

    assert '가<mark class="lost">😀</mark>나<b>' in preview_text(text)
    assert 'data-lost="😀"' in text.text
    assert "U+1F600" in errors(text)["content"]
    assert preview_text(app) == "가😀나"
    assert errors(app) == {}


@pytest.mark.settings(unsupported_characters="replace")
async def test_replaced_characters_are_shown(browser: Browser) -> None:
    shown = await preview(browser, form(content="가😀나"))

    assert preview_text(shown) == "가?나"
    assert 'data-lost="😀"' in shown.text
    assert size(shown.text) == (5, 90)
    assert errors(shown) == {}


async def test_preview_shows_the_message_of_the_first_receiver(
    env: Environment, call: Caller, sender_key: str
) -> None:
    await approve_template(
        call,
        sender_key,
        content="#{이름}님, #{물건}",
        emphasisType="text",
        emphasisTitle="#{물건} 도착",
        buttons=[BUTTON],
    )
    browser = await signed_in_browser(env)
    fields = talk("alimtalk", sender_key, receivers=f"{PHONE}, 사과, 홍길동\n010-2222-3333, 배, 김")

    shown = await preview(browser, fields)
    nobody = await preview(browser, {**fields, "receivers": ""})

    assert preview_text(shown) == "홍길동님, 사과"
    assert '<p class="subject">사과 도착</p>' in shown.text
    assert "<li><span>열기</span></li>" in shown.text
    assert "@shop" in shown.text
    assert preview_text(nobody) == "#{이름}님, #{물건}"


async def test_fallback_preview_matches_what_is_sent(alimtalk_key: str, browser: Browser) -> None:
    on = {"resend": "1", "resendPhoneNumber": SENDER}

    none = await preview(browser, talk("alimtalk", alimtalk_key))
    made = await preview(browser, talk("alimtalk", alimtalk_key, **on))
    own = await preview(
        browser, talk("friendtalk", alimtalk_key, adFlag="1", resendContent="#{이름}" + "가" * 46, **on)
    )
    unsendable = await preview(browser, talk("friendtalk", alimtalk_key, content="😀", **on))
    await browser.submit("/console/numbers/opt-out", optOutNumber="080-123-4567")
    marked = await preview(browser, talk("friendtalk", alimtalk_key, adFlag="1", **on))

    assert fallback_text(none) == ""
    made_text = "배송이 시작되었습니다. 열기: https://shop.example/1"
    assert fallback_text(made) == f"{SENDER} 단문(SMS) 51 / 90바이트 {made_text}"
    assert "무료 수신거부 번호가 없어 문자로 발송할 수 없음" in fallback_text(own)
    assert "(광고)#{이름}가" in fallback_text(own)
    assert fallback_text(marked).startswith(f"{SENDER} 단문(SMS)")
    assert "(광고)안녕하세요 무료거부 0801234567" in fallback_text(marked)
    assert "문자로 발송할 수 없음" in fallback_text(unsendable)


async def test_invalid_receivers_show_their_reason_and_duplicates_are_marked(browser: Browser) -> None:
    receivers = "\r\n".join(
        [
            "010-1111-2222, 홍길동",
            "",
            "02-123-4567, 김",
            "010-3333-4444",
            "010-5555-6666, 이, 남는 값",
            "+82 10-1111-2222, 다시",
            "010-7777-8888, " + "가" * 60,
        ]
    )

    shown = await preview(browser, form(content="#{이름}", receivers=receivers))

    found = {row[0]: row for row in receiver_rows(shown)}
    assert found["1"] == ["1", "010-1111-2222", "홍길동", ""]
    assert "휴대폰 번호가 아닙니다" in found["3"][-1]
    assert "값이 없는 변수: 이름." in found["4"][-1]
    assert "변수보다 값이 많습니다" in found["5"][-1]
    assert found["6"][-1] == "중복된 수신번호입니다"
    assert "최대 90바이트인데 120바이트입니다" in found["7"][-1]
    assert "발송할 수 있는 수신자 1명</strong> · 중복 1건 제외" in shown.text
    assert "발송할 수 없는 수신자 4명" in shown.text


async def test_too_many_receivers_are_all_counted_when_repeated_ones_are_kept(browser: Browser) -> None:
    numbers = [f"010-1111-{number % 800:04}" for number in range(1100)]

    shown = await preview(browser, form(receivers="\r\n".join(numbers), once=""))

    assert "<strong>1,100명</strong>" in shown.text


async def test_a_first_line_may_name_the_columns(browser: Browser) -> None:
    receivers = f"번호\t금액\t#{{이름}}\t메모\n{PHONE}\t500\t홍길동\t단골"

    shown = await preview(browser, form(content="#{이름}님 #{금액}원", receivers=receivers))

    assert preview_text(shown) == "홍길동님 500원"
    assert receiver_rows(shown) == [["2", PHONE, "홍길동", "500", ""]]


async def test_values_are_ignored_without_variables(browser: Browser) -> None:
    shown = await preview(browser, form(receivers=f"{PHONE}, 홍길동, 단골"))

    assert receiver_rows(shown) == [["1", PHONE, ""]]
    assert "발송할 수 없는" not in shown.text


@pytest.mark.settings(max_receivers=20)
async def test_too_many_receivers_are_refused_before_validation(browser: Browser) -> None:
    fields = form(receivers="\n".join(f"010-1111-{n:04}" for n in range(21)))

    most = await review(browser, form(receivers="\n".join(f"010-1111-{n:04}" for n in range(20))))
    more = await review(browser, fields)

    assert (most.status, more.status) == (200, 400)
    assert "20명까지 입력할 수 있는데 21명입니다" in errors(more)["receivers"]


async def test_empty_fields_are_no_errors_while_typing(browser: Browser) -> None:
    for kind in ("sms", "lms", "mms", "alimtalk", "friendtalk"):
        page = await browser.get(f"/console/send?kind={kind}")
        shown = await preview(browser, {"kind": kind})

        assert page.status == 200
        assert f'name="kind" value="{kind}"' in page.text
        assert errors(page) == errors(shown) == {}


async def test_every_part_of_the_live_preview_exists_in_the_form(alimtalk_key: str, browser: Browser) -> None:
    buttons = {"buttons[0].buttonType": "appLink", "buttons[1].buttonType": "botConversion"}
    kinds = [{"kind": kind} for kind in ("sms", "lms", "mms", "alimtalk", "friendtalk")]
    for fields in [*kinds, {"kind": "friendtalk", "messageType": "friendTalkImage", **buttons, **IMAGE}]:
        given = {"senderKey": alimtalk_key, **fields}
        page = await browser.submit("/console/send/form", **given)
        shown = await preview(browser, given)

        changed = re.findall(r'id="([\w-]+)"[^>]* hx-swap-oob="true"', shown.text)
        assert len(changed) > 6
        assert [each for each in changed if page.text.count(f'id="{each}"') != 1] == []


async def test_reviewed_image_need_not_be_sent_again_for_a_preview(browser: Browser) -> None:
    unseen = {name: value for name, value in IMAGE.items() if name != "image_body"}

    typing = await preview(browser, form("mms", **unseen))
    bad = await preview(browser, form("mms", **{**IMAGE, "image_body": "AAAA"}))
    unsent = await review(browser, form("mms", **unseen))

    assert errors(typing) == {}
    assert "<canvas" in typing.text
    assert "JPEG 파일이 아닙니다" in errors(bad)["image"]
    assert "image" in errors(unsent)


async def test_buttons_are_added_moved_and_removed(alimtalk_key: str, browser: Browser) -> None:
    two = {
        "buttons[0].buttonType": "webLink",
        "buttons[0].name": "첫째",
        "buttons[1].buttonType": "channelAddition",
        "buttons[1].name": "둘째",
    }
    names = re.compile(r'name="buttons\[\d\]\.name" type="text" value="([^"]*)"')

    async def after(act: str) -> list[str]:
        fields = talk("friendtalk", alimtalk_key, act=act, **two)
        return names.findall((await browser.submit("/console/send/form", **fields)).text)

    assert await after("add") == ["첫째", "둘째", ""]
    assert await after("up-1") == ["둘째", "첫째"]
    assert await after("up-0") == ["첫째", "둘째"]
    assert await after("remove-0") == ["둘째"]
    for nonsense in ("remove-7", "up-", "up-x", "fly", "remove-٣"):
        assert await after(nonsense) == ["첫째", "둘째"]


async def test_the_fields_of_a_button_follow_its_type(browser: Browser) -> None:
    app = await browser.submit("/console/send/form", kind="friendtalk", **{"buttons[0].buttonType": "appLink"})
    bot = await browser.submit(
        "/console/send/form", kind="friendtalk", **{"buttons[0].buttonType": "botConversion"}
    )

    assert "buttons[0].androidUrl" in app.text
    assert "buttons[0].chatEvent" not in app.text
    assert "buttons[0].chatEvent" in bot.text


async def test_typing_removes_the_confirmation(browser: Browser) -> None:
    looked = await review(browser, form())

    shown = await preview(browser, {**form(), **hidden_fields(looked)})

    assert '<div id="last" hx-swap-oob="true"></div>' in shown.text


async def test_preview_is_cut_where_values_multiply_the_text(browser: Browser) -> None:
    fields = form("lms", content="#{a}" * 2000, receivers=f"01012345678,{'x' * 5000}")

    shown = await preview(browser, fields)

    assert len(shown.text) < 50_000
    assert "x" * 5000 in preview_text(shown)
    assert 'class="size over"' in shown.text


async def test_table_of_receivers_shows_the_first_variables_shortened(browser: Browser) -> None:
    names = [f"n{number}" + "n" * 90 for number in range(25)]
    content = "".join(f"#{{{name}}}" for name in names)

    shown = await preview(browser, form("lms", content=content, receivers="\n".join(["01012345678"] * 5)))

    assert re.findall(r'<th scope="col">(n[0-9n]+…|…)</th>', shown.text) == [
        *(f"{name[:50]}…" for name in names[:20]),
        "…",
    ]


async def test_schedule_without_a_time_is_wrong_only_when_it_is_to_be_sent(browser: Browser) -> None:
    fields = form(later="1", sendDate="")

    typing, checked = await preview(browser, fields), await review(browser, fields)

    assert "sendDate" not in errors(typing)
    assert errors(checked)["sendDate"] == "예약 시각을 입력하세요."


async def test_too_many_typed_lines_lead_to_the_upload(browser: Browser) -> None:
    lines = "\n".join(f"010-1111-{number:04}" for number in range(1001))

    seen = await preview(browser, form(receivers=lines))
    shown = await review(browser, form(receivers=lines))

    assert "1,001명" in seen.text
    assert "‘파일 올리기’로 보내세요" in errors(shown)["receivers"]


async def test_last_look_has_the_subject(browser: Browser) -> None:
    shown = await review(browser, form("lms", subject="#{이름}님께", receivers="010-1111-2222, 홍길동"))

    assert "<dd>홍길동님께</dd>" in shown.text
