"""API keys: scopes, addresses, expiry and rate limits."""

from fnmatch import fnmatch
from ipaddress import ip_network
from typing import Any

import pytest

from pabal.service.access.accounts.keys import SCOPES
from pabal.store.accounts import accounts
from pabal.web.endpoints.endpoint import Endpoint
from pabal.web.endpoints.table import ENDPOINTS
from tests.fixtures.cases import with_each
from tests.fixtures.virtual import NOON, Caller, Environment
from tests.fixtures.web import PHONE, call_ok, call_raw, describe_outcome, get_message, sms_body

LIST = {"receivers": PHONE}


async def _key_id(env: Environment) -> int:
    return (await env.store.read(accounts.list_keys))[-1].id


async def test_absent_an_unknown_and_a_revoked_key_get_the_same_answer(env: Environment, call: Caller) -> None:
    await env.store.write(accounts.revoke_key, await _key_id(env), env.world.now())
    strange = ["", "pb_" + "0" * 40, "x", "caf\u00e9", "pb_", f"{call.key}x", f" {call.key}", "k" * 10_000]

    answers = [
        await Caller(env.service, None)("message/list", LIST),
        await call("message/list", LIST),
        *[await call("message/list", LIST, headers={"apikey": key}) for key in strange],
    ]

    assert len({str(answer.body) for answer in answers}) == 1
    assert answers[0].result == "UNAUTHORIZED"
    assert answers[0].body["resultMessage"].endswith("운영자에게 받은 키를 apiKey 헤더에 넣으세요.")
    assert {answer.status for answer in answers} == {401}
    assert {frozenset(answer.headers) for answer in answers} == {frozenset(answers[0].headers)}


async def test_every_endpoint_requires_a_key(env: Environment) -> None:
    call = Caller(env.service, None)

    results = {endpoint.path: (await call(endpoint.path)).result for endpoint in ENDPOINTS}

    assert set(results.values()) == {"UNAUTHORIZED"}


@with_each("page", ["/healthz", "/readyz", "/metrics", "/openapi.json", "/docs", "/docs/guide/ko/index"])
async def test_pages_beside_the_interface_require_no_key(env: Environment, page: str) -> None:
    assert (await Caller(env.service, None)(page)).status == 200


async def test_key_works_until_the_moment_it_expires(env: Environment) -> None:
    call = await env.caller(expires_at=NOON + 60_000)

    await env.wait(59.999)
    before = await call("message/list", LIST)
    await env.wait(0.001)
    after = await call("message/list", LIST)

    assert before.result == "SUCCESS"
    assert (after.result, after.status) == ("KEY_EXPIRED", 401)


async def test_revoked_and_expired_key_is_unauthorized(env: Environment) -> None:
    call = await env.caller(expires_at=NOON + 1)
    await env.store.write(accounts.revoke_key, await _key_id(env), env.world.now())
    await env.wait(1)

    assert (await call("message/list", LIST)).result == "UNAUTHORIZED"


@with_each("endpoint", ENDPOINTS)
async def test_every_endpoint_requires_exactly_its_scope(env: Environment, endpoint: Endpoint) -> None:
    with_it = await env.caller(scopes=[endpoint.scope])
    without_it = await env.caller(scopes=[scope for scope in SCOPES if scope != endpoint.scope])
    with_none = await env.caller(scopes=[])

    answers = [await call(endpoint.path) for call in (with_it, without_it, with_none)]

    assert [answer.result == "FORBIDDEN" for answer in answers] == [False, True, True]
    assert answers[1].status == 403
    assert endpoint.scope in answers[1].body["resultMessage"]


SCOPES_OF_PATHS = {
    "send": ["message/send*", "message/cancel"],
    "manage": [
        *("sender/create", "sender/delete", "sender/auth", "optOut/add", "optOut/remove", "webhook/*"),
        *("template/create", "template/update", "template/delete", "template/request"),
    ],
    "privacy": ["privacy/*"],
}
"""Every other path needs `read`, as does `webhook/events`, which tells of messages."""


def test_sending_needs_send_lists_need_read_and_profiles_and_templates_need_manage() -> None:
    for endpoint in ENDPOINTS:
        path = endpoint.path.removeprefix("/api/").removesuffix(".v1.0")
        found = [scope for scope, paths in SCOPES_OF_PATHS.items() if any(fnmatch(path, each) for each in paths)]

        assert [endpoint.scope] == (found if found and path != "webhook/events" else ["read"]), path


@with_each(
    ("allow", "peer", "is_allowed"),
    [
        ([], "203.0.113.9", True),
        (["10.0.0.0/8"], "10.1.2.3", True),
        (["10.0.0.0/8"], "11.0.0.1", False),
        (["10.0.0.0/8", "203.0.113.9"], "203.0.113.9", True),
        (["10.0.0.0/8"], "::ffff:10.1.2.3", True),
        (["2001:db8::/32"], "2001:db8::1", True),
        (["2001:db8::/32"], "10.1.2.3", False),
        (["0.0.0.0/0"], "2001:db8::1", False),
        (["10.0.0.0/8"], "", False),
        (["10.0.0.0/8"], "unix", False),
    ],
)
async def test_key_with_an_allow_list_works_only_from_those_addresses(
    env: Environment, allow: list[str], peer: str, is_allowed: bool
) -> None:
    call = await env.caller(allow=allow)

    answer = await call("message/list", LIST, peer=peer)

    assert answer.result == ("SUCCESS" if is_allowed else "FORBIDDEN")


