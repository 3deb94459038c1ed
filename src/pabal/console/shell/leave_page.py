"""Sends a browser to the OpenID Connect provider, and says where it comes back to."""

from starlette.responses import Response

from pabal.console.shell import cookies
from pabal.console.shell.page_request import OPENID_CALLBACK, PageRequest
from pabal.domain.base.dates import SECOND
from pabal.openid.flow import FLOW_LIFETIME_MS
from pabal.service.access.users.provider_sign_in import ProviderRedirect


def callback_url(request: PageRequest) -> str:
    """Return where the provider sends browsers back to; it has to know this address."""
    return f"{request.origin}{OPENID_CALLBACK}"


def leave(request: PageRequest, redirect: ProviderRedirect) -> Response:
    """Answer with a page that leads to the provider at once, and set its cookie.

    It is no redirect: browsers apply `form-action` of our policy to where the answer to a form redirects, and
    providers redirect further to addresses that nobody here knows.
    """
    response = request.render("shell/leave_page.html", url=redirect.url)
    response.headers["refresh"] = f"0;url={redirect.url}"
    cookies.set_secret(
        response,
        cookies.OPENID,
        redirect.cookie,
        is_https=request.is_https,
        max_age_s=FLOW_LIFETIME_MS // SECOND,
    )
    return response
