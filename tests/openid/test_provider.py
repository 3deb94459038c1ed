"""Calls to an OpenID Connect provider: how the client shows who it is, what is cached, and wrong answers."""

import asyncio
import base64
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs

import httpx
import pytest

from pabal.openid.flow import Flow, Purpose
from pabal.openid.provider import CACHE_S, ClientRegistration, CodeRejected, OpenIdProvider, OpenIdUnavailable
from tests.fixtures.transports import OverHttpx
from tests.fixtures.virtual import NOON, VirtualWorld, run_in_virtual_time

ISSUER = "https://login.example/realms/acme"
FLOW = Flow("ab" * 32, Purpose.SIGN_IN, NOON)
BACK = "https://console.example/console/login/openid/callback"


class ScriptedProvider(httpx.AsyncBaseTransport):
    """Describes itself, and answers to codes as it is told."""

    def __init__(self, **changes: Any) -> None:
        self.requests: list[httpx.Request] = []
        self.answer: Callable[[], Awaitable[httpx.Response]] | None = None
        self.description = {
            "issuer": ISSUER,
            "authorization_endpoint": f"{ISSUER}/auth?tenant=1",
            "token_endpoint": f"{ISSUER}/token",
            "jwks_uri": f"{ISSUER}/keys",
        } | changes

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        if self.answer:
            return await self.answer()
        if request.method == "GET":
            return httpx.Response(200, json=self.description)
        return httpx.Response(400, json={"error": "invalid_grant"})


def run(work: Callable[[OpenIdProvider], Awaitable[Any]], peer: ScriptedProvider, secret: str = "s+ c") -> None:
    """Run work with a provider in virtual time."""

    async def main() -> None:
        provider = OpenIdProvider(
            ClientRegistration(ISSUER, "the client", secret, "Acme"), VirtualWorld(), OverHttpx(peer)
        )
        await work(provider)
        await provider.close()

    run_in_virtual_time(main())


def redeemed(peer: ScriptedProvider, secret: str = "s+ c") -> tuple[dict[str, str], str]:
    """Have a code redeemed, and return the form and the header that the provider gets."""

    async def work(provider: OpenIdProvider) -> None:
        with pytest.raises(CodeRejected, match="invalid_grant"):
            await provider.identify("a code", FLOW, BACK)

    run(work, peer, secret)
    (request,) = [each for each in peer.requests if each.method == "POST"]
    form = {name: values[0] for name, values in parse_qs(request.content.decode()).items()}
    return form, request.headers.get("authorization", "")


def test_secret_is_sent_in_the_header_unless_only_the_form_is_supported() -> None:
    by_default, header = redeemed(ScriptedProvider())
    in_form, no_header = redeemed(ScriptedProvider(token_endpoint_auth_methods_supported=["client_secret_post"]))
    public, nothing = redeemed(ScriptedProvider(), secret="")

    assert base64.b64decode(header.removeprefix("Basic ")) == b"the%20client:s%2B%20c"
    assert "client_secret" not in by_default
    assert (in_form["client_id"], in_form["client_secret"], no_header) == ("the client", "s+ c", "")
    assert (public["client_id"], "client_secret" in public, nothing) == ("the client", False, "")
    assert public["code_verifier"] == FLOW.verifier


def test_address_keeps_the_query_of_the_provider() -> None:
    async def work(provider: OpenIdProvider) -> None:
        url = await provider.authorization_url(FLOW, "the state", BACK)

        assert url.startswith(f"{ISSUER}/auth?tenant=1&response_type=code&scope=openid&client_id=the+client&")
        assert FLOW.verifier not in url

    run(work, ScriptedProvider())


def test_description_is_read_again_after_an_hour() -> None:
    peer = ScriptedProvider()

    async def work(provider: OpenIdProvider) -> None:
        for _ in range(3):
            await provider.authorization_url(FLOW, "s", BACK)
        before = len(peer.requests)
        await asyncio.sleep(CACHE_S)
        await provider.authorization_url(FLOW, "s", BACK)

        assert (before, len(peer.requests)) == (1, 2)

    run(work, peer)


async def _redirect() -> httpx.Response:
    return httpx.Response(302, headers={"location": "https://evil.example"})


async def _page() -> httpx.Response:
    return httpx.Response(200, text="<html>")


async def _silence() -> httpx.Response:
    await asyncio.sleep(3600)
    raise AssertionError("nobody waits that long")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (_redirect, "HTTP 302"),
        (_page, "is not that of an OpenID Connect provider"),
        (_silence, "no answer within 10 s"),
    ],
)
def test_answer_that_no_provider_gives_is_told(answer: Callable[[], Awaitable[httpx.Response]], told: str) -> None:
    peer = ScriptedProvider()
    peer.answer = answer

    async def work(provider: OpenIdProvider) -> None:
        with pytest.raises(OpenIdUnavailable, match=told):
            await provider.authorization_url(FLOW, "s", BACK)

    run(work, peer)


def test_answer_parameter_iss_is_needed_only_if_the_provider_says_so() -> None:
    async def work(provider: OpenIdProvider) -> None:
        found = [await provider.is_own_answer(each) for each in (ISSUER, "https://evil.example", None)]

        assert found == [True, False, True]

    run(work, ScriptedProvider())
