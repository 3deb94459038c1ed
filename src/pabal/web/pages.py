"""The pages beside the API: health checks, metrics, webhooks and documentation."""

import asyncio
import logging
from collections.abc import Sequence
from importlib import resources
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from pabal.carriers.base import Receipt
from pabal.checks.body.locale import Locale, choose_language
from pabal.domain.base.codes import LANGUAGES, Code, Problem, Refused, Text, require
from pabal.service.access.accounts.rate_limits import BodyBudget, HeldBody
from pabal.service.context import Context
from pabal.service.delivery.receipts import build_inbox, store_receipts
from pabal.service.errors import describe_error
from pabal.service.upkeep.reports import store_figures
from pabal.store.engine.base import StoreUnavailable
from pabal.store.queue import cursors
from pabal.web import envelope
from pabal.web.api_document import openapi
from pabal.web.endpoints.table import ENDPOINT_BY_PATH, suggest_path
from pabal.web.guide.site import guide_routes
from pabal.web.http.asgi import REQUEST_ID

log = logging.getLogger("pabal.web")
COUNT_INTERVAL_S = 1.0
"""Minimum interval between counts of the queue for /metrics, which needs no key."""
COUNT_TIMEOUT_S = 1.5
"""How long /metrics waits for the store; then it answers without the store's figures."""
PROBE_INTERVAL_S = 1.0
"""Minimum interval between test writes for /readyz, which needs no key."""
PROBE_TIMEOUT_S = 1.5
"""Timeout of a test write; a store that does not answer in time is not ready."""
REFUSAL_INTERVAL_S = 2.0
"""How long the service is not ready after the store refused a write: a full disk may take a test write."""
RETRY_AFTER_S = "1"
"""Retry-After of refusals that a repeat may overcome."""
_TEMPORARY = (Code.RATE_LIMITED, Code.SERVICE_UNAVAILABLE)
_CODES = {404: Code.NOT_FOUND, 405: Code.METHOD_NOT_ALLOWED}
_DOCS_PAGE = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Pabal: API</title>
<link rel="stylesheet" href="/docs/assets/swagger-ui.css">
<link rel="icon" href="/docs/assets/favicon-32x32.png">
</head>
<body>
<nav style="text-align: center; padding: 0.5em">
<a href="/docs/guide/{language}/index">{guide}</a> · <a href="/docs?lang={other}" hreflang="{other}">{switch}</a>
</nav>
<div id="docs"></div>
<script src="/docs/assets/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
"""
_DOCS_TEXTS = {"guide": Text("파발 안내서", "Pabal guide"), "switch": Text("English", "한국어")}
_DOCS_SCRIPT = """SwaggerUIBundle({
  url: "/openapi.json?lang=" + document.documentElement.lang, dom_id: "#docs",
  deepLinking: true, persistAuthorization: false,
  presets: [SwaggerUIBundle.presets.apis], layout: "BaseLayout"
});
"""
_CONTENT_SECURITY_POLICY = (
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; "
    "frame-ancestors 'none'; base-uri 'none'"
)


class ServicePages:
    """Answers everything that is not under /api/."""

    def __init__(self, context: Context, bodies: BodyBudget) -> None:
        self._context = context
        self._bodies = bodies
        self.is_ready = False
        self.metrics_port: int | None = None
        """The only port that shows metrics, which are one process's, if several share another one; None: any."""
        self._probed_at = -PROBE_INTERVAL_S
        self._counted_at = -COUNT_INTERVAL_S
        self._counting: asyncio.Task[None] | None = None
        self._is_store_writable = True
        self.app = Starlette(
            routes=[
                Route("/healthz", self.show_health),
                Route("/readyz", self.show_readiness),
                Route("/metrics", self.show_metrics),
                Route("/hooks/{carrier}", self.receive_webhook, methods=["POST"]),
                Route("/hooks/{carrier}", self.show_webhook),
                Route("/openapi.json", self.show_openapi),
                Route("/docs", self.show_docs),
                Route("/docs/start.js", self.show_docs_script),
                *guide_routes(),
                Mount("/docs/assets", StaticFiles(directory=str(resources.files("swagger_ui") / "static"))),
            ],
            exception_handlers={HTTPException: self._refuse_http_error, Exception: self._fail},
        )
        self.app.router.redirect_slashes = False  # an unknown path is NOT_FOUND, not a redirect

    async def show_health(self, request: Request) -> Response:
        """Answer that the process is alive."""
        return self._succeed({"status": "ok"}, request)

    async def show_readiness(self, request: Request) -> Response:
        """Answer whether the service accepts requests: started, not stopping, and the store is writable.

        While only some nodes of a distributed store cannot be reached, it does, and the answer names these.
        """
        if not self.is_ready:
            return self._refuse(Code.SERVICE_UNAVAILABLE, request)
        now = self._context.world.monotonic()
        if now - self._probed_at >= PROBE_INTERVAL_S:
            self._probed_at = now
            self._is_store_writable = await self._probe_store()
        if not self._is_store_writable:
            return self._refuse(Code.SERVICE_UNAVAILABLE, request)
        nodes = self._context.nodes
        if not nodes.reachable(self._context.slots.numbers):
            return self._refuse(Code.SERVICE_UNAVAILABLE, request)
        return self._succeed({"status": "ready"} | ({"lostNodes": nodes.lost} if nodes.lost else {}), request)

    async def _probe_store(self) -> bool:
        """Return whether the store can write, and did not refuse it just now; a full disk can still be read."""
        try:
            async with asyncio.timeout(PROBE_TIMEOUT_S):
                await self._context.store.write(
                    cursors.write_probe, self._context.slots.worker, self._context.world.now()
                )
        except (StoreUnavailable, TimeoutError):
            return False
        return self._context.world.monotonic() - self._context.store.refused_at >= REFUSAL_INTERVAL_S

    async def show_metrics(self, request: Request) -> Response:
        """Answer the metrics in Prometheus text format: those of this process also while the store is away."""
        server = request.scope.get("server")
        if self.metrics_port is not None and (server is None or server[1] != self.metrics_port):
            return self._refuse(Code.NOT_FOUND, request)
        await self._count_in_time()
        return Response(self._context.metrics.render(), media_type="text/plain; version=0.0.4; charset=utf-8")

    async def _count_in_time(self) -> None:
        """Count what the store has; a count that takes too long goes on, and no second one begins meanwhile."""
        now = self._context.world.monotonic()
        if self._counting is None and now - self._counted_at >= COUNT_INTERVAL_S:
            self._counted_at = now
            self._counting = asyncio.create_task(self._count())
        counting = self._counting
        if counting is None:
            return
        await asyncio.wait({counting}, timeout=COUNT_TIMEOUT_S)
        if counting.done():
            self._counting = None
            counting.result()
        else:
            self._context.metrics.is_store_up = False

    async def _count(self) -> None:
        context, metrics, now = self._context, self._context.metrics, self._context.world.now()
        try:
            mail_server = context.mail.mailer.name if context.mail.is_sent else ""
            slots = context.nodes.reachable(context.slots.numbers)
            timeouts = context.policy.receipt_timeouts
            found = await context.store.read(store_figures, slots, context.carriers, timeouts, mail_server, now)
        except StoreUnavailable:
            metrics.is_store_up = False
            return
        metrics.is_store_up = True
        metrics.set_queue_depths(found.depths, context.carriers, now)
        metrics.set_awaited_receipts(context.carriers, found.oldest_awaited, now)
        metrics.webhook_endpoints_paused.set(found.paused_webhooks)
        metrics.webhook_endpoints_gone.set(found.gone_webhooks)
        metrics.mails_waiting.set(found.mails_waiting)
        metrics.mail_server_failing.set(found.is_mail_server_failing)
        metrics.months_missing.set(found.months_missing)
        metrics.set_carrier_states(found.carriers, now)
        metrics.set_workers(found.workers)

    async def receive_webhook(self, request: Request) -> Response:
        """Store the receipts that a carrier sends."""
        try:
            await receive_webhook(self._context, self._bodies, request)
        except Refused as refused:
            return self._refuse(refused.problems[0].code, request)
        except StoreUnavailable:
            return self._refuse(Code.SERVICE_UNAVAILABLE, request)
        return self._succeed({}, request)

    async def show_webhook(self, request: Request) -> Response:
        """Answer that a carrier can send its receipts here: some check an address before they use it."""
        carrier = self._context.carriers.get(request.path_params["carrier"])
        if carrier is None or not carrier.has_webhooks:
            return self._refuse(Code.NOT_FOUND, request)
        return self._succeed({}, request)

    async def show_openapi(self, request: Request) -> Response:
        """Answer the OpenAPI document in the language of `lang`, else of the caller."""
        document = openapi.encode_document(_choose_language(request), self._context.policy.max_receivers)
        return Response(document, media_type="application/json", headers={"vary": "accept-language"})

    async def show_docs(self, request: Request) -> Response:
        """Answer the Swagger UI page in the language of `lang`, else of the browser."""
        language = _choose_language(request)
        other = "en" if language == "ko" else "ko"
        texts = {name: text.in_language(language) for name, text in _DOCS_TEXTS.items()}
        page = _DOCS_PAGE.format(language=language, other=other, **texts)
        headers = {"content-security-policy": _CONTENT_SECURITY_POLICY, "vary": "accept-language"}
        return HTMLResponse(page, headers=headers)

    async def show_docs_script(self, request: Request) -> Response:
        """Answer the script that starts Swagger UI."""
        return Response(_DOCS_SCRIPT, media_type="text/javascript")

    def _succeed(self, additions: dict[str, Any], request: Request) -> Response:
        body = envelope.encode_success(additions, self._context.world.now(), self._locale(request))
        return Response(body, media_type=envelope.CONTENT_TYPE.decode())

    def _refuse(self, code: Code, request: Request, detail: Text | None = None) -> Response:
        problem = Problem(code, detail=detail)
        body = envelope.encode_refusal([problem], self._context.world.now(), self._locale(request))
        headers = {"retry-after": RETRY_AFTER_S} if code in _TEMPORARY else None
        return Response(body, code.http_status, headers, media_type=envelope.CONTENT_TYPE.decode())

    async def _refuse_http_error(self, request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 404
        code = _CODES.get(status, Code.NOT_FOUND)
        detail = suggest_path(request.url.path, ENDPOINT_BY_PATH) if code is Code.NOT_FOUND else None
        response = self._refuse(code, request, detail)
        if isinstance(error, HTTPException) and error.headers:
            response.headers.update(error.headers)
        return response

    async def _fail(self, request: Request, error: Exception) -> Response:
        request_id = request.scope["extensions"][REQUEST_ID]
        log.error("unhandled error", extra={"path": "pages", "request_id": request_id, **describe_error(error)})
        return self._refuse(Code.INTERNAL_ERROR, request)

    def _locale(self, request: Request) -> Locale:
        return Locale(choose_language(_accept_language(request)), self._context.policy.zone)


def _choose_language(request: Request) -> str:
    """Return the language of a page: that of `lang` in the query, else the one that the header prefers."""
    given = request.query_params.get("lang", "")
    return given if given in LANGUAGES else choose_language(_accept_language(request))


def _accept_language(request: Request) -> bytes:
    return request.headers.get("accept-language", "").encode("latin-1", "replace")


MAX_WEBHOOK_BYTES = 8 * 2**20


async def receive_webhook(context: Context, bodies: BodyBudget, request: Request) -> None:
    """Store a carrier's receipts; return once they are durable.

    Raises Refused, StoreUnavailable.
    """
    carrier = require(context.carriers.get(request.path_params["carrier"]))

    async def on_receipts(receipts: Sequence[Receipt]) -> None:
        await store_receipts(context, carrier.name, receipts)

    carrier.attach_inbox(build_inbox(context, carrier.name))
    with bodies.hold(carrier.name, 0) as held:
        await carrier.handle_webhook(request.headers, lambda: _read_body(request, held), on_receipts)


async def _read_body(request: Request, held: HeldBody) -> bytes:
    """Return the body, which `held` grows with.

    Raises Refused: PAYLOAD_TOO_LARGE as soon as it exceeds the limit, else as `HeldBody.grow` does.
    """
    parts: list[bytes] = []
    size = 0
    try:
        async for part in request.stream():
            size += len(part)
            if size > MAX_WEBHOOK_BYTES:
                raise Refused(Code.PAYLOAD_TOO_LARGE)
            held.grow(size)
            parts.append(part)
    except ClientDisconnect:
        raise Refused(Code.INVALID_JSON) from None
    return b"".join(parts)
