"""Validates a file of receivers part by part, by the rules of the API."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from typing import Any

import msgspec

from pabal.checks.body import forms
from pabal.checks.body.forms import Form
from pabal.checks.sends.alimtalk import check_alimtalk_fields
from pabal.checks.sends.brand import check_brand_fields
from pabal.checks.sends.friendtalk import check_friendtalk_fields
from pabal.checks.sends.text_messages import check_text_message
from pabal.console.send import preview
from pabal.console.send.campaign_body import CampaignMessage
from pabal.console.send.draft import ALIMTALK, BRAND, FRIENDTALK, KINDS, LMS, draft_from_body
from pabal.console.sheets import sheet
from pabal.console.sheets.sheet import Columns, SheetRow
from pabal.console.shell.problem_texts import RECEIVER_FIELD, group_by_receiver, spell_problem
from pabal.domain.base.codes import Code, Problem, Refused, Text
from pabal.domain.base.dates import Instant
from pabal.domain.content import variables
from pabal.domain.kakao.profile import Profile
from pabal.domain.kakao.template import TemplateContent
from pabal.domain.sends.campaign import MAX_BLOCK_RECEIVERS, describe_duplicate
from pabal.domain.sends.sending import Receiver, Sending, encode_shared
from pabal.models import bodies
from pabal.service.context import Context
from pabal.service.policy import Policy
from pabal.service.sending.campaigns import campaigns as service
from pabal.service.sending.campaigns.campaign_files import FileFindings, InvalidRow, ReceiverBlock
from pabal.service.sending.preconditions import get_usable_profile, get_usable_template

BATCHES_PER_TURN = 16
"""How much of a file is read before other work runs: 1 MiB of an Excel file, 8,000 lines of CSV."""
MAX_BLOCK_PROBLEMS = 10 * MAX_BLOCK_RECEIVERS
"""All problems of a block are found at once: a receiver has few, and starting again would check good rows twice."""
_Sentences = dict[Problem, Text]
"""The sentences of problems, without the receiver's place: thousands of rows have the same."""
_PLACEHOLDER_NUMBER = "01000000000"
"""A receiver to validate the message with; problems of the receiver itself are ignored."""


class RowValidator:
    """Validates receivers of one message; it awaits nothing, so it can run in a thread."""

    def __init__(
        self,
        message: CampaignMessage,
        policy: Policy,
        now: Instant,
        profile: Profile | None,
        design: TemplateContent | None,
        opt_out_number: str = "",
    ) -> None:
        """`opt_out_number` is the default number for opting out of advertisements."""
        self._message = message
        self._opt_out_number = opt_out_number
        self._policy = policy
        self._now = now
        self._profile = profile
        self._design = design
        form = forms.parse_fields(KINDS[message.kind].shape, {**message.fields, "receivers": []})
        self._body: Any = form.body
        self._problems = form.problems
        draft = draft_from_body({**message.fields, "kind": message.kind})
        shown = preview.compose_message(draft, design, policy, opt_out_number)
        self.product = draft.product
        """The product that each receiver gets."""
        self.variables = (
            variables.find_names(shown.content, shown.subject) if draft.product.is_text else shown.variables
        )
        self.subject_and_content = ("" if design else shown.subject, shown.content)
        """Subject and content, with variables and the marks of an advertisement."""
        self.block_size = min(MAX_BLOCK_RECEIVERS, policy.max_receivers)
        self.upgraded: RowValidator | None = None
        """Validates those receivers whose SMS would be too long, where they get an LMS instead."""

    def without_keys(self) -> "RowValidator":
        """Return the same for another process, which gets no keys."""
        found = copy(self)
        found._policy = self._policy.without_keys()
        found.upgraded = self.upgraded.without_keys() if self.upgraded else None
        return found

    @property
    def sender(self) -> str:
        """The sender that receivers see: a channel, or a number as it was typed."""
        return self._profile.channel_id if self._profile else getattr(self._body, "sender", None) or ""

    def validate_receivers(self, receivers: Sequence[bodies.ReceiverBody]) -> Sending:
        """Return the validated send to these receivers.

        Raises Refused as the API does.
        """
        kind, policy, now = self._message.kind, self._policy, self._now
        body = msgspec.structs.replace(self._body, receivers=receivers)
        form: Form[Any] = Form(body, list(self._problems), MAX_BLOCK_PROBLEMS)
        if kind == ALIMTALK:
            assert self._profile is not None
            assert self._design is not None
            return check_alimtalk_fields(form, policy, now).complete(self._profile, self._design)
        if kind in (FRIENDTALK, BRAND):
            assert self._profile is not None
            check = check_friendtalk_fields if kind == FRIENDTALK else check_brand_fields
            return check(form, policy, now)._replace(profile_id=self._profile.id)
        return check_text_message(KINDS[kind].product, form, policy, now, self._opt_out_number)

    @property
    def _receiver_type(self) -> type[bodies.ReceiverBody]:
        has_own_texts = self._message.kind in (FRIENDTALK, BRAND)
        return bodies.FriendtalkReceiverBody if has_own_texts else bodies.ReceiverBody

    def check_message(self) -> None:
        """Raise Refused for problems of the message itself, whoever receives it."""
        receiver = self._receiver_type
        given = receiver(phoneNumber=_PLACEHOLDER_NUMBER, templateData=dict.fromkeys(self.variables, ""))
        try:
            self.validate_receivers([given])
        except Refused as refused:
            found = [each for each in refused.problems if not each.field.startswith(RECEIVER_FIELD)]
            if found:
                raise Refused.from_problems(found) from None

    def row_to_receiver(self, row: SheetRow, columns: Columns) -> bodies.ReceiverBody:
        """Return a row as a receiver of the API; an empty cell is no value."""
        return self._receiver_type(
            phoneNumber=sheet.restore_phone_number(row.cell(columns.phone)),
            templateData={name: row.cell(place) for name, place in columns.values.items() if row.cell(place)},
            reference=(row.cell(columns.reference) or None) if columns.reference is not None else None,
        )

    def find_faulty_cells(self, row: SheetRow, columns: Columns) -> set[int]:
        """Return which cells of a row cannot be sent, as far as one of them is the reason."""
        if columns.formula_error(row):
            return {place for place, cell in enumerate(row.cells) if cell == columns.formula_error(row)}
        found: set[int] = set()
        try:
            self.validate_receivers([self.row_to_receiver(row, columns)])
        except Refused as refused:
            for each in refused.problems:
                if each.field.endswith("phoneNumber"):
                    found.add(columns.phone)
                elif each.code is Code.MISSING_VARIABLE:
                    found |= {at for at in columns.values.values() if not row.cell(at)}
        return found or {columns.phone}


