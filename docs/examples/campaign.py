"""Sends a campaign, follows it, and cancels a second one; start it again if it was killed: nobody gets it twice."""

import sys
import time

from pabal.client import CancelRequest, Client, GetRequest, ReceiverBody, SendSms

base_url, key, send_date, count = sys.argv[1:]  # http://127.0.0.1:8080 pb_... "2026-12-24 18:00" 10000
numbers = [f"010-2{number // 10_000:03}-{number % 10_000:04}" for number in range(int(count))]


def send(campaign: str, when: str | None = None) -> list[str]:
    requests = []
    for start in range(0, len(numbers), 1000):
        receivers = [ReceiverBody(phoneNumber=each, reference=campaign) for each in numbers[start : start + 1000]]
        sms = SendSms(content="행사 안내입니다.", sender="02-1234-5678", receivers=receivers, sendDate=when)
        requests.append(client.send_sms(sms, idempotency_key=f"campaign.py {campaign} {start}").request_id)
        print(campaign, start, flush=True)
    return requests


with Client(base_url, key) as client:
    left = send("now")
    while left:
        followed = [client.look_up_request(GetRequest(requestId=each)).item for each in left]
        left = [each.requestId for each in followed if each.counts.waiting or each.counts.sending]
        time.sleep(0.2)
    for request_id in send("later", send_date):
        print(client.cancel(CancelRequest(requestId=request_id)).item.canceledCount, "cancelled")
