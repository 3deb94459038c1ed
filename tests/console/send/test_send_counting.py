"""The size that the send page shows is the one that the API counts, on random texts."""

import html
import random
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from tests.fixtures.console import Browser
from tests.fixtures.console_send import errors, form, preview, review
from tests.fixtures.engines import sqlite_only
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import SENDER

SEED = 20261115
FILLER = "x" * 90 + "\n"
"""Too long by itself, so that the API tells the size of whatever stands behind it; nothing merges with it."""
A_CALL = 100
TEXTS = 300
ALPHABETS: Sequence[str] = (
    "".join(map(chr, range(32, 127))),
    "가각힣뷁쀍믜똠방각하햏" + "ㄱㄴㅏㅑ",
    "".join(map(chr, range(0x1100, 0x1113))) + "".join(map(chr, range(0x1161, 0x1176))) + "ᆨᆫᆯ",
    "①㈜™※→♡♥★ⅣⅰαΩЖ漢字龍あア한글",
    "é̈ñçÅǖ́ö́",
    "😀👍🇰🇷❤️‍🔥👩‍👩‍👧",
    "\n\r\t \u3000\u00a0\u200b\ufeff",
    "#{}이름",
)


class Counted(NamedTuple):
    """What is said of a text: how long it is, or which characters cannot be sent."""

    size: int | None
    lost: frozenset[str]


def texts(count: int) -> list[str]:
    """Return random texts, of every script that people type and of every code that there is."""
    dice = random.Random(SEED)
    found: list[str] = []
    while len(found) < count:
        picked = dice.sample(ALPHABETS, dice.randint(1, 3))
        characters = [dice.choice(dice.choice(picked)) for _ in range(dice.randint(1, 70))]
        if dice.random() < 0.2:
            characters.insert(dice.randrange(len(characters)), chr(dice.randint(1, 0xD7FF)))
        found.append("".join(characters))
    return found


async def by_the_interface(call: Caller, given: Sequence[str]) -> list[Counted]:
    """Return what the API says of texts, each the value of a receiver's variable."""
    receivers = [{"phoneNumber": f"010-1111-{n:04}", "templateData": {"t": one}} for n, one in enumerate(given)]
    body = {"content": f"{FILLER}#{{t}}", "sender": SENDER, "receivers": receivers}
    answer = await call("message/sendSMS", body)
    problems: list[Any] = answer.body["errors"]
    assert len(problems) == len(given)
    return [_counted(each["message"]) for each in problems]


def _counted(message: str) -> Counted:
    size = re.search(r"바이트인데 (\d+)바이트", message)
    if size:
        return Counted(int(size[1]) - len(FILLER), frozenset())
    return Counted(None, frozenset(chr(int(code, 16)) for code in re.findall(r"U\+([0-9A-F]{4,6})", message)))


async def by_the_page(browser: Browser, csrf: str, given: str) -> Counted:
    """Return what the page says of a text that someone types."""
    shown = await browser.post("/console/send/look", {**form(content=given, receivers=""), "csrf": csrf})
    lost = re.search(r'data-lost="([^"]*)"', shown.text)
    size = re.search(r'data-size="(\d+)"', shown.text)
    assert size
    if lost:
        return Counted(None, frozenset(html.unescape(lost[1])))
    return Counted(int(size[1]), frozenset())


@sqlite_only
async def test_the_page_counts_as_the_interface_does(env: Environment, call: Caller, browser: Browser) -> None:
    csrf = await browser.csrf()
    every = texts(TEXTS)
    for start in range(0, TEXTS, A_CALL):
        given = every[start : start + A_CALL]

        expected = await by_the_interface(call, given)

        for text, one in zip(given, expected, strict=True):
            assert await by_the_page(browser, csrf, text) == one, ascii(text)


async def test_count_leaves_out_those_who_cannot_be_sent_to(browser: Browser) -> None:
    lines = "010-1111-2222\n010-1111-2222\n119\nabc1\n010-3333-4444"

    shown = await preview(browser, form(receivers=lines))

    text = " ".join(re.sub("<[^>]+>", " ", shown.text).split())
    assert "발송할 수 있는 수신자 2명 · 중복 1건 제외 · 발송할 수 없는 수신자 2명" in text


async def test_too_many_typed_lines_lead_to_the_upload(browser: Browser) -> None:
    lines = "\n".join(f"010-1111-{number:04}" for number in range(1001))

    seen = await preview(browser, form(receivers=lines))
    shown = await review(browser, form(receivers=lines))

    assert "1,001명" in seen.text
    assert "‘파일 올리기’로 보내세요" in errors(shown)["receivers"]


async def test_last_look_has_the_subject(browser: Browser) -> None:
    shown = await review(browser, form("lms", subject="#{이름}님께", receivers="010-1111-2222, 홍길동"))

    assert "<dd>홍길동님께</dd>" in shown.text
