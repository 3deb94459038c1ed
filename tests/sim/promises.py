"""Checks the promises of the service against what carriers, clients and store know after a simulation."""

import json
from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

from pabal.domain.base import identifiers
from pabal.domain.base.dates import HOUR, Instant
from pabal.domain.sends.message import (
    OUTCOME_BY_NUMBER,
    PRODUCT_BY_NUMBER,
    STATUS_BY_NUMBER,
    Outcome,
    Product,
    Status,
)
from tests.fixtures import status_checker
from tests.sim.simulation import Simulation


@dataclass
class FinalState:
    """What the store contains at the end."""

    requests: dict[bytes, tuple[int, Instant, bool]]
    messages: dict[bytes, tuple[Product, Status, Outcome | None, Instant | None]]
    jobs: int
    receipts_with_message: int
    transitions: list[tuple[bytes, int, int]]


def read_final_state(simulation: Simulation) -> FinalState:
    """Read what the store contains at the end of a simulation."""
    connection = status_checker.connect(simulation.folder)
    rows = connection.execute("select id, total, scheduled_at, fallback_sender is not null from requests")
    requests = {id: (total, at, bool(has_fallback)) for id, total, at, has_fallback in rows}
    messages = {
        id: (
            PRODUCT_BY_NUMBER[product],
            STATUS_BY_NUMBER[status],
            None if outcome is None else OUTCOME_BY_NUMBER[outcome],
            completed_at,
        )
        for id, product, status, outcome, completed_at in connection.execute(
            "select id, product, status, outcome, completed_at from messages"
        )
    }
    (jobs,) = connection.execute("select count(*) from jobs").fetchone() or (0,)
    (receipts,) = connection.execute("select count(*) from receipts where message_id is not null").fetchone() or (
        0,
    )
    transitions = connection.execute("select id, before, after from status_changes").fetchall()
    connection.close()
    return FinalState(requests, messages, jobs, receipts, transitions)


def check_promises(simulation: Simulation) -> FinalState:
    """Check every promise against what carriers, clients and store know."""
    final_state = check_results(simulation)
    check_submissions(simulation, final_state)
    return final_state


def check_results(simulation: Simulation) -> FinalState:
    """Check what has become of every message, whoever submitted it."""
    final_state = read_final_state(simulation)
    check_stored(simulation, final_state)
    check_ended(final_state)
    check_transitions(final_state)
    check_receipts(simulation, final_state)
    check_fallbacks(final_state)
    check_announced(simulation, final_state)
    return final_state


def check_stored(simulation: Simulation, final_state: FinalState) -> None:
    """Check that everything answered is stored, once and whole."""
    client_log = simulation.client_log
    answered = set()
    for key, ids in client_log.request_ids.items():
        assert len(ids) == 1, f"{key} was answered with {ids}"
        answered |= {bytes.fromhex(id_hex) for id_hex in ids}
    assert answered <= set(final_state.requests), "answered, but not stored"
    for request_id, (total, _, _) in final_state.requests.items():
        numbers = {
            identifiers.number_of(message_id)
            for message_id in final_state.messages
            if identifiers.request_id_of(message_id) == request_id
        }
        assert set(range(1, total + 1)) <= numbers, "a request without all of its messages"
        assert max(numbers) <= 2 * total
    unanswered = len(set(final_state.requests) - answered)
    assert unanswered <= client_log.lost_without_key, "a request that no client sent"
    for request in client_log.requests:
        if request.key:
            assert request.answered, "a client repeated its request and never got an answer"


def check_ended(final_state: FinalState) -> None:
    """Check that every message has ended."""
    final = (Status.COMPLETED, Status.FAIL, Status.CANCEL)
    stuck = [
        message_id.hex() for message_id, (_, status, _, _) in final_state.messages.items() if status not in final
    ]
    assert not stuck, f"never ended: {stuck[:5]}"
    assert final_state.jobs == 0
    assert final_state.receipts_with_message == 0
    for _, status, outcome, completed_at in final_state.messages.values():
        assert completed_at is not None
        assert (outcome is None) == (status is Status.CANCEL)


