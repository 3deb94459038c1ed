"""A request for a page, as its handler sees it."""

import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, BinaryIO, NamedTuple, TypeVar
from urllib.parse import quote, urlsplit

import msgspec
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from pabal.checks.body import forms
from pabal.checks.body.call import ApiCall
from pabal.checks.body.locale import Locale
from pabal.console.sheets import sheet_limits
from pabal.console.shell import cookies
from pabal.console.shell.cookies import make_token
from pabal.console.shell.form_body import File
from pabal.console.shell.problem_texts import spell_problem
from pabal.console.shell.site import MENU_GROUPS, MenuGroup, MenuLink, Site
from pabal.domain.base.codes import LANGUAGES, Code, Problem, Refused, Text
from pabal.domain.base.dates import Instant
from pabal.domain.content.text import mask_digits
from pabal.domain.people import phone
from pabal.domain.people.user import Role, User
from pabal.service.access.accounts.audit import Actor, AuditEntry
from pabal.service.access.users import passwords
from pabal.service.access.users.sign_in import ConsoleSession, SignInSource
from pabal.service.access.users.sign_in_delays import IpAddress
from pabal.service.context import Context
from pabal.service.history.timeline import Request as SendRequest
from pabal.service.sending.compose import hides_digits
from pabal.service.sending.drafts import DraftKey

T = TypeVar("T")

