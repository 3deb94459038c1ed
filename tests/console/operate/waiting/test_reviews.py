"""The operators' queue of reviews: templates of all accounts, decided one after the other."""

import re

from tests.fixtures.console_operate import audit_lines, operator_and_account
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import call_ok, image_body, register_channel, template_body

PATH = "/console/operate/reviews"
HELD = "보류: 배송 안내"
"""The simulator leaves the review of such a template to an operator."""


async def request_review(call: Caller, sender_key: str, code: str, **changes: object) -> str:
    """Have a template wait for its review; return its id."""
    body = template_body(sender_key, templateCode=code, name=f"{HELD} {code}", **changes)
    made = await call_ok(call, "template/create", body)
    await call_ok(call, "template/request", {"senderKey": sender_key, "templateCode": code})
    return str(made.item["id"])


async def two_accounts(env: Environment) -> list[str]:
    """Have templates of two accounts wait; return their ids."""
    found = []
    for account, channel, cellphone in (("acme", "@shop", "010-9999-0000"), ("other", "@other", "010-9999-1111")):
        call = await env.caller(account)
        sender_key = await register_channel(call, channelId=channel, cellphone=cellphone)
        found.append(await request_review(call, sender_key, f"R-{account}"))
    return found


async def test_templates_of_all_accounts_are_listed_oldest_first(env: Environment) -> None:
    operator, _ = await operator_and_account(env)
    empty = await operator.get(PATH)
    first, second = await two_accounts(env)

    shown = await operator.get(PATH)

    assert "검수를 기다리는 템플릿이 없습니다" in empty.text
    assert re.findall(rf"{PATH}/([0-9]+)", shown.text) == [first, second]
    assert ">acme<" in shown.text
    assert ">other<" in shown.text


async def test_operator_decides_and_goes_on_with_the_next(env: Environment) -> None:
    operator, _ = await operator_and_account(env)
    first, second = await two_accounts(env)

    nothing = await operator.submit(f"{PATH}/{second}", decision="reject")
    rejected = await operator.submit(f"{PATH}/{second}", decision="reject", comment="광고입니다")
    approved = await operator.submit(f"{PATH}/{first}", decision="approve")
    again = await operator.submit(f"{PATH}/{first}", decision="approve")
    told, page = await operator.get(approved.location), await operator.get(f"{PATH}/{first}")

    assert (nothing.status, 'id="wrong-comment"' in nothing.text) == (400, True)
    assert (rejected.status, approved.status, again.status) == (303, 303, 409)
    assert "승인했습니다" in told.text
    assert "검수를 기다리는 템플릿이 없습니다" in told.text
    assert "검수를 기다리지 않습니다" in page.text
    statuses = [
        (each["status"], each.get("comment"))
        for account in ("acme", "other")
        for each in (await call_ok(await env.caller(account), "template/list")).items
    ]
    assert [(status["value"], comment) for status, comment in statuses] == [
        ("approved", None),
        ("rejected", "광고입니다"),
    ]
    assert (await audit_lines(env))[:2] == [
        "operator-of-acme template.approve R-acme",
        "operator-of-acme template.reject R-other",
    ]


async def test_review_shows_picture_and_buttons_without_choosing_the_account(env: Environment) -> None:
    operator, _ = await operator_and_account(env)
    call = await env.caller()
    link = {"buttonType": "webLink", "name": "조회", "mobileUrl": "https://a.example/track"}
    sender_key = await register_channel(call)
    more = {"emphasisType": "image", "image": image_body(), "buttons": [link]}
    template_id = await request_review(call, sender_key, "P", **more)

    shown = await operator.get(f"{PATH}/{template_id}")
    picture = await operator.get(f"{PATH}/{template_id}/picture")

    assert f'src="{PATH}/{template_id}/picture"' in shown.text
    assert "https://a.example/track" in shown.text
    assert picture.headers["content-type"].startswith("image/")
    for wrong in ("0", "x", "9" * 30):
        assert (await operator.get(f"{PATH}/{wrong}")).status == 404
