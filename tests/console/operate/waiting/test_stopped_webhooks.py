"""The operators' page of paused webhooks: what fails, since when, and a button that resumes it."""

from pabal.domain.base.dates import HOUR, MINUTE
from pabal.store.engine.base import Tx
from pabal.store.events import webhooks
from tests.fixtures.console_operate import HOSTILE, audit_lines, operator_and_account
from tests.fixtures.virtual import NOON, Environment
from tests.fixtures.web import call_ok

PATH = "/console/operate/webhooks"


def pause_all(tx: Tx) -> None:
    tx.execute("update webhooks set failures = 12, failing_since = ?, dropped = 34", (NOON - HOUR,))
    for (webhook_id,) in tx.fetch_all("select id from webhooks"):
        webhooks.pause(tx, webhook_id, NOON + 5 * MINUTE)


async def test_paused_webhooks_of_all_accounts_are_listed_and_resumed(env: Environment) -> None:
    operator, _ = await operator_and_account(env)
    for account in ("acme", "other"):
        body = {"url": f"https://{account}.example/", "events": ["message.result"], "description": HOSTILE}
        await call_ok(await env.caller(account), "webhook/create", body)
    none = await operator.get(PATH)
    await env.store.write(pause_all)

    shown = await operator.get(PATH)
    one = await env.store.read(lambda tx: webhooks.list_stopped(tx, 10))
    target = {"account": str(one[0].account_id), "webhook": str(one[0].id)}
    resumed = await operator.submit(f"{PATH}/resume", **target)
    after = await operator.get(resumed.location)
    wrong = await operator.submit(f"{PATH}/resume", account=target["account"], webhook="999")
    nobody = await operator.submit(f"{PATH}/resume", account="x", webhook="1")

    assert "중지된 웹훅이 없습니다" in none.text
    for text in ("https://acme.example/", "https://other.example/", "2026-11-15 11:00:00", ">12<", ">34<"):
        assert text in shown.text
    assert HOSTILE not in shown.text
    assert "재개했습니다" in after.text
    assert one[0].url not in after.text
    assert one[1].url in after.text
    assert (wrong.status, nobody.status) == (404, 404)
    assert (await audit_lines(env))[0] == f"operator-of-acme webhook.update {one[0].id}"
