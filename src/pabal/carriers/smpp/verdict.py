"""Maps the command_status of a submit_sm_resp to a verdict."""

from collections.abc import Mapping
from dataclasses import replace

from pabal.carriers.base import Busy, Declined, Rejected
from pabal.carriers.smpp import protocol
from pabal.domain.sends.message import Outcome

Refusal = Rejected | Declined | Busy

VERDICTS: Mapping[int, Refusal] = {
    protocol.RINVBNDSTS: Busy(),
    protocol.RALYBND: Busy(),
    protocol.RBINDFAIL: Busy(),
    protocol.RINVPASWD: Busy(),
    protocol.RINVSYSID: Busy(),
    protocol.RSYSERR: Busy(),
    protocol.RMSGQFUL: Busy(),
    protocol.RSUBMITFAIL: Busy(),
    protocol.RTHROTTLED: Busy(),
    protocol.RX_T_APPN: Busy(),
    protocol.RUNKNOWNERR: Busy(),
    protocol.RINVDSTADR: Rejected(Outcome.NUMBER_NOT_ASSIGNED),
    protocol.RX_P_APPN: Rejected(Outcome.UNDELIVERABLE),
    protocol.RX_R_APPN: Rejected(Outcome.UNDELIVERABLE),
    protocol.RDELIVERYFAILURE: Rejected(Outcome.UNDELIVERABLE),
}
"""Errors of the session or the load are temporary; errors of the receiver apply to any operator."""
DEFAULT_VERDICT = Declined(Outcome.UNDELIVERABLE)
"""For all others, which concern this operator only, such as its rules on senders, lengths and TLVs."""


def verdict_for_status(status: int) -> Refusal:
    """Return the verdict for a status other than 0, which is the operator's own code."""
    return replace(VERDICTS.get(status, DEFAULT_VERDICT), code=f"0x{status:08X}")
