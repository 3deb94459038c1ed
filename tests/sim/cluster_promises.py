"""Checks the promises of the service against what happened in a simulated cluster."""

import math
from bisect import bisect_left
from itertools import pairwise
from typing import cast

from pabal.domain.base import identifiers
from pabal.domain.sends.message import Outcome, Status
from tests.sim.cluster_simulation import ClusterSimulation
from tests.sim.promises import FinalState, check_results
from tests.sim.workers import RATE, WorkerSubmission

REFUSALS = ("Busy", "NotSent", "Declined")
SETTLING_S = 2.0
"""How long after a verdict, or after a disturbance, it takes at most to store the verdict."""
MAX_RATE = 2 * RATE
"""Most submissions a second while workers that were given up for dead come back."""


def check_cluster(simulation: ClusterSimulation) -> FinalState:
    """Check every promise."""
    final_state = check_results(simulation)
    cancelled = {bytes.fromhex(id_hex) for id_hex in simulation.client_log.cancelled}
    assert not cancelled & set(simulation.ledger.submissions), "sent after a cancel"
    for message_id in simulation.ledger.submissions:
        _check_submissions(simulation, final_state, message_id)
    _check_ends(simulation, final_state)
    _check_rate(simulation)
    return final_state


def _submissions(simulation: ClusterSimulation, message_id: bytes) -> list[WorkerSubmission]:
    return cast(list[WorkerSubmission], simulation.ledger.submissions.get(message_id, []))


def _check_submissions(simulation: ClusterSimulation, final_state: FinalState, message_id: bytes) -> None:
    submissions = _submissions(simulation, message_id)
    assert message_id in final_state.messages, "submitted, but not stored"
    assert final_state.messages[message_id][1] is not Status.CANCEL, "sent after a cancel"
    _, scheduled_at, _ = final_state.requests[identifiers.request_id_of(message_id)]
    is_for_later = scheduled_at > identifiers.requested_at(message_id)
    assert not is_for_later or submissions[0].shown_at >= scheduled_at, "sent early"
    assert not any(each.is_blank for each in submissions), "submitted with blanked fields"
    resends = 0
    for earlier, later in pairwise(submissions):
        is_over = earlier.ended_s is not None and earlier.ended_s <= later.began_s
        assert is_over or earlier.worker != later.worker, "submitted again while in flight"
        if earlier.verdict in REFUSALS:
            continue
        resends += 1
        is_in_doubt = earlier.verdict in ("none", "Unknown") or _is_unsettled(simulation, earlier)
        assert is_in_doubt, f"submitted again although it was {earlier.verdict}"
    assert resends <= (0 if simulation.holds_in_doubt else 1), "resent more often than allowed"


def _is_unsettled(simulation: ClusterSimulation, submission: WorkerSubmission) -> bool:
    """Say whether its worker died, paused or lost the store before it can have stored the verdict."""
    ended_s = math.inf if submission.ended_s is None else submission.ended_s
    return any(
        begin_s <= ended_s + SETTLING_S and submission.began_s <= end_s + SETTLING_S
        for begin_s, end_s in simulation.disturbed[submission.worker]
    )


def _check_ends(simulation: ClusterSimulation, final_state: FinalState) -> None:
    """Check that no message ended as if a carrier had it, or had said nothing about it, when that is not so."""
    for message_id, (_, _, outcome, _) in final_state.messages.items():
        submissions = _submissions(simulation, message_id)
        verdicts = {each.verdict for each in submissions}
        if outcome in (Outcome.TIMED_OUT, Outcome.DELIVERED):
            assert verdicts - {*REFUSALS, "Rejected"}, f"{outcome} although no carrier has it"
        if outcome is Outcome.UNDELIVERABLE:
            assert verdicts, "given up without a try"
        if outcome is not Outcome.TIMED_OUT or submissions[-1].verdict != "Accepted":
            continue
        last = submissions[-1]
        is_reported = all(each in simulation.ledger.acknowledged for each in last.references)
        is_settled = not _is_unsettled(simulation, last)
        assert not (is_reported and is_settled), "timed out although its receipts were acknowledged"


def _check_rate(simulation: ClusterSimulation) -> None:
    """Check that all workers together kept the carriers' rate, except while one came back from the dead."""
    times: dict[str, list[float]] = {}
    for message_id in simulation.ledger.submissions:
        for each in _submissions(simulation, message_id):
            times.setdefault(each.carrier, []).append(each.began_s)
    for some in times.values():
        some.sort()
        most = max(bisect_left(some, at_s + 1) - index for index, at_s in enumerate(some))
        assert most <= MAX_RATE, f"{most} submissions in a second"
