"""Authorizes calls: key, address, scope and rate."""

from collections.abc import Sequence

from pabal.checks.body.addresses import IpNetwork, get_caller_address, is_in_networks
from pabal.domain.base.codes import Code, Refused, Text
from pabal.service.access.keys.keys import KeyCache, KeyUses
from pabal.service.access.keys.limits import RateLimiter, RateLimitResult, SharedRateLimiter
from pabal.store.accounts.accounts import ApiKey

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

    async def authorize(self, key: str | None, scope: str, peer: str | None, forwarded_for: str) -> ApiKey:
        """Return the caller's key.

        Raises Refused: UNAUTHORIZED, KEY_EXPIRED, FORBIDDEN.
        """
        found = self._keyring.get_cached(key)
        if found is None or found.expires_at is not None:
            found = await self._keyring.authenticate(key)
        if found.allow:
            address = get_caller_address(peer, forwarded_for, self._trusted)
            if address is None or not is_in_networks(address, found.allow):
                raise Refused(Code.FORBIDDEN, detail=_ADDRESS_NOT_ALLOWED)
        if scope not in found.scopes:
            detail = Text(f"필요한 권한: {scope}", f"The key needs the scope {scope}.")
            raise Refused(Code.FORBIDDEN, detail=detail)
        self._uses.note(found.id)
        return found

    async def consume_rate(self, key: ApiKey) -> RateLimitResult:
        """Count one request against the key's rate limit.

        Raises StoreUnavailable if the limit is shared between processes.
        """
        if isinstance(self._limiter, RateLimiter):
            return self._limiter.take(key.id, key.rate)
        return await self._limiter.take(key.id, key.rate)
