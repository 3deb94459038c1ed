"""Which URLs and addresses webhooks may be posted to."""

import socket

import pytest

from pabal.domain.base.codes import Code, Refused
from pabal.domain.events.webhook import MAX_URL_CHARACTERS
from pabal.settings.webhook_settings import AllowedEndpoint
from pabal.webhooks.permitted_addresses import AddressRules, WebhookUrl, parse_url

PUBLIC = (
    "8.8.8.8",
    "1.1.1.1",
    "223.130.195.200",
    "172.32.0.1",
    "100.128.0.1",
    "2606:4700::1111",
    "2001:4860::8888",
)
LINK_LOCAL = ("169.254.169.254", "169.254.0.1", "fe80::1", "fe80::1%1", "febf::1")
DISGUISED = (
    "::ffff:8.8.8.8",  # IPv4-mapped
    "::ffff:127.0.0.1",
    "::ffff:0:8.8.8.8",  # translated
    "64:ff9b::8.8.8.8",  # NAT64
    "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::1",  # NAT64 of a local network
    "2002:7f00:1::1",  # 6to4
    "2002:808:808::1",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2",  # Teredo
    "::169.254.169.254",  # IPv4-compatible
    "::7f00:1",
)
INTERNAL = (
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "100.64.0.1",
    "100.127.255.255",
    "127.0.0.1",
    "127.255.255.254",
    "172.16.0.1",
    "172.31.255.255",
    "168.63.129.16",
    "192.0.0.8",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.1.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "100::1",
    "100:0:0:1::1",
    "2001:db8::1",
    "2001:10::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd12:3456::1",
    "fec0::1",
    "ff02::1",
)
METADATA = ("100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254")
NOT_ADDRESSES = ("", "localhost", "127.1", "0x7f000001", "2130706433", "8.8.8.8:443")
SHOP = WebhookUrl("hooks.internal", 8443, "/")
EXCEPTION = AllowedEndpoint("shop", "hooks.internal", 8443)


@pytest.mark.parametrize("address", PUBLIC)
def test_public_address_is_permitted(address: str) -> None:
    assert AddressRules().permitted("shop", SHOP, [address]) == [address]


@pytest.mark.parametrize("address", [*INTERNAL, *LINK_LOCAL, *DISGUISED, *NOT_ADDRESSES])
def test_internal_or_disguised_address_is_refused(address: str) -> None:
    assert AddressRules().permitted("shop", SHOP, [address]) == []


def test_only_permitted_addresses_of_a_host_are_used() -> None:
    found = AddressRules().permitted("shop", SHOP, ["10.0.0.1", "8.8.8.8", "::1", "1.1.1.1"])

    assert found == ["8.8.8.8", "1.1.1.1"]


@pytest.mark.parametrize(
    "address", ["10.0.0.1", "127.0.0.1", "100.64.0.1", "192.168.1.1", "::1", "fd12::1", "8.8.8.8"]
)
def test_exception_permits_private_addresses(address: str) -> None:
    assert AddressRules([EXCEPTION]).permitted("shop", SHOP, [address]) == [address]


@pytest.mark.parametrize(
    "address",
    [*LINK_LOCAL, *DISGUISED, *METADATA, "0.0.0.0", "::", "224.0.0.1", "ff02::1"],
)
def test_no_exception_permits_link_local_or_disguised_addresses(address: str) -> None:
    assert AddressRules([EXCEPTION]).permitted("shop", SHOP, [address]) == []


@pytest.mark.parametrize(
    ("account", "host", "port"),
    [("other", "hooks.internal", 8443), ("shop", "other.internal", 8443), ("shop", "hooks.internal", 443)],
)
def test_exception_is_for_one_account_host_and_port(account: str, host: str, port: int) -> None:
    rules = AddressRules([EXCEPTION])

    assert rules.permitted(account, WebhookUrl(host, port, "/"), ["10.0.0.1"]) == []
    assert not rules.is_exception(account, WebhookUrl(host, port, "/"))


@pytest.mark.parametrize(
    ("own", "address", "port", "is_permitted"),
    [
        ("127.0.0.1", "127.0.0.1", 8443, False),
        ("127.0.0.1", "127.0.0.1", 8444, True),
        ("127.0.0.1", "127.0.0.2", 8443, True),
        ("0.0.0.0", "127.0.0.2", 8443, False),
        ("::", "127.0.0.1", 8443, False),
        ("localhost", "127.0.0.1", 8443, False),
        ("0.0.0.0", "10.255.255.1", 8443, True),
    ],
)
def test_own_listening_address_stays_refused(own: str, address: str, port: int, is_permitted: bool) -> None:
    url = WebhookUrl("hooks.internal", port, "/")
    rules = AddressRules([AllowedEndpoint("shop", url.host, port)], own=[(own, 8443)])

    assert bool(rules.permitted("shop", url, [address])) is is_permitted


@pytest.mark.parametrize(
    ("spelling", "address", "is_permitted"),
    [
        ("http://localhost:3000/hook", "127.0.0.1", True),
        ("http://localhost:3000/hook", "::1", True),
        ("http://127.0.0.1:3000/hook", "127.0.0.1", True),
        ("http://localhost:3000/hook", "10.0.0.1", False),
        ("http://localhost:3000/hook", "8.8.8.8", False),
        ("http://localhost:3000/hook", "::ffff:127.0.0.1", False),
        ("http://localhost:8080/", "127.0.0.1", False),
        ("https://localhost:3000/hook", "127.0.0.1", False),
    ],
)
def test_development_permits_plain_http_to_this_machine_alone(
    spelling: str, address: str, is_permitted: bool
) -> None:
    url = parse_url(spelling)
    own = [("127.0.0.1", 8080)]

    assert bool(AddressRules(own=own, is_for_development=True).permitted("shop", url, [address])) is is_permitted
    assert AddressRules(own=own).permitted("shop", url, [address]) == []


