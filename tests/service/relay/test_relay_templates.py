"""Templates that NHN Cloud reviews: submitted, decided, and changed in its console."""

from typing import Any

import pytest

from pabal.domain.base.codes import Code
from pabal.domain.kakao.template import ReviewDecision
from pabal.service.relay import templates
from tests.fixtures.refusals import refused
from tests.fixtures.relay import (
    CHANNEL,
    SYNC_ROUND_S,
    HiddenFromLists,
    RelayEnvironment,
    get_template,
    request_review,
    send_alimtalk,
    template_body,
    template_status,
)
from tests.fixtures.virtual import Caller
from tests.fixtures.web import BUTTON, call_ok, summarize_refusal

NEW = "배송이 끝났습니다."
OLD = "배송이 시작되었습니다."
ONE_MINUTE_S = 60


async def submitted(stage: RelayEnvironment, **changes: Any) -> tuple[Caller, str]:
    call, key = await stage.open()
    await call_ok(call, "template/create", template_body(key, **changes))
    await request_review(call, key)
    return call, key


async def test_template_is_registered_at_relay_when_review_is_requested(stage: RelayEnvironment) -> None:
    call, key = await stage.open()
    await call_ok(call, "template/create", template_body(key, buttons=[BUTTON]))
    assert stage.relay.templates == {}

    answer = await request_review(call, key)

    assert answer.item["status"]["value"] == "inspecting"
    fields = stage.template().current.fields
    assert (fields["templateContent"], fields["categoryCode"]) == (OLD, "001001")
    assert [(each["type"], each["linkMo"]) for each in fields["buttons"]] == [("WL", BUTTON["mobileUrl"])]
    assert (await send_alimtalk(call, key)).result == "TEMPLATE_NOT_APPROVED"
    await stage.wait(SYNC_ROUND_S)
    assert await template_status(call) == "inspecting"


async def test_approval_is_applied_within_a_minute(stage: RelayEnvironment) -> None:
    call, key = await submitted(stage, buttons=[BUTTON])
    before = await get_template(call)

    stage.relay.console.approve(key, "T1")
    await stage.wait(ONE_MINUTE_S)

    assert await get_template(call) == {
        **before,
        "status": {"value": "approved", "label": "승인"},
        "changed": (await get_template(call))["changed"],
    }
    assert (await send_alimtalk(call, key)).result == "SUCCESS"
    await stage.wait(5)
    assert [each.content for each in stage.relay.messages] == [OLD]


async def test_rejection_has_a_comment_and_the_edit_is_reviewed_again(stage: RelayEnvironment) -> None:
    call, key = await submitted(stage)
    stage.relay.console.reject(key, "T1", "내용이 모자랍니다.")
    await stage.wait(SYNC_ROUND_S)

    rejected = await get_template(call)
    assert (rejected["status"]["value"], rejected["comment"]) == ("rejected", "내용이 모자랍니다.")

    await call_ok(call, "template/update", template_body(key, content=NEW))
    await stage.wait(SYNC_ROUND_S)
    assert await template_status(call) == "registered"
    await request_review(call, key)
    assert stage.template().current.fields["templateContent"] == NEW
    stage.relay.console.approve(key, "T1")
    await stage.wait(SYNC_ROUND_S)

    approved = await get_template(call)
    assert (approved["status"]["value"], approved["content"]) == ("approved", NEW)
    assert "comment" not in approved


@pytest.mark.parametrize("is_approved", [True, False])
async def test_approved_content_stays_in_use_until_its_edit_is_approved(
    stage: RelayEnvironment, is_approved: bool
) -> None:
    call, key = await stage.open_approved()

    await call_ok(call, "template/update", template_body(key, content=NEW))
    await request_review(call, key)
    await stage.wait(5 * ONE_MINUTE_S)
    assert await template_status(call) == "inspecting"
    await call_ok(call, "message/sendAlimtalk", sending(key))
    await stage.wait(5)
    if is_approved:
        stage.relay.console.approve(key, "T1")
    else:
        stage.relay.console.reject(key, "T1", "아직입니다.")
    await stage.wait(SYNC_ROUND_S)
    decided = await get_template(call)
    await call_ok(call, "message/sendAlimtalk", sending(key))
    await stage.wait(5)

    assert (decided["content"], decided["status"]["value"]) == (NEW, "approved" if is_approved else "rejected")
    assert decided.get("comment") == (None if is_approved else "아직입니다.")
    assert [each.content for each in stage.relay.messages] == [OLD, NEW if is_approved else OLD]


