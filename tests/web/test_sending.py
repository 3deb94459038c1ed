"""Sending all five kinds, over the interface, and seeing what became of them."""

from collections.abc import Callable

from tests.virtual import Town

Play = Callable[..., None]


def test_an_sms_is_accepted_delivered_and_seen_in_the_history(play: Play) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()

        sent = await call(
            "message/sendSMS",
            {
                "content": "#{name}님, 안녕하세요",
                "sender": "02-1234-5678",
                "receivers": [{"phoneNumber": "010-1234-5678", "templateData": {"name": "홍길동"}}],
            },
        )
        await town.wait(2)

        (record,) = (await call("message/list", {"receivers": "010-1234-5678"})).items
        assert record["requestId"] == sent.request_id
        assert record["sendingStatus"]["value"] == "completed"
        assert record["resultCode"]["value"] == "1000"
        assert record["content"] == "홍길동님, 안녕하세요"

    play(scene)
