"""Signatures are verified by the published libraries of Standard Webhooks, for Python and Node.js."""

import base64
import json
from collections.abc import Iterator

import pytest
import standardwebhooks

from pabal.domain.base.dates import SECOND
from pabal.webhooks import poster
from pabal.world import RealWorld
from tests.fakes.webhooks.receiver import Receiver, running_receiver
from tests.fixtures.webhooks import ACCOUNT, posting

WORLD = RealWorld()
BODY = json.dumps({"type": "message.result", "data": {"items": [{"eventId": "1", "text": "가나다"}]}}).encode()


def test_secret_is_whsec_and_base64_of_32_bytes() -> None:
    shown = poster.format_secret(bytes(range(32)))

    assert shown == "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
    assert poster.new_secret(WORLD) != poster.new_secret(WORLD)
    assert len(poster.new_secret(WORLD)) == 32


def test_test_vector_of_the_published_libraries_has_the_same_signature() -> None:
    secret = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")

    headers = poster.sign([secret], "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330 * SECOND, b'{"test": 2432232314}')

    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.mark.parametrize("body", [BODY, b"{}", '{"a": "가🙂"}'.encode()])
def test_python_library_verifies_a_signature(body: bytes) -> None:
    secret = poster.new_secret(WORLD)
    headers = poster.sign([secret], "msg_1", WORLD.now(), body)

    assert standardwebhooks.Webhook(poster.format_secret(secret)).verify(body, headers) == json.loads(body)


def test_python_library_refuses_what_was_changed() -> None:
    secret = poster.new_secret(WORLD)
    headers = poster.sign([secret], "msg_1", WORLD.now(), BODY)
    library = standardwebhooks.Webhook(poster.format_secret(secret))

    for changed, body in (
        ({}, BODY + b" "),
        ({"webhook-id": "msg_2"}, BODY),
        ({"webhook-timestamp": str(WORLD.now() // SECOND + 2)}, BODY),
        ({"webhook-signature": headers["webhook-signature"].replace("v1,", "v2,")}, BODY),
    ):
        with pytest.raises(standardwebhooks.WebhookVerificationError):
            library.verify(body, headers | changed)


def test_both_secrets_verify_while_the_old_one_signs_along() -> None:
    old, new, other = (poster.new_secret(WORLD) for _ in range(3))
    now = WORLD.now()

    headers = poster.sign([new, old], "msg_1", now, BODY)

    for secret in (old, new):
        standardwebhooks.Webhook(poster.format_secret(secret)).verify(BODY, headers)
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        standardwebhooks.Webhook(poster.format_secret(other)).verify(BODY, headers)


@pytest.mark.parametrize("webhook_id", ["", "a.b", "a\nb", "가"])
def test_id_that_could_be_confused_is_refused(webhook_id: str) -> None:
    with pytest.raises(ValueError, match="not an id"):
        poster.sign([b"secret"], webhook_id, 0, BODY)


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with running_receiver() as found:
        yield found


@pytest.mark.real_time
async def test_node_library_verifies_posts_with_both_secrets_of_a_rotation(receiver: Receiver) -> None:
    old, new, other = (poster.new_secret(WORLD) for _ in range(3))

    async def post(webhook_id: str, *secrets: bytes) -> int | None:
        headers = poster.sign(secrets, webhook_id, WORLD.now(), BODY)
        async with posting() as client:
            return (await client.post(receiver.url, ACCOUNT, headers, BODY)).status

    for accepted in (old, new):
        receiver.change(secret=poster.format_secret(accepted))
        assert await post("msg_both", new, old) == 204
    assert await post("msg_other", other) == 401

    assert [event["id"] for event in receiver.wait_for_many("refused", 1)] == ["msg_other"]
    assert [event["id"] for event in receiver.events("post")] == ["msg_both", "msg_both"]
    assert receiver.events("post")[0]["items"] == [{"eventId": "1", "text": "가나다"}]
