"""IP addresses: where a request comes from, and whether a network contains it."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

IpAddress = IPv4Address | IPv6Address
IpNetwork = IPv4Network | IPv6Network
MAX_PROXY_HOPS = 20
"""How many addresses of X-Forwarded-For are read, from the last."""


def get_caller_address(peer: str | None, forwarded_for: str, trusted: Sequence[IpNetwork]) -> IpAddress | None:
    """Return the caller's address: the nearest one that is not a trusted proxy's."""
    address = _parse_address(peer or "")
    hops = [hop.strip() for hop in forwarded_for.split(",")][-MAX_PROXY_HOPS:] if forwarded_for else []
    while hops and address is not None and is_in_networks(address, trusted):
        address = _parse_address(hops.pop())
    return address


def is_in_networks(address: IpAddress, networks: Sequence[IpNetwork]) -> bool:
    """Return whether one of the networks contains an address."""
    return any(address.version == network.version and address in network for network in networks)


def _parse_address(spelling: str) -> IpAddress | None:
    try:
        address = ip_address(spelling.strip("[]"))
    except ValueError:
        return None
    mapped = getattr(address, "ipv4_mapped", None)
    return mapped or address
