"""The channel of the tests, in the fake Solapi; the fake NHN Cloud's channel.py adds it to our store."""

from tests.fakes.nhncloud.channel import CHANNEL, SENDER, TEMPLATE, TEMPLATE_CODE
from tests.fakes.solapi.server import FakeSolapi

SENDER_KEY = "KA01PF261116000000000shopShopSho"


def add_to_relay(relay: FakeSolapi) -> None:
    """Add the channel with template T1, and the sender number of texts, to the server."""
    relay.numbers.add(SENDER)
    relay.add_channel(CHANNEL, SENDER_KEY)
    relay.add_template(SENDER_KEY, f"[{TEMPLATE_CODE}] 배송", TEMPLATE)
