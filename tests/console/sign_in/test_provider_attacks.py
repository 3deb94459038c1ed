"""Attacks on the way to an OpenID Connect provider and back: none comes in, and none changes a session."""

import asyncio
import base64
import json
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from pabal.console.shell.site import MAX_PROVIDER_CALLS_PER_NETWORK
from pabal.openid.flow import FLOW_LIFETIME_MS, read_cookie
from tests.fakes.openid.provider import ISSUER, FakeOpenIdProvider
from tests.fixtures.console import PASSWORD, Browser, make_user, sign_in
from tests.fixtures.openid import HOST, SUBJECT, enter, linked_user, open_browser, set_out
from tests.fixtures.service import count_rows
from tests.fixtures.virtual import Environment

CALLBACK = "/console/login/openid/callback"
COOKIE = "pabal_openid"
NOON_S = 1_794_711_600

BAD_CLAIMS: dict[str, dict[str, Any]] = {
    "nonce of another sign-in": {"nonce": "0" * 64},
    "no nonce": {"nonce": None},
    "several nonces": {"nonce": ["0" * 64]},
    "expired": {"exp": NOON_S - 3600},
    "no end": {"exp": None},
    "issued in the future": {"iat": NOON_S + 3600},
    "issued long ago": {"iat": NOON_S - 24 * 3600},
    "not valid yet": {"nbf": NOON_S + 3600},
    "for another client": {"aud": "shop"},
    "for others, issued to none": {"aud": ["pabal", "shop"]},
    "issued to another client": {"azp": "shop"},
    "no audience": {"aud": None},
    "of another issuer": {"iss": "https://evil.example"},
    "of a similar issuer": {"iss": f"{ISSUER}/"},
    "no issuer": {"iss": None},
    "no subject": {"sub": None},
    "empty subject": {"sub": ""},
    "long subject": {"sub": "1" * 256},
    "subject with a null": {"sub": f"{SUBJECT}\0"},
    "number as subject": {"sub": 248289761001},
}
BAD_SIGNATURES: dict[str, Callable[[FakeOpenIdProvider], Callable[[dict[str, Any]], str]]] = {
    "none": lambda provider: provider.sign_not,
    "by our own copy of the public key": lambda provider: provider.sign_with_public_key,
    "by a key that is not published": lambda provider: provider.sign_with("stranger"),
    "of other claims": lambda provider: provider.sign_and_change,
    "no token at all": lambda provider: lambda claims: "hello",
    "empty": lambda provider: lambda claims: "",
}


CHANGED_ANSWERS: list[dict[str, str | None]] = [
    {"state": None},
    {"state": ""},
    {"state": "0" * 64},
    {"iss": "https://evil.example"},
    {"iss": None},
    {"code": None},
    {"code": "x" * 9000},
    {"error": "server_error"},
    {"error": "access_denied"},
]
CHANGED_COOKIES: list[dict[str, Any]] = [
    {"purpose": "link"},
    {"purpose": "join", "name": "lee"},
    {"purpose": "join", "name": "lee", "invite": "0" * 64},
    {"next_path": "https://evil.example"},
    {"started_at": NOON_S * 1000 + FLOW_LIFETIME_MS},
    {"secret": "0" * 64},
    {"secret": "0"},
    {"unknown": 1},
]


def change_query(url: str, **changes: str | None) -> str:
    """Return a URL with some parameters changed, or left out."""
    parts = urlsplit(url)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()} | changes
    return f"{parts.path}?{urlencode({name: value for name, value in query.items() if value is not None})}"


def change_cookie(browser: Browser, **changes: Any) -> None:
    """Change what the browser takes along."""
    value = browser.cookies[COOKIE]
    content = json.loads(base64.urlsafe_b64decode(value + "=" * (-len(value) % 4))) | changes
    browser.cookies[COOKIE] = base64.urlsafe_b64encode(json.dumps(content).encode()).rstrip(b"=").decode()


def authorization_url(cookie: str) -> str:
    """Return where the provider would be asked for another code for the same sign-in."""
    flow = read_cookie(cookie)
    assert flow is not None
    asked = {"response_type": "code", "client_id": "pabal", "scope": "openid", "state": flow.state()}
    asked |= {"nonce": flow.nonce, "code_challenge": flow.challenge, "code_challenge_method": "S256"}
    return f"{ISSUER}/auth?{urlencode({**asked, 'redirect_uri': f'http://{HOST}{CALLBACK}'})}"


