"""Several pictures of an MMS, from the API to the phone."""

from typing import Any

from tests.fixtures.cases import with_each
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import PHONE, call_ok, image_body, sms_body, summarize_refusal

MANY = [image_body(1000 + number) for number in range(4)]


@with_each(
    ("fields", "errors"),
    [
        ({"images": MANY[:1]}, {}),
        ({"images": MANY[:3]}, {}),
        ({"images": MANY}, {"images": "INVALID_IMAGE"}),
        ({"images": []}, {"images": "INVALID_IMAGE"}),
        ({"images": [image_body(307_201), MANY[0]]}, {"images[0].body": "INVALID_IMAGE"}),
        ({"images": [MANY[0], image_body(body="")]}, {"images[1].body": "MISSING_PARAMETER"}),
        ({"images": MANY[:1], "image": MANY[0]}, {"images": "INVALID_PARAMETER"}),
        ({"images": "photo.jpg"}, {"images": "INVALID_PARAMETER"}),
    ],
)
async def test_one_to_three_images_are_accepted(
    call: Caller, fields: dict[str, Any], errors: dict[str, str]
) -> None:
    answer = await call("message/sendMMS", sms_body(**fields))

    assert answer.result == next(iter(errors.values()), "SUCCESS")
    assert summarize_refusal(answer).errors == errors


async def test_phone_shows_every_image_of_a_message(env: Environment, call: Caller) -> None:
    await call_ok(call, "message/sendMMS", sms_body(images=MANY[:3]))
    await env.wait(5)

    shown = await call("simulator/phone", query={"phoneNumber": PHONE})

    assert [(each["image"], each["images"]) for each in shown.body["items"]] == [(True, 3)]
