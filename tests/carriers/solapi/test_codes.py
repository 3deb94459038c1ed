"""Solapi's codes: what each status code and each error of a call leads to."""

import pytest

from pabal.carriers.base import Busy, Declined, Rejected, Verdict
from pabal.carriers.solapi.client import SolapiError
from pabal.carriers.solapi.codes import CallError, call_error_of, is_pending, outcome_of, verdict_for
from pabal.domain.sends.message import Outcome


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        ("1024", Busy()),
        ("1030", Busy()),
        ("1061", Rejected(Outcome.REFUSED_BY_RECEIVER)),
        ("1064", Rejected(Outcome.SPAM)),
        ("1043", Rejected(Outcome.DIFFERS_FROM_TEMPLATE)),
        ("1029", Declined(Outcome.UNDELIVERABLE)),
        ("1062", Declined(Outcome.UNDELIVERABLE)),
        ("1011", Declined(Outcome.CARRIER_ERROR)),
        ("9999", Declined(Outcome.UNDELIVERABLE)),
    ],
)
def test_refused_message_gets_its_verdict(code: str, verdict: Verdict) -> None:
    assert verdict_for(code) == verdict


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        ("4000", Outcome.DELIVERED),
        ("3031", Outcome.UNDELIVERABLE),
        ("a new one", Outcome.UNDELIVERABLE),
    ],
)
def test_result_has_its_outcome(code: str, outcome: Outcome) -> None:
    assert outcome_of(code) is outcome
    assert not is_pending(code)


@pytest.mark.parametrize("code", ["2000", "3000", "", None])
def test_accepted_message_has_no_result_yet(code: str | None) -> None:
    assert is_pending(code)


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (403, "InvalidAPIKey", CallError.ACCOUNT_CLOSED),
        (403, "SignatureDoesNotMatch", CallError.ACCOUNT_CLOSED),
        (403, "RequestTimeTooSkewed", CallError.ACCOUNT_CLOSED),
        (403, "DuplicatedSignature", CallError.NOT_NOW),
        (403, "InvalidApiKey", CallError.ACCOUNT_CLOSED),
        (400, "1020", CallError.ACCOUNT_CLOSED),
        (401, "a new one", CallError.ACCOUNT_CLOSED),
        (403, "a new one", CallError.MAY_BE_THE_ACCOUNT),
        (404, "ResourceNotFound", CallError.MAY_BE_THE_ACCOUNT),
        (400, "1030", CallError.BUSY),
        (402, "NotEnoughBalance", CallError.BUSY),
        (413, "RecipientsTooMany", CallError.MAY_BE_ONE_MESSAGE),
        (400, "ValidationError", CallError.MAY_BE_ONE_MESSAGE),
    ],
)
def test_error_of_a_call_has_its_meaning(status: int, code: str, kind: CallError) -> None:
    assert call_error_of(SolapiError(status, code, "오류")) is kind


def test_error_shows_no_message_and_no_strange_code() -> None:
    shown = [str(SolapiError(400, code, "01012345678 님께")) for code in ("ValidationError", "010 12345678", "")]

    assert shown == ["Solapi says ValidationError", "Solapi says HTTP 400", "Solapi says HTTP 400"]