async def test_token_with_wrong_claims_does_not_come_in(provider: FakeOpenIdProvider, env: Environment) -> None:
    await linked_user(env, provider)
    for what, claims in BAD_CLAIMS.items():
        provider.claims = claims
        browser = open_browser(env)

        refused = await enter(provider, browser)

        assert refused.status == 403, what
        assert "받아들일 수 없습니다" in refused.text
        assert not browser.is_signed_in


async def test_token_with_a_wrong_signature_does_not_come_in(
    provider: FakeOpenIdProvider, env: Environment
) -> None:
    await linked_user(env, provider)
    for what, make_signer in BAD_SIGNATURES.items():
        provider.sign = make_signer(provider)
        browser = open_browser(env)

        refused = await enter(provider, browser)

        assert refused.status == 403, what
        assert not browser.is_signed_in


async def test_allowed_variants_of_a_token_come_in(provider: FakeOpenIdProvider, env: Environment) -> None:
    await linked_user(env, provider)
    for claims in (
        {"aud": ["pabal"]},
        {"aud": ["pabal", "shop"], "azp": "pabal"},
        {"exp": NOON_S - 30},
        {"iat": NOON_S + 30},
    ):
        provider.claims = claims
        assert (await enter(provider, open_browser(env))).status == 303, claims


async def test_new_key_of_the_provider_is_found(provider: FakeOpenIdProvider, env: Environment) -> None:
    await linked_user(env, provider)
    provider.published, provider.sign = ["first", "second"], provider.sign_with("second")
    seen = len(provider.calls)

    entered = await enter(provider, open_browser(env))

    assert entered.status == 303
    assert provider.calls[seen:] == ["/token", "/keys"], "its description is cached"


async def test_answer_works_once_and_in_its_browser_alone(provider: FakeOpenIdProvider, env: Environment) -> None:
    await linked_user(env, provider)
    browser, thief = open_browser(env), open_browser(env)
    back = provider.authorize(await set_out(browser), SUBJECT)
    await set_out(thief)
    cookie = browser.cookies[COOKIE]

    stolen = await thief.get(back)
    first = await browser.get(back)
    without_cookie = await browser.get(back)
    browser.cookies[COOKIE] = cookie
    replayed = await browser.get(back)
    browser.cookies[COOKIE] = cookie
    with_new_code = await browser.get(provider.authorize(authorization_url(cookie), SUBJECT))

    assert (stolen.status, thief.is_signed_in) == (409, False)
    assert first.status == 303
    assert [each.status for each in (without_cookie, replayed, with_new_code)] == [409, 403, 409]


async def test_victim_is_not_signed_in_as_the_attacker(provider: FakeOpenIdProvider, env: Environment) -> None:
    attacker_name = await linked_user(env, provider, name="attacker")
    victim = await sign_in(env, await make_user(env, name="victim"), open_browser(env))
    attacker = open_browser(env)
    lure = provider.authorize(await set_out(attacker), SUBJECT)

    by_link = await victim.get(lure, sec_fetch_site="cross-site")
    by_form = await victim.post("/console/login/openid", {"next": "/console"}, sec_fetch_site="cross-site")

    assert (by_link.status, by_form.status) == (409, 403)
    shown = (await victim.get("/console/me")).text
    assert "victim" in shown
    assert attacker_name not in shown


async def test_stolen_code_is_useless_in_another_sign_in(provider: FakeOpenIdProvider, env: Environment) -> None:
    await linked_user(env, provider)
    victim, thief = open_browser(env), open_browser(env)
    code = parse_qs(urlsplit(provider.authorize(await set_out(victim), SUBJECT)).query)["code"][0]
    own = provider.authorize(await set_out(thief), "thief")

    refused = await thief.get(change_query(own, code=code))

    assert refused.status == 403
    assert not thief.is_signed_in


async def test_changed_answer_does_not_come_in(provider: FakeOpenIdProvider, env: Environment) -> None:
    await linked_user(env, provider)
    for changes in CHANGED_ANSWERS:
        browser = open_browser(env)
        back = provider.authorize(await set_out(browser), SUBJECT)

        refused = await browser.get(change_query(back, **changes))

        assert refused.status in (403, 409), changes
        assert not browser.is_signed_in
        assert ("취소했습니다" in refused.text) is (changes.get("error") == "access_denied")
        assert "server_error" not in refused.text


