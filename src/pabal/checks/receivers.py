"""Checks the receivers of a send and reports every bad one by its index."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pabal.checks.forms import Form
from pabal.domain import phone, text, variables
from pabal.domain.codes import Code, Problem, Refused, Text
from pabal.domain.sending import Receiver, check_reference
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
    bad_fields = {problem.field for problem in problems} if problems else set()
    found: list[Receiver] = []
    for index, receiver in enumerate(given):
        if len(problems) >= form.max_receiver_problems:
            break
        if bad_fields:  # the send is refused anyway; only find the other problems
            problems += _find_problems(index, receiver, check_text, bad_fields)
            continue
        checking = "phoneNumber"
        try:
            number = phone.parse_mobile(receiver.phoneNumber)
            checking = "content"
            values, own_text = check_text(receiver)
            reference = receiver.reference
            if reference is not None:
                checking = "reference"
                check_reference(reference)
            found.append(Receiver(number, values, own_text, reference))
        except Refused as refusal:
            problems += _find_problems(index, receiver, check_text, bad_fields, {checking: refusal})
    if problems:
        problems.sort(key=lambda problem: int(problem.field[len("receivers[") :].split("]")[0]))
        raise Refused.from_problems(problems, form.max_receiver_problems)
    return found


def _find_problems(
    index: int,
    receiver: Any,
    check_text: Callable[[Any], CheckedText],
    bad_fields: set[str],
    known: Mapping[str, Refused] = MappingProxyType({}),
) -> list[Problem]:
    """Return the problems of one receiver, without those in `bad_fields`; `known` ones are not searched again."""
    place = f"receivers[{index}]"
    if place in bad_fields:
        return []
    found: list[Problem] = []

    def attempt(field: str, work: Callable[[Any], Any], value: Any) -> None:
        if f"{place}.{field}" in bad_fields:
            return
        try:
            if field in known and value != "":
                raise known[field]
            if field != "content" or "reference" not in known:  # the text was checked before the reference
                work(value)
        except Refused as refusal:
            for code, _, detail in refusal.problems:
                at = "templateData" if field == "content" and code in _VALUE_CODES else field
                found.append(Problem(code, f"{place}.{at}", detail))

    attempt("phoneNumber", _check_phone_number, receiver.phoneNumber)
    if f"{place}.templateData" not in bad_fields:
        attempt("content", check_text, receiver)
    if receiver.reference is not None:
        attempt("reference", check_reference, receiver.reference)
    return found


_VALUE_CODES = (Code.MISSING_VARIABLE, Code.INVALID_PARAMETER, Code.INVALID_BUTTON)


def _check_phone_number(spelling: str) -> str:
    if not spelling:
        raise Refused(Code.MISSING_PARAMETER)
    return phone.parse_mobile(spelling)


def read_values(
    receiver: bodies.ReceiverBody, names: Sequence[str], clean: Callable[[str], str]
) -> tuple[str, ...]:
    """Return a receiver's values of these variables, normalized.

    Raises Refused: MISSING_VARIABLE, INVALID_PARAMETER, and what `clean` raises.
    """
    values = variables.collect_values(names, receiver.templateData)
    if len(values) > 1 and _is_clean("".join(values)):  # one look at all of them instead of one at each
        return tuple(values)
    return tuple([value if _is_clean(value) else clean(value) for value in values])


def _is_clean(value: str) -> bool:
    """Say whether a value, or several together, are certainly clean, as most are."""
    return value.isascii() and len(value) <= text.MAX_INPUT_CHARACTERS and "\0" not in value and "\r" not in value
