"""Templates that NHN Cloud reviews: handed in, decided there, changed while in use, changed by its console."""

from typing import Any

import pytest

from pabal.domain.codes import Code, Refused
from pabal.domain.template import ReviewDecision
from pabal.service.relay import templates
from tests.fixtures.relay import (
    CHANNEL,
    SYNC_ROUND_S,
    HiddenFromLists,
    RelayEnvironment,
    connected_caller,
    get_template,
    request_review,
    send_alimtalk,
    template_body,
    template_status,
)
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import BUTTON, call_ok, image_body, summarize_refusal

NEW = "배송이 끝났습니다."
OLD = "배송이 시작되었습니다."
ONE_MINUTE_S = 60


async def opened(stage: RelayEnvironment, env: Environment) -> tuple[Caller, str]:
    call = await connected_caller(env)
    return call, await stage.register_channel(call)


async def handed_in(stage: RelayEnvironment, env: Environment, **changes: Any) -> tuple[Caller, str]:
    call, key = await opened(stage, env)
    await call_ok(call, "template/create", template_body(key, **changes))
    await request_review(call, key)
    return call, key


def test_a_template_is_registered_there_when_its_review_is_requested(stage: RelayEnvironment) -> None:
    async def scenario(env: Environment) -> None:
        call, key = await opened(stage, env)
        await call_ok(call, "template/create", template_body(key, buttons=[BUTTON]))
        assert stage.relay.templates == {}

        answer = await request_review(call, key)

        assert answer.item["status"]["value"] == "inspecting"
        fields = stage.template().current.fields
        assert (fields["templateContent"], fields["categoryCode"]) == (OLD, "001001")
        assert [(each["type"], each["linkMo"]) for each in fields["buttons"]] == [("WL", BUTTON["mobileUrl"])]
        assert (await send_alimtalk(call, key)).result == "TEMPLATE_NOT_APPROVED"
        await env.wait(SYNC_ROUND_S)
        assert await template_status(call) == "inspecting"

    stage.run(scenario)


def test_an_approval_is_seen_within_a_minute(stage: RelayEnvironment) -> None:
    async def scenario(env: Environment) -> None:
        call, key = await handed_in(stage, env, buttons=[BUTTON])
        before = await get_template(call)

        stage.relay.console.approve(key, "T1")
        await env.wait(ONE_MINUTE_S)

        assert await get_template(call) == {
            **before,
            "status": {"value": "approved", "label": "승인"},
            "changed": (await get_template(call))["changed"],
        }
        assert (await send_alimtalk(call, key)).result == "SUCCESS"
        await env.wait(5)
        assert [each.content for each in stage.relay.messages] == [OLD]

    stage.run(scenario)


def test_a_rejection_comes_with_its_comment_and_the_edit_is_reviewed_anew(stage: RelayEnvironment) -> None:
    async def scenario(env: Environment) -> None:
        call, key = await handed_in(stage, env)
        stage.relay.console.reject(key, "T1", "내용이 모자랍니다.")
        await env.wait(SYNC_ROUND_S)

        rejected = await get_template(call)
        assert (rejected["status"]["value"], rejected["comment"]) == ("rejected", "내용이 모자랍니다.")

        await call_ok(call, "template/update", template_body(key, content=NEW))
        await env.wait(SYNC_ROUND_S)
        assert await template_status(call) == "registered"
        await request_review(call, key)
        assert stage.template().current.fields["templateContent"] == NEW
        stage.relay.console.approve(key, "T1")
        await env.wait(SYNC_ROUND_S)

        approved = await get_template(call)
        assert (approved["status"]["value"], approved["content"]) == ("approved", NEW)
        assert "comment" not in approved

    stage.run(scenario)


@pytest.mark.parametrize("is_approved", [True, False])
def test_an_edited_text_that_was_approved_stays_in_use_until_the_edit_is(
    stage: RelayEnvironment, is_approved: bool
) -> None:
    async def scenario(env: Environment) -> None:
        call, key = await opened(stage, env)
        await stage.approve_template(env, call, key)

        await call_ok(call, "template/update", template_body(key, content=NEW))
        await request_review(call, key)
        await env.wait(5 * ONE_MINUTE_S)
        assert await template_status(call) == "inspecting"
        await call_ok(call, "message/sendAlimtalk", sending(key))
        await env.wait(5)
        if is_approved:
            stage.relay.console.approve(key, "T1")
        else:
            stage.relay.console.reject(key, "T1", "아직입니다.")
        await env.wait(SYNC_ROUND_S)
        decided = await get_template(call)
        await call_ok(call, "message/sendAlimtalk", sending(key))
        await env.wait(5)

        assert (decided["content"], decided["status"]["value"]) == (NEW, "approved" if is_approved else "rejected")
        assert decided.get("comment") == (None if is_approved else "아직입니다.")
        assert [each.content for each in stage.relay.messages] == [OLD, NEW if is_approved else OLD]

    stage.run(scenario)


