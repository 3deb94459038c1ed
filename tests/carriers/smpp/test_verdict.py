import pytest

from pabal.carriers.base import Busy, Declined, Rejected
from pabal.carriers.smpp import pdu
from pabal.carriers.smpp.verdict import refusal_of
from pabal.domain.message import Outcome


@pytest.mark.parametrize(
    "status", [pdu.RTHROTTLED, pdu.RMSGQFUL, pdu.RSYSERR, pdu.RSUBMITFAIL, pdu.RX_T_APPN, pdu.RUNKNOWNERR]
)
def test_what_may_pass_is_tried_again(status: int) -> None:
    assert refusal_of(status) == Busy()


@pytest.mark.parametrize("status", [pdu.RINVBNDSTS, pdu.RALYBND, pdu.RBINDFAIL, pdu.RINVPASWD, pdu.RINVSYSID])
def test_what_is_wrong_with_the_session_is_no_fault_of_the_message(status: int) -> None:
    assert isinstance(refusal_of(status), Busy)


def test_a_wrong_receiver_is_a_number_not_assigned() -> None:
    assert refusal_of(pdu.RINVDSTADR) == Rejected(Outcome.NUMBER_NOT_ASSIGNED)


@pytest.mark.parametrize("status", [pdu.RX_R_APPN, pdu.RX_P_APPN, pdu.RDELIVERYFAILURE])
def test_what_no_carrier_could_deliver_is_rejected(status: int) -> None:
    verdict = refusal_of(status)

    assert isinstance(verdict, Rejected)
    assert verdict.outcome is Outcome.UNDELIVERABLE


@pytest.mark.parametrize(
    "status",
    [
        pdu.RINVSRCADR,
        pdu.RINVMSGLEN,
        pdu.RINVSERTYP,
        pdu.RINVESMCLASS,
        pdu.RINVDCS,
        pdu.ROPTPARNOTALLWD,
        pdu.RINVCMDID,
        0x61,
        0x400,
        0xFFFFFFFF,
    ],
)
def test_all_else_is_between_us_and_this_carrier(status: int) -> None:
    verdict = refusal_of(status)

    assert isinstance(verdict, Declined)
    assert verdict.outcome is Outcome.UNDELIVERABLE
