"""What every request passes before its page: session, role, form, CSRF token; and what refusals look like."""

import dataclasses
import logging
import math
from collections.abc import AsyncGenerator, Hashable, Mapping, Sequence
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from pabal.checks.body.caller_addresses import IpNetwork, get_caller_address, is_in_networks
from pabal.checks.body.locale import Locale
from pabal.console.shell import cookies, form_body
from pabal.console.shell.cookies import FormToken, make_token, parse_token
from pabal.console.shell.form_body import URLENCODED_TYPE, parse_urlencoded
from pabal.console.shell.page import Page
from pabal.console.shell.page_request import (
    CHOOSE_ACCOUNT,
    HOME,
    MAX_URL_CHARACTERS,
    SIGN_IN,
    PageRequest,
    get_url,
    safe_redirect_path,
)
from pabal.console.shell.repeats import RepeatedForms
from pabal.console.shell.site import Site
from pabal.domain.base.codes import Code, Problem, Refused
from pabal.domain.people.user import Role
from pabal.service.access.accounts.rate_limits import BodyBudget, HeldBody
from pabal.service.access.users import sign_in
from pabal.service.access.users.sign_in import ConsoleSession, new_secret
from pabal.service.access.users.sign_in_delays import IpAddress
from pabal.service.errors import RecordDamaged, StoreUnavailable, describe_error

CSRF_FIELD = "csrf"
CSRF_HEADER = "x-csrf-token"
MAX_FIELDS = 1000
MAX_HELD_BYTES = 256 * 2**20
"""Forms and files that are held at once; files are on disk beyond their first MiB."""
MAX_HELD_BYTES_PER_CALLER = 64 * 2**20
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
        " form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
NO_STORE = "no-store"
SWITCH_FIELD = "switch_account"
"""Has the account to switch back to, in a form that was made for it."""
SHOWN_ERRORS = (403, 409)
"""Statuses whose page htmx shows instead of the open one; see HTMX_CONFIG."""
DAMAGED_TEXTS = {"message": "history.unreadable", "request": "follow.unreadable"}
"""What is said of a record that cannot be read, by its kind."""
REPLACE_PAGE = {"hx-retarget": "#content", "hx-reselect": "#content", "hx-reswap": "outerHTML show:window:top"}

log = logging.getLogger("pabal.console")