def check_transitions(final_state: FinalState) -> None:
    """Check that no status changed in a forbidden way."""
    allowed = {(0, 1), (1, 2), (1, 3), (0, 4)}
    ends: dict[bytes, int] = {}
    for message_id, before, after in final_state.transitions:
        assert (before, after) in allowed, f"{before} to {after}"
        if after >= Status.COMPLETED.number:
            ends[message_id] = ends.get(message_id, 0) + 1
    assert all(count == 1 for count in ends.values()), "ended twice"


def check_submissions(simulation: Simulation, final_state: FinalState) -> None:
    """Check that nothing was submitted early, after a cancel, or again without need."""
    cancelled = {bytes.fromhex(id_hex) for id_hex in simulation.client_log.cancelled}
    for message_id, submissions in simulation.ledger.submissions.items():
        assert message_id in final_state.messages, "submitted, but not stored"
        _, status, _, _ = final_state.messages[message_id]
        assert status is not Status.CANCEL, "sent after a cancel"
        assert message_id not in cancelled
        _, scheduled_at, _ = final_state.requests[identifiers.request_id_of(message_id)]
        assert submissions[0].at >= scheduled_at, "sent early"
        for earlier, later in pairwise(submissions):
            was_refused = earlier.verdict in ("Busy", "NotSent", "Declined")
            if simulation.holds_in_doubt:
                assert was_refused, "submitted again although the carrier may have it"
            is_in_doubt = earlier.verdict in ("none", "Unknown") or earlier.run in simulation.crashed
            assert was_refused or is_in_doubt, "submitted again although the verdict was stored"
            assert later.at >= earlier.at


def check_receipts(simulation: Simulation, final_state: FinalState) -> None:
    """Check that messages ended as receipts said."""
    for message_id, (_, status, outcome, _) in final_state.messages.items():
        receipts = [
            [simulation.ledger.receipts[reference] for reference in references]
            for references in simulation.ledger.references[message_id]
        ]
        if status is Status.COMPLETED:
            is_reported = any(all(Outcome.DELIVERED in outcomes for outcomes in parts) for parts in receipts)
            assert is_reported, "completed without a receipt for every part"
        if outcome is Outcome.PHONE_OFF:
            assert any(Outcome.PHONE_OFF in outcomes for parts in receipts for outcomes in parts)


def check_fallbacks(final_state: FinalState) -> None:
    """Check that there is exactly one fallback where one is due."""
    for message_id, (product, status, _, completed_at) in final_state.messages.items():
        total, scheduled_at, has_fallback = final_state.requests[identifiers.request_id_of(message_id)]
        number = identifiers.number_of(message_id)
        if number > total:
            origin = final_state.messages[
                identifiers.make_message_id(identifiers.request_id_of(message_id), number - total)
            ]
            assert origin[1] is Status.FAIL
            assert product.is_text
            continue
        fallback_id = identifiers.make_message_id(identifiers.request_id_of(message_id), number + total)
        is_due = (
            has_fallback
            and status is Status.FAIL
            and not product.is_text
            and completed_at is not None
            and completed_at <= scheduled_at + HOUR
        )
        assert (fallback_id in final_state.messages) == is_due, "one fallback too many or too few"


def check_announced(simulation: Simulation, final_state: FinalState) -> None:
    """Check that every end was posted, in one post if repeats are recognized by their ids, and listed once."""
    assert simulation.receiver_log.violations == []
    ended = Counter(message_id.hex() for message_id in final_state.messages)
    assert simulation.receiver_log.posted == ended, "an end was not posted, or in several posts"
    assert simulation.receiver_log.listed == ended, "an end was not listed once along the cursors"


def summary(simulation: Simulation, final_state: FinalState) -> str:
    """Return what happened in one line, to inspect a seed."""
    counts: dict[str, int] = {}
    for _, status, outcome, _ in final_state.messages.values():
        name = str(outcome.number) if outcome else status.code
        counts[name] = counts.get(name, 0) + 1
    resubmitted = sum(len(each) > 1 for each in simulation.ledger.submissions.values())
    return json.dumps(
        {"seed": simulation.seed, "requests": len(final_state.requests), "resubmitted": resubmitted, **counts}
    )
