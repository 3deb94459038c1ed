"""Which URLs and IP addresses webhooks may be posted to."""

import re
import socket
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.events.webhook import MAX_URL_CHARACTERS
from pabal.settings.webhook_settings import AllowedEndpoint

IpAddress = IPv4Address | IPv6Address
IpNetwork = IPv4Network | IPv6Network

MAX_HOST_CHARACTERS = 253
DEFAULT_PORT, DEFAULT_PLAIN_PORT = 443, 80
SCHEME, PLAIN_SCHEME = "https://", "http://"


def _networks(*spellings: str) -> tuple[IpNetwork, ...]:
    return tuple(map(ip_network, spellings))


REFUSED_NETWORKS = _networks(
    "0.0.0.0/8",  # this host
    "10.0.0.0/8",  # private
    "100.64.0.0/10",  # shared by customers of a provider (CGNAT)
    "127.0.0.0/8",  # loopback
    "169.254.0.0/16",  # link-local
    "172.16.0.0/12",  # private
    "192.0.0.0/24",  # protocol assignments
    "192.0.2.0/24",  # documentation
    "192.88.99.0/24",  # relays of 6to4
    "192.168.0.0/16",  # private
    "198.18.0.0/15",  # benchmarks
    "198.51.100.0/24",  # documentation
    "203.0.113.0/24",  # documentation
    "224.0.0.0/3",  # multicast, reserved, broadcast
    "::/3",  # all but global unicast: unspecified, loopback, IPv4-mapped, NAT64
    "2001::/23",  # protocol assignments: Teredo, ORCHID
    "2001:db8::/32",  # documentation
    "2002::/16",  # 6to4
    "3fff::/20",  # documentation
    "4000::/2",  # not assigned
    "8000::/1",  # not assigned, unique local, link-local, multicast
)
"""Addresses that no webhook may reach, apart from the exceptions of the setting webhook_allow."""

NEVER_NETWORKS = _networks(
    "0.0.0.0/8",
    "169.254.0.0/16",
    "224.0.0.0/4",
    "255.255.255.255/32",
    "100.100.100.200/32",  # metadata of a cloud
    "168.63.129.16/32",  # metadata of a cloud, though it looks like any public address
    "192.0.0.192/32",  # metadata of a cloud
    "fe80::/10",
    "fd00:ec2::254/128",  # metadata of a cloud
    "fd20:ce::254/128",  # metadata of a cloud
    "ff00::/8",
    # IPv4 addresses in disguise, which could be any of the above:
    *(str(each) for each in IPv6Network("::/96").address_exclude(IPv6Network("::1/128"))),
    "::ffff:0:0/96",
    "::ffff:0:0:0/96",
    "64:ff9b::/96",
    "64:ff9b:1::/48",
    "2001::/32",
    "2002::/16",
)
"""Addresses that no exception permits: link-local ones, metadata of clouds, translated ones."""