class Middleware:
    """Answers requests for pages."""

    def __init__(self, site: Site, trusted_proxies: Sequence[IpNetwork]) -> None:
        self._site = site
        self._trusted_proxies = trusted_proxies
        self._forms = RepeatedForms()
        bodies = self._bodies = BodyBudget(MAX_HELD_BYTES, MAX_HELD_BYTES_PER_CALLER)
        site.context.metrics.show_body_bytes("console", bodies.max_bytes, lambda: bodies.held_bytes)

    async def answer(self, page: Page | None, http: Request, code: Code = Code.NOT_FOUND) -> Response:
        """Return the answer to a request; without a page, the one that tells the code."""
        address, is_https = self._client(http)
        token = cookies.read_secret(http, cookies.SESSION, is_https=is_https)
        request = self._page_request(http, {}, None, address, is_https)
        try:
            await self._site.compile_templates(page.folder if page else "", request.locale.language)
            fields = _parse_fields(http.scope["query_string"].decode("utf-8", "replace"))
            is_activity = page is not None and not page.is_polled
            session = await sign_in.find_session(self._site.context, token, is_activity=is_activity)
            request = self._page_request(http, fields, session, address, is_https, token or "")
            if page is None:
                raise Refused(code)
            response = await self._open(page, request)
        except Refused as refused:
            response = self._refuse(request, refused.problems, refused.retry_after_s)
        except RecordDamaged as damaged:
            text = request.t(DAMAGED_TEXTS[damaged.kind], id=damaged.record_id.hex())
            response = request.render("shell/problem.html", Code.NOT_FOUND.http_status, messages=[text])
        except StoreUnavailable as unavailable:
            log.warning("store unavailable; page refused", extra={"error": str(unavailable)})
            response = self._refuse(request, [Problem(Code.SERVICE_UNAVAILABLE)])
        except ClientDisconnect:
            return Response(status_code=400)
        except Exception as error:
            log.error("unhandled error", extra={"path": page.path if page else "unknown", **describe_error(error)})
            response = self._refuse(request, [Problem(Code.INTERNAL_ERROR)])
        return self._with_headers(request, response)

    async def _open(self, page: Page, request: PageRequest) -> Response:
        """Return the page's answer for those who may open it, and another for those who may not."""
        if page.roles is not None:
            if request.session is None:
                return self._to_sign_in(request)
            if request.user.role not in page.roles:
                return request.render("shell/forbidden.html", 403)
            if page.needs_account and request.session.account_id is None and page.method == "GET":
                return await self._without_account(request)
        if page.method == "GET":
            return await page.answer(request)
        with self._bodies.hold(_caller(request), 0) as held:
            request = await self._with_form(page, request, held)
            try:
                return await self._handle_form(page, request)
            finally:
                for file in request.files.values():
                    file.stream.close()

    async def _handle_form(self, page: Page, request: PageRequest) -> Response:
        """Return the page's answer to a form, unless it was made for another browser or account."""
        token = _form_token(request)
        if token is None:
            return request.render("shell/stale.html", 403)
        selected = request.session.account_id if request.session else None
        if page.needs_account and request.session and (selected is None or token.account_id != selected):
            return await self._of_other_account(page, request, token)
        return await self._forms.answer(page, request)

    async def _without_account(self, request: PageRequest) -> Response:
        """Ask an operator to select or create an account first."""
        if not await sign_in.list_accounts(self._site.context):
            return request.render("shell/no_account.html", 404)
        return request.redirect(f"{CHOOSE_ACCOUNT}?{urlencode({'next': request.current_url})}")

    async def _of_other_account(self, page: Page, request: PageRequest, token: FormToken) -> Response:
        """Refuse a form of another account than is selected now, unless its sender asks to switch back.

        The page that tells it contains what was typed, so that it can be sent again; files cannot be.
        """
        assert request.session is not None
        accounts = {each.id: each.name for each in await sign_in.list_accounts(self._site.context)}
        made_for = token.account_id if token.account_id in accounts else None
        may_switch = made_for is not None and request.user.role is Role.OPERATOR
        if may_switch and made_for is not None and request.field(SWITCH_FIELD) == str(made_for):
            await sign_in.switch_account(self._site.context, request.session_token, request.session, made_for)
            session = request.session._replace(
                account_id=made_for,
                account=accounts[made_for],
                stopped_webhooks=0,
                stopped_webhook=None,
                to_approve=0,
            )
            return await self._forms.answer(page, dataclasses.replace(request, session=session))
        is_complete = may_switch and not request.files and not page.is_preview
        hidden = (CSRF_FIELD, SWITCH_FIELD)
        response = request.render(
            "shell/other_account.html",
            409,
            made_for=accounts[made_for] if may_switch and made_for is not None else "",
            made_for_id=made_for,
            token=make_token(request.csrf_secret, made_for),
            switch_field=SWITCH_FIELD,
            fields=[each for each in request.fields.items() if each[0] not in hidden] if is_complete else None,
        )
        if page.is_preview:
            response.headers["hx-reswap"] = "none"
        return response

    def _client(self, http: Request) -> tuple[IpAddress | None, bool]:
        """Return where a request comes from, and whether over TLS; a trusted proxy's word counts for both."""
        peer = http.client.host if http.client else None
        forwarded = ",".join(http.headers.getlist("x-forwarded-for"))
        nearest = get_caller_address(peer, "", ())
        is_proxied = nearest is not None and is_in_networks(nearest, self._trusted_proxies)
        protocol = http.headers.get("x-forwarded-proto", "") if is_proxied else ""
        is_https = http.scope["scheme"] == "https" or protocol.rpartition(",")[2].strip().lower() == "https"
        return get_caller_address(peer, forwarded, self._trusted_proxies), is_https

    def _page_request(
        self,
        http: Request,
        fields: Mapping[str, str],
        session: ConsoleSession | None,
        address: IpAddress | None,
        is_https: bool,
        token: str = "",
    ) -> PageRequest:
        context = self._site.context
        form_secret = cookies.read_secret(http, cookies.FORM, is_https=is_https)
        return PageRequest(
            site=self._site,
            http=http,
            session=session,
            session_token=token if session else "",
            csrf_secret=session.csrf if session else form_secret or new_secret(context.world),
            locale=Locale(cookies.language(http), context.policy.zone),
            fields=fields,
            address=address,
            is_https=is_https,
        )

    async def _with_form(self, page: Page, request: PageRequest, held: HeldBody) -> PageRequest:
        """Return the request with the fields of its form, which `held` grows with.

        Raises Refused: PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, INVALID_PARAMETER, else as `HeldBody.grow` does.
        """
        media_type = request.http.headers.get("content-type", "").partition(";")[0].strip().lower()
        stream = _limited_stream(request.http, page.max_body_bytes, held)
        if media_type == form_body.MULTIPART_TYPE:
            form = await form_body.parse_form(request.http.headers, stream, MAX_FIELDS, page.max_body_bytes)
            return dataclasses.replace(request, fields=_by_name(form.fields), files=form.files)
        body = b"".join([chunk async for chunk in stream])
        if body and media_type != URLENCODED_TYPE:
            raise Refused(Code.UNSUPPORTED_MEDIA_TYPE)
        try:
            return dataclasses.replace(request, fields=_by_name(await parse_urlencoded(body, MAX_FIELDS)))
        except ValueError:
            raise Refused(Code.INVALID_PARAMETER) from None

    def _to_sign_in(self, request: PageRequest) -> Response:
        """Redirect to the sign-in page, which leads back to the page that was open.

        The script of an open page gets 401 alone: the page asks for the password in place.
        """
        if request.is_part or request.form_id:
            return Response(status_code=401)
        http = request.http
        is_page = http.method == "GET"
        requested = safe_redirect_path(get_url(http) if is_page else _path_of(http.headers.get("referer", "")))
        return request.redirect(f"{SIGN_IN}?{urlencode({'next': requested})}" if requested != HOME else SIGN_IN)

    def _refuse(
        self, request: PageRequest, problems: Sequence[Problem], retry_after_s: float | None = None
    ) -> Response:
        code = problems[0].code
        messages = [request.tell(problem) for problem in problems]
        if code is Code.NOT_FOUND:
            messages = [request.t("problem.not_found")]
        response = request.render("shell/problem.html", code.http_status, messages=messages)
        if retry_after_s is not None:
            response.headers["retry-after"] = str(max(1, math.ceil(retry_after_s)))
        return response

    def _with_headers(self, request: PageRequest, response: Response) -> Response:
        """Return the answer with the headers and the cookie that every answer of the console has."""
        response.headers.update(HEADERS)
        response.headers.setdefault("cache-control", NO_STORE)
        if request.is_part and response.status_code in SHOWN_ERRORS and "hx-reswap" not in response.headers:
            response.headers.update(REPLACE_PAGE)
        held = cookies.read_secret(request.http, cookies.FORM, is_https=request.is_https)
        if request.session is None and request.csrf_secret != held:
            cookies.set_secret(response, cookies.FORM, request.csrf_secret, is_https=request.is_https)
        return response


