import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pabal.domain.base.codes import Code
from pabal.domain.content.button import Button, decode_buttons, encode_buttons
from pabal.domain.sends import sending
from pabal.domain.sends.message import Product
from pabal.domain.sends.sending import Receiver, Sending
from tests.fixtures.refusals import refused

WEB = "https://example.com/"
optional_text = st.none() | st.text(st.characters(exclude_categories=["Cs"]))
buttons = st.builds(
    Button,
    st.text(st.characters(exclude_categories=["Cs"])),
    st.text(st.characters(exclude_categories=["Cs"])),
    *[optional_text] * 7,
    st.none() | st.integers(),
)


@pytest.mark.parametrize(("receivers", "lane"), [(1, 0), (10, 0), (11, 1), (1000, 1)])
def test_small_send_uses_lane_0_and_campaign_lane_1(receivers: int, lane: int) -> None:
    made = Sending(Product.SMS, "a", [Receiver("01012345678")] * receivers)

    assert made.lane == lane


@pytest.mark.parametrize(
    ("product", "fits", "is_too_long"),
    [
        (Product.SMS, "가" * 45, "가" * 46),
        (Product.SMS, "a" * 90, "a" * 91),
        (Product.LMS, "가" * 1000, "가" * 1000 + "a"),
        (Product.MMS, "a" * 2000, "a" * 2001),
        (Product.ALIMTALK, "😀" * 1300, "😀" * 1301),
        (Product.FRIENDTALK_TEXT, "가" * 1000, "가" * 1001),
        (Product.FRIENDTALK_IMAGE, "é" * 400, "é" * 401),
        (Product.FRIENDTALK_WIDE_IMAGE, "₩" * 76, "₩" * 77),
    ],
)
def test_each_product_has_its_limit(product: Product, fits: str, is_too_long: str) -> None:
    sending.check_text(product, fits)

    with refused(Code.CONTENT_TOO_LONG):
        sending.check_text(product, is_too_long)


@pytest.mark.parametrize("product", [Product.SMS, Product.LMS, Product.MMS])
@pytest.mark.parametrize("character", ["😀", "₩", "é"])
def test_texts_refuse_what_phones_cannot_show(product: Product, character: str) -> None:
    with refused(Code.UNSUPPORTED_CHARACTER) as refusal:
        sending.check_text(product, character)

    assert character in refusal.value.problems[0].message("ko")


@pytest.mark.parametrize(
    "product",
    [
        Product.ALIMTALK,
        Product.FRIENDTALK_TEXT,
        Product.FRIENDTALK_IMAGE,
        Product.FRIENDTALK_WIDE_IMAGE,
    ],
)
def test_alimtalk_and_friend_talk_accept_any_unicode(product: Product) -> None:
    sending.check_text(product, "😀 ₩ é 👨‍👩‍👧")


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ("a\r\nb", "<a\nb>"),
        (unicodedata.normalize("NFD", "홍길동"), "<홍길동>"),
        ("", "<>"),
    ],
)
def test_filled_text_is_cleaned(value: str, content: str) -> None:
    assert sending.fill_text("<#{a}>", ("a",), (value,)) == content


def test_filled_text_is_cleaned_as_a_whole() -> None:
    """A value may begin with a character that combines with the letter before it."""
    assert sending.fill_text("e#{a}", ("a",), ("\u0301",)) == "é"
    assert sending.fill_text("하#{a}", ("a",), ("\u11ab",)) == "한"
    assert sending.fill_text("a\r#{a}", ("a",), ("\nb",)) == "a\nb"


def test_buttons_are_filled_with_receiver_values() -> None:
    made = (Button("webLink", "a", f"{WEB}#{{id}}"), Button("channelAddition", "b"))

    assert sending.fill_buttons(made, ("name", "id"), ("x", "42")) == (
        Button("webLink", "a", f"{WEB}42"),
        Button("channelAddition", "b"),
    )
    assert sending.fill_buttons(made[1:], (), ()) == made[1:]


def test_reference_may_have_at_most_64_characters() -> None:
    sending.check_reference("가" * 64)

    with refused(Code.INVALID_PARAMETER):
        sending.check_reference("가" * 65)


@pytest.mark.parametrize(
    ("made", "text"),
    [
        ([], "본문"),
        ([Button("webLink", "보기", WEB)], f"본문\n보기: {WEB}"),
        (
            [Button("webLink", "하나", f"{WEB}1", f"{WEB}pc"), Button("webLink", "둘", f"{WEB}2")],
            f"본문\n하나: {WEB}1\n둘: {WEB}2",
        ),
        ([Button("appLink", "앱", WEB, None, "a://", "i://")], "본문"),
        ([Button("channelAddition", "채널 추가"), Button("deliveryTracking", "배송 조회")], "본문"),
        ([Button("channelAddition", "채널 추가"), Button("webLink", "보기", WEB)], f"본문\n보기: {WEB}"),
    ],
)
def test_fallback_is_the_body_and_one_line_per_web_link(made: list[Button], text: str) -> None:
    assert sending.fallback_text("본문", made) == text


@pytest.mark.parametrize(
    ("content", "product"),
    [
        ("a", Product.SMS),
        ("가" * 45, Product.SMS),
        ("뷁" * 45, Product.SMS),
        ("a" * 90, Product.SMS),
        ("a" * 91, Product.LMS),
        ("가" * 46, Product.LMS),
        ("가" * 1000, Product.LMS),
        ("a" * 2000, Product.LMS),
    ],
)
def test_fallback_uses_the_smallest_text_type_that_fits(content: str, product: Product) -> None:
    assert sending.choose_text_product(content) == (product, content)


@pytest.mark.parametrize("content", ["a" * 2001, "가" * 1001, "😀", "₩", "café", "가" * 45 + "😀"])
def test_fallback_too_long_for_any_text_is_none(content: str) -> None:
    assert sending.choose_text_product(content) is None


@given(st.lists(buttons, max_size=5).map(tuple))
def test_encoded_buttons_decode_to_the_same_buttons(made: tuple[Button, ...]) -> None:
    assert decode_buttons(encode_buttons(made)) == made


def test_no_buttons_encode_to_an_empty_value() -> None:
    assert encode_buttons(()) is None
    assert decode_buttons(None) == ()
