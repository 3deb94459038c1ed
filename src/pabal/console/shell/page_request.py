"""One request for a page, as its handler sees it."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import msgspec
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from pabal.checks import forms
from pabal.checks.call import ApiCall
from pabal.checks.locale import Locale
from pabal.console.shell.multipart import File
from pabal.console.texts import say
from pabal.domain import phone
from pabal.domain.codes import LANGUAGES, Text
from pabal.domain.dates import Instant
from pabal.domain.user import Role, User
from pabal.service.access.sign_in import IpAddress
from pabal.service.context import Context
from pabal.store.audit_log import Actor, AuditEntry
from pabal.store.sessions import ConsoleSession

if TYPE_CHECKING:
    from pabal.console.shell.site import Rooms

HOME = "/console"
SIGN_IN = "/console/login"
_IN_ADDRESSES = ":/%#?=@[]!$&'()*+,;"
"""What an address may hold as it is: all else must not stand in a header."""


@dataclass(frozen=True)
class Visit:
    """Who asks for what, and how to answer."""

    rooms: "Rooms"
    request: Request
    session: ConsoleSession | None
    token: str
    """What the browser holds of the session; empty without one."""
    csrf: str
    """What every form must carry."""
    speech: Locale
    given: Mapping[str, str]
    """The fields of the form, or of the address where nothing is posted."""
    address: IpAddress | None
    is_safe: bool
    """Whether it came over TLS."""
    files: Mapping[str, File] = field(default_factory=dict)
    """Files that the form brings along, by their fields."""

    @property
    def context(self) -> Context:
        return self.rooms.context

    @property
    def now(self) -> Instant:
        return self.context.world.now()

    @property
    def user(self) -> User:
        """Who is signed in; only for pages that are for somebody."""
        assert self.session is not None
        return self.session.user

    @property
    def account_id(self) -> int:
        """Whose things are looked at; only for pages that are about an account."""
        assert self.session is not None
        assert self.session.account_id is not None
        return self.session.account_id

    @property
    def here(self) -> str:
        """The address of this page, to come back to."""
        url = self.request.url
        return f"{url.path}?{url.query}" if url.query and self.request.method == "GET" else url.path

    @property
    def may_see_numbers(self) -> bool:
        return self.session is not None and self.user.role.sees_phone_numbers

    def field(self, name: str) -> str:
        """Return a field without blanks around it, empty where it is absent."""
        return self.given.get(name, "").strip()

    def may(self, path: str, method: str = "GET") -> bool:
        """Say whether a page is for whoever is signed in."""
        return self.session is not None and self.rooms.is_for(path, method, self.user.role)

    def say(self, key: str, **values: object) -> str:
        """Return words of the table in the visitor's language."""
        return say(self.speech.language, key, **values)

    def words(self, words: Text) -> str:
        """Return words in the visitor's language."""
        return words.in_language(self.speech.language)

    def in_turn(self, sentences: Sequence[str]) -> list[str]:
        """Return those in the visitor's language of sentences that are kept in each in turn."""
        return list(sentences[LANGUAGES.index(self.speech.language) :: len(LANGUAGES)])

    def number(self, digits: str) -> str:
        """Return a phone number as this visitor may see it."""
        if not digits:
            return ""
        return phone.hyphenate(digits) if self.may_see_numbers else phone.mask(digits)

    def call(
        self, shape: type[msgspec.Struct], fields: Mapping[str, Any], deed: AuditEntry | None = None
    ) -> ApiCall:
        """Return a call of the interface with these fields: pages check what is typed as it checks bodies."""
        form = forms.parse_fields(shape, fields)
        return ApiCall(self.context, self.account_id, form, self.speech, self.now, audit_entry=deed)

    def deed(self, what: str, target: str = "", of: int | None = None) -> AuditEntry:
        """Return what is noted of something that the visitor does to a thing of the account, or of another."""
        return AuditEntry(self.now, *self.doer, self.account_id if of is None else of, what, target)

    @property
    def doer(self) -> Actor:
        """The visitor, as whoever does something."""
        return Actor(self.user.id, self.user.name)

    def page(self, template: str, status: int = 200, /, **values: object) -> Response:
        """Answer with a page, or with a part of one."""
        return HTMLResponse(self.rooms.render(template, self, values), status)

    def elsewhere(self, path: str) -> Response:
        """Send the visitor to another page."""
        if self.request.headers.get("hx-request") == "true":
            return Response(status_code=200, headers={"hx-redirect": quote(path, safe=_IN_ADDRESSES)})
        return RedirectResponse(path, 303)


Handler = Callable[[Visit], Awaitable[Response]]

EVERYONE = frozenset(Role)
SENDERS = frozenset({Role.OWNER, Role.SENDER, Role.OPERATOR})
OWNERS = frozenset({Role.OWNER, Role.OPERATOR})
OPERATORS = frozenset({Role.OPERATOR})


@dataclass(frozen=True)
class Page:
    """A page or an action: where it is, who may, and who answers."""

    path: str
    handle: Handler = field(repr=False)
    may: frozenset[Role] | None
    """Whose roles it is for; None: for anyone, signed in or not."""
    method: str = "GET"
    menu: str = ""
    """The key of its name in the menu, if it has a place there."""
    is_about_account: bool = True
    is_for_simulator: bool = False
    """Only there where the simulator is a carrier."""
    is_passive: bool = False
    """Asked by a page itself, again and again: no use of the session."""
    max_body_bytes: int = 256 * 1024
    takes_file: bool = False
    """The body is a file, which the page itself takes in; fields are in the address, the secret in a header."""


def local(path: str) -> str:
    """Return a path to go on to, the first page for what leads out of the console."""
    split = urlsplit(path)
    is_ours = split.path == HOME or split.path.startswith(f"{HOME}/")
    is_plain = path.isprintable() and "\\" not in path and not split.scheme and not split.netloc
    return path if is_ours and is_plain and split.path != SIGN_IN else HOME
