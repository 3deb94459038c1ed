"""Posts to an endpoint once, signed."""

from pabal.domain.events.webhook import Webhook, secret_context
from pabal.service.context import Context
from pabal.webhooks.poster import PostError, PostResult
from pabal.webhooks.secrets import UnreadableSecret
from pabal.webhooks.signing import sign

POST_ID_PREFIX = "msg_"


def format_post_id(post_id: bytes) -> str:
    """Return the `webhook-id` of a post, the same in each of its tries."""
    return f"{POST_ID_PREFIX}{post_id.hex()}"


async def post_once(context: Context, webhook: Webhook, post_id: bytes, body: bytes) -> PostResult:
    """Post a body to an endpoint, and return what came back; a secret that cannot be read is a failure, too."""
    now = context.world.now()
    place = secret_context(webhook.account_id)
    try:
        secrets = [context.secrets.open(stored, place) for stored in webhook.stored_secrets(now)]
    except UnreadableSecret as error:
        return PostResult(None, b"", 0, PostError.SECRET, str(error))
    headers = sign(secrets, format_post_id(post_id), now, body)
    return await context.webhooks.poster.post(webhook.url, webhook.account, headers, body)


def decode_answer(answer: bytes) -> str:
    """Return the beginning of an answer as text that the store can hold."""
    return answer.decode("utf-8", "replace").replace("\0", "\N{REPLACEMENT CHARACTER}")