@pytest.mark.parametrize("is_newest_first", [True, False])
async def test_second_edit_is_decided_whatever_the_order_of_the_changes(
    stage: RelayEnvironment, is_newest_first: bool
) -> None:
    stage.relay.behavior.lists_newest_change_first = is_newest_first
    call, key = await stage.open_approved()
    for content in ("한 번 고침", NEW):
        await stage.wait(ONE_MINUTE_S)
        await call_ok(call, "template/update", template_body(key, content=content))
        await request_review(call, key)
        await stage.wait(SYNC_ROUND_S)
        assert await template_status(call) == "inspecting"
        stage.relay.console.reject(key, "T1", f"{content}: 아직입니다.")
        await stage.wait(SYNC_ROUND_S)
    decided = await get_template(call)

    assert (decided["content"], decided["status"]["value"]) == (NEW, "rejected")
    assert decided["comment"] == f"{NEW}: 아직입니다."


def sending(sender_key: str) -> dict[str, Any]:
    return {"senderKey": sender_key, "templateCode": "T1", "receivers": [{"phoneNumber": "010-1234-5678"}]}


async def test_template_changes_in_the_relay_console_are_applied_within_a_minute(stage: RelayEnvironment) -> None:
    call, key = await stage.open()
    console = stage.relay.console

    stage.relay.add_template(key, "made", OLD, categoryCode="002009", buttons=[link("보기")])
    await stage.wait(ONE_MINUTE_S)
    made = await get_template(call, "made")
    assert (made["content"], made["category"], made["status"]["value"]) == (OLD, "002009", "approved")
    assert [(each["buttonType"], each["name"]) for each in made["buttons"]] == [("webLink", "보기")]
    assert (await send_alimtalk(call, key, "made")).result == "SUCCESS"

    console.change_template(key, "made", templateContent=NEW, buttons=[])
    await stage.wait(ONE_MINUTE_S)
    changed = await get_template(call, "made")
    assert (changed["id"], changed["content"], changed["buttons"]) == (made["id"], NEW, [])

    console.remove_template(key, "made")
    await stage.wait(ONE_MINUTE_S)
    gone = await get_template(call, "made")
    assert (gone["enable"], gone["disabledReason"]["value"]) == (False, "gone")
    refused = await send_alimtalk(call, key, "made")
    assert summarize_refusal(refused) == ("TEMPLATE_NOT_APPROVED", {"templateCode": "TEMPLATE_NOT_APPROVED"})

    stage.relay.add_template(key, "made", NEW)
    await stage.wait(ONE_MINUTE_S)
    assert (await send_alimtalk(call, key, "made")).result == "SUCCESS"


def link(name: str, **changes: Any) -> dict[str, Any]:
    return {"ordering": 1, "type": "WL", "name": name, "linkMo": "https://example.com", **changes}


@pytest.mark.parametrize("happen", ["block_template", "set_template_dormant"])
async def test_blocked_or_dormant_template_is_suspended_until_it_is_released(
    stage: RelayEnvironment, happen: str
) -> None:
    call, key = await stage.open_approved()

    for is_so in (True, False):
        getattr(stage.relay.console, happen)(key, "T1", is_so)
        await stage.wait(ONE_MINUTE_S)
        assert (await get_template(call))["enable"] is not is_so
        assert (await send_alimtalk(call, key)).result == ("TEMPLATE_NOT_APPROVED" if is_so else "SUCCESS")


async def test_template_is_deleted_at_the_relay_too(stage: RelayEnvironment) -> None:
    call, key = await submitted(stage)
    place = {"senderKey": key, "templateCode": "T1"}
    assert (await call("template/delete", place)).result == "INVALID_STATE"
    stage.relay.console.reject(key, "T1")
    await stage.wait(SYNC_ROUND_S)

    await call_ok(call, "template/delete", place)

    assert stage.relay.templates == {}
    await stage.wait(SYNC_ROUND_S)
    assert (await call("template/list")).items == []


