"""Sends by the client `solapi` from PyPI through a Pabal of your own: only the address of the calls is changed."""

import os
import sys

from solapi import SolapiMessageService
from solapi.model import RequestMessage

service = SolapiMessageService(os.environ["SOLAPI_KEY"], os.environ["SOLAPI_SECRET"])
service.base_url = os.environ["SOLAPI_ADDRESS"]
sent = service.send(
    RequestMessage(
        to=sys.argv[1],
        from_="0212345678",
        text="주문하신 상품이 출발했습니다.",
        custom_fields={"order": "1024"},
    )
)
print(sent.group_info.group_id, sent.group_info.count.registered_success)
