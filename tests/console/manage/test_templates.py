"""Templates: written with a preview, reviewed, and never another account's."""

import re
from typing import Any

from pabal.console.manage.template_form import FIELDS
from pabal.domain.people.user import Role
from pabal.store.kakao import templates as kept_templates
from pabal.store.kakao.templates import TemplateFilter
from tests.fixtures.audit import latest_entries
from tests.fixtures.console import Browser, PageResponse, signed_in_browser
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import TEMPLATE_CATEGORY, call_ok, template_body

HOSTILE = '"><script>alert(1)</script>'


def form_fields(sender_key: str, **changes: str) -> dict[str, str]:
    """Return the fields of the form; all of them, as a browser sends them."""
    fields = {field: "" for field in FIELDS if field != "securityTemplate"}
    return {
        **fields,
        "senderKey": sender_key,
        "templateCode": "T1",
        "name": "배송 안내",
        "content": "#{name}님,\r\n출발했습니다.",
        "category": TEMPLATE_CATEGORY,
        "messageType": "basic",
        "emphasisType": "none",
        **changes,
    }


async def save(browser: Browser, path: str, fields: dict[str, str]) -> PageResponse:
    return await browser.post(path, {"csrf": await browser.csrf(), **fields})


async def only_template(env: Environment) -> Any:
    def work(tx: Any) -> Any:
        return kept_templates.find(tx, TemplateFilter(1), 1, 10)[1]

    (found,) = await env.store.read(work)
    return found


async def test_template_is_created_sent_to_review_and_approved(
    env: Environment, sender_key: str, sender: Browser
) -> None:
    buttons = {"buttons[2].buttonType": "webLink", "buttons[2].mobileUrl": "https://a.example/#{id}"}

    made = await save(sender, "/console/templates/new", form_fields(sender_key, **buttons))
    page = await sender.get(made.location)
    await save(sender, f"{made.location}/request", {})
    approved = await sender.get(made.location)

    assert made.status == 303
    assert "<mark>#{name}</mark>님,\n출발했습니다." in page.text
    assert "state registered" in page.text
    assert "state approved" in approved.text
    stored = await only_template(env)
    assert stored.latest.content == "#{name}님,\n출발했습니다."
    assert stored.latest.buttons[0].mobile_url == "https://a.example/#{id}"
    assert stored.latest.variables == ("name", "id")
    done = [(deed.actor, deed.action, deed.target) for deed in await env.store.read(latest_entries, 1, 2)]
    assert done == [("sender-of-acme", "template.request", "T1"), ("sender-of-acme", "template.create", "T1")]


async def test_every_template_error_is_reported_at_its_field_and_keeps_input(
    env: Environment, sender_key: str, sender: Browser
) -> None:
    wrong = form_fields(
        sender_key,
        name="",
        content="가" * 1301,
        templateCode="T" * 21,
        messageType="extraInfo",
        **{"buttons[3].buttonType": "webLink", "buttons[3].name": HOSTILE[:14]},
    )

    shown = await save(sender, "/console/templates/new", wrong)

    assert shown.status == 400
    for field in ("name", "content", "templateCode", "moreInfo", "buttons[3].mobileUrl"):
        assert f'id="wrong-{field}"' in shown.text, field
    assert "가" * 1301 in shown.text
    assert "<script>" not in shown.text
    assert await env.store.read(kept_templates.list_all) == []


async def test_edited_template_stays_in_use_until_operator_approves_the_edit(
    env: Environment, sender_key: str, sender: Browser
) -> None:
    path = (await save(sender, "/console/templates/new", form_fields(sender_key))).location
    await save(sender, f"{path}/request", {})

    edited = await save(sender, f"{path}/edit", form_fields("ignored", name="보류 안내", content="새 내용"))
    before = await sender.get(path)
    await save(sender, f"{path}/request", {})
    again = await save(sender, f"{path}/edit", form_fields(sender_key))
    operator = await signed_in_browser(env, Role.OPERATOR)
    review = await operator.get(path)
    silent = await save(operator, f"{path}/review", {"decision": "reject"})
    await save(operator, f"{path}/review", {"decision": "reject", "comment": HOSTILE})
    rejected = await sender.get(path)

    assert edited.status == 303
    assert "전에 승인된 내용으로 발송됩니다" in before.text
    assert again.status == 409
    assert 'name="decision" value="approve"' in review.text
    assert "state inspecting" in review.text
    assert silent.status == 400
    assert "state rejected" in rejected.text
    assert "&lt;script&gt;alert(1)" in rejected.text
    stored = await only_template(env)
    assert (stored.approved.content, stored.latest.content) == ("#{name}님,\n출발했습니다.", "새 내용")


