"""A bare HTTP server that decodes a send and returns a response of the same size as the service's."""

import socket
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import msgspec
import uvicorn
import uvloop

Message = MutableMapping[str, Any]
MAX_PARTS = 10_000


class _Receiver(msgspec.Struct):
    phoneNumber: str
    templateData: dict[str, str]


class _Send(msgspec.Struct):
    content: str
    sender: str
    receivers: list[_Receiver]


_decoder = msgspec.json.Decoder(_Send)


async def app(
    scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
) -> None:
    """Respond as the service would, without authentication and without a store."""
    body = b""
    for _ in range(MAX_PARTS):
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    if body:
        _decoder.decode(body)
    answer = msgspec.json.encode(
        {
            "time": "2026-11-15T12:00:00.000+09:00",
            "result": "SUCCESS",
            "resultMessage": "성공",
            "locale": "ko",
            "item": {"requestId": "0" * 26 if body else ""},
        }
    )
    headers = [
        (b"content-type", b"application/json;charset=UTF-8"),
        (b"content-length", b"%d" % len(answer)),
        (b"x-request-id", b"0123456789abcdef"),
    ]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": answer})


def main() -> None:
    """Serve on the port given on the command line."""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", int(sys.argv[1])))
    config = uvicorn.Config(
        app, lifespan="off", log_config=None, access_log=False, proxy_headers=False, server_header=False
    )
    uvloop.run(uvicorn.Server(config).serve(sockets=[listener]))


if __name__ == "__main__":
    main()