def _path_of(url: str) -> str:
    """Return path and query of a URL, empty for one that is too long; `urlsplit` caches what it gets."""
    parts = urlsplit(url if len(url) <= MAX_URL_CHARACTERS else "")
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def _form_token(request: PageRequest) -> FormToken | None:
    """Return the token of a form that was made by one of our pages, for this browser."""
    if request.http.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return None
    token = parse_token(request.http.headers.get(CSRF_HEADER) or request.fields.get(CSRF_FIELD, ""))
    return token if token.is_of(request.csrf_secret) else None


def _caller(request: PageRequest) -> Hashable:
    """Return who sends a form: a user, or before the sign-in an address."""
    return request.session.user.id if request.session else request.address


async def _limited_stream(http: Request, max_bytes: int, held: HeldBody) -> AsyncGenerator[bytes, None]:
    """Yield the body as it arrives; a length that is given is held from the start.

    Raises Refused: PAYLOAD_TOO_LARGE, else as `HeldBody.grow` does.
    """
    length = http.headers.get("content-length", "0")
    if int(length) > max_bytes:
        raise Refused(Code.PAYLOAD_TOO_LARGE)
    held.grow(int(length))
    size = 0
    async for chunk in http.stream():
        size += len(chunk)
        if size > max_bytes:
            raise Refused(Code.PAYLOAD_TOO_LARGE)
        held.grow(size)
        yield chunk


def _parse_fields(encoded: str) -> dict[str, str]:
    """Return the fields of a query string; of two with one name the last counts.

    Raises Refused(INVALID_PARAMETER).
    """
    try:
        pairs = parse_qsl(encoded, keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS)
    except ValueError:
        raise Refused(Code.INVALID_PARAMETER) from None
    return _by_name(pairs)


def _by_name(pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    return {name: value.replace("\0", "") for name, value in pairs}