@with_each(
    ("peer", "forwarded", "is_allowed"),
    [
        ("192.168.0.1", "203.0.113.9", True),
        ("192.168.0.1", "198.51.100.1", False),
        ("192.168.0.1", "", False),
        ("192.168.0.1", "203.0.113.9, 198.51.100.1", False),
        ("192.168.0.1", "198.51.100.1, 203.0.113.9", True),
        ("192.168.0.1", "203.0.113.9, 192.168.0.2", True),
        ("192.168.0.1", "203.0.113.9,192.168.0.2,192.168.0.3", True),
        ("192.168.0.1", "203.0.113.9, unknown", False),
        ("192.168.0.1", "203.0.113.9, unknown, 192.168.0.2", False),
        ("192.168.0.1", "[2001:db8::9]", True),
        ("192.168.0.1", "2001:db8::9", True),
        ("198.51.100.1", "203.0.113.9", False),
        ("198.51.100.1", "203.0.113.9, 192.168.0.1", False),
        ("203.0.113.9", "198.51.100.1", True),
        ("192.168.0.1", ",".join(["203.0.113.9"] + ["192.168.0.2"] * 30), False),
    ],
)
@pytest.mark.settings(trusted_proxies=[ip_network("192.168.0.0/16")])
async def test_forwarded_addresses_are_used_only_from_trusted_proxies(
    env: Environment, peer: str, forwarded: str, is_allowed: bool
) -> None:
    call = await env.caller(allow=["203.0.113.9", "2001:db8::9"])

    answer = await call("message/list", LIST, peer=peer, headers={"X-Forwarded-For": forwarded})

    assert answer.result == ("SUCCESS" if is_allowed else "FORBIDDEN")


@pytest.mark.parametrize(
    ("lines", "result"),
    [
        (["203.0.113.9", "192.168.0.2"], "SUCCESS"),
        (["203.0.113.9", "198.51.100.1"], "FORBIDDEN"),
        (["198.51.100.1", "203.0.113.9, 192.168.0.2"], "SUCCESS"),
    ],
)
@pytest.mark.settings(trusted_proxies=[ip_network("127.0.0.1"), ip_network("192.168.0.0/16")])
async def test_forwarded_address_may_come_in_several_headers(
    env: Environment, lines: list[str], result: str
) -> None:
    call = await env.caller(allow=["203.0.113.9"])
    headers = [("apiKey", str(call.key)), *(("X-Forwarded-For", line) for line in lines)]

    answer, _ = await call_raw(env, "/api/sender/list.v1.0", method="GET", headers=headers)

    assert answer.result == result


async def test_disabled_accounts_keys_stop_and_its_accepted_messages_are_sent(env: Environment) -> None:
    call, neighbour = await env.caller("acme"), await env.caller("neighbour")
    await call_ok(call, "message/sendSMS", sms_body(sendDate="2026-11-15 12:01"))

    await env.store.write(accounts.set_disabled, "acme", env.world.now())
    await env.wait(1)
    disabled, other = await call("message/list", LIST), await neighbour("message/list", LIST)
    await env.wait(120)
    await env.store.write(accounts.set_disabled, "acme", None)
    await env.wait(1)

    assert disabled.result == "UNAUTHORIZED"
    assert other.result == "SUCCESS"
    assert describe_outcome(await get_message(call)) == "completed 1000"


def _rate_headers(headers: dict[str, str]) -> list[Any]:
    return [headers.get(f"ratelimit-{name}") for name in ("limit", "remaining", "reset")]


async def test_key_may_be_used_as_often_as_its_rate_says(env: Environment) -> None:
    call = await env.caller(rate=3)
    other = await env.caller(rate=3)

    burst = [await call("message/list", LIST) for _ in range(3)]
    over = await call("message/list", LIST)
    elsewhere = await other("message/list", LIST)
    await env.wait(0.334)
    later = await call("message/list", LIST)
    at_once = await call("message/list", LIST)
    await env.wait(5)
    rested = [(await call("message/list", LIST)).result for _ in range(4)]

    assert [answer.result for answer in burst] == ["SUCCESS"] * 3
    assert [_rate_headers(answer.headers) for answer in burst] == [
        ["3", "2", "1"],
        ["3", "1", "1"],
        ["3", "0", "1"],
    ]
    assert (over.result, over.status) == ("RATE_LIMITED", 429)
    assert over.headers["retry-after"] == "1"
    assert _rate_headers(over.headers) == ["3", "0", "1"]
    assert elsewhere.result == "SUCCESS"
    assert [later.result, at_once.result] == ["SUCCESS", "RATE_LIMITED"]
    assert rested == ["SUCCESS"] * 3 + ["RATE_LIMITED"]


async def test_refused_requests_count_too(env: Environment) -> None:
    call = await env.caller(rate=2)

    results = [(await call("message/sendSMS", b"{")).result for _ in range(3)]

    assert results == ["INVALID_JSON", "INVALID_JSON", "RATE_LIMITED"]


async def test_requests_over_the_rate_limit_are_not_sent(env: Environment) -> None:
    call, reader = await env.caller(rate=1), await env.caller()

    results = [(await call("message/sendSMS", sms_body())).result for _ in range(3)]

    assert results == ["SUCCESS", "RATE_LIMITED", "RATE_LIMITED"]
    assert await get_message(reader)


async def test_key_without_a_rate_has_no_limit_and_no_rate_headers(env: Environment) -> None:
    call = await env.caller(rate=0)

    answers = [await call("message/list", LIST) for _ in range(50)]

    assert {answer.result for answer in answers} == {"SUCCESS"}
    assert _rate_headers(answers[0].headers) == [None, None, None]
