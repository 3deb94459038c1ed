"""Names open pages, so that late requests of one that has sent its form can be told from those of others."""

import re

from pabal.console.shell.page_request import PageRequest
from pabal.service.access.sign_in.sign_in import new_secret

PAGE_FIELD = "tab"
PAGE_NAME_CHARACTERS = 16
_PAGE_NAME = re.compile(rf"[0-9a-f]{{{PAGE_NAME_CHARACTERS}}}", re.ASCII)


def page_name(request: PageRequest) -> str:
    """Return the name of the open page that a request comes from; empty: it has none."""
    name = request.field(PAGE_FIELD)
    return name if _PAGE_NAME.fullmatch(name) else ""


def new_page_name(request: PageRequest) -> str:
    """Return the name of a page that is opened."""
    return new_secret(request.context.world)[:PAGE_NAME_CHARACTERS]
