"""Flows of owners: the team, keys, one's own user, numbers, profiles, webhooks, and personal data."""

import base64
import re
import time
from collections.abc import Iterator

from playwright.sync_api import expect

from pabal.domain.people import totp
from pabal.domain.people.user import Role
from tests.browser.flows_of_sending import form, row, write
from tests.browser.steps import SUBMIT, Case, Step, press_through_failures
from tests.fixtures.web import sms_body

HOOK = "https://shop.example/hook"


def keep_team(case: Case) -> Iterator[Step]:
    page, name = case.page, case.env.user(Role.VIEWER)
    page.goto("/console/team")
    invite = form(page, "/console/team/invite")
    invite.locator("[name=role][value=viewer]").check()
    yield Step("invite.create", invite.locator(SUBMIT), page.locator("code.secret"))
    page.goto("/console/team")
    withdrawn = page.locator("form[action='/console/team/withdraw']").locator(SUBMIT).first
    yield Step("invite.withdraw", withdrawn, page.locator("#users"))
    page.goto("/console/team")
    user = row(page, name)
    user.locator("summary").first.click()
    role = user.locator("[name=role]")
    role.select_option("viewer" if role.input_value() == "sender" else "sender")
    yield Step(
        "user.role", user.locator("form[action='/console/team/role']").locator(SUBMIT), page.locator("#users")
    )
    page.goto("/console/team")
    user.locator("summary").nth(1).click()
    yield Step(
        "user.password", user.locator("form[action$='/password']").locator(SUBMIT), page.locator("code.secret")
    )
    case.env.set_password(name, page.locator("code.secret").inner_text())


def keep_keys(case: Case) -> Iterator[Step]:
    page = case.page
    page.goto("/console/keys")
    page.locator("tbody summary").first.click()
    page.locator("tbody [name=rate]").first.fill(f"9{case.digits}")
    rate = page.locator("form[action='/console/keys/rate']").locator(SUBMIT).first
    yield Step("key.rate", rate, page.locator("td", has_text=re.compile(f"^9{case.digits}$")))
    name = f"열쇠 {case.word}"
    page.locator("details.new > summary").click()
    page.locator("details.new [name=name]").fill(name)
    yield Step("key.create", form(page, "/console/keys").locator("button.main"), page.locator("code.secret"))
    page.locator(".card a.button").click()
    replace = row(page, name).locator("form[action='/console/keys/replace']").locator(SUBMIT)
    yield Step("key.create", replace, page.locator("code.secret"))
    page.locator("details.ask summary").click()
    yield Step("key.revoke", page.locator("button.danger"), row(page, name).locator(".state.fail"))


def keep_own_user(case: Case) -> Iterator[Step]:
    """Change the password, turn two-factor sign-in on and off, and choose notices."""
    page, name = case.page, case.env.user(Role.OWNER)
    changed = f"another horse battery {case.word}"
    page.goto("/console/me")
    page.locator("[name=current]").fill(case.env.password(name))
    for field in ("password", "repeated"):
        form(page, "/console/me/password").locator(f"[name={field}]").fill(changed)
    yield Step("user.password", form(page, "/console/me/password").locator(SUBMIT), page.locator(".good"))
    case.env.set_password(name, changed)

    page.goto("/console/me")
    page.locator("[name=enable_password]").fill(changed)
    form(page, "/console/me/two-factor").locator(SUBMIT).click()
    secret = base64.b32decode(page.locator("code.secret").inner_text().replace(" ", ""))
    page.locator("[name=code]").fill(totp.code_at(secret, totp.step_of(round(time.time() * 1000))))
    confirm = form(page, "/console/me/two-factor/confirm").locator(SUBMIT)
    yield Step("two_factor.enable", confirm, page.locator("main a.button.main"))
    codes = page.locator("code.secret").inner_text().split()
    assert len(codes) == totp.RECOVERY_CODES
    sign_in_with_code(case, name, codes[0])
    unused = codes[1]
    for word, action in (("codes", "two_factor.codes"), ("disable", "two_factor.disable")):
        page.goto("/console/me")
        asked = form(page, f"/console/me/two-factor/{word}")
        page.locator("details.ask", has=asked).locator("summary").click()
        asked.locator("[type=password]").fill(changed)
        asked.locator("[name$=_code]").fill(unused)
        done = page.locator("main a.button.main" if word == "codes" else ".good")
        yield Step(action, asked.locator(SUBMIT), done)
        if word == "codes":
            unused = page.locator("code.secret").inner_text().split()[0]

    page.goto("/console/me/notices")
    page.locator("[name='kind.quota']").set_checked(not page.locator("[name='kind.quota']").is_checked())
    yield Step("notices.choose", form(page, "/console/me/notices").locator(SUBMIT), page.locator(".good"))


