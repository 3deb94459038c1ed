"""The page of the visual language: every token and every component, as pages use them."""

import re
from functools import cache
from typing import NamedTuple

from starlette.responses import Response

from pabal.console.history.phone import BrandPreview
from pabal.console.send.summary import DAY_MS, MORNING
from pabal.console.sheets.mapping import PHONE, MappedColumn
from pabal.console.shell.page_request import PageRequest, Toast
from pabal.console.shell.rendering import load_assets
from pabal.domain.base.codes import Text

COMPONENTS_PATH = "/console/components"
_TOKEN = re.compile(r"--([a-z0-9-]+): ([^;]+);")
_SYMBOL = re.compile(r'symbol id="(\w+)"')
STATES = ("completed", "fail", "sending", "scheduled", "cancel")
BRAND = (
    BrandPreview("product", title="Winter coat", price="27,000원", regular="30,000원", discount="10%"),
    BrandPreview("item", title="Autumn", has_image=True),
    BrandPreview("item", title="Gloves", has_image=True),
    BrandPreview("card", title="First card", text="It scrolls.", has_image=True, buttons=(("Open", ""),)),
    BrandPreview("card", title="Second card", has_image=True),
    BrandPreview("coupon", title="10%", text="until 11/30"),
)
"""Parts of brand messages, one of each."""
COLUMNS = (MappedColumn("A", ("010-1234-5678",), PHONE), MappedColumn("B", ("VIP",), ""))


class Tokens(NamedTuple):
    """The names of tokens, by what they are for."""

    colors: list[str]
    others: list[tuple[str, str]]
    """Name and value."""


@cache
def read_tokens() -> Tokens:
    """Return the tokens of the style sheets."""
    light = load_assets()["tokens.css"].body.decode().partition("@media")[0]
    found = _TOKEN.findall(light)
    colors = [name for name, value in found if value.startswith("#")]
    return Tokens(colors, [(name, value) for name, value in found if not value.startswith("#")])


async def show_components(request: PageRequest) -> Response:
    """Show every component."""
    return request.render(
        "components/components.html",
        tokens=read_tokens(),
        icons=_SYMBOL.findall(load_assets()["icons.svg"].body.decode()),
        states=STATES,
        brand=BRAND,
        columns=COLUMNS,
        toast=Toast(request.t("components.sample")),
        tomorrow=request.minute(request.now + DAY_MS)[:10] + MORNING,
    )


TEXTS = {
    "components.title": Text("화면 요소", "Components"),
    "components.about": Text(
        "콘솔이 쓰는 색, 간격, 글자, 요소를 실제 모습으로 보여 줍니다. 테스트 환경에서만 열립니다.",
        "Every colour, distance, size and component of the console, live. It opens in test environments only.",
    ),
    "components.tokens": Text("토큰", "Tokens"),
    "components.buttons": Text("버튼: 화면마다 주 버튼은 하나", "Buttons: one main button a page"),
    "components.main": Text("주 버튼", "Main"),
    "components.beside": Text("보조 버튼", "Beside it"),
    "components.text": Text("글자 버튼", "Text"),
    "components.danger": Text("되돌릴 수 없는 일", "What cannot be undone"),
    "components.choices": Text("선택", "Choices"),
    "components.lists": Text("목록, 필터, 숫자", "Lists, filters and figures"),
    "components.fields": Text("입력", "Fields"),
    "components.parts": Text("부분과 목록의 작업", "Parts, and actions of lists"),
    "components.states": Text("상태와 알림", "States and notices"),
    "components.waiting": Text("기다림", "Waiting"),
    "components.previews": Text("휴대폰", "Phones"),
    "components.icons": Text("아이콘", "Icons"),
    "components.sample": Text("보기", "Sample"),
    "components.first": Text("첫째", "First"),
    "components.second": Text("둘째", "Second"),
    "components.third": Text("셋째", "Third"),
    "components.next": Text(
        "아직 없습니다. 다음에 할 일을 여기에 씁니다.", "There is nothing yet. Here stands what to do next."
    ),
}
