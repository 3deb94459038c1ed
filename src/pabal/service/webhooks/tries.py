"""Tries to post to an endpoint, signed, a delivery or a test; logs the first failure and the recovery."""

import logging

import msgspec

from pabal.domain.base import dates
from pabal.domain.base.dates import Instant
from pabal.domain.events.event import EventType, format_event_id, make_event_id
from pabal.domain.events.webhook import Webhook, WebhookFormat, secret_context
from pabal.service.context import Context
from pabal.service.webhooks import manage
from pabal.service.webhooks.fan_out import make_body
from pabal.store.engine.base import Tx
from pabal.store.events import webhook_posts, webhooks
from pabal.store.events.webhook_posts import DeliveryTry
from pabal.webhooks.poster import PostError, PostResult, format_secret, sign
from pabal.webhooks.secrets import UnreadableSecret
from pabal.world import new_unique_id

log = logging.getLogger("pabal.webhooks")

POST_ID_PREFIX = "msg_"


def format_post_id(post_id: bytes) -> str:
    """Return the `webhook-id` of a post, the same in each of its tries."""
    return f"{POST_ID_PREFIX}{post_id.hex()}"


async def post_once(
    context: Context, webhook: Webhook, post_id: bytes, body: bytes, webhook_format: WebhookFormat
) -> PostResult:
    """Post a body to an endpoint, and return what came back; a secret that cannot be read is a failure, too.

    Whatever its format, a post has our own headers; those of another relay have only the current secret.
    """
    now = context.world.now()
    place = secret_context(webhook.account_id)
    try:
        secrets = [context.secrets.open(stored, place) for stored in webhook.stored_secrets(now)]
    except UnreadableSecret as error:
        return PostResult(None, b"", 0, PostError.SECRET, str(error))
    headers = sign(secrets, format_post_id(post_id), now, body)
    if webhook_format is not WebhookFormat.PABAL:
        headers |= context.webhooks.load_format(webhook_format).headers(format_secret(secrets[0]))
    return await context.webhooks.poster.post(webhook.url, webhook.account, headers, body)


def decode_answer(answer: bytes) -> str:
    """Return the beginning of an answer as text that the store can hold."""
    return answer.decode("utf-8", "replace").replace("\0", "\N{REPLACEMENT CHARACTER}")


async def send_test(context: Context, account_id: int, webhook_id: int) -> PostResult:
    """Post a `webhook.test` event to a webhook in any state, add it to its deliveries, and return what came back.

    Raises Refused: WEBHOOK_NOT_FOUND, RATE_LIMITED.
    """
    webhook = await context.store.read(manage.find, account_id, webhook_id)
    started_at = context.world.monotonic()
    context.webhooks.last_tests.check(account_id, started_at)
    context.webhooks.last_tests.remember(account_id, started_at)
    post_id = new_unique_id(context.world)
    event_id = make_event_id(account_id, EventType.WEBHOOK_TEST, post_id.hex())
    now = context.world.now()
    body = _make_test(context, webhook, format_event_id(event_id), now)
    result = await post_once(context, webhook, post_id, body, webhook.format)
    this_try = DeliveryTry(
        webhook_id,
        now,
        post_id,
        [event_id],
        1,
        result.status,
        decode_answer(result.answer),
        describe_error(result),
        result.duration_ms,
    )
    await context.store.write(_add_try, account_id, this_try)
    return result


def _make_test(context: Context, webhook: Webhook, event_id: str, now: Instant) -> bytes:
    """Return the body of a test; in the format of another relay it is a result of no message."""
    if webhook.format is not WebhookFormat.PABAL:
        return context.webhooks.load_format(webhook.format).build_sample(event_id)
    item = msgspec.json.encode({"eventId": event_id, "webhookId": str(webhook.id)})
    return make_body(EventType.WEBHOOK_TEST, dates.format_iso(now, context.policy.zone), [item])


def describe_error(result: PostResult) -> str:
    """Return why a post has no answer: a word, and in English what happened; empty if it has one."""
    if result.error is None:
        return ""
    return f"{result.error}: {result.detail}" if result.detail else str(result.error)


def _add_try(tx: Tx, account_id: int, this_try: DeliveryTry) -> None:
    if webhooks.get(tx, account_id, this_try.webhook_id):  # it may have been deleted meanwhile
        webhook_posts.add_tries(tx, [this_try])


class FailureLog:
    """Knows which posts of an endpoint have failed since it worked.

    A post that an endpoint refuses while others are delivered is one failure, however often it is tried.
    """

    def __init__(self, *, is_failing: bool) -> None:
        self.is_failing = is_failing
        """Whether a post has failed that was not delivered since."""
        self._failed: set[bytes] = set()

    def add(self, webhook: Webhook, this_try: DeliveryTry) -> None:
        """Note a post that has failed."""
        self._failed.add(this_try.post_id)
        if not self.is_failing:
            self.is_failing = True
            log_try("webhook fails; what it was not told is tried again", webhook, this_try)

    def remove(self, webhook: Webhook, this_try: DeliveryTry) -> None:
        """Note a post that was delivered."""
        self._failed.discard(this_try.post_id)
        if self.is_failing and not self._failed:
            self.is_failing = False
            log_try("webhook works again; nothing waits for a retry", webhook, this_try)

    def forget(self) -> None:
        """Note that no post is left: some may have been given up, or erased."""
        self._failed.clear()


def log_try(text: str, webhook: Webhook, this_try: DeliveryTry) -> None:
    """Log what came of a try; the address is not logged, since it may contain a secret."""
    log.warning(
        text,
        extra={
            "webhook_id": webhook.id,
            "account": webhook.account,
            "status": this_try.status,
            "error_detail": this_try.error,
        },
    )