def sending(sender_key: str) -> dict[str, Any]:
    return {"senderKey": sender_key, "templateCode": "T1", "receivers": [{"phoneNumber": "010-1234-5678"}]}


def test_what_the_console_makes_changes_and_removes_is_seen_within_a_minute(stage: RelayEnvironment) -> None:
    async def scenario(env: Environment) -> None:
        call, key = await opened(stage, env)
        console = stage.relay.console

        stage.relay.add_template(key, "made", OLD, categoryCode="002009", buttons=[link("보기")])
        await env.wait(ONE_MINUTE_S)
        made = await get_template(call, "made")
        assert (made["content"], made["category"], made["status"]["value"]) == (OLD, "002009", "approved")
        assert [(each["buttonType"], each["name"]) for each in made["buttons"]] == [("webLink", "보기")]
        assert (await send_alimtalk(call, key, "made")).result == "SUCCESS"

        console.change_template(key, "made", templateContent=NEW, buttons=[])
        await env.wait(ONE_MINUTE_S)
        changed = await get_template(call, "made")
        assert (changed["id"], changed["content"], changed["buttons"]) == (made["id"], NEW, [])

        console.remove_template(key, "made")
        await env.wait(ONE_MINUTE_S)
        gone = await get_template(call, "made")
        assert (gone["enable"], gone["disabledReason"]["value"]) == (False, "gone")
        refused = await send_alimtalk(call, key, "made")
        assert summarize_refusal(refused) == ("TEMPLATE_NOT_APPROVED", {"templateCode": "TEMPLATE_NOT_APPROVED"})

        stage.relay.add_template(key, "made", NEW)
        await env.wait(ONE_MINUTE_S)
        assert (await send_alimtalk(call, key, "made")).result == "SUCCESS"

    stage.run(scenario)


def link(name: str, **changes: Any) -> dict[str, Any]:
    return {"ordering": 1, "type": "WL", "name": name, "linkMo": "https://example.com", **changes}


@pytest.mark.parametrize("happen", ["block_template", "let_template_sleep"])
def test_a_template_that_is_blocked_or_dormant_is_out_of_use_until_it_is_so_no_more(
    stage: RelayEnvironment, happen: str
) -> None:
    async def scenario(env: Environment) -> None:
        call, key = await opened(stage, env)
        await stage.approve_template(env, call, key)

        for is_so in (True, False):
            getattr(stage.relay.console, happen)(key, "T1", is_so)
            await env.wait(ONE_MINUTE_S)
            assert (await get_template(call))["enable"] is not is_so
            assert (await send_alimtalk(call, key)).result == ("TEMPLATE_NOT_APPROVED" if is_so else "SUCCESS")

    stage.run(scenario)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"templateEmphasizeType": "ITEM_LIST", "templateHeader": "영수증"}, "itemList"),
        ({"templateItemHighlight": {"title": "이만 원", "description": "합계"}}, "itemList"),
        ({"templateItem": {"list": [{"title": "이름", "description": "값"}]}}, "itemList"),
        ({"quickReplies": [link("바로")]}, "quickReplies"),
        ({"templateRepresentLink": {"linkMo": "https://example.com"}}, "representLink"),
        ({"buttons": [link("전화 연결", type="TN", telNumber="02-123-4567")]}, "otherButton"),
        ({"buttons": [link("예약", type="BF", bizFormId=3)]}, "otherButton"),
        ({"templateEmphasizeType": "HOLOGRAM"}, "unreadable"),
    ],
)
def test_a_template_with_parts_that_cannot_be_sent_is_listed_with_the_reason(
    stage: RelayEnvironment, fields: dict[str, Any], reason: str
) -> None:
    async def scenario(env: Environment) -> None:
        call, key = await opened(stage, env)
        stage.relay.add_template(key, "T1", OLD, **fields)

        await env.wait(SYNC_ROUND_S)

        found = await get_template(call)
        assert (found["enable"], found["disabledReason"]["value"]) == (False, reason)
        assert (await send_alimtalk(call, key)).result == "TEMPLATE_NOT_APPROVED"

    stage.run(scenario)


def test_parts_that_are_there_but_empty_are_none(stage: RelayEnvironment) -> None:
    async def scenario(env: Environment) -> None:
        call, key = await opened(stage, env)
        nothing = {"linkMo": None, "linkPc": "", "schemeIos": None, "schemeAndroid": None}
        items = {"list": [], "summary": {"title": None, "description": ""}}
        stage.relay.add_template(key, "T1", OLD, templateRepresentLink=nothing, templateItem=items)

        await env.wait(SYNC_ROUND_S)

        assert (await send_alimtalk(call, key)).result == "SUCCESS"

    stage.run(scenario)


