import pytest
from hypothesis import given
from hypothesis import strategies as st

from pabal.domain.base.codes import Code, Refused
from pabal.domain.content.button import (
    DEFAULT_NAMES,
    LINK_FIELDS,
    MAX_BUTTONS,
    MAX_BUTTONS_WIDE_IMAGE,
    MAX_ORDER_NUMBER,
    Button,
    fill_button,
    is_web_link,
    links_of,
    parse_buttons,
)
from tests.fixtures.refusals import refused

Fields = dict[str, str | int | None]

WEB = "https://example.com/"
APP = "myapp://open"
FORBIDDEN = [
    "javascript:alert(1)",
    "JavaScript:alert(1)",
    "JAVASCRIPT:alert(1)",
    " javascript:alert(1)",
    "\tjavascript:alert(1)",
    "java\tscript:alert(1)",
    "java\nscript:alert(1)",
    "j a v a s c r i p t : alert(1)",
    "javascript\u00a0:alert(1)",
    "\x01javascript:alert(1)",
    "java\x1bscript:alert(1)",
    "data:text/html,<script>",
    "DATA:text/html,<script>",
    " data:text/html,<script>",
    "da ta:text/html,<script>",
    "\u3000data:text/html,",
]


def wrong_fields(*buttons: Fields, most: int = MAX_BUTTONS) -> list[str]:
    """Return the fields for which these buttons are refused."""
    with pytest.raises(Refused) as refusal:
        parse_buttons(buttons, most)
    assert {problem.code for problem in refusal.value.problems} == {Code.INVALID_BUTTON}
    return [problem.field for problem in refusal.value.problems]


def read_one(**fields: str | int | None) -> Button:
    (button,) = parse_buttons([fields], MAX_BUTTONS)
    return button


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "webLink", "mobile_url": WEB},
        {"type": "appLink", "android_url": APP, "ios_url": APP},
        {"type": "appLink", "android_url": APP, "mobile_url": WEB},
        {"type": "appLink", "ios_url": APP, "mobile_url": WEB},
        {"type": "appLink", "android_url": APP, "ios_url": APP, "mobile_url": WEB, "pc_url": WEB},
        {"type": "channelAddition"},
        {"type": "botKeyword"},
        {"type": "messageDelivery"},
        {"type": "deliveryTracking"},
        {"type": "counselingTalkConversion", "chat_extra": "order-1"},
        {"type": "botConversion", "chat_extra": "order-1", "chat_event": "start"},
    ],
)
def test_each_button_type_accepts_its_required_fields(fields: Fields) -> None:
    button = read_one(**fields)

    assert button.given_fields() == {**fields, "name": DEFAULT_NAMES[str(fields["type"])]}


@pytest.mark.parametrize(
    ("fields", "missing"),
    [
        ({}, ["mobile_url"]),
        ({"type": "webLink"}, ["mobile_url"]),
        ({"type": "webLink", "pc_url": WEB, "android_url": APP, "ios_url": APP}, ["mobile_url"]),
        ({"type": "webLink", "mobile_url": ""}, ["mobile_url"]),
        ({"type": "webLink", "mobile_url": None}, ["mobile_url"]),
        ({"type": "appLink"}, ["android_url"]),
        ({"type": "appLink", "pc_url": WEB}, ["android_url"]),
        ({"type": "appLink", "mobile_url": WEB}, ["android_url"]),
        ({"type": "appLink", "ios_url": APP}, ["android_url"]),
        ({"type": "appLink", "android_url": APP}, ["ios_url"]),
        ({"type": "appLink", "android_url": APP, "pc_url": WEB}, ["ios_url"]),
        ({"type": "counselingTalkConversion"}, ["chat_extra"]),
        ({"type": "counselingTalkConversion", "chat_event": "start"}, ["chat_extra"]),
        ({"type": "botConversion"}, ["chat_extra", "chat_event"]),
        ({"type": "botConversion", "chat_extra": "order-1"}, ["chat_event"]),
        ({"type": "botConversion", "chat_event": "start"}, ["chat_extra"]),
    ],
)
def test_button_without_a_required_field_is_refused(fields: Fields, missing: list[str]) -> None:
    assert wrong_fields(fields) == [f"buttons[0].{field}" for field in missing]


@pytest.mark.parametrize("kind", ["weblink", "WEBLINK", "WL", "link", " webLink", "웹 링크", "0"])
def test_button_of_an_unknown_type_is_refused(kind: str) -> None:
    assert wrong_fields({"type": kind, "mobile_url": WEB}) == ["buttons[0].type"]


@pytest.mark.parametrize("absent", [{}, {"type": None}, {"type": ""}])
def test_button_without_a_type_is_a_web_link(absent: Fields) -> None:
    assert read_one(**absent, mobile_url=WEB).type == "webLink"


