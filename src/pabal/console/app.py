"""The console as an ASGI application: pages by their paths, files by their addresses."""

from collections.abc import Awaitable, Callable
from functools import partial

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pabal.console.shell import assets
from pabal.console.shell.assets import Asset
from pabal.console.shell.middleware import HEADERS, Gate
from pabal.console.shell.site import Rooms
from pabal.console.table import PAGES
from pabal.domain.codes import Code
from pabal.service.context import Context
from pabal.settings.settings import Settings


def build_console(context: Context, settings: Settings) -> Starlette:
    """Return the console; it takes about a second, so it is made when it is first asked for, in a thread."""
    has_simulator = any(each.kind == "simulator" for each in settings.carriers.values())
    is_test = not settings.has_real_carriers
    rooms = Rooms(context, PAGES, settings, has_simulator=has_simulator, is_test=is_test)
    gate = Gate(rooms, settings.trusted_proxies)

    async def refuse(request: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 404
        code = Code.METHOD_NOT_ALLOWED if status == 405 else Code.NOT_FOUND
        return await gate.answer(None, request, code)

    routes = [
        *(Route(each.address, _served(each)) for each in rooms.assets.values()),
        *(Route(page.path, partial(gate.answer, page), methods=[page.method]) for page in rooms.pages),
    ]
    app = Starlette(routes=routes, exception_handlers={HTTPException: refuse})
    app.router.redirect_slashes = False
    return app


def _served(asset: Asset) -> Callable[[Request], Awaitable[Response]]:
    async def serve(request: Request) -> Response:
        headers = {**HEADERS, "cache-control": assets.FOR_GOOD, "vary": "accept-encoding"}
        if "gzip" in request.headers.get("accept-encoding", ""):
            headers["content-encoding"] = "gzip"
            return Response(asset.compressed, media_type=asset.kind, headers=headers)
        return Response(asset.body, media_type=asset.kind, headers=headers)

    return serve
