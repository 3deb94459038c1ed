"""A page whose session has ended asks for the password in place, and goes on with the new session."""

import re

from pabal.domain.people.user import Role
from pabal.store.accounts import accounts
from tests.fixtures.console import PASSWORD, Browser, PageResponse, make_user, sign_in
from tests.fixtures.console_send import form
from tests.fixtures.virtual import Environment

AGAIN = "/console/login/again"
HOUR_S = 3600
_CSRF = re.compile(r'name="csrf" value="([0-9a-f]{64})"')


async def answer(browser: Browser, name: str, password: str = PASSWORD, account: str = "") -> PageResponse:
    """Ask for the form and post it, as the page does."""
    shown = await browser.get(f"{AGAIN}?name={name}")
    found = _CSRF.search(shown.text)
    assert found, shown
    return await browser.post(AGAIN, {"csrf": found[1], "name": name, "password": password, "account": account})


async def test_form_of_an_ended_session_goes_on_with_the_new_one(env: Environment, browser: Browser) -> None:
    token = await browser.csrf()
    env.world.move_clock(3 * HOUR_S)

    ended = await browser.post("/console/send/look", {"csrf": token, **form()}, hx_request="true")
    wrong = await answer(browser, "owner-of-acme", "wrong")
    right = await answer(browser, "owner-of-acme")
    secret = right.headers["x-csrf-token"]
    goes_on = await browser.post("/console/send/look", {"csrf": secret + token[64:], **form()}, hx_request="true")

    assert (ended.status, "hx-redirect" in ended.headers) == (401, False)
    assert (wrong.status, right.status) == (401, 204)
    assert 'aria-invalid="true"' in wrong.text
    assert goes_on.status == 200


async def test_operator_goes_on_with_the_account_of_the_page(env: Environment) -> None:
    await env.store.write(accounts.ensure_account, "acme", 0)
    operator = await sign_in(env, await make_user(env, Role.OPERATOR))
    token = await operator.csrf()
    env.world.move_clock(3 * HOUR_S)

    right = await answer(operator, "operator-of-acme", account=token[65:])
    secret = right.headers["x-csrf-token"]
    goes_on = await operator.post("/console/send/check", {"csrf": secret + token[64:], **form()})

    assert goes_on.status == 200
    assert 'id="send-it"' in goes_on.text


async def test_session_of_another_tab_is_used_unless_it_is_somebody_elses(
    env: Environment, browser: Browser
) -> None:
    await make_user(env, Role.SENDER)

    same = await browser.get(f"{AGAIN}?name=owner-of-acme")
    other = await browser.get(f"{AGAIN}?name=sender-of-acme")

    assert (same.status, same.headers["x-csrf-token"]) == (204, (await browser.csrf())[:64])
    assert (other.status, "x-csrf-token" in other.headers) == (409, False)


async def test_sign_in_in_place_is_throttled_and_needs_its_token(env: Environment) -> None:
    name = await make_user(env)
    browser = Browser(env.service)

    without = await browser.post(AGAIN, {"name": name, "password": PASSWORD})
    statuses = [(await answer(browser, name, "wrong")).status for _ in range(12)]

    assert without.status == 403
    assert statuses[0] == 401
    assert statuses[-1] == 429
