"""`pabal webhook listen`: passes on what webhooks would be told to a server on this machine."""

import hashlib
import hmac
from threading import Event
from typing import TYPE_CHECKING, NamedTuple

from pabal.cli.calling.call import Call, add_call_options, wait_for_service
from pabal.cli.shared.language import CommandError
from pabal.cli.shared.options import CommandParser
from pabal.cli.shared.table import print_json
from pabal.client import ApiError, ListEvents, NoAnswerError
from pabal.client.webhook_posts import decode_secret
from pabal.domain.base.codes import Text
from pabal.domain.base.dates import SECOND
from pabal.domain.events.event import EventType
from pabal.models.webhooks import UnsignedPost
from pabal.webhooks.poster import format_secret, sign
from pabal.world import RealWorld

if TYPE_CHECKING:
    import httpx

WORLD = RealWorld()
POLL_INTERVAL_S = 1.0
"""How often the service is asked."""
TIMEOUT_S = 10.0
"""How long the server may take to answer, as for a webhook."""
_READY = Text("이벤트를 {url} 주소로 보냅니다. Ctrl-C로 끝냅니다.", "Forwarding events to {url}. Stop with Ctrl-C.")
_SECRET = Text(
    "서명을 확인할 비밀 값(API 키가 같으면 늘 같습니다): {secret}",
    "Secret to verify them with, the same for the same API key: {secret}",
)
_NOT_LOCAL = Text(
    "--forward-to: {url!r}은(는) http://localhost:3000/hook 같은 주소가 아닙니다",
    "--forward-to: {url!r} is not an address such as http://localhost:3000/hook",
)
_NO_SECRET = Text(
    "--secret: whsec_와 Base64여야 합니다. 웹훅을 만들 때 받은 값입니다",
    "--secret: must be whsec_ and Base64, as a webhook gets it when it is created",
)


class Forwarded(NamedTuple):
    """What came back from the server."""

    status: int | None
    error: str
    duration_ms: int


def declare_webhook(group: CommandParser) -> None:
    """Declare `pabal webhook listen`: all of `pabal webhook` where only the client is installed."""
    parser = group.add_subcommand(
        "listen",
        "웹훅이 받을 이벤트를 이 컴퓨터의 서버로 보냅니다. 서비스에 포트를 열지 않아도 됩니다.",
        "Forward what webhooks would be told to a server on this machine; no port has to be open for the service.",
    )
    add_call_options(parser, _listen, flags={"since": "--since"})
    parser.add_option(
        "--forward-to URL",
        "받을 주소. 예: http://localhost:3000/hook",
        "where to post, such as http://localhost:3000/hook",
        required=True,
    )
    parser.add_option(
        "--event EVENT",
        "이 이벤트만. 여러 번 줄 수 있습니다",
        "only this event; may be repeated",
        action="append",
        choices=[each.code for each in EventType if each is not EventType.WEBHOOK_TEST],
    )
    parser.add_option(
        "--since TIME",
        "이때부터의 이벤트를 다시 보냅니다: yyyy-MM-dd HH:mm, 최대 7일 전",
        "post the events since then again: yyyy-MM-dd HH:mm, at most 7 days ago",
    )
    parser.add_option(
        "--secret SECRET",
        "서명에 쓸 whsec_… 값. 기본값: API 키에서 만든 값",
        "sign with this whsec_… secret (default: one made from the API key)",
    )


def _listen(call: Call) -> int:
    import httpx

    given = call.given
    if not given.forward_to.startswith(("http://", "https://")):
        raise CommandError(*(each.format(url=given.forward_to) for each in _NOT_LOCAL))
    secret = _read_secret(given.secret) if given.secret else secret_of_key(call.settings.api_key)
    position = call.client.list_events(ListEvents(since=given.since))
    with httpx.Client(timeout=TIMEOUT_S, trust_env=False) as server:
        call.report(_SECRET, secret=format_secret(secret))
        call.report(_READY, url=given.forward_to)
        while True:
            for post in position.items:
                if given.event is None or post.type in given.event:
                    _report(call, post, _forward(server, given.forward_to, secret, post))
            if not position.items:
                Event().wait(POLL_INTERVAL_S)
            try:
                position = call.client.list_events(ListEvents(cursor=position.item.nextCursor))
            except (ApiError, NoAnswerError) as error:
                wait_for_service(call, error)
                position.items.clear()


def secret_of_key(api_key: str) -> bytes:
    """Return the secret that signs for a key: it tells nothing about the key."""
    return hmac.new(api_key.encode(), b"pabal webhook listen", hashlib.sha256).digest()


def _read_secret(spelling: str) -> bytes:
    try:
        return decode_secret(spelling)
    except ValueError:
        raise CommandError(*_NO_SECRET) from None


def _forward(server: "httpx.Client", url: str, secret: bytes, post: UnsignedPost) -> Forwarded:
    """Post once: what fails is not tried again, but can be with --since."""
    import httpx

    body, began = post.body.encode(), WORLD.monotonic()
    headers = {"content-type": "application/json", **sign([secret], post.id, WORLD.now(), body)}
    try:
        status, error = server.post(url, content=body, headers=headers).status_code, ""
    except httpx.HTTPError as failure:
        status, error = None, str(failure) or type(failure).__name__
    return Forwarded(status, error, round((WORLD.monotonic() - began) * SECOND))


def _report(call: Call, post: UnsignedPost, result: Forwarded) -> None:
    """Print what was posted, and what came back."""
    if call.given.json:
        print_json({"id": post.id, "type": post.type, "eventIds": post.eventIds, **result._asdict()})
        return
    came_back = f"HTTP {result.status}" if result.status else result.error
    print(f"{post.id}  {post.type} ×{len(post.eventIds)}  {came_back}  {result.duration_ms} ms", flush=True)
