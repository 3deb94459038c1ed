"""The templates of pages, compiled once for each language."""

from functools import cache, partial

from jinja2 import Environment, PackageLoader, StrictUndefined

from pabal.console.shell import assets
from pabal.console.shell.texts import TextCatalog
from pabal.domain.base.codes import LANGUAGES, Text

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


@cache
def load_templates(texts: TextCatalog, language: str) -> Environment:
    """Return all templates, compiled for a language; it takes half a second, so each process does it once.

    `{{ "menu"|t }}` has constant arguments, so Jinja replaces it by its text when it compiles the template.
    """
    environment = Environment(
        loader=PackageLoader("pabal.console", ""),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    addresses = {name: asset.address for name, asset in assets.load().items()}
    environment.globals |= {"asset": addresses.__getitem__, "htmx_config": HTMX_CONFIG, "languages": LANGUAGES}

    def translate(text: Text) -> str:
        return text.in_language(language)

    environment.filters |= {"t": partial(texts.translate, language), "translate": translate}
    for name in environment.list_templates(["html"]):
        environment.get_template(name)
    return environment
