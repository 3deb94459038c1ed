"""Campaigns in scenes of the service: checked, with receivers of their own, ready to be sent."""

import json
from collections.abc import Sequence

from pabal.domain.sending import Receiver, Sending, shared_to_json
from pabal.domain.when import Instant
from pabal.service import campaigns as service
from pabal.store import campaign_requests, campaigns
from pabal.store.base import Tx
from pabal.store.campaign_requests import Part, Progress
from pabal.store.campaigns import Block, Campaign, Draft, Findings, Read
from pabal.store.deeds import Deed
from pabal.world import new_request_id
from tests.service.acting import account, sms
from tests.virtual import Town

USER = 7


def deed(town: Town, what: str = "campaign.test") -> Deed:
    return Deed(town.world.now(), USER, "someone", None, what)


def phones(count: int, first: int = 0) -> list[str]:
    """Return so many numbers, all different."""
    return [f"010{20_000_000 + first + number}" for number in range(count)]


async def checked(
    town: Town, *blocks: Sequence[str], sending: Sending | None = None, sender_key: str = ""
) -> bytes:
    """Keep a campaign whose file has been checked: a list of numbers for each request to be made."""
    owner = await account(town)
    campaign_id = new_request_id(town.world, 0)
    shared = shared_to_json((sending or sms())._replace(receivers=()))
    body = json.dumps({"senderKey": sender_key})

    def keep(tx: Tx) -> None:
        now = town.world.now()
        campaigns.add(tx, Draft(campaign_id, owner, USER, "sms", "봄 행사", body), now)
        assert campaigns.begin_reading(tx, campaign_id, "list.csv", True, now, now)
        for number, block in enumerate(blocks, 1):
            kept = Block(number, len(block), service.written([Receiver(phone) for phone in block]))
            assert campaigns.add_findings(tx, campaign_id, Findings(kept, (), 0), now, now)
        assert campaigns.end_reading(tx, campaign_id, Read(shared, (), ()), now, now)

    await town.store.write(keep)
    return campaign_id


async def get(town: Town, campaign_id: bytes) -> Campaign:
    found = await town.store.read(campaigns.get, campaign_id)
    assert found is not None
    return found


async def start(town: Town, campaign_id: bytes, at: Instant | None = None) -> bool:
    campaign = await get(town, campaign_id)
    return await service.start(town.station, campaign, "봄 행사", at, deed(town))


async def parts(town: Town, campaign_id: bytes) -> list[Part]:
    return await town.store.read(campaign_requests.parts, campaign_id)


async def progress(town: Town, campaign_id: bytes) -> Progress:
    """Return how far a campaign has come, as last counted."""
    found = await town.store.read(campaign_requests.sums, [campaign_id])
    return found[campaign_id][0] if campaign_id in found else Progress()
