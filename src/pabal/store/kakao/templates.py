"""Alimtalk templates and their review status, whose changes are recorded as events."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pabal.domain.base.dates import Instant, Period
from pabal.domain.content.button import from_fields
from pabal.domain.content.image import Image
from pabal.domain.events.event import EventType
from pabal.domain.events.notice import NoticeKind
from pabal.domain.kakao.profile import Suspension, parse_suspension
from pabal.domain.kakao.template import TEMPLATE_STATUS_BY_CODE, Template, TemplateContent, TemplateStatus
from pabal.domain.kakao.template_parts import parts_from_fields, to_fields
from pabal.store.accounts import setup_changes
from pabal.store.engine.base import Reader, Tx, Value, transaction
from pabal.store.events import events, notices
from pabal.store.rows import Select, containing, find_page, given, in_period, reader, select

_COLUMNS = (
    "t.id", "t.account_id", "t.profile_id", "p.sender_key", "p.channel_id", "t.code", "t.design", "t.in_use",
    "t.status", "t.comment", "t.is_enabled", "t.created_at", "t.changed_at", "p.carrier", "t.suspension",
)  # fmt: skip
_TABLES = "templates t join profiles p on p.id = t.profile_id"
_REVIEWED = (TemplateStatus.APPROVED, TemplateStatus.REJECTED)
_FIELDS = tuple(each.partition(".")[2] for each in _COLUMNS)


class TemplateFilter(NamedTuple):
    """What a list filters by; None matches everything."""

    account_id: int
    sender_key: str | None = None
    code: str | None = None
    status: TemplateStatus | None = None
    name: str | None = None
    name_part: str | None = None
    is_enabled: bool | None = None
    created: Period | None = None


def get(tx: Tx, profile_id: int, code: str) -> Template | None:
    return _TEMPLATES.fetch_one(tx, "where t.profile_id = ? and t.code = ?", (profile_id, code))


def get_by_id(tx: Tx, template_id: int) -> Template | None:
    """Return the template with this id, of any account."""
    return _TEMPLATES.fetch_one(tx, "where p.deleted_at is null and t.id = ?", (template_id,))


def add(
    tx: Tx, account_id: int, profile_id: int, code: str, design: TemplateContent, image: Image | None, now: Instant
) -> int:
    """Add a registered template and return its id."""
    status, stored = TemplateStatus.REGISTERED.code, _design_to_json(design)
    template_id = tx.fetch_number(
        "insert into templates (account_id, profile_id, code, name, design, status, is_enabled,"
        " created_at, changed_at) values (?, ?, ?, ?, ?, ?, 1, ?, ?) returning id",
        (account_id, profile_id, code, design.name, stored, status, now, now),
    )
    _save_image(tx, template_id, image)
    return template_id


def update_design(tx: Tx, template_id: int, design: TemplateContent, image: Image | None, now: Instant) -> None:
    """Change the design of a template, which must be reviewed again."""
    args = (design.name, _design_to_json(design), TemplateStatus.REGISTERED.code)
    _change(tx, template_id, "name = ?, design = ?, status = ?, comment = null", args, now)
    _save_image(tx, template_id, image)


def set_status(tx: Tx, template_id: int, status: TemplateStatus, comment: str | None, now: Instant) -> None:
    """Set the review status of a template; an approved design comes into use."""
    in_use = "design" if status is TemplateStatus.APPROVED else "in_use"
    _change(tx, template_id, f"in_use = {in_use}, status = ?, comment = ?", (status.code, comment), now)


def apply_remote(
    tx: Tx,
    template_id: int,
    design: TemplateContent,
    in_use: TemplateContent | None,
    status: TemplateStatus,
    comment: str | None,
    bar: Suspension | None,
    now: Instant,
) -> None:
    """Update a template from its relay."""
    changes = "name = ?, design = ?, in_use = ?, status = ?, comment = ?, suspension = ?"
    designs = (_design_to_json(design), _design_to_json(in_use) if in_use else None)
    args = (design.name, *designs, status.code, comment, bar.code if bar else None)
    _change(tx, template_id, changes, args, now)


def from_event(data: Mapping[str, Any]) -> Template:
    """Return the template of an event `template.status`, as it was then."""
    return _from_row(tuple(data.get(each) for each in _FIELDS))


def get_image(tx: Tx, template_id: int) -> Image | None:
    """Return a template's image, if it has one."""
    return select(Image, "template_images").fetch_one(tx, "where template_id = ?", (template_id,))


def list_by_profile(tx: Tx, profile_id: int) -> list[Template]:
    return _TEMPLATES.fetch_all(tx, "where t.profile_id = ? order by t.id", (profile_id,))


def get_names(tx: Tx, account_id: int, codes: Iterable[str]) -> dict[str, str]:
    """Return the names of an account's templates with these codes; of equal codes, that of the newest."""
    rows = tx.execute_list(
        f"select code, name from templates where account_id = {account_id:d} and code in ({{list}}) order by id",
        codes,
    )
    return dict(rows)


