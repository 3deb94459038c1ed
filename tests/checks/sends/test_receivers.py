import gc

import pytest

from pabal.checks.body.forms import Form
from pabal.checks.sends.receivers import accept_unchanged, check_receivers
from pabal.domain.base.codes import Code, Problem, Refused
from pabal.models import bodies


def find_problems(given: list[bodies.ReceiverBody], *known: Problem) -> list[tuple[str, Code]]:
    try:
        check_receivers(Form(bodies.NoFields(), list(known)), given, accept_unchanged)
    except Refused as refusal:
        return [(problem.field, problem.code) for problem in refusal.problems]
    return []


@pytest.mark.parametrize(
    ("phone_number", "reference", "problems"),
    [
        ("010-1234-5678", None, []),
        ("010-1234-5678", "x" * 65, [("reference", Code.INVALID_PARAMETER)]),
        ("1", None, [("phoneNumber", Code.INVALID_PHONE_NUMBER)]),
        ("", None, [("phoneNumber", Code.MISSING_PARAMETER)]),
        ("", "x" * 65, [("phoneNumber", Code.MISSING_PARAMETER), ("reference", Code.INVALID_PARAMETER)]),
    ],
)
def test_every_problem_of_a_receiver_is_found(
    phone_number: str, reference: str | None, problems: list[tuple[str, Code]]
) -> None:
    given = bodies.ReceiverBody(phoneNumber=phone_number, reference=reference)

    assert find_problems([given]) == [(f"receivers[0].{field}", code) for field, code in problems]


def test_known_problems_are_reported_once_and_in_the_order_of_receivers() -> None:
    given = [bodies.ReceiverBody(phoneNumber="1"), bodies.ReceiverBody(phoneNumber="1", reference="x" * 65)]
    known = Problem(Code.INVALID_PARAMETER, "receivers[1].phoneNumber")

    assert find_problems(given, known) == [
        ("receivers[0].phoneNumber", Code.INVALID_PHONE_NUMBER),
        ("receivers[1].phoneNumber", Code.INVALID_PARAMETER),
        ("receivers[1].reference", Code.INVALID_PARAMETER),
    ]


def test_bad_receivers_leave_nothing_to_the_garbage_collector() -> None:
    """A file has thousands of them: cycles through their tracebacks cost more than the checks."""
    given = [bodies.ReceiverBody(phoneNumber="1", reference="x" * 65)] * 20
    gc.collect()
    gc.disable()

    try:
        problems = find_problems(given)
        garbage = gc.collect()
    finally:
        gc.enable()

    assert (len(problems), garbage) == (40, 0)
