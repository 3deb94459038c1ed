"""Every word of the console exists in both languages, is used, and says the same things."""

import re
from pathlib import Path
from string import Formatter

from pabal.console.history import codes
from pabal.console.pages import PAGES, TEXTS
from pabal.console.shell import rendering
from pabal.console.shell.site import MENU_GROUPS
from pabal.domain.base.codes import LANGUAGES
from pabal.domain.sends.message import Outcome, Status

FOLDER = Path(codes.__file__).parents[1]
SOURCES = [*FOLDER.rglob("*.py"), *FOLDER.rglob("*.html")]
DEFINITION = re.compile(r"""^ +"[\w.]+": (?=Text\()""", re.MULTILINE)
TEXT = "\n".join(DEFINITION.sub("", file.read_text(encoding="utf-8")) for file in SOURCES)
"""The console's sources, without the keys where texts are defined."""
HANGUL = re.compile("[가-힣]")
USED_KEYS = set(re.findall(r"""["']([\w.]+\w)["']\|t\b""", TEXT)) | set(
    re.findall(r"""\.t\(\s*["']([\w.]+\w)["']""", TEXT)
)
MADE = re.compile(r"""["']([a-z_.]+\.)(?:["'] ~|\{)""")
"""Keys that are put together: the part before, such as `hitimeline.`."""


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_both_languages_have_texts_with_the_same_values() -> None:
    for key, words in TEXTS.texts.items():
        assert words.ko.strip(), key
        assert words.en.strip(), key
        assert fields(words.ko) == fields(words.en), key
        assert key.startswith(("language.", "send_ad.")) or not HANGUL.search(words.en), key


def test_every_used_key_has_a_text() -> None:
    assert set(TEXTS.texts) >= USED_KEYS
    assert len(USED_KEYS) > 50


def test_every_text_is_used() -> None:
    begun = set(MADE.findall(TEXT))
    quoted = set(re.findall(r"""["']([\w.]+)["']""", TEXT))

    unused = [key for key in TEXTS.texts if key not in quoted and not key.startswith(tuple(begun))]

    assert unused == []
    assert begun


def test_values_are_put_in() -> None:
    for locale in LANGUAGES:
        assert "7" in TEXTS.translate(locale, "sign_in.throttled", seconds=7)


def test_templates_contain_no_korean_text() -> None:
    for file in FOLDER.rglob("*.html"):
        assert not HANGUL.search(file.read_text(encoding="utf-8")), file.name


def test_every_outcome_has_advice_and_every_final_status_a_text() -> None:
    assert set(codes.ADVICE) == set(Outcome)
    for words in codes.ADVICE.values():
        assert HANGUL.search(words.ko)
        assert not HANGUL.search(words.en)
    for status in (Status.COMPLETED, Status.FAIL, Status.CANCEL):
        assert f"timeline.{status.code}" in TEXTS.texts
    for verdict in ("accepted", "away", "busy", "declined", "rejected", "unknown", "unmapped"):
        assert f"timeline.verdict.{verdict}" in TEXTS.texts
    for event in ("accepted", "scheduled", "submitted", "receipt", "fallback", "fallback_made", "code"):
        assert f"timeline.{event}" in TEXTS.texts


def test_every_menu_item_has_a_text_a_group_and_an_icon() -> None:
    pages = {page.menu for page in PAGES if page.menu}
    grouped = [key for keys in MENU_GROUPS.values() for key in keys]
    assert pages == set(grouped)
    assert len(grouped) == len(set(grouped))
    assert pages | set(filter(None, MENU_GROUPS)) <= set(TEXTS.texts)
    icons = rendering.load_assets()["icons.svg"].body.decode()
    drawn = set(re.findall(r'symbol id="(\w+)"', icons))
    others = set(re.findall(r"icons\.svg'\) \}\}#(\w+)", TEXT))
    assert drawn == {key.removeprefix("menu.") for key in pages} | others
