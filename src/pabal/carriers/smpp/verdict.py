"""What the status of a submit_sm_resp says of the message."""

from collections.abc import Mapping

from pabal.carriers.base import Busy, Declined, Rejected
from pabal.carriers.smpp import pdu
from pabal.domain.message import Outcome

Refusal = Rejected | Declined | Busy

VERDICTS: Mapping[int, Refusal] = {
    pdu.RINVBNDSTS: Busy(),
    pdu.RALYBND: Busy(),
    pdu.RBINDFAIL: Busy(),
    pdu.RINVPASWD: Busy(),
    pdu.RINVSYSID: Busy(),
    pdu.RSYSERR: Busy(),
    pdu.RMSGQFUL: Busy(),
    pdu.RSUBMITFAIL: Busy(),
    pdu.RTHROTTLED: Busy(),
    pdu.RX_T_APPN: Busy(),
    pdu.RUNKNOWNERR: Busy(),
    pdu.RINVDSTADR: Rejected(Outcome.NUMBER_NOT_ASSIGNED),
    pdu.RX_P_APPN: Rejected(Outcome.UNDELIVERABLE),
    pdu.RX_R_APPN: Rejected(Outcome.UNDELIVERABLE),
    pdu.RDELIVERYFAILURE: Rejected(Outcome.UNDELIVERABLE),
}
"""What is about the session or the load passes; what is about the receiver holds with any operator."""
OTHERWISE = Declined(Outcome.UNDELIVERABLE)
"""All else is between us and this operator, such as its rules on senders, lengths and options."""


def refusal_of(status: int) -> Refusal:
    """Return the verdict on a message whose submit_sm_resp has this status, any but 0."""
    return VERDICTS.get(status, OTHERWISE)
