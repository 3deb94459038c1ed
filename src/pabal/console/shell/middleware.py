"""Stands before every page: who asks, whether they may, and what is told to those who may not."""

import dataclasses
import logging
from collections.abc import Mapping, Sequence
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from pabal.checks.locale import Locale
from pabal.console.shell import cookies, multipart
from pabal.console.shell.page_request import HOME, SIGN_IN, Page, Visit, local
from pabal.console.shell.site import Rooms
from pabal.domain.codes import Code, Problem, Refused
from pabal.service.access import sign_in
from pabal.service.access.sign_in import IpAddress, new_secret
from pabal.service.errors import describe_error
from pabal.store.engine.base import StoreUnavailable
from pabal.store.sessions import ConsoleSession
from pabal.web.guard import IpNetwork, get_caller_address, is_in_networks

CSRF_FIELD = "csrf"
CSRF_HEADER = "x-csrf-token"
MAX_FIELDS = 1000
FORM_TYPE = "application/x-www-form-urlencoded"
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
PRIVATE = "no-store"

log = logging.getLogger("pabal.console")


class Gate:
    """Answers requests for pages."""

    def __init__(self, rooms: Rooms, trusted_proxies: Sequence[IpNetwork]) -> None:
        self._rooms = rooms
        self._trusted = trusted_proxies

    async def answer(self, page: Page | None, request: Request, code: Code = Code.NOT_FOUND) -> Response:
        """Return what is answered to a request for a page; without one, the page that says so."""
        address, is_safe = self._caller(request)
        token = cookies.secret(request, cookies.SESSION, is_safe=is_safe)
        visit = self._visit(request, {}, None, address, is_safe)
        try:
            given = _fields(request.url.query)
            is_use = page is not None and not page.is_passive
            session = await sign_in.find_session(self._rooms.context, token, is_activity=is_use)
            visit = self._visit(request, given, session, address, is_safe, token or "")
            if page is None:
                raise Refused(code)
            response = await self._admitted(page, visit)
        except Refused as refused:
            response = self._refusal(visit, refused.problems, refused.retry_after_s)
        except StoreUnavailable as away:
            log.warning("the store is away", extra={"error": str(away)})
            response = self._refusal(visit, [Problem(Code.SERVICE_UNAVAILABLE)])
        except ClientDisconnect:
            return Response(status_code=400)
        except Exception as error:
            log.error("unhandled fault", extra={"path": page.path if page else "unknown", **describe_error(error)})
            response = self._refusal(visit, [Problem(Code.INTERNAL_ERROR)])
        return self._sealed(visit, response)

    async def _admitted(self, page: Page, visit: Visit) -> Response:
        """Return what the page answers to someone who may see it, and what else to others."""
        if page.may is not None:
            if visit.session is None:
                return self._to_sign_in(visit)
            if visit.user.role not in page.may:
                return visit.page("shell/forbidden.html", 403)
            if page.is_about_account and visit.session.account_id is None:
                return visit.page("shell/no_account.html", 404)
        if page.method == "GET":
            return await page.handle(visit)
        if not page.takes_file:
            visit = await self._with_form(page, visit)
        if not _is_from_here(visit):
            return visit.page("shell/stale.html", 403)
        return await page.handle(visit)

    def _caller(self, request: Request) -> tuple[IpAddress | None, bool]:
        """Return whom a request comes from, and whether it came over TLS, as far as a trusted proxy says so."""
        peer = request.client.host if request.client else None
        forwarded = ",".join(request.headers.getlist("x-forwarded-for"))
        nearest = get_caller_address(peer, "", ())
        is_proxied = nearest is not None and is_in_networks(nearest, self._trusted)
        protocol = request.headers.get("x-forwarded-proto", "") if is_proxied else ""
        is_safe = request.url.scheme == "https" or protocol.rpartition(",")[2].strip().lower() == "https"
        return get_caller_address(peer, forwarded, self._trusted), is_safe

    def _visit(
        self,
        request: Request,
        given: Mapping[str, str],
        session: ConsoleSession | None,
        address: IpAddress | None,
        is_safe: bool,
        token: str = "",
    ) -> Visit:
        before = cookies.secret(request, cookies.FORM, is_safe=is_safe)
        return Visit(
            rooms=self._rooms,
            request=request,
            session=session,
            token=token if session else "",
            csrf=session.csrf if session else before or new_secret(self._rooms.context.world),
            speech=Locale(cookies.language(request), self._rooms.context.policy.zone),
            given=given,
            address=address,
            is_safe=is_safe,
        )

    async def _with_form(self, page: Page, visit: Visit) -> Visit:
        """Return the visit with the fields of its form.

        Raises Refused: PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, INVALID_PARAMETER.
        """
        kind = visit.request.headers.get("content-type", "").partition(";")[0].strip().lower()
        body = bytearray()
        async for part in visit.request.stream():
            body += part
            if len(body) > page.max_body_bytes:
                raise Refused(Code.PAYLOAD_TOO_LARGE)
        if kind == multipart.FORM_TYPE:
            pairs, files = await multipart.take_apart(visit.request.headers, bytes(body), MAX_FIELDS)
            return dataclasses.replace(visit, given=_by_name(pairs), files=files)
        if body and kind != FORM_TYPE:
            raise Refused(Code.UNSUPPORTED_MEDIA_TYPE)
        return dataclasses.replace(visit, given=_fields(body.decode("latin-1")))

    def _to_sign_in(self, visit: Visit) -> Response:
        """Send someone who is not signed in to do so, and then on to where they wanted."""
        request = visit.request
        is_part = request.headers.get("hx-request") == "true"
        page = urlsplit(request.headers.get("hx-current-url", "") if is_part else str(request.url))
        wanted = local(f"{page.path}?{page.query}" if page.query else page.path)
        is_to_return = wanted != HOME and (is_part or request.method == "GET")
        path = f"{SIGN_IN}?{urlencode({'next': wanted})}" if is_to_return else SIGN_IN
        if is_part:
            return Response(status_code=401, headers={"hx-redirect": path})
        return visit.elsewhere(path)

    def _refusal(self, visit: Visit, problems: Sequence[Problem], retry_after_s: float | None = None) -> Response:
        code = problems[0].code
        told = [each.message(visit.speech.language) for each in problems]
        if code is Code.NOT_FOUND:
            told = [visit.say("problem.not_found")]
        response = visit.page("shell/problem.html", code.http_status, told=told)
        if retry_after_s is not None:
            response.headers["retry-after"] = str(max(1, -int(-retry_after_s // 1)))
        return response

    def _sealed(self, visit: Visit, response: Response) -> Response:
        """Return the answer with what every answer of the console says to browsers."""
        response.headers.update(HEADERS)
        response.headers.setdefault("cache-control", PRIVATE)
        if visit.session is None and visit.csrf != cookies.secret(
            visit.request, cookies.FORM, is_safe=visit.is_safe
        ):
            cookies.give(response, cookies.FORM, visit.csrf, is_safe=visit.is_safe)
        return response


def _is_from_here(visit: Visit) -> bool:
    """Say whether a form was made by one of our pages, for this visitor."""
    if visit.request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    shown = visit.request.headers.get(CSRF_HEADER) or visit.given.get(CSRF_FIELD, "")
    return sign_in.secrets_equal(shown, visit.csrf)


def _fields(encoded: str) -> dict[str, str]:
    """Return the fields of an address or a form; of two with one name the last counts.

    Raises Refused(INVALID_PARAMETER).
    """
    try:
        pairs = parse_qsl(encoded, keep_blank_values=True, errors="strict", max_num_fields=MAX_FIELDS)
    except ValueError:
        raise Refused(Code.INVALID_PARAMETER) from None
    return _by_name(pairs)


def _by_name(pairs: Sequence[tuple[str, str]]) -> dict[str, str]:
    return {name: value.replace("\0", "") for name, value in pairs}
