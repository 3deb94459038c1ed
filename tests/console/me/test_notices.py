"""What users choose about their notices: kinds, language, and an address that is confirmed by a link."""

import re

import pytest

from pabal.domain.events.notice import NoticeKind
from pabal.domain.people.user import Role
from pabal.service.notices.own_notices import ASK_PAUSE_MS, CONFIRM_LIFETIME_MS, MAX_ASKS
from pabal.store.engine.base import Tx
from pabal.store.events import mails, notices
from pabal.store.users import users
from tests.fixtures.audit import latest_entries
from tests.fixtures.console import Browser, make_user, sign_in, signed_in_browser
from tests.fixtures.console_upload import page_text
from tests.fixtures.mailers import ADDRESS, REFUSED, RecordingMailer, confirm_directly, find_link
from tests.fixtures.service import count_rows
from tests.fixtures.virtual import Environment

PAGE = "/console/me/notices"
CHECKED = re.compile(r'name="kind\.(\w+)" value="1" checked')


def stored_texts(tx: Tx) -> str:
    return str(tx.fetch_all("select * from notice_settings")) + str(tx.fetch_all("select * from mails"))


async def ask(env: Environment, browser: Browser, address: str = ADDRESS) -> str:
    """Ask for a confirmation, let it be sent, and return the page."""
    shown = await browser.submit(f"{PAGE}/address", address=address)
    await env.wait(15)
    return page_text(shown)


async def confirm(browser: Browser, link: str) -> str:
    """Open the link of a confirmation, press its button, and return the page."""
    shown = await browser.get(link)
    token = re.findall('name="token" value="([^"]+)"', shown.text)
    return page_text(await browser.submit(f"{PAGE}/confirm", token=token[0])) if token else page_text(shown)


async def tell(env: Environment, number: int = 1) -> None:
    """Have users told of something, and let it be sent."""
    data = {"name": f"이름 {number}", "code": "T", "status": "approved"}
    await env.store.write(
        lambda tx: notices.add(tx, bytes([number]) * 16, NoticeKind.TEMPLATE, 1, data, env.world.now())
    )
    await env.wait(30)


async def test_nothing_but_the_confirmation_is_sent_before_its_link_is_used(
    mailer: RecordingMailer, env: Environment, browser: Browser
) -> None:
    text = await ask(env, browser)
    await tell(env)
    (asked,) = mailer.tried
    token = find_link(asked).partition("token=")[2]
    assert "확인 메일을 보냈습니다" in text
    assert asked.address == ADDRESS
    assert asked.subject == "[파발] 메일 주소 확인"
    assert token not in await env.store.read(stored_texts)

    assert "메일 주소를 확인했습니다" in await confirm(browser, find_link(asked))
    assert "만료되었거나" in await confirm(browser, find_link(asked))  # it works once
    await tell(env, 2)

    assert mailer.subjects[1:] == ["[파발] 템플릿 승인: 이름 2 (T)"]
    actions = [each.action for each in await env.store.read(latest_entries, 1, 3)]
    assert actions[:2] == ["notices.confirm", "notices.address"]


async def test_opening_the_link_alone_confirms_nothing(
    mailer: RecordingMailer, env: Environment, browser: Browser
) -> None:
    await ask(env, browser)

    shown = await browser.get(find_link(mailer.tried[0]))
    await tell(env)

    assert "이 주소로 받기" in page_text(shown)
    assert len(mailer.tried) == 1


async def test_link_is_for_its_own_user_and_for_a_day(mailer: RecordingMailer, env: Environment) -> None:
    browser, other = await signed_in_browser(env), await signed_in_browser(env, Role.SENDER)
    await ask(env, browser)
    link = find_link(mailer.tried[0])

    stranger = await Browser(env.service).get(link)
    by_other = await confirm(other, link)
    env.world.move_clock(CONFIRM_LIFETIME_MS / 1000)
    again = await sign_in(env, "owner-of-acme")
    too_late = page_text(await again.submit(f"{PAGE}/confirm", token=link.partition("token=")[2]))

    assert stranger.status == 303
    assert "token%3D" in stranger.location  # after signing in it is opened
    assert "만료되었거나" in by_other
    assert "만료되었거나" in too_late


async def test_old_address_stays_until_the_new_one_is_confirmed(
    mailer: RecordingMailer, env: Environment, browser: Browser
) -> None:
    await env.store.write(confirm_directly, "owner-of-acme")
    await ask(env, browser, "new@example.com")
    await tell(env)
    await confirm(browser, find_link(mailer.tried[0]))
    await env.wait(600)
    await tell(env, 2)

    assert [each.address for each in mailer.tried] == ["new@example.com", ADDRESS, "new@example.com"]


