"""Two-factor sign-in: set up with an app, entered by code or recovery code, turned off and reset."""

import base64
import html
import re

import pytest
import segno

from pabal.domain.people import totp
from pabal.domain.people.user import Role
from pabal.service.access.users.sign_in import CODE_TIMEOUT_MS
from pabal.service.access.users.two_factor import MAX_WRONG_CODES
from pabal.service.upkeep.stored_secrets import count_states, of_second_factors
from pabal.store.users import second_factors, users
from tests.fixtures.audit import audited_actions
from tests.fixtures.console import PASSWORD, Browser, PageResponse, make_user, sign_in, signed_in_browser
from tests.fixtures.console_upload import page_text
from tests.fixtures.service import count_rows
from tests.fixtures.virtual import Environment

ME = "/console/me"
NAME = "owner-of-acme"
PERIOD_S = totp.PERIOD_MS // 1000
RECOVERY_CODE = re.compile(r"\b[A-Z2-7]{4}(?:-[A-Z2-7]{4}){3}\b")
KEY = base64.b64encode(bytes(range(32))).decode()


def code_of(env: Environment, secret: bytes) -> str:
    """Return the code that the app shows now."""
    return totp.code_at(secret, totp.step_of(env.world.now()))


def secret_in(shown: PageResponse) -> bytes:
    """Return the secret that the page of the setup shows."""
    found = re.search(r"otpauth://totp/[^?]+\?secret=([A-Z2-7]{32})&", shown.text)
    assert found, shown.text
    return base64.b32decode(found[1])


async def enable(env: Environment, browser: Browser) -> tuple[bytes, list[str]]:
    """Turn two-factor sign-in on, and return the secret and the recovery codes."""
    secret = secret_in(await browser.submit(f"{ME}/two-factor", enable_password=PASSWORD))
    spelled = totp.spell_secret(secret)
    done = await browser.submit(f"{ME}/two-factor/confirm", code=code_of(env, secret), secret=spelled)
    codes = RECOVERY_CODE.findall(page_text(done))
    assert done.status == 200, done
    await env.wait(2 * PERIOD_S)  # a code works once
    return secret, list(dict.fromkeys(codes))


async def enter_password(browser: Browser, password: str = PASSWORD) -> PageResponse:
    return await browser.submit("/console/login", name=NAME, password=password, next="/console/history")


def token_in(shown: PageResponse) -> str:
    found = re.search(r'name="token" value="([0-9a-f]{64})"', shown.text)
    assert found, shown.text
    return found[1]


async def enter_code(browser: Browser, asked: PageResponse, code: str) -> PageResponse:
    return await browser.submit("/console/login/code", token=token_in(asked), code=code, next="/console/history")


async def test_page_of_the_setup_shows_the_address_as_a_qr_code(browser: Browser) -> None:
    shown = await browser.submit(f"{ME}/two-factor", enable_password=PASSWORD)

    address = html.unescape(re.findall(r'href="(otpauth://[^"]+)"', shown.text)[0])
    (drawn,) = re.findall(r'<path d="([^"]+)" fill="#000"', shown.text)
    dark = {(int(x) - 4, int(y) - 4) for x, y in re.findall(r"M(\d+) (\d+)h1v1h-1z", drawn)}
    matrix = segno.make_qr(address, error="L").matrix
    assert dark == {(x, y) for y, row in enumerate(matrix) for x, is_dark in enumerate(row) if is_dark}


async def test_code_is_asked_for_after_the_password(env: Environment) -> None:
    secret, codes = await enable(env, await signed_in_browser(env))
    browser = Browser(env.service)

    wrong_password = await enter_password(browser, "wrong horse battery")
    asked = await enter_password(browser)
    before = browser.is_signed_in
    entered = await enter_code(browser, asked, code_of(env, secret))

    assert len(codes) == totp.RECOVERY_CODES
    assert (wrong_password.status, asked.status) == (401, 200)
    assert 'name="token"' not in wrong_password.text
    assert not before
    assert (entered.status, entered.location) == (303, "/console/history")
    assert (await browser.get(ME)).status == 200
    assert await count_rows(env, "pending_sign_ins") == 0


async def test_code_works_once_even_in_two_sign_ins(env: Environment) -> None:
    secret, _ = await enable(env, await signed_in_browser(env))
    first, second = Browser(env.service), Browser(env.service)
    asked_first, asked_second = await enter_password(first), await enter_password(second)
    code = code_of(env, secret)

    entered = await enter_code(first, asked_first, code)
    repeated = await enter_code(second, asked_second, code)

    assert (entered.status, repeated.status) == (303, 401)
    assert not second.is_signed_in


