"""The webhooks of the OpenAPI document: the posts that an account's server gets."""

from typing import Any

from pabal.domain.events.event import EventType
from pabal.models.webhook_posts import POSTS
from pabal.web.api_document.example_answers import post_example
from pabal.web.api_document.schemas import build_schemas, refer_to

_PARAMETERS = [
    {
        "name": "webhook-id",
        "in": "header",
        "required": True,
        "description": "Id of the post, the same at every try.",
        "schema": {"type": "string"},
        "example": "msg_0f3c8a52c1d94e0c",
    },
    {
        "name": "webhook-timestamp",
        "in": "header",
        "required": True,
        "description": "When this try was made: seconds since 1970-01-01.",
        "schema": {"type": "string", "pattern": "^[0-9]+$"},
        "example": "1794711603",
    },
    {
        "name": "webhook-signature",
        "in": "header",
        "required": True,
        "description": "`v1,` and the Base64 of the HMAC-SHA256 of `id.timestamp.body`, keyed with the secret;"
        " while a secret is replaced, two of them separated by a space.",
        "schema": {"type": "string"},
        "example": "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
    },
]
_RESPONSES = {
    "2XX": {"description": "The post has arrived. Everything else is tried again for 24 hours."},
    "410": {"description": "Disables the webhook."},
}


def build_webhooks(tag: str) -> dict[str, Any]:
    """Return the post of each event by its name."""
    return {event.code: {"post": _post(event, tag)} for event in POSTS}


def _post(event: EventType, tag: str) -> dict[str, Any]:
    summary = build_schemas()[POSTS[event].__name__]["description"].rstrip(".")
    media = {"schema": refer_to(POSTS[event]), "example": post_example(event)}
    return {
        "operationId": f"on_{_snake(event.code)}",
        "summary": summary,
        "description": f"{summary}: up to 100 events."
        " Verify the signature over the body as it arrived. An event can come again, with the same `eventId`.",
        "tags": [tag],
        "security": [],
        "parameters": _PARAMETERS,
        "requestBody": {"content": {"application/json": media}, "required": True},
        "responses": _RESPONSES,
    }


def _snake(name: str) -> str:
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in name).replace(".", "_")
