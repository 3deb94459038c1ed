"""How a page is declared: its path, its handler, and the roles that may open it."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field

from starlette.responses import Response

from pabal.console.shell.page_request import PageRequest
from pabal.console.shell.site import MenuItem, Roles
from pabal.domain.base.codes import Refused
from pabal.domain.people.user import Role

Handler = Callable[[PageRequest], Awaitable[Response]]
"""Answers a request. It may raise Refused, which the console shows: for what another account has, NOT_FOUND too."""
Form = Callable[[PageRequest, Refused], Awaitable[Response]]
"""Shows the form that was posted again, as it was typed and with what is wrong."""

HTTP_NOT_FOUND = 404
SIGNED_IN = frozenset(Role)
"""Every role; a page for people who are not signed in has None."""
SENDERS = frozenset({Role.OWNER, Role.SENDER, Role.OPERATOR})
OWNERS = frozenset({Role.OWNER, Role.OPERATOR})
OPERATORS = frozenset({Role.OPERATOR})


@dataclass(frozen=True)
class Page:
    """A page or an action."""

    path: str
    handle: Handler = field(repr=False)
    roles: Roles
    method: str = "GET"
    menu: str = ""
    """The key of its text in the menu, if it is there."""
    form: Form | None = field(default=None, repr=False)
    """Answers where the handler refuses, unless because something is not there."""
    needs_account: bool = True
    """Whether it shows or changes what belongs to an account."""
    is_for_simulator: bool = False
    """Whether it exists only where the simulator is a carrier."""
    is_polled: bool = False
    """Whether open pages request it again and again: that does not keep a session alive."""
    is_preview: bool = False
    """Whether it only shows what is being typed: its refusals do not replace the page."""
    is_repeatable: bool = False
    """Whether its form may be posted twice: it changes nothing, or recognises a repeat by itself."""
    max_body_bytes: int = 256 * 1024

    async def answer(self, request: PageRequest) -> Response:
        """Return the answer to a request.

        Raises Refused.
        """
        try:
            return await self.handle(request)
        except Refused as refused:
            if self.form is None or refused.code.http_status == HTTP_NOT_FOUND:
                raise
            return await self.form(request, refused)

    @property
    def folder(self) -> str:
        """The folder of the console with the handler and its templates, such as `send`."""
        return "/".join(self.handle.__module__.split(".")[2:-1])


def roles_by_page(pages: Iterable[Page]) -> dict[tuple[str, str], Roles]:
    """Return who may open each page, by path and method."""
    return {(page.path, page.method): page.roles for page in pages}


def menu_items(pages: Iterable[Page]) -> list[MenuItem]:
    """Return the pages that are in the menu, in its order."""
    return [MenuItem(page.path, page.menu, page.roles) for page in pages if page.menu]
