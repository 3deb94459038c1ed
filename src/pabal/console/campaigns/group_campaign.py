"""Campaigns to receivers that are known already: groups of the address book, and those that were not reached."""

import logging
from collections import deque
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field

from starlette.responses import Response

from pabal.console.campaigns import campaign_message
from pabal.console.campaigns.campaign_file import FILE_REFUSED, MAX_FILE_NAME_CHARACTERS, STALE_AFTER
from pabal.console.campaigns.campaign_message import (
    UPLOAD_PATH,
    CampaignStart,
    campaign_audit_entry,
    check_message,
    store_campaign,
)
from pabal.console.campaigns.row_validation import FileValidation, RowValidator
from pabal.console.campaigns.upload import create_campaign
from pabal.console.send import draft as drafts
from pabal.console.send import send as send_page
from pabal.console.send import typed_receivers
from pabal.console.send.review import MAX_TYPED_RECEIVERS
from pabal.console.send.summary import FILE, find_edited
from pabal.console.sheets import sheet
from pabal.console.sheets.sheet import SheetRow
from pabal.console.shell.form_fields import GROUP, ticked_ids
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base import identifiers
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.base.dates import Instant
from pabal.domain.people import phone
from pabal.domain.people.contact import NAME_FIELDS, ContactGroup, values_of
from pabal.domain.sends.campaign import MAX_NAME_CHARACTERS, OPTED_OUT_ROW
from pabal.service.access.contacts import contacts
from pabal.service.errors import StoreUnavailable
from pabal.service.sending.campaigns import campaign_files, copies
from pabal.service.sending.campaigns.campaign_files import Campaign, FileFindings, FileSummary, InvalidRow
from pabal.service.sending.campaigns.copies import KnownReceiver
from pabal.service.sending.replace import NOT_WAITING

CONTACTS_PER_READ = 1000
MAX_NAMED_VARIABLES = 20
NO_GROUP = Text("보낼 그룹을 선택하세요.", "Choose the groups to send to.")
log = logging.getLogger("pabal.console")


ReceiverSource = AsyncIterator[Sequence[KnownReceiver]]


async def start_campaign(request: PageRequest, start: CampaignStart, name: str, source: ReceiverSource) -> Response:
    """Create a campaign, begin to validate its receivers, and show how far that has come."""
    at = request.minute(request.now)
    campaign_id = await store_campaign(request, start, f"{name[: MAX_NAME_CHARACTERS - len(at) - 1]} {at}")
    campaign = await campaign_files.get_campaign(request.context, request.account_id, campaign_id)
    started_at = await campaign_files.begin_reading(
        request.context,
        campaign,
        name[:MAX_FILE_NAME_CHARACTERS],
        start.skips_duplicates,
        request.now - STALE_AFTER,
        campaign_audit_entry(request, campaign, "file"),
    )
    assert started_at is not None, "nobody else knows this campaign yet"
    request.site.run_in_background(BackgroundReading(request, campaign, start, source, started_at).run())
    return request.redirect(f"{UPLOAD_PATH}/{campaign_id.hex()}")


@dataclass
class BackgroundReading:
    """Receivers on their way to be those of a campaign."""

    request: PageRequest
    campaign: Campaign
    start: CampaignStart
    source: ReceiverSource
    changed_at: Instant
    batches: deque[list[SheetRow]] = field(default_factory=deque)
    is_complete: bool = False
    row_number: int = 1

    async def run(self) -> None:
        """Validate all receivers, storing the result part by part; it stops where the campaign was discarded."""
        try:
            with self.request.site.file_checks.hold(self.campaign.account_id):
                await self._validate()
        except Refused as refused:
            await campaign_files.refuse_file(
                self.request.context, self.campaign, refused.problems, self.changed_at, self._next_change()
            )
        except StoreUnavailable:
            log.warning("the store is away; a campaign has to be begun again")

    async def _validate(self) -> None:
        references = sheet.REFERENCE_NAMES[:1] if self.start.edited else ()
        head = (sheet.PHONE_NAMES[0], *self.start.validator.variables, *references)
        validation = FileValidation(
            self._rows(),
            self.start.validator,
            columns=sheet.find_columns(head, self.start.validator.variables),
            skips_duplicates=self.start.skips_duplicates,
            has_names=False,
        )
        is_validated = False
        while not is_validated:
            excluded = await self._read_some()
            findings = await self.request.site.threads.run(validation.validate_next_rows)
            is_validated = findings is None
            await self._store(findings or FileFindings(None, [], 0), excluded)
        summary = FileSummary(validation.shared, head, ())
        await campaign_files.end_reading(
            self.request.context, self.campaign, summary, self.changed_at, self._next_change()
        )

    async def _read_some(self) -> list[InvalidRow]:
        """Read some receivers to validate; return those that want no advertising, if this is one."""
        if self.is_complete:
            return []
        found = await anext(self.source, None)
        self.is_complete = found is None
        unwilling: set[str] = set()
        draft, policy = self.start.draft, self.request.context.policy
        if found and (draft.is_ad or policy.sends_as_brand(draft.product)):
            phones = [each.phone for each in found]
            sender = phone.parse_sender(draft.texts["sender"]) if draft.product.is_text else ""
            unwilling = await contacts.find_opted_out(
                self.request.context, self.campaign.account_id, phones, sender
            )
        rows: list[SheetRow] = []
        excluded: list[InvalidRow] = []
        for each in found or ():
            self.row_number += 1
            references = (each.reference,) if self.start.edited else ()
            values = (each.values.get(name, "") for name in self.start.validator.variables)
            cells = (each.phone, *values, *references)
            if each.phone in unwilling:
                excluded.append(InvalidRow(self.row_number, cells, tuple(OPTED_OUT_ROW)))
            else:
                rows.append(SheetRow(self.row_number, cells))
        self.batches.append(rows)
        return excluded

    async def _store(self, findings: FileFindings, excluded: Sequence[InvalidRow]) -> None:
        if findings.block is None and not findings.invalid_rows and not excluded:
            return
        whole = findings._replace(invalid_rows=sorted([*findings.invalid_rows, *excluded]))
        now = self._next_change()
        if not await campaign_files.add_findings(self.request.context, self.campaign, whole, self.changed_at, now):
            raise Refused(Code.INVALID_STATE, "", FILE_REFUSED)
        self.changed_at = now

    def _rows(self) -> Iterator[list[SheetRow]]:
        """Yield the rows that were read; an empty list means that there are none yet."""
        while self.batches or not self.is_complete:
            yield self.batches.popleft() if self.batches else []

    def _next_change(self) -> Instant:
        return max(self.request.context.world.now(), self.changed_at + 1)


