"""Every page that shows something that waits says why."""

from pabal.store.engine.base import Tx
from tests.fixtures.console import Browser
from tests.fixtures.console_upload import page_text, send_campaign, upload_file
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import call_ok, sms_body

LATER = "2026-11-15 12:10"
WHY = "설정에서 지운 발송 경로(sold)에 남아 있습니다"
SHORT = "없는 발송 경로 sold"


def give_to_sold(tx: Tx) -> None:
    tx.execute("update jobs set carrier = 'sold'")


async def test_waiting_request_campaign_and_message_say_why(
    env: Environment, call: Caller, browser: Browser
) -> None:
    sent = (await call_ok(call, "message/sendSMS", sms_body(sendDate=LATER))).request_id
    address = await upload_file(browser, "phone,이름\n010-2000-0001,n\n")
    await send_campaign(browser, address, name="봄", later="1", sendDate=LATER)
    campaign = address.rpartition("/")[2]
    await env.wait(20)
    before = await browser.get("/console/requests")
    await env.store.write(give_to_sold)
    await env.wait(15 * 60)
    (message,) = (await call_ok(call, "message/list", query={"requestId": sent})).items

    listed = await browser.get("/console/requests")
    pages = [
        f"/console/requests/{sent}",
        f"/console/requests/{campaign}",
        f"/console/requests/progress?ids={sent}",
        f"/console/send/done/{sent}",
        f"/console/history/{message['messageId']}",
    ]

    assert WHY not in before.text, "it waits for its time"
    assert listed.text.count(WHY) == 2
    for path in pages:
        assert WHY in page_text(await browser.get(path)), path
    assert SHORT in page_text(await browser.get("/console/history"))
