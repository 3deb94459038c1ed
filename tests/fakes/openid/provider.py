"""An OpenID Connect provider in this process, which keeps to the rules unless a test tells it otherwise."""

import asyncio
import base64
import hashlib
import hmac
import json
from collections.abc import Callable
from typing import Any, NamedTuple
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import httpx
from joserfc import jwt
from joserfc.jwk import ECKey

from pabal.domain.base.dates import Instant

ISSUER = "https://login.example"
CLIENT_ID, CLIENT_SECRET = "pabal", "s3cret/+:%"
KEYS = {kid: ECKey.generate_key("P-256", {"kid": kid, "use": "sig"}) for kid in ("first", "second", "stranger")}


class Grant(NamedTuple):
    """What a code was issued for."""

    subject: str
    nonce: str
    challenge: str
    redirect_uri: str


def encode_part(value: Any) -> str:
    """Return a part of a JSON Web Token."""
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


class FakeOpenIdProvider(httpx.AsyncBaseTransport):
    """The provider, and the transport to it."""

    def __init__(self) -> None:
        self.clock: Callable[[], Instant] = lambda: 0
        self.is_unreachable = False
        self.published = ["first"]
        """The ids of the keys that it publishes."""
        self.description: dict[str, Any] = {
            "issuer": ISSUER,
            "authorization_endpoint": f"{ISSUER}/auth",
            "token_endpoint": f"{ISSUER}/token",
            "jwks_uri": f"{ISSUER}/keys",
            "authorization_response_iss_parameter_supported": True,
        }
        self.claims: dict[str, Any] = {}
        """What its tokens say other than they should; None: nothing."""
        self.sign: Callable[[dict[str, Any]], str] = self.sign_with("first")
        self.token_status = 200
        self.delay_s = 0.0
        """How long it takes to answer."""
        self.calls: list[str] = []
        self._grants: dict[str, Grant] = {}

    def sign_with(self, kid: str, algorithm: str = "ES256") -> Callable[[dict[str, Any]], str]:
        """Return a function that signs claims with one of the keys."""
        return lambda claims: jwt.encode({"alg": algorithm, "kid": kid}, claims, KEYS[kid])

    def sign_not(self, claims: dict[str, Any]) -> str:
        """Return a token without a signature, which says so."""
        return f"{encode_part({'alg': 'none'})}.{encode_part(claims)}."

    def sign_with_public_key(self, claims: dict[str, Any]) -> str:
        """Return a token whose signature uses the public key as if it were a shared secret."""
        signed = f"{encode_part({'alg': 'HS256', 'kid': 'first'})}.{encode_part(claims)}"
        digest = hmac.digest(KEYS["first"].as_pem(private=False), signed.encode(), "sha256")
        return f"{signed}.{base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}"

    def sign_and_change(self, claims: dict[str, Any]) -> str:
        """Return a signed token with another subject than was signed."""
        head, _, signature = self.sign_with("first")(claims).split(".")
        return f"{head}.{encode_part({**claims, 'sub': 'boss'})}.{signature}"

    def authorize(self, url: str, subject: str) -> str:
        """Let somebody sign in at the address that a browser was sent to; return where the browser goes then."""
        parts = urlsplit(url)
        asked = dict(parse_qsl(parts.query, strict_parsing=True))
        assert f"{parts.scheme}://{parts.netloc}{parts.path}" == self.description["authorization_endpoint"]
        assert (asked["response_type"], asked["client_id"], asked["scope"]) == ("code", CLIENT_ID, "openid")
        assert asked["code_challenge_method"] == "S256"
        code = f"code-{len(self._grants)}"
        self._grants[code] = Grant(subject, asked["nonce"], asked["code_challenge"], asked["redirect_uri"])
        answer = urlencode({"code": code, "state": asked["state"], "iss": ISSUER})
        return f"{urlsplit(asked['redirect_uri']).path}?{answer}"

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.calls.append(request.url.path)
        await asyncio.sleep(self.delay_s)
        if self.is_unreachable:
            raise httpx.ConnectError("refused", request=request)
        if request.url.path == "/.well-known/openid-configuration":
            return httpx.Response(200, json=self.description)
        if request.url.path == "/keys":
            return httpx.Response(200, json={"keys": [KEYS[kid].as_dict(private=False) for kid in self.published]})
        return self._redeem(request)

    def _redeem(self, request: httpx.Request) -> httpx.Response:
        form = {name: values[0] for name, values in parse_qs(request.content.decode()).items()}
        if self.token_status != 200:
            return httpx.Response(self.token_status, json={"error": "server_error"})
        pair = base64.b64encode(f"{CLIENT_ID}:s3cret%2F%2B%3A%25".encode()).decode()
        if request.headers.get("authorization") != f"Basic {pair}":
            return httpx.Response(401, json={"error": "invalid_client"})
        grant = self._grants.pop(form["code"], None)
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if grant is None or (challenge, form["redirect_uri"]) != (grant.challenge, grant.redirect_uri):
            return httpx.Response(400, json={"error": "invalid_grant"})
        now_s = self.clock() // 1000
        right = {"iss": ISSUER, "sub": grant.subject, "aud": CLIENT_ID, "nonce": grant.nonce}
        claims = right | {"iat": now_s, "exp": now_s + 300} | self.claims
        kept = {name: value for name, value in claims.items() if value is not None}
        return httpx.Response(200, json={"access_token": "x", "token_type": "Bearer", "id_token": self.sign(kept)})