_BROWSERS = (
    ("Whale/", "Whale"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("KAKAOTALK", "KakaoTalk"),
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
"""What a browser says, and its name; the first that fits, since each also claims to be those below."""
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)
CALLER_LEFT = "pabal.caller_left"
"""The extension of our server that tells when a browser has closed its side of the connection."""
APPROVALS = "menu.approvals"
"""Is in the menu while something waits."""
HOME = "/console"
SIGN_IN = "/console/login"
CHOOSE_ACCOUNT = "/console/accounts"
OPENID_CALLBACK = "/console/login/openid/callback"
"""Where the OpenID Connect provider sends browsers back to; its query works once."""
MAX_URL_CHARACTERS = 4096
"""Longer addresses are not returned to after signing in."""
FORM_ID_HEADER = "x-form-id"
"""The script of our pages posts forms with an id, and with the same one again after a failure."""
_FORM_ID = re.compile("[0-9a-f]{32}")
_SAFE_IN_URLS = ":/%#?=@[]!$&'()*+,;"
"""Characters of a URL that may stand in a header as they are."""


def describe_browser(user_agent: str) -> str:
    """Return kind and system of a browser, such as `Chrome, Windows`; empty if neither is known."""
    found = (next((name for mark, name in known if mark in user_agent), None) for known in (_BROWSERS, _SYSTEMS))
    return ", ".join(each for each in found if each)


class Toast(NamedTuple):
    """What was done, and the way back."""

    told: str
    path: str = ""
    """Where the fields are posted that undo it, or where a link leads; empty: there is no way back."""
    fields: Sequence[tuple[str, str]] = ()
    link: str = ""
    """What the link says."""


@dataclass(frozen=True)
class PageRequest:
    """Who requests what, and how to answer."""

    site: Site
    http: Request
    session: ConsoleSession | None
    session_token: str
    """What the browser holds of the session; empty without one."""
    csrf_secret: str
    """The secret of this browser that the token of every form contains."""
    locale: Locale
    fields: Mapping[str, str]
    """The fields of the form; for GET, those of the query string."""
    address: IpAddress | None
    """Where the request came from, as far as that is known."""
    is_https: bool
    files: Mapping[str, File] = field(default_factory=dict)
    """The files of the form, by field."""

    @property
    def context(self) -> Context:
        return self.site.context

    @property
    def now(self) -> Instant:
        return self.context.world.now()

    @property
    def csrf(self) -> str:
        """The token that every form of this page must carry."""
        return make_token(self.csrf_secret, self.session.account_id if self.session else None)

    @property
    def is_part(self) -> bool:
        """Whether htmx requests it, to replace a part of an open page."""
        return self.http.headers.get("hx-request") == "true"

    @property
    def form_id(self) -> str:
        """The id of the form that a script of ours posts; empty where the browser itself posts it."""
        given = self.http.headers.get(FORM_ID_HEADER, "")
        return given if _FORM_ID.fullmatch(given) else ""

    @property
    def acts_for_account(self) -> bool:
        """Whether an operator has selected an account, and works as one of its users would."""
        return self.session is not None and self.user.role is Role.OPERATOR and self.session.account_id is not None

    @property
    def user(self) -> User:
        """Who is signed in; only for pages that need a role."""
        assert self.session is not None
        return self.session.user

    @property
    def actor(self) -> Actor:
        """Who is signed in, for the audit log."""
        return Actor(self.user.id, self.user.name)

    @property
    def account_id(self) -> int:
        """The account that is shown; only for pages that need an account."""
        assert self.session is not None
        assert self.session.account_id is not None
        return self.session.account_id

    @property
    def current_url(self) -> str:
        """The URL of this page, or the path that a form was posted to."""
        return get_url(self.http) if self.http.method == "GET" else str(self.http.scope["path"])

    @property
    def return_url(self) -> str:
        """The URL of this page, to come back to; for the answer to a form, that of the page it belongs to."""
        if self.http.scope["path"] == OPENID_CALLBACK:
            return HOME if self.session else SIGN_IN
        return self.current_url if self.http.method == "GET" else self.site.closest_page(self.current_url) or HOME

    @property
    def origin(self) -> str:
        """Scheme and host of the console, as the browser knows them."""
        return f"{'https' if self.is_https else 'http'}://{self.http.headers.get('host', '')}"

    @property
    def openid_name(self) -> str:
        """What users call the OpenID Connect provider; empty: there is none."""
        return self.context.openid.registration.name if self.context.openid else ""

    @property
    def may_see_numbers(self) -> bool:
        return self.session is not None and self.user.role.sees_phone_numbers

    def draft_key(self, form: str) -> DraftKey:
        """Return under which key the service keeps what the user types into a form."""
        return DraftKey(self.user.id, self.account_id, form)

    def field(self, name: str) -> str:
        """Return a field without surrounding blanks, empty where it is absent."""
        return self.fields.get(name, "").strip()

    def is_allowed(self, path: str, method: str = "GET") -> bool:
        """Return whether the signed-in user may open a page; False when nobody is signed in."""
        return self.session is not None and self.site.is_allowed(path, method, self.user.role)

    def t(self, key: str, **values: object) -> str:
        """Return the text of a key in the user's language."""
        return self.site.texts.translate(self.locale.language, key, **values)

    def translate(self, text: Text) -> str:
        """Return a text in the user's language."""
        return text.in_language(self.locale.language)

    def pick_language(self, sentences: Sequence[str]) -> list[str]:
        """Return those in the user's language; `sentences` interleaves the languages: ko, en, ko, en …"""
        return list(sentences[LANGUAGES.index(self.locale.language) :: len(LANGUAGES)])

    def describe(self, refused: Refused) -> str:
        """Return why something was refused, in the user's language: the details alone, if there are any."""
        details = [each.detail for each in refused.problems if each.detail]
        return self.translate(details[0]) if details else self.tell(refused.problems[0])

    def tell(self, problem: Problem) -> str:
        """Return what is wrong in one sentence that names the field, in the user's language."""
        return self.translate(spell_problem(problem))

    def time(self, at: Instant | None) -> str:
        """Return a time of the user's zone to the second; empty where there is none."""
        return "" if at is None else self.locale.format_timestamp(at)

    def minute(self, at: Instant | None) -> str:
        """Return a time of the user's zone to the minute; empty where there is none."""
        return self.time(at)[:16]

    def short_minute(self, at: Instant | None) -> str:
        """Return a time of the user's zone as `11/19 10:00`, before it the year if it is not this one."""
        shown, year = self.minute(at).replace("-", "/"), self.time(self.now)[:5]
        return shown.removeprefix(year.replace("-", "/"))

    def age(self, seconds: int) -> str:
        """Return a duration in its largest unit: 12분."""
        for key, size in (("age.days", 86_400), ("age.hours", 3600), ("age.minutes", 60)):
            if seconds >= size:
                return self.t(key, count=seconds // size)
        return self.t("age.seconds", count=seconds)

    def errors_by_field(self, refused: Refused | None) -> dict[str, str]:
        """Return what is wrong with each field, in the user's language; nothing where nothing was refused."""
        return {each.field: self.tell(each) for each in refused.problems} if refused else {}

    def phone_number(self, digits: str) -> str:
        """Return a phone number as the user may see it."""
        if not digits:
            return ""
        return phone.hyphenate(digits) if self.may_see_numbers else phone.mask(digits)

    def shown_text(self, given: str, send_request: SendRequest, *, has_ended: bool) -> str:
        """Return a text of a send as the user may see it: the digits of a one-time code may be hidden."""
        is_viewer = not self.may_see_numbers
        is_hidden = hides_digits(send_request, self.context.policy, has_ended=has_ended, is_viewer=is_viewer)
        return mask_digits(given) if is_hidden else given

    def api_call(
        self, shape: type[msgspec.Struct], fields: Mapping[str, Any], audit_entry: AuditEntry | None = None
    ) -> ApiCall:
        """Return a call of the API with these fields: pages validate input as the API does."""
        form = forms.parse_fields(shape, fields)
        return ApiCall(self.context, self.account_id, form, self.locale, self.now, audit_entry=audit_entry)

    def audit_entry(self, action: str, target: str = "", account_id: int | None = None) -> AuditEntry:
        """Return the audit entry of an action; without an account, it is about the one that is shown."""
        return AuditEntry(
            self.now, *self.actor, self.account_id if account_id is None else account_id, action, target
        )

    def own_audit_entry(self, action: str, target: str = "") -> AuditEntry:
        """Return the audit entry of something that users do about themselves."""
        return AuditEntry(self.now, *self.actor, self.user.account_id, action, target)

    async def hash_password(self, password: str) -> str:
        """Return the hash of a new password; that takes long, so it is made in a thread."""
        salt = passwords.new_salt(self.context.world)
        return await self.site.password_threads.run(passwords.hash_with_salt, password, salt)

    @property
    def source(self) -> SignInSource:
        """Where a sign-in from this browser comes from."""
        device_token = cookies.read_secret(self.http, cookies.DEVICE, is_https=self.is_https)
        return SignInSource(self.address, device_token, describe_browser(self.http.headers.get("user-agent", "")))

    @asynccontextmanager
    async def open_file(
        self, read: Callable[[BinaryIO], Iterator[T]], *, is_preview: bool = False
    ) -> AsyncIterator[AsyncGenerator[T, None]]:
        """Give what `read`, which can be pickled, finds in the form's `file`, part by part, while it waits.

        Raises Refused: MISSING_PARAMETER, PAYLOAD_TOO_LARGE, RATE_LIMITED where too many files are being read, and
        as `FileProcesses.read` does.
        """
        file = self.files.get("file")
        if file is None or not file.name:
            raise Refused(Code.MISSING_PARAMETER, "file")
        sheet_limits.check_file_size(file.size_bytes)
        with self.site.file_checks.hold(self.account_id):
            parts = self.site.file_processes.read(file.stream, read, self._wait_until_gone, is_preview=is_preview)
            async with aclosing(parts):
                yield parts

    async def _wait_until_gone(self) -> None:
        if has_left := self.http.scope.get("extensions", {}).get(CALLER_LEFT):
            await has_left()
            return
        while (await self.http.receive())["type"] != "http.disconnect":
            pass

    def render(self, template: str, outcome: int | Refused | None = None, /, **values: object) -> Response:
        """Answer with a page, or with a part of one: with a status, or with that of a refusal and its errors."""
        refused, status = (outcome, outcome.code.http_status) if isinstance(outcome, Refused) else (None, outcome)
        shared = {"request": self, "menu": self._menu(), "toast": None, "errors": self.errors_by_field(refused)}
        return HTMLResponse(self.site.render(template, self.locale.language, {**shared, **values}), status or 200)

    def redirect(self, path: str) -> Response:
        """Answer with a redirect to another page."""
        if self.is_part:
            return Response(status_code=200, headers={"hx-redirect": quote(path, safe=_SAFE_IN_URLS)})
        return RedirectResponse(path, 303)

    def _menu(self) -> list[MenuGroup]:
        """Return the user's menu; the page that is open is marked."""
        if self.session is None:
            return []
        role, current = self.user.role, self.http.scope["path"]
        counts = {APPROVALS: self.session.to_approve}
        shown = {
            path: key
            for path, key, roles in self.site.menu
            if roles is not None and role in roles and (counts.get(key, 1) or current == path)
        }
        open_path = max((path for path in shown if _is_within(current, path)), key=len, default="")
        links = {
            key: MenuLink(path, self.t(key), key.removeprefix("menu."), path == open_path, counts.get(key, 0))
            for path, key in shown.items()
        }
        groups = (
            MenuGroup(self.t(group) if group else "", [links[key] for key in keys if key in links])
            for group, keys in MENU_GROUPS.items()
        )
        return [group for group in groups if group.links]


def _is_within(current: str, path: str) -> bool:
    return current == path or (path != HOME and current.startswith(f"{path}/"))


def get_url(http: Request) -> str:
    """Return path and query of a request; unlike `http.url`, it leaves nothing in a cache."""
    query = http.scope["query_string"].decode("latin-1")
    return f"{http.scope['path']}?{query}" if query else str(http.scope["path"])


def safe_redirect_path(path: str) -> str:
    """Return a path to redirect to; home for one too long, malformed, outside the console, or the sign-in page."""
    if len(path) > MAX_URL_CHARACTERS:
        return HOME
    split = urlsplit(path)
    is_ours = split.path == HOME or split.path.startswith(f"{HOME}/")
    is_plain = path.isprintable() and "\\" not in path and not split.scheme and not split.netloc
    return path if is_ours and is_plain and split.path != SIGN_IN else HOME
