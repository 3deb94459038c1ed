"""Export and erasure of what is stored about one phone number, by the API."""

from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Tx
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import call_ok, channel_body, list_messages, sms_body

NUMBER = "010-7777-0001"
TEXT = "비밀이야기"


def read_audit_log(tx: Tx) -> list[AuditEntry]:
    rows = tx.fetch_all("select created_at, user_id, actor, account_id, action, target from audit_log order by id")
    return [AuditEntry(*row) for row in rows]


async def test_everything_about_a_number_is_exported_and_erased(env: Environment, call: Caller) -> None:
    await call_ok(call, "message/sendSMS", sms_body(NUMBER, content=TEXT))
    await call_ok(call, "message/sendSMS", sms_body(NUMBER, content=TEXT, sendDate="2026-11-16 12:00"))
    await call_ok(call, "sender/create", channel_body(cellphone=NUMBER))
    await env.wait(5)

    exported = await call("privacy/export", {"phoneNumber": NUMBER})
    erased = await call("privacy/erase", {"phoneNumber": NUMBER})
    again = await call("privacy/export", {"phoneNumber": NUMBER})

    assert [each["content"] for each in exported.items] == [TEXT, TEXT]
    assert (exported.item["phoneNumber"], exported.item["senderProfiles"]) == (NUMBER, ["@shop"])
    assert [each["kind"] for each in exported.item["simulatedPhone"]] == ["sms", "token"]
    assert erased.item == {"erasedCount": 2, "canceledCount": 1, "pendingCount": 0, "campaignRowCount": 0}
    assert (again.items, again.item["simulatedPhone"], again.item["senderProfiles"]) == ([], [], [])
    assert await list_messages(call, receivers=NUMBER) == []
    found = await env.store.read(read_audit_log)
    assert [entry.action for entry in found] == ["privacy.export", "privacy.erase", "privacy.export"]
    assert {(entry.actor, entry.target) for entry in found} == {("API key", "")}