async def test_template_is_copied_and_deleted(sender_key: str, sender: Browser) -> None:
    path = (await save(sender, "/console/templates/new", form_fields(sender_key, name="원래"))).location

    copy = await sender.get(f"/console/templates/new?copy={path.rpartition('/')[2]}")
    gone = await save(sender, f"{path}/delete", {})
    listed = await sender.get("/console/templates")

    assert 'name="name" type="text" value="원래"' in copy.text
    assert 'name="templateCode" type="text" value=""' in copy.text
    assert gone.location == "/console/templates"
    assert "템플릿이 없습니다" in listed.text
    assert (await sender.get(path)).status == 404


async def test_approved_template_cannot_be_deleted(env: Environment, sender_key: str, sender: Browser) -> None:
    path = (await save(sender, "/console/templates/new", form_fields(sender_key))).location
    await save(sender, f"{path}/request", {})

    refused = await save(sender, f"{path}/delete", {})

    assert refused.status == 409
    assert 'role="alert"' in refused.text
    assert (await only_template(env)).code == "T1"


ITEM_LIST = {
    "emphasisType": "itemList",
    "header": "영수증",
    "itemHighlight.title": "#{name}님",
    "itemHighlight.description": "결제 완료",
    "itemList.items[0].title": "상품",
    "itemList.items[0].description": "사과",
    "itemList.items[3].title": "배송",
    "itemList.items[3].description": "내일",
    "itemList.summary.title": "합계",
    "itemList.summary.description": "1,000원",
    "representLink.mobileUrl": "https://shop.example/",
    "quickReplies[1].buttonType": "botKeyword",
    "quickReplies[1].name": "문의",
    "buttons[0].buttonType": "phoneCall",
    "buttons[0].telNumber": "1588-0000",
}


async def test_template_with_an_item_list_is_written_shown_and_edited(
    env: Environment, sender_key: str, sender: Browser
) -> None:
    typed = form_fields(sender_key, **ITEM_LIST)

    seen = await save(sender, "/console/templates/preview", typed)
    made = await save(sender, "/console/templates/new", typed)
    shown, form = await sender.get(made.location), await sender.get(f"{made.location}/edit")
    edited = await save(sender, f"{made.location}/edit", {**typed, "header": "새 영수증"})

    stored = (await only_template(env)).latest
    assert (made.status, edited.status) == (303, 303)
    for page in (seen, shown):
        for text in (
            "영수증",
            "결제 완료",
            "사과",
            "배송",
            "1,000원",
            "https://shop.example/",
            "문의",
            "전화 연결",
        ):
            assert text in page.text
    assert re.search(r'name="itemList.items\[1\].title"[^>]*value="배송"', form.text)
    assert stored.parts.header == "새 영수증"
    assert [each.title for each in stored.parts.items] == ["상품", "배송"]
    assert [each.name for each in (*stored.buttons, *stored.parts.quick_replies)] == ["전화 연결", "문의"]


async def test_errors_of_an_item_list_are_shown_at_the_row_of_the_form(sender_key: str, sender: Browser) -> None:
    wrong = {"itemList.items[3].title": "너무 긴 제목", "quickReplies[1].name": "가" * 15}

    refused = await save(sender, "/console/templates/new", form_fields(sender_key, **ITEM_LIST | wrong))

    assert refused.status == 400
    assert 'id="wrong-itemList.items[3].title"' in refused.text
    assert 'id="wrong-quickReplies[1].name"' in refused.text
    assert "아이템 4" in refused.text
    assert "바로연결 2" in refused.text


async def test_template_preview_shows_text_and_its_length(sender_key: str, sender: Browser) -> None:
    fields = form_fields(
        sender_key,
        content=f"{HOSTILE}#{{이름}}",
        emphasisType="text",
        emphasisTitle="제목",
        **{"buttons[0].buttonType": "channelAddition"},
    )

    shown = await save(sender, "/console/templates/preview", fields)

    assert "<html" not in shown.text
    assert "<strong>@shop</strong>" in shown.text  # the channel, as a phone names it
    assert "<mark>#{이름}</mark>" in shown.text
    assert "<script>" not in shown.text
    assert "제목" in shown.text
    assert "<li><span>채널 추가</span></li>" in shown.text
    assert f"{len(HOSTILE) + 5} / 1,300자" in shown.text


