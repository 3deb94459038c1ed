"""Pictures at the relays: what each documents that it takes decides what is accepted."""

import pytest

from tests.carriers.relay.delivery_fixture import outcomes_for
from tests.fixtures.brand_bodies import sized_image
from tests.fixtures.nhncloud import NhnCloud
from tests.fixtures.relay_delivery import RELAY, RelayFixture
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import PHONE, call_ok, sms_body

pytestmark = pytest.mark.slow


async def test_largest_picture_of_the_relay_is_delivered_and_a_larger_one_refused(
    env: Environment, call: Caller, fixture: RelayFixture
) -> None:
    most, side = (307_200, 1000) if isinstance(fixture, NhnCloud) else (200_000, 1440)
    await call_ok(call, "message/sendMMS", sms_body(PHONE, image=sized_image(side, side, most)))
    too_large = await call("message/sendMMS", sms_body(PHONE, image=sized_image(10, 10, most + 1)))
    too_wide = await call("message/sendMMS", sms_body(PHONE, image=sized_image(1501, 10, 51_201)))
    await env.wait(20)

    assert await outcomes_for(call, PHONE) == ["mms completed 1000"]
    assert [each.result for each in (too_large, too_wide)] == ["INVALID_IMAGE"] * 2
    assert f"{most:,}바이트 이하여야 합니다. 지금은 {most + 1:,}바이트" in too_large.body["resultMessage"]
    assert "지금은 1,501 × 10픽셀" in too_wide.body["resultMessage"]


@pytest.mark.settings(routes={"mms": [RELAY, "telco"]})
async def test_small_picture_that_the_relay_does_not_take_goes_to_the_next_carrier(
    env: Environment, call: Caller, fixture: RelayFixture
) -> None:
    await call_ok(call, "message/sendMMS", sms_body(PHONE, image=sized_image(3000, 10, 51_200)))
    refused = await call("message/sendMMS", sms_body(PHONE, image=sized_image(10, 10, 51_201)))
    await env.wait(20)

    assert fixture.accepted_numbers == []
    assert [each.receiver for _, each in fixture.telco.submitted] == [PHONE.replace("-", "")]
    assert "51,200바이트 이하" in refused.body["resultMessage"]  # the second carrier documents no more


async def test_images_go_out_together_or_are_refused(env: Environment, call: Caller, fixture: RelayFixture) -> None:
    images = [sized_image(number, 10, 250_000 if number < 3 else 1000) for number in (1, 2, 3)]
    sent = await call("message/sendMMS", sms_body(PHONE, images=images))
    await env.wait(20)

    if isinstance(fixture, NhnCloud):  # "첨부 이미지 개수: 3개 이하"
        assert await outcomes_for(call, PHONE) == ["mms completed 1000"]
        assert [len(each.body) for each in fixture.relay.attachments.values()] == [250_000, 250_000, 1000]
        assert [each.call.attachFileIdList for each in fixture.accepted] == [sorted(fixture.relay.attachments)]
    else:  # a message has one `imageId`
        assert sent.result == "INVALID_IMAGE"
        assert fixture.accepted_numbers == []


async def test_number_and_bytes_of_all_images_are_limited_by_the_relay(call: Caller, fixture: RelayFixture) -> None:
    images, bytes_each = (3, 300_000) if isinstance(fixture, NhnCloud) else (2, 1000)

    refused = await call("message/sendMMS", sms_body(PHONE, images=[sized_image(9, 9, bytes_each)] * images))

    told = (
        "819,200바이트 이하여야 합니다. 지금은 900,000바이트"
        if images == 3
        else "1개까지 보낼 수 있습니다. 지금은 2개"
    )
    assert told in refused.body["resultMessage"]
