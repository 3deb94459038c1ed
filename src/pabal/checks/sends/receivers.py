"""Checks the receivers of a send and reports every bad one by its index."""

from collections.abc import Callable, Sequence
from typing import Any

from pabal.checks.body.forms import Form
from pabal.domain.base.codes import Code, Problem, Refused, Text
from pabal.domain.content import variables
from pabal.domain.people import phone
from pabal.domain.sends.sending import Receiver, check_reference
from pabal.models import bodies
from pabal.service.policy import Policy

CheckedText = tuple[tuple[str, ...], str | None]
"""A receiver's variable values, and its own text if it has one."""


def read_receivers(form: Form[Any], policy: Policy) -> list[Any]:
    """Return the receivers of a form; `raise_problems` reports if there are none or too many."""
    given: list[Any] | None = form.body.receivers
    if given is None or len(given) == 0:
        form.add(Problem(Code.MISSING_PARAMETER, "receivers"))
        return []
    if len(given) > policy.max_receivers:
        limit = policy.max_receivers
        detail = Text(
            f"한 번에 {limit:,}명까지 보낼 수 있는데 {len(given):,}명입니다.",
            f"The limit is {limit:,} receivers; there are {len(given):,}.",
        )
        form.add(Problem(Code.TOO_MANY_RECEIVERS, "receivers", detail))
    return given


def accept_unchanged(receiver: bodies.ReceiverBody) -> CheckedText:
    """Accept a receiver of a text without variables."""
    return (), None


def check_receivers(
    form: Form[Any], given: Sequence[Any], check_text: Callable[[Any], CheckedText]
) -> list[Receiver]:
    """Return the receivers, each with its variable values.

    Raises Refused naming every bad receiver, by index, up to `form.max_receiver_problems`.
    """
    problems: list[Problem] = []
    if form.problems:
        problems = [problem for problem in form.problems if problem.field.startswith("receivers[")]
    bad_fields = {problem.field for problem in problems}
    found: list[Receiver] = []
    for index, receiver in enumerate(given):
        if len(problems) >= form.max_receiver_problems:
            break
        if bad_fields:  # the send is refused anyway; only find the other problems
            problems += _find_problems(index, receiver, check_text, bad_fields)
            continue
        step = 0
        try:
            number = phone.parse_mobile(receiver.phoneNumber)
            step = 1
            values, own_text = check_text(receiver)
            reference = receiver.reference
            if reference is not None:
                step = 2
                check_reference(reference)
            found.append(Receiver(number, values, own_text, reference))
        except Refused as refusal:
            problems += _find_problems(index, receiver, check_text, bad_fields, step, refusal.problems)
    if problems:
        if bad_fields:
            problems.sort(key=lambda problem: int(problem.field[len("receivers[") :].split("]")[0]))
        raise Refused.from_problems([form.name_misspelt(each) for each in problems], form.max_receiver_problems)
    return found


_STEPS = (("phoneNumber",), ("content", "templateData"), ("reference",))
"""The fields of a receiver in the order of their checks; the last of each has the problems with values."""


def _find_problems(
    index: int,
    receiver: Any,
    check_text: Callable[[Any], CheckedText],
    bad_fields: set[str],
    first_step: int = 0,
    known: Sequence[Problem] = (),
) -> list[Problem]:
    """Return the problems of one receiver, without those in `bad_fields`.

    Its fields before `first_step` are good; `known` are the problems of that one, if they are known. They are not
    passed as a refusal: its traceback would refer to this frame, and thousands of cycles wait for the collector.
    """
    place = f"receivers[{index}]"
    if place in bad_fields:
        return []
    found: list[Problem] = []
    for step in range(first_step, len(_STEPS)):
        fields = _STEPS[step]
        if bad_fields and any(f"{place}.{field}" in bad_fields for field in fields):
            continue
        is_known = known and step == first_step and (step > 0 or receiver.phoneNumber)
        for code, _, detail in known if is_known else _problems_at(step, receiver, check_text):
            field = fields[-1] if code in _VALUE_CODES else fields[0]
            found.append(Problem(code, f"{place}.{field}", detail))
    return found


def _problems_at(step: int, receiver: Any, check_text: Callable[[Any], CheckedText]) -> Sequence[Problem]:
    """Return the problems of one field of a receiver."""
    try:
        if step == 0:
            _check_phone_number(receiver.phoneNumber)
        elif step == 1:
            check_text(receiver)
        elif receiver.reference is not None:
            check_reference(receiver.reference)
    except Refused as refusal:
        return refusal.problems
    return ()


_VALUE_CODES = (Code.MISSING_VARIABLE, Code.INVALID_PARAMETER, Code.INVALID_BUTTON)


def _check_phone_number(spelling: str) -> str:
    if not spelling:
        raise Refused(Code.MISSING_PARAMETER)
    return phone.parse_mobile(spelling)


def read_values(
    receiver: bodies.ReceiverBody, names: Sequence[str], clean: Callable[[Sequence[str]], Sequence[str]]
) -> tuple[str, ...]:
    """Return a receiver's values of these variables, normalized.

    Raises Refused: MISSING_VARIABLE, INVALID_PARAMETER, and what `clean` raises.
    """
    return tuple(clean(variables.collect_values(names, receiver.templateData)))