async def create_validator(context: Context, account_id: int, message: CampaignMessage) -> RowValidator:
    """Return the validator for the receivers of a valid message.

    Raises Refused.
    """
    profile: Profile | None = None
    design: TemplateContent | None = None
    if message.kind in (ALIMTALK, FRIENDTALK, BRAND):
        profile = await get_usable_profile(context, account_id, str(message.fields.get("senderKey", "")))
    if message.kind == ALIMTALK and profile:
        design = await get_usable_template(context, profile, str(message.fields.get("templateCode", "")))
    is_ad = bool(message.fields.get("adFlag"))
    number = await preview.default_opt_out_number(context, account_id, is_ad=is_ad)
    found = RowValidator(message, context.policy, context.world.now(), profile, design, number)
    found.check_message()
    if await preview.is_upgrade_wanted(context, account_id, message.kind):
        longer = message._replace(kind=LMS)
        found.upgraded = RowValidator(longer, context.policy, context.world.now(), None, None, number)
    return found


class FileValidation:
    """A file that is being read and validated, a part at a time."""

    def __init__(
        self,
        batches: Iterator[list[SheetRow]],
        validator: RowValidator,
        *,
        columns: Columns,
        skips_duplicates: bool,
        has_names: bool,
    ) -> None:
        """`has_names` says that the first row names the columns."""
        self._batches = batches
        self._must_skip_names = has_names
        self._is_read = False
        self._waiting: deque[SheetRow] = deque()
        self._validator = validator
        self._skips_duplicates = skips_duplicates
        self._seen: dict[int, int] = {}
        self._blocks = 0
        self._upgraded: list[Receiver] = []
        """Receivers that get an LMS, until there are enough of them for a block."""
        self._is_ad = False
        self._columns = columns
        self.shared: str | None = None
        """What all receivers get, once a valid receiver was found."""

    def validate_next_rows(self) -> FileFindings | None:
        """Read and validate the next part, if there is one after a short step of reading; None at the end.

        Raises Refused where the file cannot be used.
        """
        self._read_batches()
        if self._must_skip_names and self._waiting:
            self._waiting.popleft()
            self._must_skip_names = False
        size = self._validator.block_size
        if len(self._upgraded) >= size:
            return self._take_upgraded()
        if self._is_read or len(self._waiting) >= size:
            rows = [self._waiting.popleft() for _ in range(min(size, len(self._waiting)))]
            if rows:
                return self._validate_part(rows)
            if self._upgraded:
                return self._take_upgraded()
            return None
        return FileFindings(None, [], 0)

    def _read_batches(self) -> None:
        for _ in range(BATCHES_PER_TURN):
            if self._is_read or len(self._waiting) > self._validator.block_size:
                return
            batch = next(self._batches, None)
            self._is_read = batch is None
            self._waiting.extend(batch or ())

    def _validate_part(self, rows: list[SheetRow]) -> FileFindings:
        receivers, upgraded, faults = self._validate_rows(rows)
        good, duplicates = self._drop_duplicates(rows, dict(sorted((receivers | upgraded).items())), faults)
        self._upgraded += [receiver for place, receiver in good.items() if place in upgraded]
        usual = [receiver for place, receiver in good.items() if place not in upgraded]
        return FileFindings(self._to_block(usual), sorted(faults), duplicates)

    def _take_upgraded(self) -> FileFindings:
        size = self._validator.block_size
        block = self._to_block(self._upgraded[:size], is_upgraded=True)
        del self._upgraded[:size]
        return FileFindings(block, [], 0)

    def _validate_rows(
        self, rows: Sequence[SheetRow]
    ) -> tuple[dict[int, Receiver], dict[int, Receiver], list[InvalidRow]]:
        """Return the valid receivers by index, those that get an LMS instead of an SMS, and the invalid rows."""
        given = {place: self._validator.row_to_receiver(row, self._columns) for place, row in enumerate(rows)}
        faults: list[InvalidRow] = []
        for place, row in enumerate(rows):
            if error := self._columns.formula_error(row):
                words = Text(f"수식 오류({error})가 있습니다.", f"A formula shows the error {error}.")
                faults.append(InvalidRow(row.number, row.cells, tuple(words)))
                del given[place]
        too_long: dict[int, bodies.ReceiverBody] = {}
        receivers = self._validate_given(self._validator, rows, given, too_long, faults)
        longer = self._validator.upgraded
        return receivers, self._validate_given(longer, rows, too_long, {}, faults) if longer else {}, faults

    def _validate_given(
        self,
        validator: RowValidator,
        rows: Sequence[SheetRow],
        given: dict[int, bodies.ReceiverBody],
        too_long: dict[int, bodies.ReceiverBody],
        faults: list[InvalidRow],
    ) -> dict[int, Receiver]:
        """Return the valid receivers by index; those with too long a text go to `too_long` if it can be longer."""
        sentences: _Sentences = {}
        while given:
            order = list(given)
            try:
                sending = validator.validate_receivers(list(given.values()))
            except Refused as refused:
                for index, problems in _problems_by_receiver(refused.problems).items():
                    one, row = given.pop(order[index]), rows[order[index]]
                    if validator.upgraded and any(each.code is Code.CONTENT_TOO_LONG for each in problems):
                        too_long[order[index]] = one
                    else:
                        faults.append(InvalidRow(row.number, row.cells, _describe(problems, sentences)))
                continue
            self._share(sending)
            return dict(zip(order, sending.receivers, strict=True))
        return {}

    def _share(self, sending: Sending) -> None:
        """Store what all receivers get: of the first valid one, or of the first whose text looks like an ad."""
        if self.shared is None or (sending.is_ad and not self._is_ad):
            if self._validator.upgraded:  # the blocks say who gets an LMS
                sending = sending._replace(product=self._validator.product)
            self.shared, self._is_ad = encode_shared(sending), sending.is_ad

    def _drop_duplicates(
        self, rows: Sequence[SheetRow], receivers: Mapping[int, Receiver], invalid_rows: list[InvalidRow]
    ) -> tuple[dict[int, Receiver], int]:
        """Return the receivers to send to, and the number of duplicates; skipped ones become invalid rows."""
        good: dict[int, Receiver] = {}
        duplicates = 0
        for place, receiver in receivers.items():
            row = rows[place]
            first = self._seen.setdefault(int(receiver.phone), row.number)
            if first != row.number:
                duplicates += 1
                if self._skips_duplicates:
                    invalid_rows.append(InvalidRow(row.number, row.cells, tuple(describe_duplicate(first))))
                    continue
            good[place] = receiver
        return good, duplicates

    def _to_block(self, receivers: Sequence[Receiver], *, is_upgraded: bool = False) -> ReceiverBlock | None:
        if not receivers:
            return None
        self._blocks += 1
        body = service.encode_receivers(receivers)
        return ReceiverBlock(self._blocks, len(receivers), body, is_upgraded)


def _problems_by_receiver(problems: Sequence[Problem]) -> dict[int, list[Problem]]:
    """Return the problems of each receiver, by index.

    Raises Refused for problems of the message itself, which was valid before.
    """
    found, others = group_by_receiver(problems)
    if others:
        raise Refused.from_problems(problems)
    return found


def _describe(problems: Sequence[Problem], sentences: _Sentences) -> tuple[str, ...]:
    """Return the messages of a row's problems; `sentences` has those of other rows, and shares them."""
    found: list[str] = []
    for each in problems:
        alike = each._replace(field=each.field.partition("]")[2])
        if alike not in sentences:
            sentences[alike] = spell_problem(alike)
        found += sentences[alike]
    return tuple(found)
