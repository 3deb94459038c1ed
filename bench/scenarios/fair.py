"""How long do messages of one account wait while another fills the queue of a carrier with a limited rate?"""

from typing import Any

from bench import bodies, load
from bench.environment import OTHER_SENDER, Environment
from bench.figures import Figure, p99_ms
from bench.server import Server
from bench.smsc import Smsc, running_smsc

ROUNDS = 1
RATE = 500
"""Messages a second of the carrier."""
FLOOD = 10_000
FLOOD_CONNECTIONS = 32
SINGLES, SINGLE_PAUSE_S = 20, 0.1
CAMPAIGN_REQUESTS = 3
SINGLE_TARGET_MS = 2000.0
CAMPAIGN_TARGET = 2.5
"""A campaign that shares the carrier with one other takes twice as long as alone, and a bit."""
TIMEOUT_S = 60.0


def measure(env: Environment) -> list[Figure]:
    """Measure single sends after a flood of single sends and of a campaign, and a campaign after another."""
    flood = bodies.sends(FLOOD, 1, sender=OTHER_SENDER)
    campaign = bodies.campaigns(FLOOD // bodies.CAMPAIGN_RECEIVERS, sender=OTHER_SENDER)
    with running_smsc() as smsc:
        return [
            *(
                Figure(f"single sends after {name} of another account, p99",
                       p99_ms(_measure_singles(env, smsc, others)), " ms", "less", SINGLE_TARGET_MS)
                for name, others in ((f"{FLOOD:,} single sends", flood), (f"a campaign of {FLOOD:,}", campaign))
            ),
            Figure(
                f"a campaign after one of {FLOOD:,} of another account / alone",
                _measure_campaign(env, smsc, campaign), "", "less", CAMPAIGN_TARGET,
            ),
        ]  # fmt: skip


def _measure_singles(env: Environment, smsc: Smsc, others: list[bytes]) -> list[float]:
    """Return how long after its request each single send is at the SMSC."""
    data = env.copy_store()
    env.configure(data, smsc.settings(RATE))
    smsc.reset(watched=bodies.SINGLES_BEGIN)
    with env.run(data, "fair") as server:
        smsc.wait_for("binds", 1)
        _send(env, server, others, key=env.other_key, connections=min(FLOOD_CONNECTIONS, len(others)))
        seen = load.run(env.plan(server, bodies.singles(SINGLES), count=SINGLES, pause_s=SINGLE_PAUSE_S))
        arrived = smsc.wait_for("watched", SINGLES, TIMEOUT_S).first_seen
    smsc.reset(watched="")
    receivers = bodies.single_receivers(SINGLES)
    return [arrived[receivers[number]] - at for number, at in enumerate(seen.sent_at)]


def _measure_campaign(env: Environment, smsc: Smsc, others: list[bytes]) -> float:
    """Return how many times as long as alone a campaign takes until its last message is at the SMSC."""
    data = env.copy_store()
    env.configure(data, smsc.settings(RATE))
    smsc.reset(watched=bodies.SINGLES_BEGIN)
    size = bodies.CAMPAIGN_RECEIVERS
    receivers = bodies.single_receivers(CAMPAIGN_REQUESTS * size)
    parts = [tuple(receivers[first : first + size]) for first in range(0, len(receivers), size)]
    with env.run(data, "fair") as server:
        smsc.wait_for("binds", 1)
        _send(env, server, others, key=env.other_key)
        began_at = _send(env, server, [bodies.sends(1, size, own=part)[0] for part in parts]).sent_at[0]
        arrived = smsc.wait_for("watched", len(receivers), TIMEOUT_S).first_seen
    smsc.reset(watched="")
    return (max(arrived.values()) - began_at) / (len(receivers) / RATE)


def _send(env: Environment, server: Server, requests: list[bytes], **options: Any) -> load.LoadResult:
    return load.run(env.plan(server, requests, count=len(requests), **options))