async def test_recovery_code_works_once(env: Environment) -> None:
    _, codes = await enable(env, await signed_in_browser(env))
    first, second = Browser(env.service), Browser(env.service)

    entered = await enter_code(first, await enter_password(first), codes[0].lower())
    repeated = await enter_code(second, await enter_password(second), codes[0])

    assert (entered.status, repeated.status) == (303, 401)
    assert "10개 중 9개" in page_text(await first.get(ME))
    assert "two_factor.recovery" in await audited_actions(env, 5)


@pytest.mark.settings(secret_key=[KEY])
async def test_secret_and_recovery_codes_cannot_be_read_in_the_store(env: Environment) -> None:
    secret, codes = await enable(env, await signed_in_browser(env))

    factors = await env.store.read(lambda tx: tx.fetch_all("select secret from second_factors"))
    hashes = await env.store.read(lambda tx: tx.fetch_all("select hash from recovery_codes"))

    assert secret not in bytes(factors[0][0])
    assert len(hashes) == len(codes)
    assert not any(base64.b32decode(code.replace("-", "")) in bytes(row[0]) for code in codes for row in hashes)
    assert (await count_states(env.context, of_second_factors(env.context))).current == 1


async def test_wrong_codes_are_limited_and_slowed_down(env: Environment) -> None:
    secret, _ = await enable(env, await signed_in_browser(env))
    browser = Browser(env.service)
    asked = await enter_password(browser)

    answers = [await enter_code(browser, asked, "000000") for _ in range(MAX_WRONG_CODES + 2)]
    await env.jump(3600)
    late = await enter_code(browser, asked, code_of(env, secret))
    again = await enter_password(browser)

    statuses = [each.status for each in answers]
    assert statuses[0] == 401
    assert 429 in statuses, "name and address have to wait"
    assert late.status == 401
    assert "처음부터 다시 로그인하세요" in late.text
    assert 'name="token"' in again.text


async def test_password_and_code_do_not_count_as_failures(env: Environment) -> None:
    secret, _ = await enable(env, await signed_in_browser(env))
    for _ in range(12):
        browser = Browser(env.service)
        entered = await enter_code(browser, await enter_password(browser), code_of(env, secret))
        await env.wait(PERIOD_S)

        assert entered.status == 303


