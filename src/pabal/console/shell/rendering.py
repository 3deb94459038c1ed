"""The texts, templates and static files of pages; templates are compiled when they are first needed."""

import gzip
import hashlib
import re
from collections.abc import Iterable, Mapping
from functools import cache, partial
from importlib import resources
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from pabal.domain.base.codes import LANGUAGES, Text

BASE = "/console/static/"
HASH_CHARACTERS = 12
CACHE_FOREVER = "public, max-age=31536000, immutable"
_MEDIA_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}


class Asset(NamedTuple):
    """A file, as it is and compressed."""

    name: str
    address: str
    media_type: str
    body: bytes
    compressed: bytes


@cache
def load_assets() -> dict[str, Asset]:
    """Return every file by the name that templates use."""
    folder = resources.files("pabal.console").joinpath("static")
    files = [file for file in folder.iterdir() if file.name.rpartition(".")[2] in _MEDIA_TYPES]
    return {file.name: _asset(file.name, file.read_bytes()) for file in files}


def _asset(name: str, body: bytes) -> Asset:
    stem, _, extension = name.rpartition(".")
    digest = hashlib.sha256(body).hexdigest()[:HASH_CHARACTERS]
    address = f"{BASE}{stem}.{digest}.{extension}"
    return Asset(name, address, _MEDIA_TYPES[extension], body, gzip.compress(body, mtime=0))


HTMX_CONFIG = (
    '{"includeIndicatorStyles":false,"allowEval":false,"allowScriptTags":false,"selfRequestsOnly":true,'
    '"historyCacheSize":0,"refreshOnHistoryMiss":true,"timeout":20000,'
    '"defaultSettleDelay":0,"attributesToSettle":[],'
    '"responseHandling":[{"code":"204","swap":false},{"code":"[23]..","swap":true},'
    '{"code":"403|409","swap":true,"error":true},{"code":"[45]..","swap":false,"error":true}]}'
)
"""htmx adds no style or script to a page and keeps no page in the browser.

It settles without delay: otherwise it would miss what is typed within 20 ms after a swap. It settles no
attributes: otherwise new content would first look like the content that it replaces. The page of a form that is
refused with 403 or 409 replaces the open one: the user must see that nothing was done.
"""
SHARED_TEMPLATES = ("shell/layout.html", "shell/fields.html", "shell/toast.html")
"""What every page consists of."""


class TextCatalog:
    """Texts by key; two parts must not define the same key."""

    def __init__(self, *parts: Mapping[str, Text]) -> None:
        self.texts = {key: text for part in parts for key, text in part.items()}
        assert len(self.texts) == sum(len(part) for part in parts), "two parts define the same key"

    def __contains__(self, key: str) -> bool:
        return key in self.texts

    def translate(self, language: str, key: str, **values: object) -> str:
        """Return the text of a key in a language, with its values filled in; pages escape all of it."""
        return self.texts[key].in_language(language).format(**values)


def day_and_time(minute: str) -> str:
    """Return a minute, as a field of a form has it, as a button says it: `11/19 10:00`."""
    return f"{minute[5:10].replace('-', '/')} {minute[11:16]}"


def groupby_run(items: Iterable[object], name: str) -> list[tuple[object, list[object]]]:
    """Return items in runs of the same attribute, in their order."""
    return [(value, list(run)) for value, run in groupby(items, attrgetter(name))]


def mark_lost(content: str, lost: str) -> Markup:
    """Return an escaped text with these characters marked; none of them is ASCII, so none is part of an escape.

    It is one pass: a template that marks every other character of a long text takes many times as long.
    """
    escaped = escape(content)
    if not lost:
        return escaped
    marked = re.sub(f"[{re.escape(lost)}]+", r'<mark class="lost">\g<0></mark>', str(escaped))
    return Markup(marked)  # noqa: S704 - it was escaped before it was marked


class Templates:
    """The templates in one language.

    `{{ "menu"|t }}` has constant arguments, so Jinja replaces it by its text when it compiles the template.
    """

    def __init__(self, texts: TextCatalog, language: str) -> None:
        environment = self._environment = Environment(
            loader=PackageLoader("pabal.console", ""),
            autoescape=True,
            undefined=StrictUndefined,
            auto_reload=False,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        addresses = {name: asset.address for name, asset in load_assets().items()}
        environment.globals |= {"asset": addresses.__getitem__, "htmx_config": HTMX_CONFIG, "languages": LANGUAGES}

        def translate(text: Text) -> str:
            return text.in_language(language)

        environment.filters |= {"t": partial(texts.translate, language), "translate": translate}
        environment.filters |= {"day_and_time": day_and_time, "groupby_run": groupby_run, "mark_lost": mark_lost}
        self._compiled: set[str] = set()

    def names(self) -> list[str]:
        """Return the name of every template, such as `send/send.html`."""
        return self._environment.list_templates(["html"])

    def is_compiled(self, folder: str) -> bool:
        """Return whether the templates of a folder of the console are compiled."""
        return folder in self._compiled

    def compile(self, folder: str) -> None:
        """Compile the templates of a folder, of those above it, and those of all pages; "" compiles only these.

        It takes up to 0.3 s, so not in the event loop. Others are compiled when a page includes them.
        """
        for name in self.names():
            if name in SHARED_TEMPLATES or f"{folder}/".startswith(f"{name.rpartition('/')[0]}/"):
                self._environment.get_template(name)
        self._compiled.add(folder)

    def render(self, template: str, values: Mapping[str, object]) -> str:
        """Return a page as text, every value in it escaped."""
        return self._environment.get_template(template).render(values)


@cache
def load_templates(texts: TextCatalog, language: str) -> Templates:
    """Return the templates in a language, the same to every console of this process."""
    return Templates(texts, language)
