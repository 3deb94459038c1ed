"""Flows of those who send: the address book, saved texts, campaigns, messages, and what is scheduled."""

import re
import time
from collections.abc import Iterator

from playwright.sync_api import FilePayload, Locator, Page, expect

from tests.browser.steps import SUBMIT, Case, Step
from tests.fixtures.browser import open_send_page
from tests.fixtures.failing_network import Loss
from tests.fixtures.web import SENDER, sms_body, template_body

NOBODY = "010-0000-0001"


def csv(name: str, rows: str) -> FilePayload:
    return FilePayload(name=name, mimeType="text/csv", buffer=rows.encode())


def form(page: Page, action: str) -> Locator:
    return page.locator(f"form[method=post][action='{action}']")


def row(page: Page, text: str) -> Locator:
    return page.locator("main tr").filter(has_text=text)


def write(case: Case, content: str, receivers: str = "") -> None:
    """Write a message on the send page, and wait until it is kept."""
    page = case.page
    open_send_page(page)
    page.locator("[name=sender]").fill(SENDER)
    page.locator("[name=content]").fill(content)
    page.locator("[name=receivers]").fill(receivers)
    expect(page.locator("#kept")).not_to_be_empty()


def confirmed(page: Page, action: str) -> Step:
    """Return the step of a send that was reviewed."""
    page.locator("#review").click()
    expect(page.locator("#last-look")).to_be_visible()
    return Step(
        action, page.locator("#send-it"), page.locator(".actions a[href*='/console/requests/']").first, "send"
    )


def keep_address_book(case: Case) -> Iterator[Step]:
    page, name, group = case.page, f"홍길동 {case.word}", f"단골 {case.word}"
    page.goto("/console/contacts/groups")
    form(page, "/console/contacts/groups").locator("[name=name]").fill(group)
    yield Step("contact.group_add", form(page, "/console/contacts/groups").locator(SUBMIT), row(page, group))
    row(page, group).locator("summary").first.click()
    row(page, group).locator("[name=name]").fill(f"{group} 님")
    yield Step("contact.group_rename", row(page, group).locator("button.main"), row(page, f"{group} 님"))

    page.locator("textarea[name=fields]").fill(f"도시 {case.word}")
    fields = form(page, "/console/contacts/groups/fields").locator(SUBMIT)
    yield Step("contact.fields", fields, row(page, group))
    row(page, group).locator("details.ask", has=page.locator("form[action$='/delete']")).locator("summary").click()
    delete = page.locator("details[open] button.danger")
    yield Step("contact.group_delete", delete, page.locator("textarea[name=fields]"))

    page.goto("/console/contacts")
    page.locator("main details summary").first.click()
    add = form(page, "/console/contacts")
    add.locator("[name=phoneNumber]").fill(f"010-5100-{case.digits}01")
    add.locator("[name=name]").fill(name)
    yield Step("contact.add", add.locator("p.actions button"), row(page, name))
    page.get_by_role("link", name=name).click()
    page.locator("[name=name]").fill(f"{name} 님")
    yield Step("contact.update", page.locator("main form.stack button.main"), row(page, f"{name} 님"))
    page.get_by_role("link", name=name).click()
    page.locator("main .ask summary").click()
    yield Step("contact.delete", page.locator("button.danger"), page.locator("main details summary").first)

    page.goto("/console/contacts/file")
    rows = f"휴대폰번호,이름\n010-5200-{case.digits}01,가\n010-5200-{case.digits}02,나\n"
    page.locator("[name=file]").set_input_files(csv("contacts.csv", rows))
    expect(page.locator("#columns select")).to_have_count(2)
    yield Step(
        "contact.import", form(page, "/console/contacts/file").locator("button.main"), page.locator("#result")
    )
    expect(page.locator("section dd").first).to_have_text("2")  # the first answer: later ones would add none


