"""The columns of a receiver file: which holds the number, and which each variable."""

from collections.abc import Mapping, Sequence
from typing import BinaryIO

from starlette.responses import Response

from pabal.console.sheets import mapping, sheet
from pabal.console.sheets.mapping import FIELD, IGNORE, PHONE, REFERENCE, FileHead
from pabal.console.sheets.sheet import Columns
from pabal.console.shell.page_request import PageRequest
from pabal.console.upload.campaign_message import get_campaign, load_validator
from pabal.domain.base.codes import Code, Refused, Text


async def show_columns(request: PageRequest) -> Response:
    """Answer with the columns of the chosen file, each with what it seems to hold, to be changed."""
    campaign = await get_campaign(request)
    variables: tuple[str, ...] = ()
    head, problem = None, ""
    try:
        variables = (await load_validator(request, campaign)).variables
        file = request.files.get("file")
        if file is None or not file.name:
            raise Refused(Code.MISSING_PARAMETER, "file")
        head = await request.site.threads.run(read_head, file.stream, variables)
    except Refused as refused:
        problem = refused.problems[0].message(request.locale.language)
    return request.render(
        "shell/columns.html",
        head=head,
        problem=problem,
        missing=_missing(request, head, variables) if head else [],
        roles=[
            (IGNORE, request.t("columns.ignore")),
            (PHONE, request.t("columns.phone")),
            *((f"{FIELD}{name}", f"#{{{name}}}") for name in variables),
            (REFERENCE, request.t("columns.reference")),
        ],
    )


def _missing(request: PageRequest, head: FileHead, variables: Sequence[str]) -> list[str]:
    """Return what no column seems to hold, as a user reads it."""
    held = {each.role for each in head.columns}
    missing = [name for name in variables if f"{FIELD}{name}" not in held]
    return [*([] if PHONE in held else [request.t("columns.phone")]), *missing[: sheet.MAX_SHOWN_NAMES]]


def read_head(file: BinaryIO, variables: Sequence[str]) -> FileHead:
    """Return the columns of a file, with what each seems to hold; without names, variables stand in their order.

    Raises Refused as `mapping.read_head` does.
    """
    by_spelling = {mapping.spelled(name): name for name in reversed(variables)}
    left = list(variables)

    def guess(name: str, samples: Sequence[str], has_names: bool) -> str:
        if not has_names:
            is_phone = bool(samples) and all(map(mapping.is_number, samples))
            return PHONE if is_phone else f"{FIELD}{left.pop(0)}" if left else IGNORE
        bare = name[2:-1] if name.startswith("#{") and name.endswith("}") else name
        found = bare if bare in variables else by_spelling.get(mapping.spelled(bare))
        if found is not None:
            return f"{FIELD}{found}"
        if mapping.is_phone_name(bare):
            return PHONE
        return REFERENCE if mapping.spelled(bare) in sheet.REFERENCE_NAMES else IGNORE

    return mapping.read_head(file, guess)


def read_columns(form: Mapping[str, str], head: FileHead, variables: Sequence[str]) -> Columns | None:
    """Return which column holds what, as it was chosen; None where nothing was.

    Named columns get the names that are needed, so that rows which are corrected can be uploaded as they are.
    Raises Refused(INVALID_PARAMETER) where a variable has no column, and as `mapping.check_roles` does.
    """
    roles = mapping.chosen_roles(form, head.columns)
    if roles is None:
        return None
    mapping.check_roles(roles)
    values = {name: roles.index(f"{FIELD}{name}") for name in variables if f"{FIELD}{name}" in roles}
    missing = [name for name in variables if name not in values]
    if missing:
        listed = ", ".join(missing[: sheet.MAX_SHOWN_NAMES])
        detail = Text(f"변수에 연결할 열을 고르세요: {listed}.", f"Choose columns for these variables: {listed}.")
        raise Refused(Code.INVALID_PARAMETER, "columns", detail)
    own = {PHONE: sheet.PHONE_NAMES[0], REFERENCE: sheet.REFERENCE_NAMES[0]}
    used = {*values.values(), roles.index(PHONE)}
    names = tuple(
        own.get(role) or (role.removeprefix(FIELD) if place in used else each.name)
        for place, (role, each) in enumerate(zip(roles, head.columns, strict=True))
    )
    reference = roles.index(REFERENCE) if REFERENCE in roles else None
    unused = tuple(each.name for role, each in zip(roles, head.columns, strict=True) if not role and each.name)
    return Columns(names, roles.index(PHONE), reference, values, unused)
