"""Campaigns to groups of the address book: their contacts are validated in the background, as a file's rows are."""

import logging
from collections import deque
from collections.abc import Iterator, Sequence

from starlette.responses import Response

from pabal.console.send import draft as drafts
from pabal.console.send import kept_draft
from pabal.console.send import send as send_page
from pabal.console.send.draft import MessageDraft
from pabal.console.send.review import ad_problems
from pabal.console.shell.chosen import GROUP, chosen_ids
from pabal.console.shell.page_request import PageRequest
from pabal.console.upload import row_validation, sheet
from pabal.console.upload.campaign_file import FILE_REFUSED, MAX_FILE_NAME_CHARACTERS, STALE_AFTER
from pabal.console.upload.campaign_message import UPLOAD_PATH, campaign_audit_entry
from pabal.console.upload.row_validation import FileValidation, RowValidator
from pabal.console.upload.sheet import SheetRow
from pabal.domain import phone
from pabal.domain.campaign import MAX_NAME_CHARACTERS
from pabal.domain.codes import Code, Refused, Text
from pabal.domain.contact import NAME_FIELDS, Contact, ContactGroup, values_of
from pabal.domain.dates import Instant
from pabal.service.access import contacts
from pabal.service.errors import StoreUnavailable
from pabal.service.sending import campaign_files
from pabal.service.sending import campaigns as campaign_service
from pabal.service.sending.campaign_files import Campaign, CampaignDraft, FileSummary, InvalidRow
from pabal.world import new_request_id

CONTACTS_PER_READ = 1000
NO_GROUP = Text("보낼 그룹을 선택하세요.", "Choose the groups to send to.")
OPTED_OUT = Text("광고를 수신거부한 번호입니다.", "The number has opted out of advertising.")

log = logging.getLogger("pabal.console")


async def create_group_campaign(request: PageRequest) -> Response:
    """Store the message, begin to validate the contacts of the chosen groups, and show how far that has come."""
    draft = drafts.read_draft(request.fields)
    kept = await kept_draft.keep(request, draft)
    try:
        groups = await _chosen_groups(request)
        if problems := ad_problems(draft):
            raise Refused.from_problems(problems)
        message = row_validation.message_from_draft(draft)._replace(draft=kept.form)
        validator = await row_validation.create_validator(request.context, request.account_id, message)
        await _check_variables(request, validator)
    except Refused as refused:
        return await send_page.show_refused(request, draft, refused)
    campaign_id = new_request_id(request.context.world, 0)
    names = ", ".join(each.name for each in groups)
    name = f"{names} {request.locale.format_timestamp(request.now)[:16]}"[-MAX_NAME_CHARACTERS:]
    new = CampaignDraft(
        campaign_id, request.account_id, request.user.id, draft.product.code, name, message.to_json()
    )
    await campaign_service.create(request.context, new, request.audit_entry("campaign.begin", campaign_id.hex()))
    campaign = await campaign_files.get_campaign(request.context, request.account_id, campaign_id)
    started_at = await campaign_files.begin_reading(
        request.context,
        campaign,
        names[:MAX_FILE_NAME_CHARACTERS],
        True,
        request.now - STALE_AFTER,
        campaign_audit_entry(request, campaign, "file"),
    )
    assert started_at is not None, "nobody else knows this campaign yet"
    reading = GroupReading(request, campaign, draft, validator, [each.id for each in groups], started_at)
    request.site.run_in_background(reading.run())
    return request.redirect(f"{UPLOAD_PATH}/{campaign_id.hex()}")


