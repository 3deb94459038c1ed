"""Sends as programs for NHN Cloud do: only the address, the app key and the secret key are changed."""

import json
import os
import sys
from typing import Any
from urllib.request import Request, urlopen


def call(method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    """Return the data of an answer."""
    request = Request(
        f"{os.environ['NHN_ADDRESS']}/sms/v3.0/appKeys/{os.environ['NHN_APP_KEY']}/{path}",
        json.dumps(body).encode() if body else None,
        {"X-Secret-Key": os.environ["NHN_SECRET_KEY"], "Content-Type": "application/json;charset=UTF-8"},
        method=method,
    )
    with urlopen(request, timeout=30) as answer:
        found = json.load(answer)
    if not found["header"]["isSuccessful"]:
        sys.exit(f"{found['header']['resultCode']} {found['header']['resultMessage']}")
    return found["body"]["data"]


recipient = {"recipientNo": sys.argv[1], "recipientGroupingKey": "order-1024"}
text = {"body": "주문하신 상품이 출발했습니다.", "sendNo": "0212345678", "recipientList": [recipient]}
sent = call("POST", "sender/sms", text)
for each in sent["sendResultList"]:
    print(sent["requestId"], each["recipientSeq"], each["recipientNo"], each["resultCode"], each["resultMessage"])
sys.exit(any(each["resultCode"] for each in sent["sendResultList"]))
