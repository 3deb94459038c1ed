"""Two accounts at NHN Cloud's SMS endpoints: no call of one shows or changes anything of the other."""

from typing import Any

import pytest

from pabal.compat.nhncloud.routes import SMS
from pabal.store.accounts import numbers
from tests.fixtures.nhncloud_calls import SENDER, SETTINGS, UPLOAD, nhn_caller
from tests.fixtures.virtual import Environment
from tests.fixtures.web import set_clock

pytestmark = pytest.mark.settings(**SETTINGS)
TODAY = {
    f"{edge}{kind}Date": f"2026-11-{day} 00:00:00"
    for kind in ("Request", "Create", "Update")
    for edge, day in (("start", 16), ("end", 17))
}
PHONE, SECRETS = "01012345678", ("01012345678", "비밀본문", "group-of-a", "name-of-a", SENDER)
SENDS = {
    "sender/sms": "비밀본문",
    "sender/mms": "비밀본문",
    "sender/auth/sms": "인증 비밀본문",
    "sender/ad-sms": "(광고) 비밀본문\n무료거부 0801234567",
    "sender/ad-mms": "(광고) 비밀본문\n무료거부 0801234567",
}


def describe_routes() -> set[tuple[str, str]]:
    table: Any = SMS.table
    return {(each.method, "/".join(each.pattern)) for routes in table._routes.values() for each in routes}


async def test_no_endpoint_leads_from_one_account_to_another(env: Environment) -> None:
    set_clock(env, "2026-11-16 12:00")
    owner, twin = await nhn_caller(env), await nhn_caller(env, "other", "OTHER-APP-KEY")
    await env.store.write(numbers.add, await env.account_id(), SENDER, env.world.now())
    file_id = (await owner("POST", "attachfile/binaryUpload", UPLOAD)).body["body"]["data"]["fileId"]
    tried = {("POST", "attachfile/binaryUpload")}
    requests: dict[str, str] = {}
    for path, body in SENDS.items():
        recipients = [{"recipientNo": PHONE, "recipientGroupingKey": "name-of-a"}]
        given = {"body": body, "title": "t", "sendNo": SENDER, "recipientList": recipients}
        given |= {"senderGroupingKey": "group-of-a", "requestDate": "2026-11-16 12:10"}
        requests[path] = (await owner("POST", path, given)).body["body"]["data"]["requestId"]
        stolen = await twin("POST", path, {**given, "attachFileIdList": [file_id]})
        assert stolen.body["header"]["resultCode"] == (-2004 if path.endswith("mms") else 4)
        tried.add(("POST", path))
    reservations = [{"requestId": each, "recipientSeq": 1} for each in requests.values()]
    cancelled = await twin("PUT", "reservations/cancel", {"reservationList": reservations, "updateUser": "me"})
    tried.add(("PUT", "reservations/cancel"))
    await env.wait(11 * 60)

    for path in ("sender/sms", "sender/mms", "sender/auth/sms", "message-results", "sendNos"):
        tried.add(("GET", path))
        for query in ({}, {"senderGroupingKey": "group-of-a"}, {"recipientGroupingKey": "name-of-a"}):
            answer = await twin("GET", path, query={**TODAY, **query})
            assert (answer.body["body"]["totalCount"], answer.body["body"]["data"]) == (0, [])
    for path in ("sender/sms", "sender/mms", "sender/auth/sms"):
        tried.add(("GET", f"{path}/*"))
        for request_id in requests.values():
            listed = await twin("GET", path, query={"requestId": request_id})
            shown = await twin("GET", f"{path}/{request_id}", query={"recipientSeq": 1})
            assert listed.body["body"]["data"] == []
            assert shown.body["header"]["resultCode"] == -2012
            assert not any(secret in str((listed.body, shown.body)) for secret in SECRETS)
    owned = [await owner.list(path, **TODAY) for path in ("sms", "mms", "auth/sms")]

    assert cancelled.body["body"]["data"]["canceledCount"] == 0
    assert [[row["msgStatus"] for row in rows] for rows in owned] == [["3", "3"], ["3", "3"], ["3"]]
    assert tried == describe_routes()