async def test_template_gone_at_the_relay_can_be_deleted_or_submitted_again(stage: RelayEnvironment) -> None:
    call, key = await stage.open()
    for code in ("T1", "T2"):
        await stage.approve_template(call, key, templateCode=code, name=code)
        stage.relay.console.remove_template(key, code)
    await stage.wait(SYNC_ROUND_S)

    await call_ok(call, "template/delete", {"senderKey": key, "templateCode": "T1"})
    await call_ok(call, "template/update", template_body(key, templateCode="T2", name="T2", content=NEW))
    await request_review(call, key, "T2")
    stage.relay.console.approve(key, "T2")
    await stage.wait(SYNC_ROUND_S)

    assert [each["templateCode"] for each in (await call("template/list")).items] == ["T2"]
    assert (await send_alimtalk(call, key, "T2")).result == "SUCCESS"


async def test_template_removed_during_review_can_be_submitted_again(stage: RelayEnvironment) -> None:
    call, key = await submitted(stage)
    stage.relay.console.remove_template(key, "T1")
    await stage.wait(3 * ONE_MINUTE_S)

    assert await template_status(call) == "registered"
    await request_review(call, key)
    stage.relay.console.approve(key, "T1")
    await stage.wait(SYNC_ROUND_S)
    assert (await send_alimtalk(call, key)).result == "SUCCESS"


async def test_other_change_under_review_is_not_overwritten(stage: RelayEnvironment) -> None:
    call, key = await stage.open_approved()
    await call_ok(call, "template/update", template_body(key, content=NEW))
    await request_review(call, key)
    stage.relay.console.reject(key, "T1")
    await stage.wait(SYNC_ROUND_S)
    theirs = stage.template().changes[0]
    theirs.status = "TSC02"
    await call_ok(call, "template/update", template_body(key, content="셋째 글"))

    answer = await call("template/request", {"senderKey": key, "templateCode": "T1"})

    assert summarize_refusal(answer) == ("INVALID_STATE", {"templateCode": "INVALID_STATE"})


async def test_operator_cannot_decide_what_the_relay_reviews(stage: RelayEnvironment) -> None:
    call, _ = await submitted(stage)
    number = int((await get_template(call))["id"])

    with refused(Code.INVALID_STATE):
        await stage.env.store.write(templates.decide_review, number, ReviewDecision(True), stage.env.world.now())


async def test_templates_of_a_blocked_profile_cannot_be_submitted(stage: RelayEnvironment) -> None:
    call, key = await stage.open()
    await call_ok(call, "template/create", template_body(key))
    stage.relay.console.block_profile(stage.profile(CHANNEL).sender_key)

    answer = await call("template/request", {"senderKey": key, "templateCode": "T1"})

    assert summarize_refusal(answer) == ("SENDER_NOT_APPROVED", {"senderKey": "SENDER_NOT_APPROVED"})


async def test_content_not_submitted_yet_survives_changes_in_the_relay_console(stage: RelayEnvironment) -> None:
    call, key = await stage.open_approved()
    await call_ok(call, "template/update", template_body(key, content=NEW))

    stage.relay.console.change_template(key, "T1", templateContent="셋째 글")
    await stage.wait(SYNC_ROUND_S)

    mine = await get_template(call)
    assert (mine["content"], mine["status"]["value"]) == (NEW, "registered")
    await call_ok(call, "message/sendAlimtalk", sending(key))
    await stage.wait(5)
    assert [each.content for each in stage.relay.messages] == ["셋째 글"]


async def test_recently_used_template_is_not_deleted(stage: RelayEnvironment) -> None:
    call, key = await stage.open_approved()
    await call_ok(call, "message/sendAlimtalk", sending(key))
    await stage.wait(5)
    await call_ok(call, "template/update", template_body(key, content=NEW))

    answer = await call("template/delete", {"senderKey": key, "templateCode": "T1"})

    assert summarize_refusal(answer) == ("INVALID_STATE", {"templateCode": "INVALID_STATE"})
    assert "recently sent" in answer.body["errors"][0]["message"]
    assert await template_status(call) == "registered"


async def test_what_is_missing_from_a_list_is_kept_while_the_relay_has_it(stage: RelayEnvironment) -> None:
    call, key = await stage.open_approved()
    stage.relay.profiles = HiddenFromLists(stage.relay.profiles)
    stage.relay.templates = HiddenFromLists(stage.relay.templates)

    await stage.wait(3 * SYNC_ROUND_S)

    assert (await send_alimtalk(call, key)).result == "SUCCESS"