async def test_link_of_an_address_that_was_replaced_does_not_work(
    mailer: RecordingMailer, env: Environment, browser: Browser
) -> None:
    await ask(env, browser, "first@example.com")
    await env.wait(ASK_PAUSE_MS / 1000)
    await ask(env, browser, "second@example.com")

    first = await confirm(browser, find_link(mailer.tried[0]))

    assert [each.address for each in mailer.tried] == ["first@example.com", "second@example.com"]
    assert "만료되었거나" in first


async def test_confirmations_cannot_be_used_to_flood_an_address(
    mailer: RecordingMailer, env: Environment, browser: Browser
) -> None:
    await ask(env, browser)
    at_once = await browser.submit(f"{PAGE}/address", address=ADDRESS)
    for _ in range(MAX_ASKS + 2):
        await env.wait(ASK_PAUSE_MS / 1000)
        last = await ask(env, browser)

    assert at_once.status == 429
    assert "하루에" in last
    assert len(mailer.tried) == MAX_ASKS


@pytest.mark.parametrize("address", ["", "kim", "kim@example.com\r\nRCPT TO:<x@y.kr>", "a" * 300 + "@example.com"])
async def test_wrong_address_is_told_at_its_field(
    mailer: RecordingMailer, env: Environment, browser: Browser, address: str
) -> None:
    shown = await browser.submit(f"{PAGE}/address", address=address)

    assert shown.status == 400
    assert 'id="wrong-address"' in shown.text
    assert await count_rows(env, "mails") == 0


@pytest.mark.parametrize(
    ("role", "usual"),
    [
        (Role.OWNER, {"approval", "template", "campaign", "failure", "quota"}),
        (Role.OPERATOR, {"carrier", "quota"}),
        (Role.SENDER, {"approval"}),
        (Role.VIEWER, set()),
    ],
)
@pytest.mark.usefixtures("mailer")
async def test_users_choose_from_what_is_usual_for_their_role(
    env: Environment, role: Role, usual: set[str]
) -> None:
    browser = await signed_in_browser(env, role)
    before = await browser.get(PAGE)
    await browser.submit(PAGE, **{"kind.quota": "1", "kind.unknown": "1", "mail_language": "en"})
    after = await browser.get(PAGE)
    await browser.submit(PAGE, mail_language="ko")
    none = await browser.get(PAGE)
    wrong = await browser.submit(PAGE, mail_language="xx")

    assert set(CHECKED.findall(before.text)) == usual
    assert CHECKED.findall(after.text) == ["quota"]
    assert '<option value="en" selected>' in after.text
    assert CHECKED.findall(none.text) == []
    assert wrong.status == 400


async def test_removed_address_gets_no_mails(mailer: RecordingMailer, env: Environment, browser: Browser) -> None:
    await env.store.write(confirm_directly, "owner-of-acme")
    add = {"name": "이름", "code": "T", "status": "approved"}
    await env.store.write(lambda tx: notices.add(tx, b"1" * 16, NoticeKind.TEMPLATE, 1, add, env.world.now()))

    text = page_text(await browser.submit(f"{PAGE}/remove"))
    await tell(env, 2)

    assert "메일 주소를 삭제했습니다" in text
    assert mailer.tried == []
    assert await count_rows(env, "mails") == 0


async def test_user_sees_that_a_mail_was_refused(
    mailer: RecordingMailer, env: Environment, browser: Browser
) -> None:
    mailer.results = [REFUSED]
    await ask(env, browser)

    shown = page_text(await browser.get(PAGE))

    assert REFUSED.detail in shown


async def test_page_says_that_no_mails_are_sent(browser: Browser) -> None:
    shown = await browser.get(PAGE)
    refused = await browser.submit(f"{PAGE}/address", address=ADDRESS)

    assert "메일 서버가 설정되지 않아" in page_text(shown)
    assert 'name="address"' not in shown.text
    assert refused.status == 409


@pytest.mark.usefixtures("mailer")
async def test_removed_user_leaves_nothing_behind(env: Environment, owner: Browser) -> None:
    name = await make_user(env, Role.SENDER)
    await env.store.write(confirm_directly, name, kinds="template")
    user = await env.store.read(users.get_by_name, name)
    assert user
    new = mails.NewMail(b"m" * 16, user.user.id, "template", [{}])
    await env.store.write(mails.add, new, env.world.now() + 10**9, env.world.now())

    await owner.submit("/console/team/remove", user=name)

    assert await env.store.read(users.get_by_name, name) is None
    assert await count_rows(env, "notice_settings") == await count_rows(env, "mails") == 0