async def go_on(request: PageRequest) -> Response:
    """Go on with whoever was chosen: groups and typed receivers, those not reached before, or typed ones alone."""
    has_groups, has_typed = bool(ticked_ids(request.fields, GROUP)), bool(request.field("receivers"))
    if not has_groups and request.field("whom") == FILE and not has_typed:
        return await create_campaign(request)
    resends = "" if has_groups else request.field("resends")
    resent = identifiers.parse_request_id(resends)
    if resends:
        await copies.check_owner(request.context, request.account_id, resent)
    edited = await find_edited(request, drafts.read_draft(request.fields))
    try:
        if has_groups or (edited and has_typed and not resends):
            return await _create_group_campaign(request)
        if resends:
            source = _read_failed(request, resent)
            return await start_campaign(
                request, await check_message(request), request.t("send.resend.name"), source
            )
        if edited:
            return await _create_edit(request, edited)
    except Refused as refused:
        return await send_page.show_refused(request, refused)
    return await send_page.show_confirmation(request)


async def _create_group_campaign(request: PageRequest) -> Response:
    """Begin a campaign to the contacts of the chosen groups, and to typed receivers, if there are any."""
    groups = await _chosen_groups(request) if ticked_ids(request.fields, GROUP) else []
    start = await check_message(request)
    typed = _typed_receivers(start)
    if groups:
        await _check_variables(request, start.validator)
    names = ", ".join([*(each.name for each in groups), *([request.t("send.receivers.too")] if typed else [])])
    return await start_campaign(request, start, names, _read_all(request, typed, [each.id for each in groups]))


def _typed_receivers(start: CampaignStart) -> list[KnownReceiver]:
    """Return the receivers that were typed besides; raises Refused(TOO_MANY_RECEIVERS)."""
    found = typed_receivers.read_receivers(
        start.draft.texts["receivers"],
        start.validator.variables,
        MAX_TYPED_RECEIVERS,
        skips_duplicates=True,
        chosen=start.draft.columns,
    )
    if found.total > MAX_TYPED_RECEIVERS:
        detail = typed_receivers.describe_too_many(MAX_TYPED_RECEIVERS, found.total)
        raise Refused(Code.TOO_MANY_RECEIVERS, "receivers", detail)
    return [
        KnownReceiver(typed_receivers.normalize_number(each.phone_number), each.values) for each in found.entries
    ]


async def _create_edit(request: PageRequest, edited: Campaign) -> Response:
    """Begin a campaign to the receivers of one that has not begun, whose place it takes when it is sent."""
    if not campaign_message.is_editable(edited, request.now):
        raise Refused(Code.INVALID_STATE, "", NOT_WAITING)
    start = (await check_message(request))._replace(edited=edited)
    source = copies.iterate_receivers(request.context, edited)
    return await start_campaign(request, start, edited.file_name or edited.name, source)


async def _read_all(request: PageRequest, typed: list[KnownReceiver], group_ids: Sequence[int]) -> ReceiverSource:
    yield typed
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
    _, groups = await request.context.store.read(contacts.get_book, request.account_id)
    found = [each for each in groups if each.id in chosen]
    if not found:
        raise Refused(Code.MISSING_PARAMETER, "receivers", NO_GROUP)
    return found


async def _check_variables(request: PageRequest, validator: RowValidator) -> None:
    """Raise Refused for variables that no field of the address book fills in."""
    book, _ = await request.context.store.read(contacts.get_book, request.account_id)
    missing = [name for name in validator.variables if name not in (*book.fields, *NAME_FIELDS)]
    if missing:
        listed = ", ".join(missing[:MAX_NAMED_VARIABLES])
        detail = Text(
            f"주소록에 없는 항목입니다: {listed}. 주소록에 항목을 추가하거나 변수를 바꾸세요.",
            f"The address book has no field for: {listed}. Add it there, or change the variable.",
        )
        raise Refused(Code.INVALID_PARAMETER, "receivers", detail)