def refuse_advertising(case: Case) -> Iterator[Step]:
    page = case.page
    page.goto("/console/opt-outs")
    add = form(page, "/console/opt-outs")
    page.locator("details", has=add).locator("summary").click()
    add.locator("[name=phoneNumber]").fill(f"010-5300-{case.digits}01")
    add.locator("[name=reason]").fill("전화로 요청")
    yield Step("opt_out.add", add.locator(SUBMIT), page.locator(".toast"))
    page.goto("/console/opt-outs")
    imported = form(page, "/console/opt-outs/import")
    page.locator("details", has=imported).locator("summary").click()
    page.locator("[name=file]").set_input_files(csv("opt-outs.csv", f"phone\n010-5300-{case.digits}02\n"))
    yield Step("opt_out.import", imported.locator(SUBMIT), page.locator(".good"))
    page.goto("/console/opt-outs")
    removed = row(page, f"010-5300-{case.digits}01")
    removed.locator("summary").click()
    yield Step("opt_out.remove", removed.locator("button.danger"), page.locator(".good"))


def save_texts(case: Case) -> Iterator[Step]:
    page, name = case.page, f"보관 {case.word}"
    write(case, "보관할 말")
    page.locator("#save-text > summary").click()
    page.locator("[name=text_name]").fill(name)
    yield Step(
        "text.save", page.locator("[formaction='/console/send/save']"), page.locator("#send .notice[role=status]")
    )
    page.goto("/console/texts")
    row(page, name).locator("summary").click()
    yield Step("text.delete", row(page, name).locator("button.danger"), page.locator("main h1"))
    expect(row(page, name)).to_have_count(0)


def send_message(case: Case) -> Iterator[Step]:
    page = case.page
    write(case, "끊겨도 한 번만", f"010-5400-{case.digits}01")
    page.locator("#test > summary").click()
    page.locator("[name=own_number]").fill(f"010-5400-{case.digits}02")
    test = page.locator("[formaction='/console/send/test']")
    yield Step("message.test", test, page.locator("#tested .good"), "send")
    page.locator("#review").click()
    expect(page.locator("#last-look")).to_be_visible()
    yield Step(
        "message.send", page.locator("#send-it"), page.locator("main a[href*='/console/requests/']").first, "send"
    )


def send_campaign(case: Case) -> Iterator[Step]:
    """Begin a campaign, have its file checked after a failed upload, send it, and name it anew."""
    page = case.page
    write(case, f"행사 {case.word}")
    page.locator("[name=whom][value=file]").check()
    begin = page.locator("#to-upload")
    yield Step("campaign.begin", begin, page.locator("form[data-upload]"), "nothing")
    page.locator("input[type=file]").set_input_files(csv("rows.csv", f"휴대폰번호\n010-5500-{case.digits}01\n"))
    expect(page.locator("#columns select").first).to_be_visible()
    with case.network.losing(Loss.ANSWER):
        page.locator("#upload-it").click()
        told = {"ko": "아무것도 발송되지 않았습니다", "en": "Nothing was sent"}[case.way.language]
        expect(page.locator("form[data-upload] [role=alert]:not([hidden])")).to_contain_text(told)
    page.locator("#upload-it").click()
    expect(page.locator("#found")).to_be_visible()
    page.locator("[name=name]").fill(f"행사 {case.word}")
    yield Step("campaign.send", page.locator("#send-it"), page.locator("#progress"), "send")
    page.locator("details:has(form[action$='/name']) > summary").click()
    page.locator("form[action$='/name'] [name=name]").fill(f"새 행사 {case.word}")
    renamed = page.locator("h1", has_text=f"새 행사 {case.word}")
    yield Step("campaign.rename", page.locator("form[action$='/name']").locator(SUBMIT), renamed)


def send_to_group(case: Case) -> Iterator[Step]:
    page, group = case.page, f"묶음 {case.word}"
    page.goto("/console/contacts/file")
    page.locator("[name=file]").set_input_files(csv("contacts.csv", f"휴대폰번호\n010-5600-{case.digits}01\n"))
    expect(page.locator("#columns select")).to_have_count(1)
    page.locator("[name=new_group]").fill(group)
    form(page, "/console/contacts/file").locator("button.main").click()
    expect(page.locator("#result")).to_be_visible()
    page.goto("/console/contacts/groups")
    row(page, group).locator("a[href*='/console/send?group=']").click()
    page.locator("[name=sender]").fill(SENDER)
    page.locator("[name=content]").fill("묶음에게")
    to_group = page.locator("#review")
    yield Step("campaign.begin", to_group, page.locator("form[data-risk=send]"), "nothing")
    page.locator("main .ask summary").last.click()
    yield Step("campaign.cancel", page.locator("form[action$='/cancel'] button.danger"), page.locator("main h1"))