def list_under_review(tx: Tx, after: int, limit: int) -> list[tuple[str, Template]]:
    """Return templates that wait for an operator's review, each with the name of its account, by their ids."""
    rows = tx.fetch_all(
        f"select a.name, {', '.join(_COLUMNS)} from templates t join profiles p on p.id = t.profile_id"
        " join accounts a on a.id = t.account_id where t.status = 'inspecting' and t.id > ?"
        " and p.carrier is null and p.deleted_at is null order by t.id limit ?",
        (after, limit),
    )
    return [(row[0], _from_row(row[1:])) for row in rows]


def delete(tx: Tx, template_id: int) -> None:
    tx.execute("delete from template_images where template_id = ?", (template_id,))
    deleted = tx.fetch_all("delete from templates where id = ? returning account_id", (template_id,))
    setup_changes.record_changed(tx, deleted)


@transaction(reader=Reader.SEARCHES)
def find(tx: Tx, wanted: TemplateFilter, page: int, page_size: int) -> tuple[int, list[Template]]:
    """Return how many templates match, and a page of them, newest first."""
    conditions = [
        ("p.deleted_at is null and t.account_id = ?", wanted.account_id),
        *given(
            ("p.sender_key = ?", wanted.sender_key),
            ("t.code = ?", wanted.code),
            ("t.status = ?", wanted.status.code if wanted.status else None),
            ("t.name = ?", wanted.name),
            ("t.name like ? escape '!'", None if wanted.name_part is None else containing(wanted.name_part)),
            ("t.is_enabled = ?", None if wanted.is_enabled is None else int(wanted.is_enabled)),
        ),
        *in_period("t.created_at", wanted.created),
    ]
    total, rows = find_page(
        tx, ", ".join(_COLUMNS), _TABLES, conditions, page_size, (page - 1) * page_size, order="t.id desc"
    )
    return total, [_from_row(row) for row in rows]


def list_all(tx: Tx) -> list[Template]:
    """Return every template, oldest first."""
    return _TEMPLATES.fetch_all(tx, "where p.deleted_at is null order by t.id")


def _change(tx: Tx, template_id: int, changes: str, args: Sequence[Value], now: Instant) -> None:
    """Change a template, and record it as an event if its status is another then."""
    before = get_by_id(tx, template_id)
    tx.execute(f"update templates set {changes}, changed_at = ? where id = ?", (*args, now, template_id))
    row = tx.fetch_one(f"{_TEMPLATES.sql} where p.deleted_at is null and t.id = ?", (template_id,))
    if not before or not row:
        return
    setup_changes.record(tx, before.account_id)
    after = _from_row(row)
    if _state(before) == _state(after):
        return
    data = dict(zip(_FIELDS, row, strict=True)) | {"in_use": None}
    key = f"{template_id} {now} {data['status']} {data['suspension']}"
    event_id = events.record(tx, data["account_id"], EventType.TEMPLATE_STATUS, key, data, now)
    _tell_of_review(tx, event_id, before, after, now)


def _tell_of_review(tx: Tx, event_id: bytes | None, before: Template, after: Template, now: Instant) -> None:
    """Have users told that a template was approved or rejected."""
    if after.status in _REVIEWED and before.status is not after.status:
        data = {"templateId": after.id, "name": after.latest.name, "code": after.code, "status": after.status.code}
        notices.add(tx, event_id, NoticeKind.TEMPLATE, after.account_id, data, now)


def _state(template: Template) -> tuple[object, ...]:
    """Return what callers are told about: the status, and the text that was approved."""
    approved = template.latest if template.status is TemplateStatus.APPROVED else None
    return template.status, template.comment, template.suspension, approved


def _save_image(tx: Tx, template_id: int, image: Image | None) -> None:
    tx.execute("delete from template_images where template_id = ?", (template_id,))
    if image:
        tx.execute(
            "insert into template_images (template_id, content_type, file_name, body) values (?, ?, ?, ?)",
            (template_id, *image),
        )


def _design_to_json(design: TemplateContent) -> str:
    fields = design._asdict() | {
        "buttons": [button.given_fields() for button in design.buttons],
        "parts": to_fields(design.parts),
    }
    return json.dumps(fields, ensure_ascii=False)


def _design_from_json(kept: str) -> TemplateContent:
    fields = json.loads(kept)
    parts = parts_from_fields(fields.get("parts") or {})
    return TemplateContent(**{**fields, "buttons": from_fields(fields["buttons"]), "parts": parts})


_from_row = reader(
    Template,
    latest=_design_from_json,
    approved=lambda design: _design_from_json(design) if design else None,
    status=TEMPLATE_STATUS_BY_CODE.__getitem__,
    is_enabled=bool,
    suspension=parse_suspension,
)
_TEMPLATES = Select(f"select {', '.join(_COLUMNS)} from {_TABLES}", _from_row)