async def test_changed_cookie_does_not_come_in(provider: FakeOpenIdProvider, env: Environment) -> None:
    await linked_user(env, provider)
    for changes in CHANGED_COOKIES:
        browser = open_browser(env)
        back = provider.authorize(await set_out(browser), SUBJECT)
        change_cookie(browser, **changes)

        refused = await browser.get(back)

        assert refused.status == 409, changes
        assert not browser.is_signed_in


async def test_sign_in_that_takes_too_long_starts_again(provider: FakeOpenIdProvider, env: Environment) -> None:
    await linked_user(env, provider)
    browser = open_browser(env)
    url = await set_out(browser)
    env.world.move_clock(FLOW_LIFETIME_MS // 1000)

    refused = await browser.get(provider.authorize(url, SUBJECT))

    assert refused.status == 409
    assert "다시 시도하세요" in refused.text


async def test_no_page_of_others_is_opened_afterwards(provider: FakeOpenIdProvider, env: Environment) -> None:
    await linked_user(env, provider)
    for wanted in ("https://evil.example", "//evil.example", "/\\evil.example", "javascript:evil()", "/evil"):
        entered = await enter(provider, open_browser(env), next=wanted)

        assert entered.location == "/console", wanted


async def test_link_belongs_to_the_session_that_asked_for_it(
    provider: FakeOpenIdProvider, env: Environment
) -> None:
    await make_user(env)
    victim = await sign_in(env, await make_user(env, name="victim"), open_browser(env))
    browser = await sign_in(env, "owner-of-acme", open_browser(env))
    back = provider.authorize(await set_out(browser, "/console/me/openid", openid_password=PASSWORD), SUBJECT)
    cookie = browser.cookies[COOKIE]

    victim.cookies[COOKIE] = cookie
    in_other_session = await victim.get(back)
    browser.cookies.pop("pabal_session")
    without_session = await browser.get(back)

    assert (in_other_session.status, without_session.status) == (409, 409)
    assert await count_rows(env, "openid_identities") == 0


async def test_provider_that_is_down_is_told_and_passwords_work(
    provider: FakeOpenIdProvider, env: Environment
) -> None:
    provider.is_unreachable = True
    name = await make_user(env)
    browser = open_browser(env)

    at_start = await browser.submit("/console/login/openid", next="/console/history")
    owner = await sign_in(env, name, open_browser(env))
    while_linking = await owner.submit("/console/me/openid", openid_password=PASSWORD)

    assert (at_start.status, while_linking.status) == (503, 503)
    for shown in (at_start, while_linking):
        assert "로그인 서비스에 연결할 수 없습니다" in shown.text
    assert 'value="/console/history"' in at_start.text


async def test_provider_that_fails_on_the_way_back_is_told(provider: FakeOpenIdProvider, env: Environment) -> None:
    await linked_user(env, provider)
    for is_unreachable in (True, False):
        provider.is_unreachable, provider.token_status = False, 502
        browser = open_browser(env)
        back = provider.authorize(await set_out(browser), SUBJECT)
        provider.is_unreachable = is_unreachable

        shown = await browser.get(back)

        assert shown.status == 503
        assert "로그인 서비스에 연결할 수 없습니다" in shown.text
        assert not browser.is_signed_in


async def test_flood_of_answers_reaches_the_provider_a_few_at_a_time(
    provider: FakeOpenIdProvider, env: Environment
) -> None:
    await linked_user(env, provider)
    flood = [open_browser(env) for _ in range(MAX_PROVIDER_CALLS_PER_NETWORK + 1)]
    backs = [provider.authorize(await set_out(each), "somebody") for each in flood]
    provider.delay_s = 5
    elsewhere = Browser(env.service, "192.0.2.7", host=HOST)
    own = provider.authorize(await set_out(elsewhere), SUBJECT)

    *answers, entered = await asyncio.gather(
        *(each.get(back) for each, back in zip(flood, backs, strict=True)), elsewhere.get(own)
    )

    assert sorted(each.status for each in answers) == [403] * MAX_PROVIDER_CALLS_PER_NETWORK + [429]
    assert entered.status == 303, "another network is not concerned"
