"""Who may pass: key, address, scope and rate."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from pabal.domain.codes import Code, Refused, Words
from pabal.service.access.keys import Keyring
from pabal.service.access.limits import Allowance, Limiter, SharedLimiter
from pabal.store.accounts import Key

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
MAX_HOPS = 20


class Guard:
    """Stands before every endpoint of the interface."""

    def __init__(
        self, keyring: Keyring, limiter: Limiter | SharedLimiter, trusted_proxies: Sequence[Network]
    ) -> None:
        self._keyring = keyring
        self._limiter = limiter
        self._trusted = trusted_proxies

    async def admit(self, key: str | None, scope: str, peer: str | None, forwarded_for: str) -> Key:
        """Return the caller's key.

        Raises Refused: UNAUTHORIZED, KEY_EXPIRED, FORBIDDEN.
        """
        found = self._keyring.known(key)
        if found is None or found.expires_at is not None:
            found = await self._keyring.recognise(key)
        if found.allow:
            address = caller_address(peer, forwarded_for, self._trusted)
            if address is None or not is_within(address, found.allow):
                raise Refused(
                    Code.FORBIDDEN, detail=Words("허용되지 않은 주소입니다.", "The address is not allowed.")
                )
        if scope not in found.scopes:
            detail = Words(f"필요한 권한: {scope}", f"Scope needed: {scope}")
            raise Refused(Code.FORBIDDEN, detail=detail)
        return found

    async def spend(self, key: Key) -> Allowance:
        """Take one request out of what a key with a limit may do.

        Raises StoreAway where the limit is shared.
        """
        if isinstance(self._limiter, Limiter):
            return self._limiter.take(key.id, key.rate)
        return await self._limiter.take(key.id, key.rate)


def caller_address(peer: str | None, forwarded_for: str, trusted: Sequence[Network]) -> Address | None:
    """Return whom a request comes from: the nearest address that is not a trusted proxy's."""
    address = _address(peer or "")
    hops = [hop.strip() for hop in forwarded_for.split(",")][-MAX_HOPS:] if forwarded_for else []
    while hops and address is not None and is_within(address, trusted):
        address = _address(hops.pop())
    return address


def is_within(address: Address, networks: Sequence[Network]) -> bool:
    """Say whether an address lies in one of the networks."""
    return any(address.version == network.version and address in network for network in networks)


def _address(text: str) -> Address | None:
    try:
        address = ip_address(text.strip("[]"))
    except ValueError:
        return None
    mapped = getattr(address, "ipv4_mapped", None)
    return mapped or address
