"""Flows of operators: accounts, reviews, sender numbers, paused webhooks, and mappings to other relays."""

import contextlib
from collections.abc import Iterator

import apsw
from playwright.sync_api import expect

from pabal.domain.people.user import Role
from tests.browser.flows_of_sending import form, row
from tests.browser.steps import SUBMIT, Case, Step
from tests.fixtures.web import template_body


def keep_accounts(case: Case) -> Iterator[Step]:
    page, name = case.page, f"shop-{case.word}"
    page.goto("/console/operate/accounts")
    page.locator("main [name=name]").fill(name)
    create = form(page, "/console/operate/accounts").locator(SUBMIT)
    yield Step("account.create", create, page.locator("h1, td", has_text=name).first)
    page.goto("/console/operate/accounts")
    page.get_by_role("link", name=name, exact=True).click()
    limits = page.locator("form[action$='/limits']")
    page.locator("details.new", has=limits).locator("summary").click()
    limits.locator("[name=receivers_per_day]").fill("1000")
    yield Step("account.limits", limits.locator(SUBMIT), page.locator("h1", has_text=name))
    keys = page.locator("form[action$='/keys']")
    page.locator("details.new", has=keys).locator("summary").click()
    keys.locator("[name=name]").fill("매장")
    yield Step("key.create", keys.locator("button.main"), page.locator("code.secret"))
    page.locator(".card a.button").click()
    page.locator("tbody details.ask summary").first.click()
    page.locator("tbody [name=rate]").fill("77")
    rate = page.locator("form[action$='/keys/rate']").locator(SUBMIT)
    yield Step("key.rate", rate, page.locator("tbody td.amount", has_text="77"))
    revoke = page.locator("form[action$='/keys/revoke']")
    page.locator("details.ask", has=revoke).locator("summary").click()
    yield Step("key.revoke", revoke.locator(SUBMIT), page.locator("tbody .state.fail"))
    users = page.locator("form[action$='/users']")
    page.locator("details.new", has=users).locator("summary").click()
    users.locator("[name=user]").fill(f"boss-{case.word}")
    yield Step("user.create", users.locator(SUBMIT), page.locator("code.secret"))
    page.locator(".card a.button").click()
    password = page.locator("form[action$='/users/password']")
    page.locator("details.ask", has=password).locator("summary").click()
    yield Step("user.password", password.locator(SUBMIT), page.locator("code.secret"))
    page.locator(".card a.button").click()
    states = page.locator("form[action$='/users/state']")
    page.locator("details.ask", has=states).locator("summary").click()
    yield Step("user.disable", states.locator(SUBMIT), page.locator("tbody .state.fail").nth(1))
    disable = page.locator("form[action$='/state']:not([action*='users'])")
    page.locator("details.ask", has=disable).locator("summary").click()
    yield Step("account.disable", disable.locator(SUBMIT), page.locator("h1 .state.fail"))


def review_templates(case: Case) -> Iterator[Step]:
    page, code = case.page, f"V-{case.word}"
    case.env.approve_channel("@network", "010-8888-3333")
    (profile,) = case.env.call("sender/list", channelId="@network")["items"]
    key = {"senderKey": profile["senderKey"], "templateCode": code}
    case.env.call("template/create", template_body(profile["senderKey"], templateCode=code, name=f"보류 {code}"))
    case.env.call("template/request", key)
    page.goto("/console/operate/reviews")
    page.get_by_role("link", name=f"보류 {code}").click()
    page.locator("[name=comment]").fill("고쳐 주세요")
    yield Step("template.reject", page.locator("[value=reject]"), page.locator(".good"))


def decide_numbers(case: Case) -> Iterator[Step]:
    """Approve one number that an owner has registered, and reject another."""
    page, numbers = case.page, [f"02-888-{case.digits}0{place}" for place in range(2)]
    with case.env.signed_in(Role.OWNER, way=case.way) as there:
        for number in numbers:
            there.goto("/console/numbers")
            there.locator("[name=number]").fill(number)
            form(there, "/console/numbers").locator(SUBMIT).click()
            expect(row(there, number)).to_be_visible()
    page.goto("/console/operate/numbers")
    approve = row(page, numbers[0]).locator("form[action$='/approve']").locator(SUBMIT)
    yield Step("number.approve", approve, row(page, numbers[1]))
    expect(row(page, numbers[0])).to_have_count(0)
    row(page, numbers[1]).locator("summary").click()
    row(page, numbers[1]).locator("[name=comment]").fill("증명서가 필요합니다")
    reject = row(page, numbers[1]).locator("form[action$='/reject']").locator(SUBMIT)
    yield Step("number.reject", reject, page.locator("h1"))
    expect(row(page, numbers[1])).to_have_count(0)


def resume_webhook(case: Case) -> Iterator[Step]:
    """Use a webhook again that is paused, as after ten failures and five minutes."""
    page, url = case.page, f"https://{case.word}.example/paused"
    case.env.call("webhook/create", {"url": url, "events": ["template.status"]})
    with contextlib.closing(apsw.Connection(str(case.env.live.data / "pabal.db"))) as other:
        other.set_busy_timeout(10_000)
        other.execute(
            "update webhooks set state = 'paused', failures = 12, failing_since = 1, trial_at = null where url = ?",
            (url,),
        )
    page.goto("/console/operate/webhooks")
    yield Step("webhook.update", row(page, url).get_by_role("button"), page.locator(".good"))
    expect(row(page, url)).to_have_count(0)
