"""Campaigns to receivers that are known already: groups of the address book, and those that were not reached."""

from collections.abc import Sequence

from starlette.responses import Response

from pabal.console.send import draft as drafts
from pabal.console.send import send as send_page
from pabal.console.shell.form_fields import GROUP, ticked_ids
from pabal.console.shell.page_request import PageRequest
from pabal.console.upload.background_reading import (
    KnownReceiver,
    ReceiverSource,
    check_message,
    start_campaign,
)
from pabal.console.upload.row_validation import RowValidator
from pabal.domain.base import identifiers
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.people.contact import NAME_FIELDS, ContactGroup, values_of
from pabal.service.access.contacts import contacts
from pabal.service.sending.campaigns import copies

CONTACTS_PER_READ = 1000
MAX_NAMED_VARIABLES = 20
NO_GROUP = Text("보낼 그룹을 선택하세요.", "Choose the groups to send to.")


async def create_group_campaign(request: PageRequest) -> Response:
    """Begin a campaign to the contacts of the chosen groups."""
    try:
        groups = await _chosen_groups(request)
        start = await check_message(request)
        await _check_variables(request, start.validator)
    except Refused as refused:
        return await send_page.show_refused(request, drafts.read_draft(request.fields), refused)
    names = ", ".join(each.name for each in groups)
    return await start_campaign(request, start, names, _read_contacts(request, [each.id for each in groups]))


async def create_resend(request: PageRequest) -> Response:
    """Begin a campaign to the receivers that an earlier request or campaign did not reach.

    Raises Refused(REQUEST_NOT_FOUND), also for another account's.
    """
    sent_id = identifiers.parse_request_id(request.field("resends"))
    await copies.check_owner(request.context, request.account_id, sent_id)
    try:
        start = await check_message(request)
    except Refused as refused:
        return await send_page.show_refused(request, drafts.read_draft(request.fields), refused)
    return await start_campaign(request, start, request.t("send.resend.name"), _read_failed(request, sent_id))


async def _read_contacts(request: PageRequest, group_ids: Sequence[int]) -> ReceiverSource:
    after = 0
    while found := await contacts.list_some(
        request.context, request.account_id, group_ids, after, CONTACTS_PER_READ
    ):
        after = found[-1].id
        yield [KnownReceiver(each.phone, values_of(each)) for each in found]


async def _read_failed(request: PageRequest, sent_id: bytes | None) -> ReceiverSource:
    async for variables, failed in copies.iterate_failed(request.context, request.account_id, sent_id):
        yield [KnownReceiver(each.receiver, dict(zip(variables, each.values, strict=False))) for each in failed]


async def _chosen_groups(request: PageRequest) -> list[ContactGroup]:
    """Raises Refused(MISSING_PARAMETER) where no group of the account was chosen."""
    chosen = set(ticked_ids(request.fields, GROUP))
    _, groups = await contacts.get_book(request.context, request.account_id)
    found = [each for each in groups if each.id in chosen]
    if not found:
        raise Refused(Code.MISSING_PARAMETER, "receivers", NO_GROUP)
    return found


async def _check_variables(request: PageRequest, validator: RowValidator) -> None:
    """Raise Refused for variables that no field of the address book fills in."""
    book, _ = await contacts.get_book(request.context, request.account_id)
    missing = [name for name in validator.variables if name not in (*book.fields, *NAME_FIELDS)]
    if missing:
        listed = ", ".join(missing[:MAX_NAMED_VARIABLES])
        detail = Text(
            f"주소록에 없는 항목입니다: {listed}. 주소록에 항목을 추가하거나 변수를 바꾸세요.",
            f"The address book has no field for: {listed}. Add it there, or change the variable.",
        )
        raise Refused(Code.INVALID_PARAMETER, "receivers", detail)
