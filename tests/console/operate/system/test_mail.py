"""The operators' page of the mail server."""

from tests.fixtures.console import Browser
from tests.fixtures.console_upload import page_text
from tests.fixtures.mailers import ADDRESS, UNAVAILABLE, RecordingMailer, confirm_directly
from tests.fixtures.virtual import Environment

PAGE = "/console/operate/mail"
OPERATOR = "operator-of-acme"


async def test_test_mail_goes_to_the_operators_own_address(
    mailer: RecordingMailer, env: Environment, operator: Browser
) -> None:
    without = await operator.submit(f"{PAGE}/test")
    await env.store.write(confirm_directly, OPERATOR)

    sent = await operator.submit(f"{PAGE}/test")
    at_once = await operator.submit(f"{PAGE}/test")

    assert (without.status, sent.status, at_once.status) == (409, 200, 429)
    assert "확인된 본인 주소" in page_text(without)
    assert "테스트 메일을 보냈습니다" in page_text(sent)
    assert [(each.address, each.subject) for each in mailer.tried] == [(ADDRESS, "[파발] 테스트 메일")]


async def test_last_failure_is_shown_with_its_reason(
    mailer: RecordingMailer, env: Environment, operator: Browser
) -> None:
    mailer.results = [UNAVAILABLE._replace(detail="no <x-mark> connection")]
    await env.store.write(confirm_directly, OPERATOR)

    failed = page_text(await operator.submit(f"{PAGE}/test"))
    shown = page_text(await operator.get(PAGE))
    await env.wait(20)
    await operator.submit(f"{PAGE}/test")
    after = page_text(await operator.get(PAGE))

    assert "보내지 못했습니다: no &lt;x-mark&gt; connection" in failed
    assert "보낼 수 없음" in shown
    assert "mail.example.com:587" in shown
    assert "정상" in after
    assert "no &lt;x-mark&gt; connection" in after  # the last failure stays


async def test_page_says_how_to_turn_mails_on(operator: Browser) -> None:
    shown = page_text(await operator.get(PAGE))
    refused = await operator.submit(f"{PAGE}/test")

    assert "smtp_host" in shown
    assert refused.status == 409