@pytest.mark.parametrize(
    ("spelling", "remedy"),
    [
        ("http://localhost:3000/hook", "pabal webhook listen"),
        ("http://127.0.0.1/", "pabal webhook listen"),
        ("https://10.0.0.1/hook", 'webhook_allow = ["shop@10.0.0.1:443"]'),
    ],
)
def test_refusal_says_what_would_allow_the_address(spelling: str, remedy: str) -> None:
    with pytest.raises(Refused) as refusal:
        AddressRules().check_literal("shop", parse_url(spelling))

    assert remedy in refusal.value.problems[0].message("en")
    assert remedy in refusal.value.problems[0].message("ko")


@pytest.mark.parametrize("spelling", ["https://169.254.169.254/", "https://10.0.0.1:8443/"])
def test_no_setting_is_advised_that_would_not_help(spelling: str) -> None:
    rules = AddressRules(own=[("10.0.0.1", 8443)])

    with pytest.raises(Refused) as refusal:
        rules.check_literal("shop", parse_url(spelling))

    assert "webhook_allow" not in refusal.value.problems[0].message("en")
    assert "webhook_allow" not in refusal.value.problems[0].message("ko")


@pytest.mark.skipif(not socket.has_ipv6, reason="needs IPv6")
def test_own_address_is_recognized_over_ipv6() -> None:
    rules = AddressRules([EXCEPTION], own=[("::1", 8443)])

    assert rules.permitted("shop", SHOP, ["::1"]) == []


@pytest.mark.parametrize(
    ("spelling", "host", "port", "target", "header"),
    [
        ("https://shop.example/hook", "shop.example", 443, "/hook", "shop.example"),
        ("https://SHOP.example:443", "shop.example", 443, "/", "shop.example"),
        ("https://shop.example.:8443/a?b=1&c", "shop.example", 8443, "/a?b=1&c", "shop.example:8443"),
        ("https://가게.kr/결과", "xn--o39akk.kr", 443, "/%EA%B2%B0%EA%B3%BC", "xn--o39akk.kr"),
        ("https://[2606:4700:0::1]:8443/", "2606:4700::1", 8443, "/", "[2606:4700::1]:8443"),
        ("https://8.8.8.8/", "8.8.8.8", 443, "/", "8.8.8.8"),
    ],
)
def test_url_is_parsed(spelling: str, host: str, port: int, target: str, header: str) -> None:
    found = parse_url(spelling)

    assert found == WebhookUrl(host, port, target)
    assert found.host_header == header


@pytest.mark.parametrize(
    "spelling",
    [
        "",
        "shop.example/hook",
        "http://shop.example/hook",
        "http://10.0.0.1/hook",
        "http://127.1/hook",
        "http://localhost.shop.example/hook",
        "http://user@localhost/hook",
        "ftp://shop.example",
        "https://",
        "https:///hook",
        "https://user@shop.example/",
        "https://user:password@shop.example/",
        "https://shop.example/#part",
        "https://shop.example/\r\nHost: other",
        "https://shop example/",
        "https://shop..example/",
        "https://shop.example:0/",
        "https://shop.example:65536/",
        "https://shop.example:x/",
        "https://[::1/",
        "https://[fe80::1%25eth0]/",
        "https://sh%6fp.example/",
        "https://127.1/",
        "https://0x7f000001/",
        "https://0177.0.0.1/",
        "https://2130706433/",
        "https://127.0.0.1.0x0/",
        "https://0x/",
        "https://１２７.１/",
        "https://shop.example\\@127.0.0.1/",
        f"https://{'a' * 64}.example/",
        f"https://{'a.' * 127}aa/",
        f"https://shop.example/{'a' * MAX_URL_CHARACTERS}",
        "https://shop.example/\ud800",
    ],
)
def test_url_that_is_not_plain_https_is_refused(spelling: str) -> None:
    with pytest.raises(Refused) as refusal:
        parse_url(spelling)

    assert refusal.value.code is Code.INVALID_PARAMETER
    assert refusal.value.problems[0].field == "url"


def test_longest_url_is_accepted() -> None:
    start = "https://shop.example/"

    assert parse_url(start + "a" * (MAX_URL_CHARACTERS - len(start))).host == "shop.example"


@pytest.mark.parametrize(
    "url",
    [
        "https://10.0.0.1/",
        "https://10.0.0.1./",
        "https://169。254。169。254/",
        "https://[::1]/",
        "https://[::ffff:8.8.8.8]/",
        "https://[::169.254.169.254]/",
        "https://[64:ff9b::10.0.0.1]/",
    ],
)
def test_address_instead_of_a_name_is_checked_at_once(url: str) -> None:
    with pytest.raises(Refused):
        AddressRules().check_literal("shop", parse_url(url))

    AddressRules().check_literal("shop", parse_url("https://8.8.8.8/"))
    AddressRules().check_literal("shop", parse_url("https://localhost/"))  # looked up only when it is posted to
