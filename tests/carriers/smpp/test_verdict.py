import pytest

from pabal.carriers.base import Busy, Declined, Rejected
from pabal.carriers.smpp import protocol
from pabal.carriers.smpp.verdict import verdict_for_status
from pabal.domain.message import Outcome


@pytest.mark.parametrize(
    "status",
    [
        protocol.RTHROTTLED,
        protocol.RMSGQFUL,
        protocol.RSYSERR,
        protocol.RSUBMITFAIL,
        protocol.RX_T_APPN,
        protocol.RUNKNOWNERR,
    ],
)
def test_what_may_pass_is_tried_again(status: int) -> None:
    assert verdict_for_status(status) == Busy()


@pytest.mark.parametrize(
    "status", [protocol.RINVBNDSTS, protocol.RALYBND, protocol.RBINDFAIL, protocol.RINVPASWD, protocol.RINVSYSID]
)
def test_what_is_wrong_with_the_session_is_no_fault_of_the_message(status: int) -> None:
    assert isinstance(verdict_for_status(status), Busy)


def test_a_wrong_receiver_is_a_number_not_assigned() -> None:
    assert verdict_for_status(protocol.RINVDSTADR) == Rejected(Outcome.NUMBER_NOT_ASSIGNED)


@pytest.mark.parametrize("status", [protocol.RX_R_APPN, protocol.RX_P_APPN, protocol.RDELIVERYFAILURE])
def test_what_no_carrier_could_deliver_is_rejected(status: int) -> None:
    verdict = verdict_for_status(status)

    assert isinstance(verdict, Rejected)
    assert verdict.outcome is Outcome.UNDELIVERABLE


@pytest.mark.parametrize(
    "status",
    [
        protocol.RINVSRCADR,
        protocol.RINVMSGLEN,
        protocol.RINVSERTYP,
        protocol.RINVESMCLASS,
        protocol.RINVDCS,
        protocol.ROPTPARNOTALLWD,
        protocol.RINVCMDID,
        0x61,
        0x400,
        0xFFFFFFFF,
    ],
)
def test_all_else_is_between_us_and_this_carrier(status: int) -> None:
    verdict = verdict_for_status(status)

    assert isinstance(verdict, Declined)
    assert verdict.outcome is Outcome.UNDELIVERABLE
