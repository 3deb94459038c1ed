"""One main button a page: every page is walked, as an owner and as an operator, with things to show and without."""

from html.parser import HTMLParser

import pytest

from pabal.domain.people.user import Role
from tests.console.test_roles import every_path, things
from tests.fixtures.console import signed_in_browser
from tests.fixtures.virtual import Environment

OK = 200
VOID = ("input", "br", "img", "link", "meta", "hr")
WITHOUT = {"/console/accounts": "each account is a button", "/console/components": "shows every level"}
"""Pages that the rule does not fit."""


class _Counter(HTMLParser):
    """Counts the main buttons of a page, and its forms that change something, outside of what is folded."""

    def __init__(self) -> None:
        super().__init__()
        self.mains: list[str] = []
        self.forms: list[str] = []
        self._open: list[tuple[str, bool]] = []
        self._reads_main = False

    @property
    def _is_folded(self) -> bool:
        return any(is_folded for _, is_folded in self._open)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        opened = {name for name, _ in self._open}
        is_in_content = "main" in opened
        if is_in_content and not self._is_folded:
            if tag in ("a", "button", "summary") and "main" in (given.get("class") or "").split():
                self.mains.append("")
                self._reads_main = True
            if tag == "form" and given.get("method") == "post" and "table" not in opened:
                self.forms.append(given.get("action") or "")
        if tag not in VOID:
            self._open.append((tag, tag == "details" and "open" not in given))

    def handle_data(self, data: str) -> None:
        if self._reads_main and self.mains:
            self.mains[-1] += data.strip()

    def handle_endtag(self, tag: str) -> None:
        if tag in ("a", "button", "summary"):
            self._reads_main = False
        places = [place for place, (name, _) in enumerate(self._open) if name == tag]
        self._open = self._open[: places[-1]] if places else self._open


def count(html: str) -> _Counter:
    """Return what a page has."""
    counter = _Counter()
    counter.feed(html)
    return counter


@pytest.mark.parametrize("role", [Role.OWNER, Role.OPERATOR])
async def test_every_page_with_a_form_has_one_main_button_and_no_page_has_two(env: Environment, role: Role) -> None:
    named = await things(env)
    browser = await signed_in_browser(env, role)
    wrong: dict[str, list[str]] = {}
    for page, path in every_path(named):
        if page.method != "GET" or page.path in WITHOUT:
            continue
        shown = await browser.get(path)
        if shown.status != OK or "<main" not in shown.text:
            continue
        found = count(shown.text)
        if len(found.mains) > 1 or (found.forms and not found.mains):
            wrong[path] = found.mains or found.forms

    assert wrong == {}
