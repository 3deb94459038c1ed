"""Calls an OpenID Connect provider: its description, its keys, and ID tokens for codes, which it verifies."""

import asyncio
import hmac
import ssl
from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote, urlencode

import msgspec

from pabal.openid.flow import Flow
from pabal.outbound.calls import CallFailed, Failure, HttpRequest, Transport
from pabal.settings.openid_settings import is_safe_url
from pabal.world import World

if TYPE_CHECKING:
    from joserfc.jwk import KeySet

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512")
"""Signatures with a key that only the provider has: never `none`, and never a secret that we have too."""
KEY_TYPES = ("RSA", "EC")
CLOCK_LEEWAY_S = 60
"""How much the provider's clock may differ from ours."""
MAX_AGE_S = 600
"""How long ago a token may have been issued."""
MAX_KEYS = 100
MAX_SUBJECT_CHARACTERS = 255


class TokenRejected(Exception):
    """A token is not what it should be; the message says why, for the log."""


class UnknownKey(TokenRejected):
    """A token was signed with a key that is not among those we know."""


class Expected(NamedTuple):
    """What a token must say."""

    issuer: str
    client_id: str
    nonce: str


class _KeyDocument(msgspec.Struct):
    keys: list[dict[str, Any]]


def read_keys(document: bytes) -> "KeySet":
    """Return the keys in a provider's document that can have signed tokens; others are passed over.

    Raises TokenRejected if there are none.
    """
    from joserfc.errors import JoseError
    from joserfc.jwk import JWKRegistry, KeySet  # slow to import, and rarely needed

    try:
        found = msgspec.json.decode(document, type=_KeyDocument).keys[:MAX_KEYS]
    except msgspec.DecodeError:
        raise TokenRejected("the provider's keys are not a JSON Web Key Set") from None
    keys = []
    for each in found:
        if each.get("kty") not in KEY_TYPES or each.get("use", "sig") != "sig":
            continue
        try:
            keys.append(JWKRegistry.import_key(each))
        except (JoseError, ValueError, TypeError, KeyError):
            continue
    if not keys:
        raise TokenRejected("the provider has no key that we can verify signatures with")
    return KeySet(keys)


def verify(token: str, keys: "KeySet", expected: Expected, now_s: int) -> str:
    """Return the subject of a token, once its signature and all its claims are verified.

    Raises UnknownKey, TokenRejected.
    """
    from joserfc import jwt
    from joserfc.errors import InvalidKeyIdError, JoseError
    from joserfc.jws import JWSRegistry

    algorithms = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
    claims_registry = jwt.JWTClaimsRegistry(
        now=now_s,
        leeway=CLOCK_LEEWAY_S,
        iss={"essential": True, "value": expected.issuer},
        aud={"essential": True, "value": expected.client_id},
        sub={"essential": True},
        exp={"essential": True},
        iat={"essential": True},
        nonce={"essential": True},
    )
    try:
        claims = jwt.decode(token, keys, registry=algorithms).claims
        claims_registry.validate(claims)
    except InvalidKeyIdError:
        raise UnknownKey("it is signed with a key that the provider does not publish") from None
    except (JoseError, ValueError, TypeError, KeyError) as error:
        raise TokenRejected(str(error) or type(error).__name__) from None
    _check_rest(claims, expected, now_s)
    return str(claims["sub"])


def _check_rest(claims: dict[str, Any], expected: Expected, now_s: int) -> None:
    """Check what the library does not: to whom it was issued, for which sign-in, when, and the subject's length."""
    nonce, subject, azp = claims["nonce"], claims["sub"], claims.get("azp")
    if not isinstance(nonce, str) or not hmac.compare_digest(_bytes(nonce), _bytes(expected.nonce)):
        raise TokenRejected("it is of another sign-in: its nonce is wrong")
    if azp not in (None, expected.client_id) or (azp is None and _has_others(claims["aud"], expected.client_id)):
        raise TokenRejected("it was issued to another client")
    if claims["iat"] < now_s - MAX_AGE_S - CLOCK_LEEWAY_S:
        raise TokenRejected("it was issued too long ago")
    if not 0 < len(subject) <= MAX_SUBJECT_CHARACTERS or not subject.isprintable():
        raise TokenRejected("its subject is empty, too long, or not printable")