def sign_in_with_code(case: Case, name: str, code: str) -> None:
    """Sign in in another browser with a recovery code, which works once."""
    with case.env.open_page(case.way, expects_failures=True) as page:
        other = case._replace(page=page)
        page.goto("/console/login")
        page.locator("[name=name]").fill(name)
        page.locator("[name=password]").fill(case.env.password(name))
        press_through_failures(other, page.locator("main button.main"))
        page.locator("[name=code]").fill(code)
        press_through_failures(other, page.locator("main button.main"))
        page.wait_for_url(re.compile("/console$"))


def join_team(case: Case) -> Iterator[Step]:
    """Invite somebody, who joins and signs in while the network fails; then remove the newcomer."""
    page, name, password = case.page, f"newcomer-{case.word}", "correct horse battery"
    page.goto("/console/team")
    yield Step("invite.create", form(page, "/console/team/invite").locator(SUBMIT), page.locator("code.secret"))
    link = page.locator("code.secret").inner_text().removeprefix(case.env.base_url)
    with case.env.open_page(case.way, expects_failures=True) as there:
        newcomer = case._replace(page=there)
        there.goto(link)
        there.locator("[name=name]").fill(name)
        for field in ("password", "repeated"):
            there.locator(f"[name={field}]").fill(password)
        press_through_failures(newcomer, there.locator("button.main"))
        there.wait_for_url("**/console/login?*")
        there.locator("[name=password]").fill(password)
        press_through_failures(newcomer, there.locator("button.main"))
        there.wait_for_url(re.compile("/console$"))
    page.goto("/console/team")
    remove = page.locator("form[action='/console/team/remove']")
    row(page, name).locator("details.ask", has=remove).locator("summary").click()
    yield Step(
        "user.remove", row(page, name).locator("form[action$='/remove']").locator(SUBMIT), page.locator("#users")
    )
    expect(row(page, name)).to_have_count(0)


def decide_large_sends(case: Case) -> Iterator[Step]:
    """Approve and refuse what another user has written, and withdraw what one has written oneself."""
    page, approved, refused = case.page, f"승인 {case.word}", f"거절 {case.word}"
    set_threshold(case, "2")
    with case.env.signed_in(Role.SENDER, way=case.way) as there:
        for text in (approved, refused):
            submit_large_send(case._replace(page=there), text)
    page.goto("/console/requests/approvals")
    row(page, approved).locator("a.button").click()
    approve = page.locator("form[action$='/approve']").locator(SUBMIT)
    yield Step("campaign.approve", approve, page.locator("#progress"), "send")
    page.goto("/console/requests/approvals")
    row(page, refused).locator("a.button").click()
    refuse = page.locator("form[action$='/refuse']")
    page.locator("details.ask", has=refuse).locator("summary").click()
    refuse.locator("[name=comment]").fill("날짜를 확인하세요")
    yield Step("campaign.refuse", refuse.locator(SUBMIT), page.get_by_text("날짜를 확인하세요"))
    submit_large_send(case, f"철회 {case.word}")
    withdraw = page.locator("form[action$='/withdraw']").locator(SUBMIT)
    yield Step("campaign.withdraw", withdraw, page.locator("form[action$='/send']"))
    set_threshold(case, "")


def submit_large_send(case: Case, text: str) -> None:
    """Write to more receivers than one may send to alone, and ask for approval."""
    numbers = "\n".join(f"010-5800-{case.digits}0{number}" for number in range(3))
    write(case, text, numbers)
    case.page.locator("#review").click()
    case.page.locator("#send-it").click()
    case.page.wait_for_url("**/console/send/upload/*")


def set_threshold(case: Case, receivers: str) -> None:
    case.page.goto("/console/preferences")
    case.page.locator("[name=approval_receivers]").fill(receivers)
    form(case.page, "/console/preferences").locator(SUBMIT).click()
    expect(case.page.locator(".notice[role=status]")).to_be_visible()


def end_sessions(case: Case) -> Iterator[Step]:
    page = case.page
    with case.env.signed_in(has_own_session=True):
        page.goto("/console/me")
        one = form(page, "/console/me/sessions/end").locator(SUBMIT).first
        yield Step("session.revoke", one, page.locator(".good"))
    with case.env.signed_in(has_own_session=True):
        page.goto("/console/me")
        page.locator("details.ask", has=form(page, "/console/me/sessions/others")).locator("summary").click()
        others = form(page, "/console/me/sessions/others").locator(SUBMIT)
        yield Step("session.revoke", others, page.locator(".good"))


