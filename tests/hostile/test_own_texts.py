"""Receivers with their own texts and variables: each stores what its own message needs, and no more."""

from typing import Any

from pabal.domain.content.text import MAX_INPUT_CHARACTERS
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import (
    NO_USER,
    SENDER,
    call_ok,
    friendtalk_body,
    list_messages,
    list_phone_messages,
    receivers_of,
    summarize_refusal,
)

LINK = {"buttonType": "webLink", "name": "열기", "mobileUrl": "https://shop.example/#{id}"}
FALLBACK = {"resend": True, "resendPhoneNumber": SENDER, "resendContent": "#{id}번 주문"}


async def test_receiver_stores_no_variables_of_other_receivers_texts(
    env: Environment, call: Caller, sender_key: str
) -> None:
    receivers: list[dict[str, Any]] = [
        {
            "phoneNumber": f"0101234{number:04}",
            "content": "".join(f"#{{{number}_{each}}}" for each in range(100)),
            "templateData": {f"{number}_{each}": "가" for each in range(100)},
        }
        for number in range(50)
    ]

    sent = await call_ok(call, "message/sendFriendtalk", friendtalk_body(sender_key, receivers=receivers))

    kept = await env.store.read(
        lambda tx: tx.fetch_all(
            "select sum(coalesce(length(variables), 0) + length(content)) from messages"
            f" where id > {_literal(sent.request_id)}"
        )
    )
    assert kept == [(50 * 100,)]


async def test_own_text_shares_links_and_fallback_with_the_others(
    env: Environment, call: Caller, sender_key: str
) -> None:
    data = {"id": "42", "name": "길동", "own": "#{name}"}
    own, shared = receivers_of(NO_USER, "010-2222-2222", templateData=data)
    own["content"] = "#{own}님만: #{id}"
    body = friendtalk_body(sender_key, content="#{name}님", buttons=[LINK], receivers=[own, shared], **FALLBACK)

    await call_ok(call, "message/sendFriendtalk", body)
    await env.wait(5)

    (other,) = await list_phone_messages(call, "010-2222-2222")
    assert other["content"] == "길동님"
    assert other["buttons"][0]["mobileUrl"] == "https://shop.example/42"
    assert [each["content"] for each in await list_messages(call, NO_USER)] == ["42번 주문", "#{name}님만: 42"]


async def test_own_text_needs_its_own_variables_and_those_of_links_only(call: Caller, sender_key: str) -> None:
    first, second, third = receivers_of("010-1111-1111", "010-2222-2222", "010-3333-3333", content="#{a}")
    first["templateData"] = {"a": "1", "id": "1"}
    second["templateData"] = {"a": "1"}
    third["templateData"] = {"id": "1"}
    body = friendtalk_body(sender_key, content="#{b}", buttons=[LINK], receivers=[first, second, third])

    answer = await call("message/sendFriendtalk", body)

    missing = {f"receivers[{index}].templateData": "MISSING_VARIABLE" for index in (1, 2)}
    assert summarize_refusal(answer) == ("MISSING_VARIABLE", missing)


async def test_fallback_that_a_value_makes_endless_is_refused(call: Caller, sender_key: str) -> None:
    """It was composed when the message failed: millions of characters for each receiver."""
    fallback = {**FALLBACK, "resendContent": "#{a}" * 100}
    receivers = receivers_of(templateData={"a": "x" * (MAX_INPUT_CHARACTERS // 100)})

    fits = await call("message/sendFriendtalk", friendtalk_body(sender_key, receivers=receivers, **fallback))
    receivers[0]["templateData"]["a"] += "x"
    grows = await call("message/sendFriendtalk", friendtalk_body(sender_key, receivers=receivers, **fallback))

    assert fits.result == "SUCCESS"
    assert summarize_refusal(grows) == ("CONTENT_TOO_LONG", {"receivers[0].content": "CONTENT_TOO_LONG"})


async def test_value_that_begins_with_a_part_of_a_character_is_refused(call: Caller, sender_key: str) -> None:
    accents = receivers_of(templateData={"a": "\u0301e"})

    value = await call("message/sendFriendtalk", friendtalk_body(sender_key, content="e#{a}", receivers=accents))
    content = await call("message/sendFriendtalk", friendtalk_body(sender_key, content="#{a}\u11ab"))

    assert summarize_refusal(value).errors == {"receivers[0].content": "UNSUPPORTED_CHARACTER"}
    assert summarize_refusal(content).errors == {"content": "UNSUPPORTED_CHARACTER"}


def _literal(request_id: str) -> str:
    return f"x'{request_id}'"
