"""Verifies the ID tokens of an OpenID Connect provider."""

import hmac
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

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
