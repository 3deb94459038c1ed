"""One-time codes go by NHN Cloud's own line for them, and by the ordinary one where that does not accept them."""

from typing import Any

import pytest

from tests.carriers.relay.delivery_fixture import outcomes_for
from tests.fixtures.nhncloud import SENDER_KEY, NhnCloud
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import PHONE, alimtalk_body, call_ok, receivers_of, sms_body

CODE = {"purpose": "code"}


def alimtalk_to(name: str, **changes: Any) -> dict[str, Any]:
    return alimtalk_body(SENDER_KEY, receivers=receivers_of(PHONE, templateData={"name": name}), **changes)


def lines_of(fixture: NhnCloud) -> list[str]:
    """Return the path of each call that submitted messages, without the keys."""
    return [each.path.split("/", 5)[5] for each in fixture.relay.calls if each.method == "POST"]


@pytest.mark.parametrize(
    ("kind", "body", "lines"),
    [
        ("SMS", sms_body(content="인증번호 482913", **CODE), ["sender/auth/sms"]),
        ("SMS", sms_body(content="Your PassWord: 482913", **CODE), ["sender/auth/sms"]),
        ("SMS", sms_body(content="코드 482913", **CODE), ["sender/sms"]),
        ("SMS", sms_body(content="인증번호 482913"), ["sender/sms"]),
        ("LMS", sms_body(content="인증번호 482913", **CODE), ["sender/mms"]),
        ("Alimtalk", alimtalk_to("인증번호 482913", **CODE), ["auth/raw-messages"]),
        ("Alimtalk", alimtalk_to("482913", **CODE), ["raw-messages"]),
        ("Alimtalk", alimtalk_to("인증번호 482913"), ["raw-messages"]),
        # The guide of SMS wants "verify", that of Alimtalk "verif": what the line refuses goes by the other.
        ("SMS", sms_body(content="Verification code 482913", **CODE), ["sender/auth/sms", "sender/sms"]),
        ("Alimtalk", alimtalk_to("Verification 482913", **CODE), ["auth/raw-messages"]),
    ],
)
async def test_code_goes_by_the_line_that_accepts_it_and_ends_with_its_result(
    env: Environment, call: Caller, fixture: NhnCloud, kind: str, body: dict[str, Any], lines: list[str]
) -> None:
    await call_ok(call, f"message/send{kind}", body)
    await env.wait(30)

    assert lines_of(fixture) == lines
    assert [each.split(" ", 1)[1] for each in await outcomes_for(call)] == ["completed 1000"]
    assert len(fixture.accepted) == 1


@pytest.mark.parametrize(
    ("kind", "body", "lost"),
    [
        ("SMS", sms_body(content="인증번호 482913", **CODE), "POST /sms/"),
        ("SMS", sms_body(content="Verification code 482913", **CODE), "/sender/sms"),
        ("Alimtalk", alimtalk_to("인증번호 482913", **CODE), "/auth/raw-messages"),
    ],
)
async def test_code_in_doubt_is_found_on_either_line_and_not_submitted_again(
    env: Environment, call: Caller, fixture: NhnCloud, kind: str, body: dict[str, Any], lost: str
) -> None:
    await env.wait(10)
    fixture.relay.inject_fault("lose answer", lost)
    await call_ok(call, f"message/send{kind}", body)
    await env.wait(300)

    assert [each.split(" ", 1)[1] for each in await outcomes_for(call)] == ["completed 1000"]
    assert (len(fixture.accepted), fixture.relay.duplicates()) == (1, {})


async def test_codes_and_other_texts_do_not_share_a_call(env: Environment, call: Caller, fixture: NhnCloud) -> None:
    for number, purpose in (("010-2000-0001", CODE), ("010-2000-0002", {}), ("010-2000-0003", CODE)):
        await call_ok(call, "message/sendSMS", sms_body(number, content="인증번호 482913", **purpose))
    await env.wait(30)

    by_line = {each.recipient_no[-1]: each.kind for each in fixture.accepted}
    assert by_line == {"1": "AUTH", "2": "SMS", "3": "AUTH"}