@pytest.mark.parametrize("absent", [{}, {"name": None}, {"name": ""}])
def test_button_without_a_name_gets_the_korean_name_of_its_type(absent: Fields) -> None:
    assert read_one(**absent, mobile_url=WEB).name == "웹 링크"
    assert read_one(**absent, type="deliveryTracking").name == "배송 조회"


@pytest.mark.parametrize("character", ["a", "가", "😀"])
def test_name_may_have_at_most_14_characters(character: str) -> None:
    assert read_one(name=character * 14, mobile_url=WEB).name == character * 14

    assert wrong_fields({"name": character * 15, "mobile_url": WEB}) == ["buttons[0].name"]


@pytest.mark.parametrize("most", [MAX_BUTTONS, MAX_BUTTONS_WIDE_IMAGE])
def test_number_of_buttons_is_limited(most: int) -> None:
    one: Fields = {"mobile_url": WEB}
    assert len(parse_buttons([one] * most, most)) == most

    assert wrong_fields(*[one] * (most + 1), most=most) == ["buttons"]


@pytest.mark.parametrize(
    ("orders", "shown"),
    [
        ([None, None, None], "abc"),
        ([3, 1, 2], "bca"),
        ([0, -1, None], "bac"),
        ([2, 2, 1], "cab"),
        ([9, None, None], "bca"),
        ([2, None, None], "abc"),  # a button without a number counts by its position, from 1
        ([3, None, None], "bac"),
    ],
)
def test_buttons_are_ordered_by_their_order_number(orders: list[int | None], shown: str) -> None:
    given_buttons: list[Fields] = [
        {"name": name, "mobile_url": WEB, "order_number": order} for name, order in zip("abc", orders, strict=True)
    ]

    buttons = parse_buttons(given_buttons, MAX_BUTTONS)

    assert "".join(button.name for button in buttons) == shown


@given(st.lists(st.integers(-MAX_ORDER_NUMBER, MAX_ORDER_NUMBER), max_size=5))
def test_ordering_is_stable_and_loses_no_button(orders: list[int]) -> None:
    given_buttons: list[Fields] = [
        {"name": str(index), "mobile_url": WEB, "order_number": order} for index, order in enumerate(orders)
    ]

    buttons = parse_buttons(given_buttons, MAX_BUTTONS)

    assert [(b.order_number, b.name) for b in buttons] == sorted(
        (order, str(index)) for index, order in enumerate(orders)
    )


@pytest.mark.parametrize("field", ["mobile_url", "pc_url"])
@pytest.mark.parametrize("link", ["http://a", "https://a", "HTTP://a", "HttpS://example.com/?q=#{a}", WEB])
def test_web_link_starts_with_http_or_https(field: str, link: str) -> None:
    button = read_one(**{"mobile_url": WEB, field: link})

    assert getattr(button, field) == link


@pytest.mark.parametrize("field", ["mobile_url", "pc_url"])
@pytest.mark.parametrize(
    "link",
    [
        "example.com",
        "//example.com",
        "/path",
        "http:example.com",
        "http:/example.com",
        "ftp://example.com",
        "myapp://open",
        " https://example.com",
        "\thttps://example.com",
        "x https://example.com",
        "httpss://example.com",
        "https#{a}://example.com",
        *FORBIDDEN,
    ],
)
def test_link_without_http_scheme_is_not_a_web_link(field: str, link: str) -> None:
    assert not is_web_link(link)
    assert wrong_fields({"mobile_url": WEB, field: link}) == [f"buttons[0].{field}"]


@pytest.mark.parametrize("field", ["android_url", "ios_url"])
@pytest.mark.parametrize(
    "link",
    [
        "myapp://open",
        "intent://scan/#Intent;scheme=zxing;end",
        "market://details?id=a",
        "tel:0212345678",
        "http://a",
        WEB,
        "kakaotalk://?to=javascript:1",
        "myapp://#{page}",
        "mydata:1",
    ],
)
def test_app_link_may_have_any_other_scheme(field: str, link: str) -> None:
    button = read_one(**{"type": "webLink", "mobile_url": WEB, field: link})

    assert getattr(button, field) == link


@pytest.mark.parametrize("field", ["android_url", "ios_url"])
@pytest.mark.parametrize("link", [*FORBIDDEN, "open", "/open"])
def test_app_link_that_runs_a_script_or_has_no_scheme_is_refused(field: str, link: str) -> None:
    assert wrong_fields({"mobile_url": WEB, field: link}) == [f"buttons[0].{field}"]