def test_a_template_is_deleted_there_too(stage: RelayEnvironment) -> None:
    async def scenario(env: Environment) -> None:
        call, key = await handed_in(stage, env)
        place = {"senderKey": key, "templateCode": "T1"}
        assert (await call("template/delete", place)).result == "INVALID_STATE"
        stage.relay.console.reject(key, "T1")
        await env.wait(SYNC_ROUND_S)

        await call_ok(call, "template/delete", place)

        assert stage.relay.templates == {}
        await env.wait(SYNC_ROUND_S)
        assert (await call("template/list")).items == []

    stage.run(scenario)


def test_a_template_that_is_gone_there_can_be_deleted_or_handed_in_again(stage: RelayEnvironment) -> None:
    async def scenario(env: Environment) -> None:
        call, key = await opened(stage, env)
        for code in ("T1", "T2"):
            await stage.approve_template(env, call, key, templateCode=code, name=code)
            stage.relay.console.remove_template(key, code)
        await env.wait(SYNC_ROUND_S)

        await call_ok(call, "template/delete", {"senderKey": key, "templateCode": "T1"})
        await call_ok(call, "template/update", template_body(key, templateCode="T2", name="T2", content=NEW))
        await request_review(call, key, "T2")
        stage.relay.console.approve(key, "T2")
        await env.wait(SYNC_ROUND_S)

        assert [each["templateCode"] for each in (await call("template/list")).items] == ["T2"]
        assert (await send_alimtalk(call, key, "T2")).result == "SUCCESS"

    stage.run(scenario)


def test_one_that_is_removed_under_review_can_be_handed_in_again(stage: RelayEnvironment) -> None:
    async def scenario(env: Environment) -> None:
        call, key = await handed_in(stage, env)
        stage.relay.console.remove_template(key, "T1")
        await env.wait(3 * ONE_MINUTE_S)

        assert await template_status(call) == "registered"
        await request_review(call, key)
        stage.relay.console.approve(key, "T1")
        await env.wait(SYNC_ROUND_S)
        assert (await send_alimtalk(call, key)).result == "SUCCESS"

    stage.run(scenario)


def test_a_picture_goes_along(stage: RelayEnvironment) -> None:
    async def scenario(env: Environment) -> None:
        call, key = await opened(stage, env)
        body = template_body(key, emphasisType="image", image=image_body(fileName="그림"))
        await call_ok(call, "template/create", body)

        await request_review(call, key)

        fields = stage.template().current.fields
        assert fields["templateImageName"] == "그림.jpg"
        assert fields["templateImageUrl"] in stage.relay.pictures
        stage.relay.console.approve(key, "T1")
        await env.wait(SYNC_ROUND_S)
        assert (await get_template(call))["image"]["fileName"] == "그림"

    stage.run(scenario)


WHOLE = {
    "messageType": "mixed",
    "emphasisType": "text",
    "emphasisTitle": "제목",
    "emphasisAssistPhrase": "보조",
    "moreInfo": "덧붙임",
    "securityTemplate": True,
    "buttons": [
        {"buttonType": "channelAddition", "name": "채널 추가"},
        {"buttonType": "appLink", "name": "앱", "androidUrl": "app://a", "iosUrl": "app://i", "orderNo": 2},
        {"buttonType": "counselingTalkConversion", "name": "상담", "chatExtra": "주문", "orderNo": 3},
    ],
}


def test_every_field_goes_there_and_what_has_no_place_there_stays_as_it_was_written(
    stage: RelayEnvironment,
) -> None:
    async def scenario(env: Environment) -> None:
        call, key = await opened(stage, env)
        await stage.approve_template(env, call, key, **WHOLE)

        fields = stage.template().current.fields
        kept = {name: fields[name] for name in ("templateMessageType", "templateEmphasizeType", "securityFlag")}
        assert kept == {"templateMessageType": "MI", "templateEmphasizeType": "TEXT", "securityFlag": True}
        assert (fields["templateTitle"], fields["templateSubtitle"], fields["templateExtra"]) == (
            "제목",
            "보조",
            "덧붙임",
        )
        found = await get_template(call)
        assert {name: found[name] for name in WHOLE} == WHOLE
        assert found["status"]["value"] == "approved"

    stage.run(scenario)