def _has_others(audience: str | list[str], client_id: str) -> bool:
    return isinstance(audience, list) and any(each != client_id for each in audience)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


DISCOVERY_PATH = "/.well-known/openid-configuration"
TIMEOUT_S = 10.0
CACHE_S = 3600.0
"""How long the provider's description and keys are used; an unknown key is looked for at once."""
MAX_ANSWER_BYTES = 256 * 1024
DEFAULT_HEADERS = {"User-Agent": "pabal", "Accept": "application/json", "Accept-Encoding": "identity"}
SECRET_METHODS = ("client_secret_basic", "client_secret_post")


class OpenIdUnavailable(Exception):
    """The provider cannot be reached, or does not answer as a provider does; the message says why."""


class CodeRejected(Exception):
    """The provider gives no ID token for a code; the message has its error."""


class ClientRegistration(NamedTuple):
    """How the console is registered at a provider."""

    issuer: str
    client_id: str
    client_secret: str
    """Empty: a public client, which has none."""
    name: str
    """What users call the provider."""
    tls_ca: Path | None = None


class Metadata(msgspec.Struct):
    """A provider's description of itself."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    token_endpoint_auth_methods_supported: tuple[str, ...] = (SECRET_METHODS[0],)
    authorization_response_iss_parameter_supported: bool = False


class _Tokens(msgspec.Struct):
    id_token: str


class _ErrorAnswer(msgspec.Struct):
    error: str


class OpenIdProvider:
    """A provider, with its description and keys as they were read last."""

    def __init__(self, registration: ClientRegistration, world: World, transport: Transport | None = None) -> None:
        """`transport` replaces the network in tests."""
        self.registration = registration
        self._world = world
        self._transport = transport
        self._metadata: tuple[float, Metadata] | None = None
        self._keys: tuple[float, KeySet] | None = None

    async def authorization_url(self, flow: Flow, state: str, redirect_uri: str) -> str:
        """Return where to send a browser.

        Raises OpenIdUnavailable.
        """
        metadata = await self._describe()
        query = {
            "response_type": "code",
            "scope": "openid",
            "client_id": self.registration.client_id,
            "redirect_uri": redirect_uri,
            "state": state,
            "nonce": flow.nonce,
            "code_challenge": flow.challenge,
            "code_challenge_method": "S256",
        }
        separator = "&" if "?" in metadata.authorization_endpoint else "?"
        return f"{metadata.authorization_endpoint}{separator}{urlencode(query)}"

    async def is_own_answer(self, issuer: str | None) -> bool:
        """Return whether an answer is this provider's, by its parameter `iss` (RFC 9207).

        Raises OpenIdUnavailable.
        """
        if issuer is not None:
            return issuer == self.registration.issuer
        return not (await self._describe()).authorization_response_iss_parameter_supported

    async def identify(self, code: str, flow: Flow, redirect_uri: str) -> str:
        """Return the subject that a code was issued for, from a verified ID token.

        Raises OpenIdUnavailable, CodeRejected, TokenRejected.
        """
        token = await self._redeem(code, flow.verifier, redirect_uri)
        expected = Expected(self.registration.issuer, self.registration.client_id, flow.nonce)
        now_s = self._world.now() // 1000
        try:
            return verify(token, await self._read_keys(), expected, now_s)
        except UnknownKey:
            return verify(token, await self._read_keys(is_fresh=True), expected, now_s)

    async def check(self) -> None:
        """Read the provider's description and keys.

        Raises OpenIdUnavailable, TokenRejected for keys that cannot be used.
        """
        await self._describe()
        await self._read_keys(is_fresh=True)

    async def close(self) -> None:
        """Close the connections."""
        if self._transport:
            await self._transport.close()
            self._transport = None

    async def _describe(self) -> Metadata:
        now_s = self._world.monotonic()
        if self._metadata and now_s - self._metadata[0] < CACHE_S:
            return self._metadata[1]
        status, body = await self._call("GET", f"{self.registration.issuer.rstrip('/')}{DISCOVERY_PATH}")
        if status != 200:
            raise OpenIdUnavailable(f"its description answers with HTTP {status}")
        try:
            found = msgspec.json.decode(body, type=Metadata)
        except msgspec.DecodeError:
            raise OpenIdUnavailable("its description is not that of an OpenID Connect provider") from None
        if found.issuer != self.registration.issuer:
            raise OpenIdUnavailable(f"it calls itself {found.issuer!r}: openid_issuer must be spelt the same")
        for url in (found.authorization_endpoint, found.token_endpoint, found.jwks_uri):
            if not is_safe_url(url):
                raise OpenIdUnavailable("its description names an address without TLS")
        self._metadata = now_s, found
        return found

    async def _read_keys(self, *, is_fresh: bool = False) -> "KeySet":
        now_s = self._world.monotonic()
        if self._keys and not is_fresh and now_s - self._keys[0] < CACHE_S:
            return self._keys[1]
        status, body = await self._call("GET", (await self._describe()).jwks_uri)
        if status != 200:
            raise OpenIdUnavailable(f"its keys answer with HTTP {status}")
        self._keys = now_s, read_keys(body)
        return self._keys[1]

    async def _redeem(self, code: str, verifier: str, redirect_uri: str) -> str:
        metadata = await self._describe()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": verifier,
        }
        headers = {}
        client_id, secret = self.registration.client_id, self.registration.client_secret
        if secret and SECRET_METHODS[0] in metadata.token_endpoint_auth_methods_supported:
            pair = f"{quote(client_id, safe='')}:{quote(secret, safe='')}"
            headers["authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
        else:
            form |= {"client_id": client_id} | ({"client_secret": secret} if secret else {})
        status, body = await self._call("POST", metadata.token_endpoint, form, headers)
        if status == 200:
            try:
                return msgspec.json.decode(body, type=_Tokens).id_token
            except msgspec.DecodeError:
                raise CodeRejected("the answer to a code has no ID token") from None
        if status >= 500:
            raise OpenIdUnavailable(f"its token endpoint answers with HTTP {status}")
        raise CodeRejected(_read_error(body) or f"HTTP {status}")

    async def _call(
        self, method: str, url: str, form: dict[str, str] | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, bytes]:
        """Return status and body of an answer; redirects are not followed.

        Raises OpenIdUnavailable.
        """
        all_headers = {**DEFAULT_HEADERS, **(headers or {})}
        body = b""
        if form:
            all_headers["Content-Type"] = "application/x-www-form-urlencoded"
            body = urlencode(form).encode()
        try:
            async with asyncio.timeout(TIMEOUT_S):
                answer = await self._connect().send(HttpRequest(method, url, all_headers, body))
        except TimeoutError:
            raise OpenIdUnavailable(f"no answer within {TIMEOUT_S:g} s") from None
        except CallFailed as failed:
            if failed.failure is Failure.LENGTH:
                raise OpenIdUnavailable("its answer is too long") from None
            is_tls = failed.failure is Failure.TLS
            raise OpenIdUnavailable(f"TLS: {failed}" if is_tls else str(failed)) from None
        return answer.status, answer.body

    def _connect(self) -> Transport:
        """Return the connections, made at their first use."""
        if self._transport is None:
            from pabal.outbound.connections import HttpConnections  # costs the start 0.3 s

            self._transport = HttpConnections(self._load_authorities(), max_body_bytes=MAX_ANSWER_BYTES)
        return self._transport

    def _load_authorities(self) -> ssl.SSLContext:
        try:
            return ssl.create_default_context(cafile=self.registration.tls_ca)
        except OSError as error:
            raise OpenIdUnavailable(f"openid_tls_ca cannot be read ({error.strerror})") from None


def _read_error(body: bytes) -> str:
    """Return the error of an answer, a word such as `invalid_grant`; empty if it has none."""
    try:
        word = msgspec.json.decode(body, type=_ErrorAnswer).error
    except msgspec.DecodeError:
        return ""
    return word if word.isascii() and word.replace("_", "").isalnum() and len(word) < 100 else ""