@dataclass(frozen=True)
class WebhookUrl:
    """A checked URL, in the parts that a connection needs."""

    host: str
    """In lower case and ASCII, without brackets and without the root's dot; an address in its usual spelling."""
    port: int
    target: str
    """Path and query."""
    is_plain: bool = False
    """Whether it is http to this machine."""

    @property
    def host_header(self) -> str:
        """The value of the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return (
            host if self.port == (DEFAULT_PLAIN_PORT if self.is_plain else DEFAULT_PORT) else f"{host}:{self.port}"
        )

    def __str__(self) -> str:
        return f"{PLAIN_SCHEME if self.is_plain else SCHEME}{self.host_header}{self.target}"


def parse_url(spelling: str) -> WebhookUrl:
    """Return the parts of a webhook's URL.

    Raises Refused(INVALID_PARAMETER): it is neither https nor to this machine, contains a password, a fragment or
    no valid host.
    """
    if len(spelling) > MAX_URL_CHARACTERS:
        limit = MAX_URL_CHARACTERS
        raise _refused(f"{limit:,}자 이하여야 합니다.", f"At most {limit:,} characters.")
    is_plain = spelling[: len(PLAIN_SCHEME)].lower() == PLAIN_SCHEME
    if not is_plain and spelling[: len(SCHEME)].lower() != SCHEME:
        raise _refused("https://로 시작해야 합니다.", "It must begin with https://.")
    from yarl import URL  # costs the start 0.05 s

    try:
        if not spelling.isprintable():
            raise ValueError
        url = URL(spelling)
        host = (url.raw_host or "").removesuffix(".")
        default_port = DEFAULT_PLAIN_PORT if is_plain else DEFAULT_PORT
        port = default_port if url.port is None else url.port
    except ValueError:
        raise _refused("올바른 URL이 아닙니다.", "It is not a valid URL.") from None
    if url.raw_user or url.raw_password:
        raise _refused(
            "사용자 이름이나 비밀번호를 넣을 수 없습니다.", "It must not contain a user name or a password."
        )
    if "#" in spelling:
        raise _refused("#는 넣을 수 없습니다.", "It must not contain a fragment (#).")
    if not _is_host(host) or not 1 <= port <= 65535:
        raise _refused("호스트나 포트가 올바르지 않습니다.", "The host or the port is not valid.")
    if is_plain and not (host == "localhost" or _is_loopback(_parse(host))):
        raise _refused(
            "https://로 시작해야 합니다. http://는 이 컴퓨터(localhost)에만 쓸 수 있습니다.",
            "It must begin with https://; http:// is only for this machine (localhost).",
        )
    return WebhookUrl(str(_parse(host) or host), port, url.raw_path_qs, is_plain)


class AddressRules:
    """Decides which addresses a webhook of an account may connect to."""

    def __init__(
        self,
        exceptions: Collection[AllowedEndpoint] = (),
        own: Iterable[tuple[str, int]] = (),
        refused: Sequence[IpNetwork] = REFUSED_NETWORKS,
        *,
        is_for_development: bool = False,
    ) -> None:
        """`own`: hosts and ports that this service listens on.

        `is_for_development`: http to loopback is permitted, too.
        """
        self._is_for_development = is_for_development
        self._exceptions = frozenset(exceptions)
        self._own = tuple((_parse(host), port) for host, port in own)
        self._refused = refused

    def is_exception(self, account: str, url: WebhookUrl) -> bool:
        """Return whether the operator permits this account private addresses of this host and port."""
        return AllowedEndpoint(account, url.host, url.port) in self._exceptions

    def permitted(self, account: str, url: WebhookUrl, addresses: Iterable[str]) -> list[str]:
        """Return those of a host's addresses that may be connected to, in their order."""
        found = ((spelling, _parse(spelling)) for spelling in addresses)
        if url.is_plain:
            found = (each for each in found if self._is_for_development and _is_loopback(each[1]))
        is_exception = url.is_plain or self.is_exception(account, url)
        return [
            spelling
            for spelling, address in found
            if address and self._is_permitted(address, url.port, is_exception)
        ]

    def exception_for(self, account: str, url: WebhookUrl, addresses: Iterable[str]) -> str | None:
        """Return what webhook_allow would have to contain for one of a host's addresses, or None: no use."""
        can_help = not url.is_plain and any(self._is_permitted(_parse(each), url.port, True) for each in addresses)
        return f"{account}@{url.host}:{url.port}" if can_help else None

    def check_literal(self, account: str, url: WebhookUrl) -> None:
        """Raise Refused if the host is itself an address that may not be connected to."""
        if url.is_plain and not self._is_for_development:
            raise _refused(
                "http://는 시뮬레이터만 설정하고 이 컴퓨터에서만 접속하는 서비스에 쓸 수 있습니다."
                " 개발할 때는 `pabal webhook listen`으로 받으세요.",
                "http:// is for a service with nothing but a simulator that listens on this machine only; to"
                " develop against others, use `pabal webhook listen`.",
            )
        if _parse(url.host) and not self.permitted(account, url, [url.host]):
            allowed = self.exception_for(account, url, [url.host])
            if not allowed:
                raise _refused(
                    "웹훅을 보낼 수 없는 주소입니다: 이 서비스 자신, 링크 로컬 또는 클라우드 메타데이터.",
                    "No webhook may be posted to this address: it is the service itself, link-local or metadata of"
                    " a cloud.",
                )
            raise _refused(
                f'사설 네트워크 등 허용되지 않는 주소입니다. 운영자는 webhook_allow = ["{allowed}"]로 허용할 수'
                " 있습니다.",
                "This address, such as one of a private network, is not allowed. Operators can allow it with"
                f' webhook_allow = ["{allowed}"].',
            )

    def _is_permitted(self, address: IpAddress | None, port: int, is_exception: bool) -> bool:
        if address is None or _is_in(address, NEVER_NETWORKS) or getattr(address, "scope_id", None):
            return False
        if _is_in(address, self._refused) and not is_exception:
            return False
        return not any(port == own_port and _is_own(address, own) for own, own_port in self._own)


def _is_loopback(address: IpAddress | None) -> bool:
    return address is not None and address.is_loopback and not _is_in(address, NEVER_NETWORKS)


def _is_own(address: IpAddress, own: IpAddress | None) -> bool:
    """Return whether a service that listens on `own` (None: on a name) can be reached at an address."""
    if own is None or own.is_unspecified:
        return _is_of_this_machine(address)
    return address == own


def _is_of_this_machine(address: IpAddress) -> bool:
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((str(address), 0))  # only possible with addresses of this machine; nothing is sent
        except OSError:
            return False
    return True


def _is_in(address: IpAddress, networks: Sequence[IpNetwork]) -> bool:
    return any(address.version == network.version and address in network for network in networks)


def _is_host(host: str) -> bool:
    if ":" in host:
        return "%" not in host and _parse(host) is not None  # no zone of this machine
    labels = host.split(".")
    if _IS_NUMBER.fullmatch(labels[-1]) and _parse(host) is None:
        return False  # no name ends so; resolvers read 127.1, 0x7f000001 and 2130706433 as addresses
    return len(host) <= MAX_HOST_CHARACTERS and all(
        0 < len(label) <= 63 and set(label) <= _LABEL_CHARACTERS for label in labels
    )


def _parse(spelling: str) -> IpAddress | None:
    try:
        return ip_address(spelling)
    except ValueError:
        return None


def _refused(ko: str, en: str) -> Refused:
    return Refused(Code.INVALID_PARAMETER, "url", Text(ko, en))


_LABEL_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-_")
_IS_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII)
