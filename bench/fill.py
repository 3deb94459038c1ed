"""Fills stores through the API while no carrier can be reached, so that all messages wait."""

import os
from pathlib import Path

from bench import bodies, load, smsc
from bench.environment import Environment
from bench.server import Server, report_progress

NOBODY_LISTENS = 9
"""A port of the SMSC at which it cannot be reached."""
DIFFERENT_REQUESTS = 50
CONNECTIONS = 4
REGULARS = tuple(f"0100009{one:04}" for one in range(100))
"""Receivers with ten messages each."""
MESSAGES_OF_A_REGULAR = 10


def fill(env: Environment, data: Path, messages: int, send_date: str | None = None) -> None:
    """Store campaigns of a thousand receivers that are due at once, or at `send_date`."""
    env.configure(data, smsc.settings(NOBODY_LISTENS))
    requests = messages // bodies.CAMPAIGN_RECEIVERS
    report_progress(f"  filling a store with {messages:,} messages")
    regular = bodies.sends(1, bodies.CAMPAIGN_RECEIVERS, send_date=send_date, own=REGULARS)
    others = bodies.campaigns(DIFFERENT_REQUESTS, send_date)
    with env.run(data, "fill") as server:
        for number in range(MESSAGES_OF_A_REGULAR):
            _send(env, server, regular, 1)
            share = requests * (number + 1) // MESSAGES_OF_A_REGULAR - requests * number // MESSAGES_OF_A_REGULAR
            if share > 1:
                _send(env, server, others, share - 1)
    os.sync()  # else the system writes it while something is measured


def _send(env: Environment, server: Server, requests: list[bytes], count: int) -> None:
    load.run(env.plan(server, requests, connections=min(CONNECTIONS, count), count=count))