class GroupReading:
    """The contacts of groups, on their way to be the receivers of a campaign."""

    def __init__(
        self,
        request: PageRequest,
        campaign: Campaign,
        draft: MessageDraft,
        validator: RowValidator,
        group_ids: Sequence[int],
        started_at: Instant,
    ) -> None:
        self._request = request
        self._context = request.context
        self._campaign = campaign
        self._validator = validator
        self._group_ids = group_ids
        self._changed_at = started_at
        self._batches: deque[list[SheetRow]] = deque()
        self._is_complete = False
        self._row_number = 1
        policy = request.context.policy
        self._is_ad = draft.is_ad or policy.sends_as_brand(draft.product)
        self._sender = phone.parse_sender(draft.texts["sender"]) if draft.product.is_text else ""

    async def run(self) -> None:
        """Validate all contacts, storing the result part by part; it stops where the campaign was discarded."""
        try:
            with self._request.site.file_checks.hold(self._campaign.account_id):
                await self._validate()
        except Refused as refused:
            await campaign_files.refuse_file(
                self._context, self._campaign, refused.problems, self._changed_at, self._next_change()
            )
        except StoreUnavailable:
            log.warning("the store is away; a campaign to groups has to be begun again")

    async def _validate(self) -> None:
        context, campaign = self._context, self._campaign
        head = SheetRow(1, (sheet.PHONE_NAMES[0], *self._validator.variables))
        self._batches.append([head])
        validation = FileValidation(self._rows(), self._validator, skips_duplicates=True)
        after = 0
        while True:
            found: list[Contact] = []
            if not self._is_complete:
                found = await contacts.list_some(
                    context, campaign.account_id, self._group_ids, after, CONTACTS_PER_READ
                )
                self._is_complete = not found
                after = found[-1].id if found else after
            excluded = await self._add_rows(found)
            findings = await self._request.site.threads.run(validation.validate_next_rows)
            if findings is None and not excluded:
                break
            if findings is None:
                findings = campaign_files.FileFindings(None, [], 0)
            if findings.block is None and not findings.invalid_rows and not excluded:
                continue
            whole = findings._replace(invalid_rows=sorted([*findings.invalid_rows, *excluded]))
            now = self._next_change()
            if not await campaign_files.add_findings(context, campaign, whole, self._changed_at, now):
                raise Refused(Code.INVALID_STATE, "", FILE_REFUSED)
            self._changed_at = now
        summary = FileSummary(validation.shared, head.cells, ())
        await campaign_files.end_reading(context, campaign, summary, self._changed_at, self._next_change())

    async def _add_rows(self, found: Sequence[Contact]) -> list[InvalidRow]:
        """Add contacts as rows to validate; return those that want no advertising, if this is one."""
        unwilling: set[str] = set()
        if self._is_ad and found:
            phones = [each.phone for each in found]
            unwilling = await contacts.find_opted_out(
                self._context, self._campaign.account_id, phones, self._sender
            )
        rows: list[SheetRow] = []
        excluded: list[InvalidRow] = []
        for each in found:
            self._row_number += 1
            values = values_of(each)
            cells = (each.phone, *(values.get(name, "") for name in self._validator.variables))
            if each.phone in unwilling:
                excluded.append(InvalidRow(self._row_number, cells, tuple(OPTED_OUT)))
            else:
                rows.append(SheetRow(self._row_number, cells))
        self._batches.append(rows)
        return excluded

    def _rows(self) -> Iterator[list[SheetRow]]:
        """Yield the rows that were read; an empty list means that there are none yet."""
        while self._batches or not self._is_complete:
            yield self._batches.popleft() if self._batches else []

    def _next_change(self) -> Instant:
        return max(self._context.world.now(), self._changed_at + 1)


async def _chosen_groups(request: PageRequest) -> list[ContactGroup]:
    """Raises Refused(MISSING_PARAMETER) where no group of the account was chosen."""
    chosen = set(chosen_ids(request.fields, GROUP))
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
        listed = ", ".join(missing[:20])
        detail = Text(
            f"주소록에 없는 항목입니다: {listed}. 주소록에 항목을 추가하거나 변수를 바꾸세요.",
            f"The address book has no field for: {listed}. Add it there, or change the variable.",
        )
        raise Refused(Code.INVALID_PARAMETER, "receivers", detail)
