"""The console as an ASGI application: pages by path, assets by address."""

from collections.abc import Awaitable, Callable
from functools import partial

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pabal.console.pages import PAGES, TEXTS
from pabal.console.shell.middleware import HEADERS, Middleware
from pabal.console.shell.page import menu_items, roles_by_page
from pabal.console.shell.rendering import CACHE_FOREVER, Asset
from pabal.console.shell.site import Site
from pabal.domain.base.codes import Code
from pabal.service.context import Context
from pabal.settings.settings import Settings


def build_console(context: Context, settings: Settings) -> Starlette:
    """Return the console; its imports take 0.2 s, so it is built in a thread, when it is first requested."""
    has_simulator = any(carrier.kind == "simulator" for carrier in settings.carriers.values())
    pages = [page for page in PAGES if has_simulator or not page.is_for_simulator]
    site = Site(context, settings, TEXTS, roles_by_page(pages), menu_items(pages))
    middleware = Middleware(site, settings.trusted_proxies)

    async def refuse(http: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 404
        code = Code.METHOD_NOT_ALLOWED if status == 405 else Code.NOT_FOUND
        return await middleware.answer(None, http, code)

    routes = [
        *(Route(asset.address, _serve(asset)) for asset in site.assets.values()),
        *(Route(page.path, partial(middleware.answer, page), methods=[page.method]) for page in pages),
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: refuse})
    app.router.redirect_slashes = False
    return app


def _serve(asset: Asset) -> Callable[[Request], Awaitable[Response]]:
    async def serve(http: Request) -> Response:
        headers = {**HEADERS, "cache-control": CACHE_FOREVER, "vary": "accept-encoding"}
        if "gzip" in http.headers.get("accept-encoding", ""):
            headers["content-encoding"] = "gzip"
            return Response(asset.compressed, media_type=asset.media_type, headers=headers)
        return Response(asset.body, media_type=asset.media_type, headers=headers)

    return serve
