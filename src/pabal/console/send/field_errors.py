"""What is wrong with the fields of the send page, said at each of them in one sentence."""

import re
from collections.abc import Collection, Sequence

from pabal.console.send.attachment_form import label_of
from pabal.console.shell.page_request import PageRequest
from pabal.console.shell.problem_texts import add_object_particle, is_missing
from pabal.domain.base.codes import Problem
from pabal.domain.brand.report import NO_VARIABLES
from pabal.domain.brand.rules import ONE_DISCOUNT
from pabal.domain.content import button

_OF_IMAGE = re.compile(r"images?[.\[]|images$")


def errors_by_field(
    request: PageRequest, problems: Sequence[Problem], shown: Collection[str] = ()
) -> dict[str, str]:
    """Return the first error of each form field; errors that belong to no field are shown at the top.

    `shown` are the fields that the form has.
    """
    told: dict[str, str] = {}
    for each in problems:
        field = "receivers" if each.field.startswith("receivers[") else each.field
        if field.startswith("attachment.") and field not in shown:  # told with its place
            told.setdefault("attachment", f"{field}: {request.tell(each)}")
            continue
        field = "image" if _OF_IMAGE.match(field) else field
        told.setdefault(field, _sentence(request, each, field))
    return told


def _sentence(request: PageRequest, problem: Problem, field: str) -> str:
    if is_missing(problem) and problem.detail in (None, button.REQUIRED):
        if field == "receivers":
            return request.t("send.receivers.none")
        if field in ("senderKey", "templateCode"):
            return request.t(f"send.missing.{field}")
    if field.startswith("attachment."):
        return _sentence_of_part(request, problem, request.t(label_of(field)))
    return request.tell(problem)


def _sentence_of_part(request: PageRequest, problem: Problem, label: str) -> str:
    """Return what is wrong with a part of a brand message, by its label: its name in the API says nothing here."""
    if is_missing(problem) and problem.detail in (None, button.REQUIRED):
        word = add_object_particle(label) if request.locale.language == "ko" else label
        return request.t("send.missing", label=word)
    if problem.detail == NO_VARIABLES:
        return request.t("attach.no_variables", label=label)
    if problem.detail == ONE_DISCOUNT:
        return request.t("attach.one_discount")
    return f"{label}: {request.tell(problem)}"
