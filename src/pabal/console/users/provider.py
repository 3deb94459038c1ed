"""Signing in through the OpenID Connect provider, and coming back from it."""

from starlette.responses import Response

from pabal.console.shell import cookies
from pabal.console.shell.page_request import HOME, PageRequest, safe_redirect_path
from pabal.console.users import join, me, sign_in
from pabal.console.users.sign_in import callback_url, leave
from pabal.domain.base.codes import Code, Refused
from pabal.openid import flow as flows
from pabal.openid.flow import Flow, Purpose
from pabal.service.access.users import provider_sign_in
from pabal.service.access.users.provider_sign_in import START_AGAIN, ProviderIdentity
from pabal.service.access.users.sign_in_delays import place_of


async def begin_sign_in(request: PageRequest) -> Response:
    """Send the browser to the provider.

    Raises Refused(NOT_FOUND) without a provider.
    """
    wanted = safe_redirect_path(request.field("next"))
    try:
        redirect = await provider_sign_in.begin(
            request.context, Purpose.SIGN_IN, callback_url(request), next_path=wanted
        )
    except Refused as refused:
        if refused.code is Code.NOT_FOUND:
            raise
        return sign_in.render_form(request, wanted, request.describe(refused), refused.code.http_status)
    return leave(request, redirect)


async def finish_provider_sign_in(request: PageRequest) -> Response:
    """Finish a sign-in, link or invitation when the provider has answered; its cookie is deleted.

    Raises Refused(NOT_FOUND) without a provider.
    """
    flow = flows.read_cookie(cookies.read_value(request.http, cookies.OPENID, is_https=request.is_https))
    session_secret = request.session.csrf if request.session else ""
    try:
        with request.site.provider_calls.hold(place_of(request.address)):
            vouched = await provider_sign_in.finish(
                request.context, flow, request.fields, callback_url(request), request.source, session_secret
            )
        response = await _arrive(request, vouched)
    except Refused as refused:
        if refused.code is Code.NOT_FOUND:
            raise
        response = await _render_refused(request, flow, refused)
    cookies.delete_secret(response, cookies.OPENID, is_https=request.is_https)
    return response


async def _arrive(request: PageRequest, vouched: ProviderIdentity) -> Response:
    flow = vouched.flow
    if flow.purpose is Purpose.LINK:
        if request.session is None:
            raise Refused(Code.INVALID_STATE, "", START_AGAIN)
        audit_entry = request.own_audit_entry("openid.link", request.user.name)
        await request.context.store.write(provider_sign_in.link, request.user, vouched, audit_entry)
        return request.redirect(f"{me.ME_PATH}?linked=1")
    if flow.purpose is Purpose.JOIN:
        return await sign_in.enter(
            request, HOME, await provider_sign_in.join(request.context, vouched, request.source)
        )
    signed = await provider_sign_in.enter(request.context, vouched, request.source)
    return await sign_in.enter(request, safe_redirect_path(flow.next_path), signed)


async def _render_refused(request: PageRequest, flow: Flow | None, refused: Refused) -> Response:
    """Say what went wrong on the page that the browser had set out from."""
    told = request.describe(refused)
    if flow and flow.purpose is Purpose.LINK and request.session:
        return await me.show_me(request, refused, told=told)
    if flow and flow.invite and not request.session:
        return await join.render_join(request, flow.invite, flow.name, refused, told=told)
    wanted = safe_redirect_path(flow.next_path) if flow else HOME
    return sign_in.render_form(request, wanted, told, refused.code.http_status)
