"""Forms that are posted again because their answer was lost: they are done once, and answered as before."""

import asyncio

from starlette.responses import Response

from pabal.console.app import build_console
from pabal.console.shell import repeats
from pabal.console.shell.repeats import ANSWER_LIFETIME_MS, MAX_ANSWERS, MAX_ANSWERS_BYTES, RepeatedForms
from pabal.settings.settings import load
from tests.console.team.test_team import INVITE, TEAM, invite
from tests.fixtures.console import PASSWORD, Browser, PageResponse, signed_in_browser
from tests.fixtures.service import count_rows
from tests.fixtures.virtual import Environment

FIRST, SECOND = "1" * 32, "2" * 32


async def post(browser: Browser, path: str, form_id: str, **fields: str) -> PageResponse:
    """Post a form as the script of our pages does."""
    return await browser.post(path, {"csrf": await browser.csrf(), **fields}, x_form_id=form_id)


async def count_invites(env: Environment) -> int:
    return await count_rows(env, "invites")


async def test_repeated_form_is_done_once_and_answered_as_before(env: Environment, owner: Browser) -> None:
    first = await post(owner, f"{TEAM}/invite", FIRST, role="sender")
    again = await post(owner, f"{TEAM}/invite", FIRST, role="sender")
    assert (first.status, again.text) == (200, first.text)
    assert await count_invites(env) == 1

    other = await post(owner, f"{TEAM}/invite", SECOND, role="sender")
    assert other.text != first.text
    assert await count_invites(env) == 2


async def test_form_without_id_or_with_a_malformed_one_is_done_each_time(env: Environment, owner: Browser) -> None:
    for form_id in ("", "", "x" * 32, "x" * 32):
        await post(owner, f"{TEAM}/invite", form_id, role="sender")
    assert await count_invites(env) == 4


async def test_forms_of_two_users_with_one_id_are_both_done(env: Environment) -> None:
    for account in ("acme", "other"):
        await post(await signed_in_browser(env, account=account), f"{TEAM}/invite", FIRST, role="sender")
    assert await count_invites(env) == 2


async def test_refused_form_can_be_posted_again(env: Environment, owner: Browser) -> None:
    refused = await post(owner, f"{TEAM}/invite", FIRST, role="king")
    done = await post(owner, f"{TEAM}/invite", FIRST, role="sender")

    assert (refused.status, done.status) == (400, 200)
    assert await count_invites(env) == 1


async def test_another_process_says_that_the_form_was_received(env: Environment, owner: Browser) -> None:
    elsewhere = Browser(build_console(env.context, load({})))
    elsewhere.cookies = owner.cookies

    await post(owner, f"{TEAM}/invite", FIRST, role="sender")
    again = await post(elsewhere, f"{TEAM}/invite", FIRST, role="sender")

    assert again.status == 409
    assert "이미 접수한 요청입니다" in again.text
    assert f'href="{TEAM}"' in again.text
    assert await count_invites(env) == 1


async def test_form_that_is_repeated_while_it_is_handled_is_done_once(env: Environment, owner: Browser) -> None:
    fields = {"csrf": await owner.csrf(), "role": "sender"}

    answers = await asyncio.gather(*(owner.post(f"{TEAM}/invite", fields, x_form_id=FIRST) for _ in range(3)))

    assert len({each.text for each in answers}) == 1
    assert await count_invites(env) == 1


async def test_invited_user_who_lost_the_answer_is_led_to_the_sign_in(env: Environment) -> None:
    token = await invite(await signed_in_browser(env))
    newcomer = Browser(env.service)
    fields = {"token": token, "name": "newcomer", "password": PASSWORD, "repeated": PASSWORD}

    answers = [await post(newcomer, INVITE, FIRST, **fields) for _ in range(2)]
    stranger = await post(Browser(env.service), INVITE, FIRST, **fields)

    assert [each.status for each in answers] == [303, 303]
    assert answers[0].location == answers[1].location
    assert stranger.status == 409


async def test_script_gets_401_where_the_session_has_ended(env: Environment) -> None:
    nobody = Browser(env.service)
    assert (await post(nobody, f"{TEAM}/invite", FIRST, role="sender")).status == 401
    assert (await post(nobody, f"{TEAM}/invite", "", role="sender")).status == 303


def test_kept_answers_are_limited_in_number_bytes_and_time() -> None:
    forms = RepeatedForms()
    for number in range(MAX_ANSWERS + 10):
        forms._keep(str(number), Response(b"x"), 0)
    assert forms._find("9", 0) is None
    assert forms._find("10", 0) is not None
    assert forms._find("10", ANSWER_LIFETIME_MS) is None

    large = Response(b"x" * repeats.MAX_ANSWER_BYTES)
    for number in range(2 * MAX_ANSWERS_BYTES // repeats.MAX_ANSWER_BYTES):
        forms._keep(f"large {number}", large, 0)
    assert forms._bytes <= MAX_ANSWERS_BYTES
    assert len(forms._answers) == MAX_ANSWERS_BYTES // repeats.MAX_ANSWER_BYTES
    forms._keep("too large", Response(b"x" * (repeats.MAX_ANSWER_BYTES + 1)), 0)
    assert forms._find("too large", 0) is None