def change_schedule(case: Case) -> Iterator[Step]:
    """Change what is scheduled, send another one now, and cancel a third."""
    page = case.page
    later = time.strftime("%Y-%m-%d 10:00", time.localtime(time.time() + 3 * 24 * 3600))
    scheduled = [
        case.env.call("message/sendSMS", sms_body(f"010-5700-{case.digits}0{number}", sendDate=later))
        for number in range(3)
    ]
    edited, now, cancelled = (each["item"]["requestId"] for each in scheduled)
    page.goto(f"/console/send?edit={edited}")
    page.locator("[name=content]").fill(f"바꾼 말 {case.word}")
    page.locator("#review").click()
    expect(page.locator("#last-look")).to_be_visible()
    yield Step(
        "request.edit", page.locator("#send-it"), page.locator("main a[href*='/console/requests/']").first, "send"
    )
    page.goto(f"/console/requests/{now}")
    page.locator("details.ask summary").first.click()
    yield Step("request.now", page.locator("form[action$='/now']").locator(SUBMIT), page.locator("#progress"))
    page.goto(f"/console/requests/{cancelled}")
    page.locator("details.ask summary").last.click()
    cancel = page.locator("form[action$='/cancel'] button.danger")
    yield Step("request.cancel", cancel, page.locator("main .state.cancel").first)


def resend_failed(case: Case) -> Iterator[Step]:
    page = case.page
    failed = case.env.call("message/sendSMS", sms_body(NOBODY))["item"]["requestId"]
    case.env.wait_until_final(failed)
    page.goto(f"/console/send?resend={failed}")
    page.locator("[name=content]").fill(f"다시 {case.word}")
    page.locator("#review").click()
    expect(page.locator("#last-look")).to_be_visible()
    yield Step(
        "message.send", page.locator("#send-it"), page.locator("main a[href*='/console/requests/']").first, "send"
    )


def write_template(case: Case) -> Iterator[Step]:
    page, code = case.page, f"N-{case.word}"
    case.env.approve_channel("@network", "010-8888-3333")
    page.goto("/console/templates/new")
    page.locator("[name=templateCode]").fill(code)
    page.locator("[name=name]").fill(f"보류: {code}")
    page.locator("[name=content]").fill("#{이름}님, 주문하신 물건이 출발했습니다.")
    expect(page.locator("#preview mark")).to_have_text("#{이름}")
    yield Step("template.create", page.locator("#save"), page.locator(".state.registered"))
    page.locator("main a[href$='/edit']").click()
    page.locator("[name=name]").fill(f"보류: 새 {code}")
    yield Step("template.update", page.locator("#save"), page.locator("h1", has_text=f"새 {code}"))
    request = page.locator("form[action$='/request']").locator(SUBMIT)
    yield Step("template.request", request, page.locator(".state.inspecting"))
    assert re.search(r"/console/templates/\d+", page.url)
    delete = page.locator("form[action$='/delete']")
    page.goto(write_another_template(case, f"X-{case.word}"))
    page.locator("details.ask", has=delete).locator("summary").click()
    yield Step(
        "template.delete", delete.locator(SUBMIT), page.locator("main a.main[href='/console/templates/new']")
    )


def write_another_template(case: Case, code: str) -> str:
    """Return the page of a template that was not submitted for review."""
    (profile,) = case.env.call("sender/list", channelId="@network")["items"]
    case.env.call("template/create", template_body(profile["senderKey"], templateCode=code, name=f"지울 {code}"))
    case.page.goto("/console/templates")
    return str(case.page.get_by_role("link", name=f"지울 {code}").get_attribute("href"))