async def test_template_list_is_filtered_by_status_and_paged(
    call: Caller, sender_key: str, sender: Browser
) -> None:
    for number in range(51):
        await call_ok(call, "template/create", template_body(sender_key, templateCode=f"T{number}"))

    first = await sender.get("/console/templates?status=registered")
    second = await sender.get("/console/templates?status=registered&page=2")
    none = await sender.get("/console/templates?status=approved")
    nonsense = await sender.get("/console/templates?status=x&page=-%C2%B2")

    assert len(re.findall(r'href="/console/templates/\d+"', first.text)) == 50
    assert len(re.findall(r'href="/console/templates/\d+"', second.text)) == 1
    assert "2페이지 중 1페이지" in first.text
    assert "템플릿이 없습니다" in none.text
    assert nonsense.status == 200


async def test_extra_information_is_refused_where_it_would_be_lost(sender_key: str, sender: Browser) -> None:
    for kind in ("basic", "channelAddition"):
        fields = form_fields(sender_key, messageType=kind, moreInfo="영업시간 9시")

        refused = await save(sender, "/console/templates/new", fields)

        assert refused.status == 400, kind
        assert "부가 정보를 표시하지 않습니다" in refused.text
    stored = await save(
        sender, "/console/templates/new", form_fields(sender_key, messageType="mixed", moreInfo="영업시간 9시")
    )
    edited = await save(sender, f"{stored.location}/edit", form_fields(sender_key, moreInfo="영업시간 9시"))
    assert (stored.status, edited.status) == (303, 400)


async def test_reviewers_see_addresses_and_flags(sender_key: str, sender: Browser) -> None:
    links = {"buttonType": "webLink", "name": "보기", "mobileUrl": "https://m.example/#{id}", "target": "out"}
    reply = {"quickReplies[0].buttonType": "webLink", "quickReplies[0].mobileUrl": "https://reply.example"}
    fields = form_fields(
        sender_key,
        securityTemplate="on",
        **{f"buttons[0].{name}": value for name, value in links.items()},
        **{"representLink.mobileUrl": "https://link.example", **reply},
    )
    made = await save(sender, "/console/templates/new", fields)

    page = await sender.get(made.location)

    for each in (
        "https://m.example/#{id}",
        "https://reply.example",
        "https://link.example",
        "웹 링크",
        "기본형",
    ):
        assert each in page.text, each
    assert re.search(r"보안 템플릿[^<]*</dt><dd>예<", page.text)


async def test_typed_template_is_kept_until_it_is_saved(sender_key: str, sender: Browser) -> None:
    opened = await sender.get("/console/templates/new")
    (tab,) = re.findall(r'name="tab" value="([0-9a-f]{16})"', opened.text)
    new = form_fields(sender_key, name="쓰던 이름", draft="template.new", tab=tab)
    await save(sender, "/console/templates/preview", new)
    offered = await sender.get("/console/templates/new")
    made = await save(sender, "/console/templates/new", new)
    fresh = await sender.get("/console/templates/new")
    await save(sender, "/console/templates/preview", new)  # typed before it was saved, and arrives after
    after_late = await sender.get("/console/templates/new")
    edit = f"{made.location}/edit"
    number = made.location.rpartition("/")[2]
    await save(sender, "/console/templates/preview", {**new, "name": "고치던 이름", "draft": f"template.{number}"})
    edited = await sender.get(edit)
    discarded = await save(sender, "/console/templates/discard", {"draft": f"template.{number}"})
    as_stored = await sender.get(edit)

    assert 'value="쓰던 이름"' not in after_late.text
    assert ('value="쓰던 이름"' in offered.text, 'value="쓰던 이름"' in fresh.text) == (True, False)
    assert "작성하던 내용을 불러왔습니다" in offered.text
    assert 'value="고치던 이름"' in edited.text
    assert discarded.location == edit
    assert 'value="쓰던 이름"' in as_stored.text


async def test_template_is_saved_and_sent_to_review_by_one_button(
    env: Environment, sender_key: str, sender: Browser
) -> None:
    button = {"then": "request"}

    bad = await save(sender, "/console/templates/new", form_fields(sender_key, **button, content=""))
    made = await save(sender, "/console/templates/new", form_fields(sender_key, **button))
    edited = await save(sender, f"{made.location}/edit", form_fields(sender_key, **button, content="도착했습니다."))

    assert (bad.status, made.status, edited.status) == (400, 303, 303)
    stored = await only_template(env)
    assert (stored.status.code, stored.latest.content) == ("approved", "도착했습니다.")
    noted = [each.action for each in await env.store.read(latest_entries, 1, 4)]
    assert noted == ["template.request", "template.update", "template.request", "template.create"]
