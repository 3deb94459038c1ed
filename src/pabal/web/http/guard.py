"""Authorizes calls: key, address, scope and rate."""

from collections.abc import Sequence

from pabal.checks.body.caller_addresses import IpNetwork, get_caller_address, is_in_networks
from pabal.domain.base.codes import Code, Refused, Text
from pabal.service.access.accounts.keys import KeyCache
from pabal.service.access.accounts.rate_limits import RateLimiter, RateLimitResult, SharedRateLimiter
from pabal.service.delayed_writes import KeyUses
from pabal.store.accounts.accounts import ApiKey
from pabal.web.http.exchange import ReceivedRequest

_ADDRESS_NOT_ALLOWED = Text("허용되지 않은 IP 주소입니다.", "Your IP address is not on the key's allow list.")


class ApiGuard:
    """Authorizes every call of the API."""

    def __init__(
        self,
        keyring: KeyCache,
        limiter: RateLimiter | SharedRateLimiter,
        trusted_proxies: Sequence[IpNetwork],
        uses: KeyUses,
    ) -> None:
        self._keyring = keyring
        self._uses = uses
        self._limiter = limiter
        self._trusted = trusted_proxies

    async def authorize(self, key: str | None, scope: str, request: ReceivedRequest) -> ApiKey:
        """Return the caller's key.

        Raises Refused: UNAUTHORIZED, KEY_EXPIRED, FORBIDDEN.
        """
        found = self._keyring.get_cached(key)
        if found is None or found.expires_at is not None:
            found = await self._keyring.authenticate(key)
        self.admit(found, scope, request)
        return found

    def admit(self, key: ApiKey, scope: str, request: ReceivedRequest) -> None:
        """Check that a key may be used for this, and from the caller's address.

        Raises Refused(FORBIDDEN).
        """
        if key.allow:
            address = get_caller_address(request.peer, _join_forwarded_for(request), self._trusted)
            if address is None or not is_in_networks(address, key.allow):
                raise Refused(Code.FORBIDDEN, detail=_ADDRESS_NOT_ALLOWED)
        if scope not in key.scopes:
            detail = Text(f"필요한 권한: {scope}", f"The key needs the scope {scope}.")
            raise Refused(Code.FORBIDDEN, detail=detail)
        self._uses.note(key.id)

    def host_of(self, request: ReceivedRequest) -> str:
        """Return the host name that a caller has asked for, in small letters; a trusted proxy may forward it."""
        headers = request.headers
        host = headers.get(b"host", b"")
        if self._trusted and b"x-forwarded-host" in headers:
            peer = get_caller_address(request.peer, "", ())
            if peer is not None and is_in_networks(peer, self._trusted):
                host = headers[b"x-forwarded-host"].split(b",")[-1].strip()
        return host.decode("latin-1").rpartition(":")[0].lower() if b":" in host else host.decode("latin-1").lower()

    async def consume_rate(self, key: ApiKey) -> RateLimitResult:
        """Count one request against the key's rate limit.

        Raises StoreUnavailable if the limit is shared between processes.
        """
        if isinstance(self._limiter, RateLimiter):
            return self._limiter.take(key.id, key.rate)
        return await self._limiter.take(key.id, key.rate)


def _join_forwarded_for(request: ReceivedRequest) -> str:
    """Return the addresses of all X-Forwarded-For headers; each proxy may add a header of its own."""
    if b"x-forwarded-for" not in request.headers:
        return ""
    values = [value for name, value in request.header_lines if name == b"x-forwarded-for"]
    return b",".join(values).decode("latin-1")