def keep_numbers(case: Case) -> Iterator[Step]:
    page, number = case.page, f"02-777-{case.digits}01"
    page.goto("/console/numbers")
    page.locator("[name=number]").fill(number)
    yield Step("number.request", form(page, "/console/numbers").locator(SUBMIT), row(page, number))
    page.locator("[name=optOutNumber]").fill(f"080-123-{case.digits}67")
    opt_out = form(page, "/console/numbers/opt-out")
    yield Step("account.opt_out", opt_out.locator(SUBMIT), page.locator("main h1"))
    page.goto("/console/numbers")
    row(page, number).locator("a").click()
    yield Step("number.remove", page.locator("button.danger"), page.locator("[name=optOutNumber]"))

    page.goto("/console/preferences")
    page.locator("[name=approval_receivers]").fill(f"9{case.digits}")
    save = form(page, "/console/preferences").locator(SUBMIT)
    yield Step("account.sending", save, page.locator(".notice[role=status]"))
    set_threshold(case, "")


def register_profile(case: Case) -> Iterator[Step]:
    page, channel, phone = case.page, f"@net-{case.word}", f"010-6677-{case.digits}11"
    page.goto("/console/profiles/new?major=건강&minor=병원&category=00100010001")
    page.locator("[name=channelId]").fill(channel)
    page.locator("[name=cellphone]").fill(phone)
    yield Step("profile.register", page.locator("main button.main"), page.locator("[role=timer]"))
    received = case.env.call("simulator/phone", phoneNumber=phone)["items"]
    assert len(received) == 1, received
    page.locator("[name=token]").fill(re.findall("[0-9]{6}", received[0]["content"])[0])
    verify = form(page, "/console/profiles/token").locator(SUBMIT)
    yield Step("profile.approve", verify, page.locator(".good, [role=status]").filter(has_text=channel))
    page.get_by_role("link", name=re.compile(f": {channel}$")).click()
    yield Step("profile.delete", page.locator("button.danger"), page.locator("main a.main"))


def keep_webhooks(case: Case) -> Iterator[Step]:
    page = case.page
    page.goto("/console/webhooks")
    page.locator("[name=url]").fill(f"{HOOK}/{case.word}")
    page.locator("[name='event.message.result']").check()
    yield Step("webhook.create", form(page, "/console/webhooks").locator(SUBMIT), page.locator(".secret"))
    page.locator(".card a.button").click()
    page.locator("main a[href$='/edit']").click()
    page.locator("[name=description]").fill("바꾼 설명")
    yield Step(
        "webhook.update", page.locator("form.card button.main"), page.locator(".facts", has_text="바꾼 설명")
    )
    webhook = page.url.rpartition("/")[2].partition("?")[0]
    yield Step(
        "the test post",
        page.locator("form[action$='/test']").locator(SUBMIT),
        page.locator("main > [role=status]"),
        times=lambda: int(case.env.call("webhook/deliveries", webhookId=webhook)["totalCount"]),
    )
    replay = page.locator("form[action$='/replay']")
    replay.locator("[name=since]").fill(time.strftime("%Y-%m-%d %H:%M", time.gmtime(time.time())))
    yield Step("webhook.replay", replay.locator(SUBMIT), page.locator(".good"))
    state = page.locator("form[action$='/state']")
    page.locator("details.ask", has=state).locator("summary").click()
    yield Step("webhook.update", state.locator(SUBMIT), page.locator("form[action$='/state'] button.main"))
    rotate = page.locator("form[action$='/rotate']")
    page.locator("details.ask", has=rotate).locator("summary").click()
    yield Step("webhook.update", rotate.locator(SUBMIT), page.locator(".secret"))
    page.locator(".card a.button").click()
    delete = page.locator("form[action$='/delete']")
    page.locator("details.ask", has=delete).locator("summary").click()
    yield Step("webhook.delete", delete.locator(SUBMIT), page.locator(".good"))


def take_and_erase_number(case: Case) -> Iterator[Step]:
    """Download what is stored about somebody, and erase it."""
    page, number = case.page, f"010-6969-{case.digits}22"
    case.env.wait_until_final(case.env.call("message/sendSMS", sms_body(number))["item"]["requestId"])
    page.goto("/console/privacy")
    page.locator("[name=number]").first.fill(number)
    form(page, "/console/privacy").locator(SUBMIT).click()
    export = form(page, "/console/privacy/export").locator(SUBMIT)
    expect(export).to_be_visible()
    yield Step("privacy.export", export, page.locator("dl.facts"), "nothing", is_download=True)
    page.locator(".ask summary").click()
    yield Step("privacy.erase", page.locator("button.danger"), page.locator(".good"))