@pytest.mark.parametrize("field", LINK_FIELDS)
def test_link_may_have_at_most_2000_characters(field: str) -> None:
    longest = WEB + "a" * (2000 - len(WEB))
    assert getattr(read_one(**{"mobile_url": WEB, field: longest}), field) == longest

    assert wrong_fields({"mobile_url": WEB, field: longest + "a"}) == [f"buttons[0].{field}"]


@pytest.mark.parametrize("field", ["chat_extra", "chat_event"])
def test_chat_extra_may_have_at_most_50_characters(field: str) -> None:
    fields: Fields = {"type": "botConversion", "chat_extra": "a", "chat_event": "a"}
    assert getattr(read_one(**{**fields, field: "가" * 50}), field) == "가" * 50

    assert wrong_fields({**fields, field: "가" * 51}) == [f"buttons[0].{field}"]


def test_every_wrong_field_of_every_button_is_named() -> None:
    assert wrong_fields(
        {"mobile_url": WEB},
        {"name": "가" * 15, "mobile_url": "example.com", "ios_url": "data:,"},
        {"type": "nothing"},
        {"type": "botConversion"},
    ) == [
        "buttons[1].name",
        "buttons[1].mobile_url",
        "buttons[1].ios_url",
        "buttons[2].type",
        "buttons[3].chat_extra",
        "buttons[3].chat_event",
    ]


def test_wrong_fields_are_named_by_their_position_as_given() -> None:
    assert wrong_fields({"mobile_url": WEB, "order_number": 9}, {"order_number": 1}) == ["buttons[1].mobile_url"]


def test_target_is_preserved() -> None:
    assert read_one(mobile_url=WEB, target="out").given_fields()["target"] == "out"


@pytest.mark.parametrize("field", LINK_FIELDS)
@pytest.mark.parametrize("link", ["#{link}", "#{scheme}://example.com", "#{scheme}"])
def test_link_that_begins_with_a_variable_is_checked_when_filled(field: str, link: str) -> None:
    button = read_one(**{"mobile_url": WEB, field: link})

    done = fill_button(button, {"link": "https://example.com", "scheme": "https://a"})

    assert is_web_link(getattr(done, field))
    for value in FORBIDDEN:
        with refused(Code.INVALID_BUTTON, field):
            fill_button(button, {"link": value, "scheme": value})


@pytest.mark.parametrize("link", ["#{unclosed", "#{}", "#{{a}}"])
def test_link_with_a_malformed_leading_variable_is_refused_when_filled(link: str) -> None:
    with refused(Code.INVALID_BUTTON):
        fill_button(Button("webLink", "a", mobile_url=link), {})


def test_only_variables_in_links_are_filled() -> None:
    button = Button(
        "webLink",
        "#{a}",
        f"{WEB}#{{a}}",
        f"{WEB}#{{b}}",
        "myapp://#{a}#{b}",
        "myapp://#{b}",
        chat_extra="#{a}",
    )

    done = fill_button(button, {"a": "1", "b": "#{a}"})

    assert done == Button(
        "webLink", "#{a}", f"{WEB}1", f"{WEB}#{{a}}", "myapp://1#{a}", "myapp://#{a}", chat_extra="#{a}"
    )


def test_filled_link_may_not_exceed_its_limit() -> None:
    button = Button("webLink", "a", mobile_url=f"{WEB}#{{a}}")
    room = 2000 - len(WEB)
    assert len(links_of([fill_button(button, {"a": "x" * room})])[0]) == 2000

    with refused(Code.INVALID_BUTTON):
        fill_button(button, {"a": "x" * (room + 1)})


@pytest.mark.parametrize("value", ["\0", "\ud800"])
def test_nul_and_lone_surrogates_in_a_link_variable_are_refused(value: str) -> None:
    with refused(Code.UNSUPPORTED_CHARACTER):
        fill_button(Button("webLink", "a", mobile_url=f"{WEB}#{{a}}"), {"a": value})


def test_links_of_buttons_are_in_order() -> None:
    buttons = [
        Button("webLink", "a", "https://m1", "https://p1"),
        Button("channelAddition", "b"),
        Button("appLink", "c", None, None, "a://3", "i://3"),
    ]

    assert links_of(buttons) == ["https://m1", "https://p1", "a://3", "i://3"]


@pytest.mark.parametrize("order", [MAX_ORDER_NUMBER + 1, -MAX_ORDER_NUMBER - 1])
def test_order_number_beyond_its_limit_is_refused(order: int) -> None:
    assert wrong_fields({"name": "보기", "mobile_url": WEB, "order_number": order}) == ["buttons[0].order_number"]


def test_link_with_an_unclosed_variable_is_refused_before_filling() -> None:
    assert wrong_fields({"name": "보기", "mobile_url": "#{link"}) == ["buttons[0].mobile_url"]
