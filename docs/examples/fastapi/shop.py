"""A shop that sends an SMS for each order, and is told the results."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
from fastapi import FastAPI, Request, Response
from fastapi.responses import PlainTextResponse

from pabal.client import (
    ApiError,
    AsyncClient,
    GetRequest,
    InvalidPostError,
    NoAnswerError,
    ReceiverBody,
    SendSms,
    errors,
    read_post,
)
from pabal.models.webhook_posts import MessageResultPost

events: set[str] = set()  # in your shop: a unique column


@asynccontextmanager
async def run_client(app: FastAPI) -> AsyncIterator[None]:
    async with AsyncClient(os.environ["PABAL_URL"], os.environ["PABAL_API_KEY"]) as client:
        app.state.client = client
        yield


app = FastAPI(lifespan=run_client)


@app.post("/orders/{number}/{phone}")
async def order(number: str, phone: str, request: Request) -> PlainTextResponse:
    sms = SendSms(
        content=f"주문 {number}이(가) 접수되었습니다.",
        sender="02-1234-5678",
        receivers=[ReceiverBody(phoneNumber=phone, reference=number)],
    )
    try:
        sent = await request.app.state.client.send_sms(sms, idempotency_key=f"order-{number}")
    except (errors.TemporaryError, NoAnswerError):  # after five tries
        return PlainTextResponse("try again", 503)
    except ApiError as error:
        return PlainTextResponse(f"{error.result}: {error.message}", 400)
    return PlainTextResponse(sent.request_id)


@app.get("/requests/{request_id}")
async def look_up(request_id: str, request: Request) -> Response:
    found = await request.app.state.client.look_up_request(GetRequest(requestId=request_id))
    return Response(msgspec.json.encode(found.item.counts), media_type="application/json")


@app.post("/pabal")
async def receive(request: Request) -> Response:  # no parameter for the body: the signature is that of its bytes
    try:
        post = read_post(os.environ["WEBHOOK_SECRET"], request.headers, await request.body())
    except InvalidPostError:
        return Response(status_code=401)
    if isinstance(post, MessageResultPost):
        for item in post.data.items:
            if item.eventId not in events:  # an event may come twice
                events.add(item.eventId)
                print(item.reference, item.sendingStatus.value, flush=True)
    return Response(status_code=204)
