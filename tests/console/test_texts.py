"""Every word of the console exists in both languages, is used, and says the same things."""

import re
from pathlib import Path
from string import Formatter

from pabal.console.history import advice
from pabal.console.table import PAGES
from pabal.console.texts import TEXTS
from pabal.domain.codes import LANGUAGES
from pabal.domain.message import Outcome, Status

FOLDER = Path(advice.__file__).parents[1]
SOURCES = [file for file in (*FOLDER.rglob("*.py"), *FOLDER.rglob("*.html")) if not file.stem.endswith("texts")]
TEXT = "\n".join(file.read_text(encoding="utf-8") for file in SOURCES)
HANGUL = re.compile("[가-힣]")
USED_KEYS = set(re.findall(r"""["']([\w.]+\w)["']\|t\b""", TEXT)) | set(
    re.findall(r"""\.t\(\s*["']([\w.]+\w)["']""", TEXT)
)
MADE = re.compile(r"""["']([a-z_]+\.)(?:["'] ~|\{)""")
"""Keys that are put together: the part before, such as `hitimeline.`."""


def fields(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


def test_both_languages_have_words_and_put_in_the_same_values() -> None:
    for key, words in TEXTS.texts.items():
        assert words.ko.strip(), key
        assert words.en.strip(), key
        assert fields(words.ko) == fields(words.en), key
        assert key.startswith(("language.", "send_ad.")) or not HANGUL.search(words.en), key


def test_every_key_that_is_said_has_words() -> None:
    assert set(TEXTS.texts) >= USED_KEYS
    assert len(USED_KEYS) > 50


def test_every_word_is_said_somewhere() -> None:
    begun = set(MADE.findall(TEXT))
    quoted = set(re.findall(r"""["']([\w.]+)["']""", TEXT))

    unused = [key for key in TEXTS.texts if key not in quoted and not key.startswith(tuple(begun))]

    assert unused == []
    assert begun


def test_values_are_put_in() -> None:
    for locale in LANGUAGES:
        assert "7" in TEXTS.translate(locale, "sign_in.throttled", minutes=7)


def test_no_template_has_words_of_its_own() -> None:
    for file in FOLDER.rglob("*.html"):
        assert not HANGUL.search(file.read_text(encoding="utf-8")), file.name


def test_every_outcome_comes_with_advice_and_every_end_with_a_moment() -> None:
    assert set(advice.ADVICE) == set(Outcome)
    for words in advice.ADVICE.values():
        assert HANGUL.search(words.ko)
        assert not HANGUL.search(words.en)
    for status in (Status.COMPLETED, Status.FAIL, Status.CANCEL):
        assert f"timeline.{status.word}" in TEXTS.texts
    for verdict in ("busy", "unknown", "declined"):
        assert f"timeline.{verdict}" in TEXTS.texts


def test_every_place_in_the_menu_has_a_name() -> None:
    assert {page.menu for page in PAGES if page.menu} <= set(TEXTS.texts)
