import pytest

from pabal.carriers.base import Busy, Declined, Rejected, Verdict, code_of
from pabal.carriers.smpp import protocol
from pabal.carriers.smpp.batch import VERDICTS, verdict_for_status
from pabal.domain.sends.message import Outcome

DECLINED = Declined(Outcome.UNDELIVERABLE)
EXPECTED: dict[Verdict, tuple[int, ...]] = {
    Busy(): (
        *(protocol.RTHROTTLED, protocol.RMSGQFUL, protocol.RSYSERR, protocol.RSUBMITFAIL, protocol.RX_T_APPN),
        *(protocol.RINVBNDSTS, protocol.RALYBND, protocol.RBINDFAIL, protocol.RINVPASWD, protocol.RINVSYSID),
        protocol.RUNKNOWNERR,
    ),
    Rejected(Outcome.NUMBER_NOT_ASSIGNED): (protocol.RINVDSTADR,),
    Rejected(Outcome.UNDELIVERABLE): (protocol.RX_R_APPN, protocol.RX_P_APPN, protocol.RDELIVERYFAILURE),
    DECLINED: (
        protocol.RINVSRCADR,
        protocol.RINVMSGLEN,
        protocol.RINVCMDID,
        protocol.RINVDCS,
        0x61,
        0x400,
        0xFFFFFFFF,
    ),
}


@pytest.mark.parametrize(
    ("status", "verdict"), [(status, verdict) for verdict, statuses in EXPECTED.items() for status in statuses]
)
def test_status_has_its_verdict_and_is_its_code(status: int, verdict: Verdict) -> None:
    assert verdict_for_status(status) == verdict
    assert code_of(verdict_for_status(status)) == f"0x{status:08X}"


def test_every_status_but_those_about_this_operator_is_tested() -> None:
    assert set(VERDICTS) == {status for verdict, some in EXPECTED.items() if verdict != DECLINED for status in some}