@pytest.mark.parametrize("what", ["late", "new password", "disabled", "unknown"])
async def test_first_step_that_is_void_needs_the_password_again(
    env: Environment, owner: Browser, what: str
) -> None:
    secret, _ = await enable(env, owner)
    browser = Browser(env.service)
    asked = await enter_password(browser)
    if what == "late":
        await env.wait(CODE_TIMEOUT_MS // 1000)
    elif what == "new password":
        new = "another horse battery"
        await owner.submit(f"{ME}/password", current=PASSWORD, password=new, repeated=new)
    elif what == "disabled":
        await env.store.write(lambda tx: tx.execute("update accounts set disabled_at = 1"))
    else:
        asked = asked._replace(text=asked.text.replace(token_in(asked), "0" * 64))

    refused = await enter_code(browser, asked, code_of(env, secret))

    assert refused.status == 401
    assert "처음부터 다시 로그인하세요" in refused.text
    assert not browser.is_signed_in


async def test_wrong_first_code_turns_nothing_on(env: Environment, browser: Browser) -> None:
    key = totp.spell_secret(secret_in(await browser.submit(f"{ME}/two-factor", enable_password=PASSWORD)))
    refused = await browser.submit(f"{ME}/two-factor/confirm", code="12345", secret=key)

    assert refused.status == 400
    assert key in refused.text, "the app has this key already"
    await sign_in(env, NAME)
    assert await count_rows(env, "recovery_codes") == 0


async def test_turning_it_on_needs_the_password_and_the_page_that_follows(
    env: Environment, browser: Browser
) -> None:
    without = await browser.submit(f"{ME}/two-factor")
    wrong = await browser.submit(f"{ME}/two-factor", enable_password="wrong horse battery")
    secret = secret_in(await browser.submit(f"{ME}/two-factor", enable_password=PASSWORD))
    unseen = await browser.submit(f"{ME}/two-factor/confirm", code="12345")
    guessed = await browser.submit(f"{ME}/two-factor/confirm", code=code_of(env, secret), secret="ABCD")

    assert (without.status, wrong.status) == (400, 400)
    assert "otpauth" not in without.text + wrong.text
    assert 'id="wrong-enable_password"' in wrong.text
    assert (unseen.status, guessed.status) == (409, 409)
    assert totp.spell_secret(secret) not in unseen.text, "who has not entered the password does not see it"
    assert await count_rows(env, "recovery_codes") == 0


async def test_turning_it_off_and_new_codes_need_password_and_code(env: Environment, browser: Browser) -> None:
    secret, codes = await enable(env, browser)
    await env.wait(30)
    wrong = "wrong horse battery"

    refused = [
        await browser.submit(f"{ME}/two-factor/codes", renew_password=wrong, renew_code=code_of(env, secret)),
        await browser.submit(f"{ME}/two-factor/codes", renew_password=PASSWORD),
        await browser.submit(f"{ME}/two-factor/codes", renew_password=PASSWORD, renew_code="123456"),
        await browser.submit(f"{ME}/two-factor/disable", disable_password=wrong, disable_code=codes[1]),
        await browser.submit(f"{ME}/two-factor/disable", disable_password=PASSWORD),
        await browser.submit(f"{ME}/two-factor/disable", disable_password=PASSWORD, disable_code="123456"),
    ]
    await env.wait(60)
    code = code_of(env, secret)
    renewed = await browser.submit(f"{ME}/two-factor/codes", renew_password=PASSWORD, renew_code=code)
    repeated = await browser.submit(f"{ME}/two-factor/disable", disable_password=PASSWORD, disable_code=code)
    old = Browser(env.service)
    entered = await enter_code(old, await enter_password(old), codes[0])
    new_codes = RECOVERY_CODE.findall(page_text(renewed))
    await env.wait(60)
    off = await browser.submit(f"{ME}/two-factor/disable", disable_password=PASSWORD, disable_code=new_codes[0])

    assert [each.status for each in refused] == [400] * 6
    assert [f'id="wrong-{name}_code"' in refused[at].text for at, name in ((2, "renew"), (5, "disable"))] == [
        True
    ] * 2
    assert codes[0] not in renewed.text
    assert repeated.status == 400, "a code works once"
    assert entered.status == 401, "codes before stop working"
    assert "2단계 인증을 껐습니다" in off.text
    await sign_in(env, NAME)


async def test_owner_resets_the_second_factor_of_a_colleague(env: Environment) -> None:
    await enable(env, await signed_in_browser(env))
    colleague = await sign_in(env, await make_user(env, name="colleague"))
    stranger = await signed_in_browser(env, account="other")

    await stranger.submit("/console/team/two-factor", user=NAME)
    kept = await count_rows(env, "second_factors")
    done = await colleague.submit("/console/team/two-factor", user=NAME)

    assert (kept, done.status) == (1, 303)
    await sign_in(env, NAME)
    assert "two_factor.reset" in await audited_actions(env, 4)


@pytest.mark.parametrize("role", [Role.OWNER, Role.OPERATOR])
async def test_own_factor_and_password_need_the_password_on_every_page(env: Environment, role: Role) -> None:
    await make_user(env, name="colleague")
    browser = await signed_in_browser(env, role)
    await enable(env, browser)
    name = f"{role.code}-of-acme"

    reset = await browser.submit("/console/team/two-factor", user=name)
    replaced = await browser.submit("/console/team/password", user=name)

    refused = 403 if role is Role.OWNER else 400  # an operator is no user of the account
    assert (reset.status, replaced.status) == (refused, refused)
    assert await count_rows(env, "second_factors") == 1
    assert 'id="secret"' not in replaced.text
    assert (await browser.get(ME)).status == 200, "still signed in"


async def test_session_that_ended_in_mid_form_asks_for_the_code_in_place(env: Environment) -> None:
    secret, _ = await enable(env, await signed_in_browser(env))
    browser = Browser(env.service)

    asked = await browser.submit("/console/login/again", name=NAME, password=PASSWORD)
    wrong = await browser.submit("/console/login/again/code", name=NAME, token=token_in(asked), code="000000")
    right = await browser.submit(
        "/console/login/again/code", name=NAME, token=token_in(asked), code=code_of(env, secret)
    )

    assert 'action="/console/login/again/code"' in asked.text
    assert wrong.status == 401
    assert (right.status, len(right.headers["x-csrf-token"])) == (204, 64)
    assert (await browser.get(ME)).status == 200


async def test_removed_user_leaves_nothing_behind(env: Environment) -> None:
    await enable(env, await signed_in_browser(env))
    await enter_password(Browser(env.service))
    colleague = await sign_in(env, await make_user(env, name="colleague"))

    removed = await colleague.submit("/console/team/remove", user=NAME)

    assert removed.status == 303
    for table in ("second_factors", "recovery_codes", "pending_sign_ins"):
        assert await count_rows(env, table) == 0, table


async def test_secret_without_its_key_is_refused_but_recovery_codes_work(env: Environment) -> None:
    secret, codes = await enable(env, await signed_in_browser(env, Role.OWNER))
    found = await env.store.read(users.get_by_name, NAME)
    assert found is not None
    factor = await env.store.read(second_factors.get, found.user.id)
    assert factor is not None
    await env.store.write(second_factors.replace_secret, factor, b"\x01" + bytes(60))
    browser = Browser(env.service)
    asked = await enter_password(browser)

    by_code = await enter_code(browser, asked, code_of(env, secret))
    by_recovery = await enter_code(browser, asked, codes[0])

    assert (by_code.status, by_recovery.status) == (401, 303)
    assert (await count_states(env.context, of_second_factors(env.context))).unreadable == 1
