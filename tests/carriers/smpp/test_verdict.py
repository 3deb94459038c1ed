import pytest

from pabal.carriers.base import Busy, Declined, Rejected
from pabal.carriers.smpp import protocol
from pabal.carriers.smpp.batch import verdict_for_status
from pabal.domain.sends.message import Outcome


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
def test_temporary_errors_are_busy(status: int) -> None:
    assert verdict_for_status(status) == Busy()


@pytest.mark.parametrize(
    "status", [protocol.RINVBNDSTS, protocol.RALYBND, protocol.RBINDFAIL, protocol.RINVPASWD, protocol.RINVSYSID]
)
def test_session_errors_are_busy(status: int) -> None:
    assert isinstance(verdict_for_status(status), Busy)


def test_invalid_destination_is_number_not_assigned() -> None:
    assert verdict_for_status(protocol.RINVDSTADR) == Rejected(Outcome.NUMBER_NOT_ASSIGNED)


@pytest.mark.parametrize("status", [protocol.RX_R_APPN, protocol.RX_P_APPN, protocol.RDELIVERYFAILURE])
def test_permanent_errors_are_rejected(status: int) -> None:
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
def test_other_errors_are_declined(status: int) -> None:
    verdict = verdict_for_status(status)

    assert isinstance(verdict, Declined)
    assert verdict.outcome is Outcome.UNDELIVERABLE