@pytest.mark.parametrize(
    ("changes", "code", "field"),
    [
        ({"emphasisType": "itemList"}, "INVALID_PARAMETER", "emphasisType"),
        ({"imageLink": "https://example.com"}, "INVALID_PARAMETER", "imageLink"),
        ({"buttons": [{"buttonType": "channelAddition"}]}, "INVALID_BUTTON", "buttons"),
        ({"messageType": "channelAddition"}, "INVALID_BUTTON", "buttons"),
        ({"emphasisType": "text", "emphasisTitle": "제목"}, "INVALID_PARAMETER", "templateCode"),
        ({"name": "taken"}, "DUPLICATE", "templateCode"),
        (
            {"emphasisType": "image", "image": image_body(contentType="image/vnd.wap.sis")},
            "INVALID_IMAGE",
            "image",
        ),
    ],
)
def test_what_the_relay_does_not_take_is_refused_with_its_reason_and_stays_registered(
    stage: RelayEnvironment, changes: dict[str, Any], code: str, field: str
) -> None:
    async def scenario(env: Environment) -> None:
        call, key = await opened(stage, env)
        stage.relay.add_template(key, "other", OLD, templateName="taken")
        await call_ok(call, "template/create", template_body(key, **changes))

        answer = await call("template/request", {"senderKey": key, "templateCode": "T1"})

        assert summarize_refusal(answer) == (code, {field: code})
        assert await template_status(call) == "registered"
        assert list(stage.relay.templates) == [(key, "other")]

    stage.run(scenario)


def test_another_change_that_is_under_review_there_is_not_overwritten(stage: RelayEnvironment) -> None:
    async def scenario(env: Environment) -> None:
        call, key = await opened(stage, env)
        await stage.approve_template(env, call, key)
        await call_ok(call, "template/update", template_body(key, content=NEW))
        await request_review(call, key)
        stage.relay.console.reject(key, "T1")
        await env.wait(SYNC_ROUND_S)
        theirs = stage.template().edits[0]
        theirs.status = "TSC02"
        await call_ok(call, "template/update", template_body(key, content="셋째 글"))

        answer = await call("template/request", {"senderKey": key, "templateCode": "T1"})

        assert summarize_refusal(answer) == ("INVALID_STATE", {"templateCode": "INVALID_STATE"})

    stage.run(scenario)


def test_no_operator_decides_on_what_the_relay_reviews(stage: RelayEnvironment) -> None:
    async def scenario(env: Environment) -> None:
        call, _ = await handed_in(stage, env)
        number = int((await get_template(call))["id"])

        with pytest.raises(Refused) as refused:
            await env.store.write(templates.decide_review, number, ReviewDecision(True), env.world.now())
        assert refused.value.code is Code.INVALID_STATE

    stage.run(scenario)


def test_templates_of_a_profile_that_was_blocked_there_cannot_be_handed_in(stage: RelayEnvironment) -> None:
    async def scenario(env: Environment) -> None:
        call, key = await opened(stage, env)
        await call_ok(call, "template/create", template_body(key))
        stage.relay.console.block_profile(stage.profile(CHANNEL).sender_key)

        answer = await call("template/request", {"senderKey": key, "templateCode": "T1"})

        assert summarize_refusal(answer) == ("SENDER_NOT_APPROVED", {"senderKey": "SENDER_NOT_APPROVED"})

    stage.run(scenario)


def test_a_text_that_was_not_handed_in_stays_whatever_the_console_does(stage: RelayEnvironment) -> None:
    async def scenario(env: Environment) -> None:
        call, key = await opened(stage, env)
        await stage.approve_template(env, call, key)
        await call_ok(call, "template/update", template_body(key, content=NEW))

        stage.relay.console.change_template(key, "T1", templateContent="셋째 글")
        await env.wait(SYNC_ROUND_S)

        mine = await get_template(call)
        assert (mine["content"], mine["status"]["value"]) == (NEW, "registered")
        await call_ok(call, "message/sendAlimtalk", sending(key))
        await env.wait(5)
        assert [each.content for each in stage.relay.messages] == ["셋째 글"]

    stage.run(scenario)


def test_what_was_sent_with_lately_is_not_deleted_there_and_stays_here(stage: RelayEnvironment) -> None:
    async def scenario(env: Environment) -> None:
        call, key = await opened(stage, env)
        await stage.approve_template(env, call, key)
        await call_ok(call, "message/sendAlimtalk", sending(key))
        await env.wait(5)
        await call_ok(call, "template/update", template_body(key, content=NEW))

        answer = await call("template/delete", {"senderKey": key, "templateCode": "T1"})

        assert summarize_refusal(answer) == ("INVALID_STATE", {"templateCode": "INVALID_STATE"})
        assert "recently sent" in answer.body["errors"][0]["message"]
        assert await template_status(call) == "registered"

    stage.run(scenario)


def test_a_list_that_lacks_a_template_is_not_believed_while_the_relay_has_it(stage: RelayEnvironment) -> None:
    async def scenario(env: Environment) -> None:
        call, key = await opened(stage, env)
        await stage.approve_template(env, call, key)
        stage.relay.templates = HiddenFromLists(stage.relay.templates)

        await env.wait(3 * SYNC_ROUND_S)

        assert (await send_alimtalk(call, key)).result == "SUCCESS"

    stage.run(scenario)
