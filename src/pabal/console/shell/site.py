"""What all pages share: the context, the templates, the files, and which pages there are."""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader, StrictUndefined, nodes
from jinja2.visitor import NodeTransformer

from pabal.console.shell import assets
from pabal.console.shell.page_request import HOME, Page
from pabal.console.texts import say
from pabal.domain.codes import LANGUAGES
from pabal.domain.user import Role
from pabal.service.access.passwords import HashingThreads
from pabal.service.context import Context
from pabal.settings.settings import Settings

if TYPE_CHECKING:
    from pabal.console.shell.page_request import Visit

HTMX = (
    '{"includeIndicatorStyles":false,"allowEval":false,"allowScriptTags":false,"selfRequestsOnly":true,'
    '"historyCacheSize":0,"refreshOnHistoryMiss":true,"timeout":20000,'
    '"defaultSettleDelay":0,"attributesToSettle":[]}'
)
"""No style or script is put into a page, and nothing of a page is kept in the browser.

A part that has come in is heard at once: with htmx's usual pause, what is typed within 20 ms would not be. It is
shown as it came: htmx would first give it the looks of what it replaces.
"""


class Rooms:
    """The pages of the console, ready to be shown."""

    def __init__(
        self, context: Context, pages: Iterable[Page], settings: Settings, *, has_simulator: bool, is_test: bool
    ) -> None:
        self.context = context
        self.settings = settings
        self.is_test_environment = is_test
        """Whether the simulator is the only carrier, so that nothing leaves the machine."""
        self.beside = HashingThreads(context.world)
        self.pages = [page for page in pages if has_simulator or not page.is_for_simulator]
        self.assets = assets.load()
        self._templates = {locale: _environment(locale) for locale in LANGUAGES}
        self._may = {(page.path, page.method): page.may for page in self.pages}

    def is_for(self, path: str, method: str, role: Role) -> bool:
        """Say whether there is such a page for this role."""
        if (path, method) not in self._may:
            return False
        may = self._may[path, method]
        return may is None or role in may

    def menu(self, visit: "Visit") -> list[tuple[str, str, bool]]:
        """Return path and name of each page in the visitor's menu, and whether it is the one shown."""
        if visit.session is None:
            return []
        here = visit.request.url.path
        return [
            (
                page.path,
                visit.say(page.menu),
                here == page.path or (page.path != HOME and here.startswith(f"{page.path}/")),
            )
            for page in self.pages
            if page.menu and page.may is not None and visit.user.role in page.may
        ]

    def render(self, template: str, visit: "Visit", values: Mapping[str, object]) -> str:
        """Return a page as text, every value in it escaped."""
        return (
            self._templates[visit.speech.language]
            .get_template(template)
            .render({"visit": visit, "say": visit.say, "words": visit.words, "menu": self.menu(visit), **values})
        )


class _Spoken(Environment):
    """Templates in one language: words that need no value are put in when they are compiled."""

    def __init__(self, locale: str) -> None:
        super().__init__(
            loader=PackageLoader("pabal.console", ""),
            autoescape=True,
            undefined=StrictUndefined,
            auto_reload=False,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        addresses = {name: each.address for name, each in assets.load().items()}
        self.globals |= {"asset": addresses.__getitem__, "htmx_config": HTMX, "locales": LANGUAGES}
        self._speaker = _Speaker(locale)

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        # Here because jinja2 has no public place between reading a template and compiling it.
        parsed: nodes.Template = self._speaker.visit(super()._parse(source, name, filename))
        return parsed


class _Speaker(NodeTransformer):
    """Puts words where a template says their key."""

    def __init__(self, locale: str) -> None:
        self._locale = locale

    def visit_Call(self, node: nodes.Call) -> nodes.Node:
        self.generic_visit(node)
        is_say = isinstance(node.node, nodes.Name) and node.node.name == "say"
        if not is_say or len(node.args) != 1 or node.kwargs or not isinstance(node.args[0], nodes.Const):
            return node
        return nodes.Const(say(self._locale, node.args[0].value), lineno=node.lineno)


@cache
def _environment(locale: str) -> Environment:
    """Return the templates in a language, all compiled; half a second, so it is done once a process."""
    found = _Spoken(locale)
    for name in found.list_templates(["html"]):
        found.get_template(name)
    return found
