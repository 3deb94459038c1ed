"""Stored templates, before, during and after their review."""

import json

import pytest

from pabal.domain.content.button import Button
from pabal.domain.content.image import Image
from pabal.domain.events.event import EventType
from pabal.domain.kakao.profile import Suspension
from pabal.domain.kakao.template import Template, TemplateContent, TemplateStatus
from pabal.store.accounts import accounts
from pabal.store.engine.base import Tx
from pabal.store.kakao import profiles, templates
from pabal.store.kakao.templates import TemplateFilter
from tests.fixtures.rows import PHONE, ExplainingTx, present
from tests.fixtures.store_modes import CONSTRAINT_ERRORS
from tests.fixtures.virtual import NOON

DESIGN = TemplateContent(
    "주문",
    "#{name}님의 주문",
    "999999",
    buttons=(Button("webLink", "보기", mobile_url="https://example.com"),),
)
EDITED = DESIGN._replace(content="고친 글", is_security_template=True, buttons=())
PICTURE = Image("image/jpeg", "a.jpg", b"\xff\xd8\xff")


def profile(tx: Tx, channel: str = "@shop", key: str = "a" * 40) -> int:
    added = profiles.add(tx, accounts.ensure_account(tx, "acme", NOON), channel, "00100010001", PHONE, NOON)
    profiles.approve(tx, added, key, NOON)
    return added


def by_id(tx: Tx, template: int) -> Template:
    return present(templates.get_by_id(tx, template))


def test_new_template_is_registered_enabled_and_not_in_use(tx: Tx) -> None:
    owner = profile(tx)

    added = templates.add(tx, 1, owner, "order", DESIGN, PICTURE, NOON)

    assert by_id(tx, added) == Template(
        added, 1, owner, "a" * 40, "@shop", "order", DESIGN, None, TemplateStatus.REGISTERED, None, True, NOON, NOON
    )
    assert templates.get(tx, owner, "order") == by_id(tx, added)
    assert templates.get(tx, owner, "another") is None
    assert templates.get(tx, owner + 1, "order") is None
    assert templates.get_by_id(tx, added + 1) is None


def test_template_code_is_unique_per_profile(tx: Tx) -> None:
    owner, other = profile(tx), profile(tx, "@other", "b" * 40)
    templates.add(tx, 1, owner, "order", DESIGN, None, NOON)
    templates.add(tx, 1, other, "order", DESIGN, None, NOON)

    with pytest.raises(CONSTRAINT_ERRORS):
        templates.add(tx, 1, owner, "order", DESIGN, None, NOON)


def test_approved_content_comes_into_use(tx: Tx) -> None:
    added = templates.add(tx, 1, profile(tx), "order", DESIGN, None, NOON)

    templates.set_status(tx, added, TemplateStatus.INSPECTING, None, NOON + 1)
    assert by_id(tx, added).approved is None
    templates.set_status(tx, added, TemplateStatus.APPROVED, "좋습니다", NOON + 2)

    kept = by_id(tx, added)
    assert (kept.approved, kept.status, kept.comment, kept.changed_at) == (
        DESIGN,
        TemplateStatus.APPROVED,
        "좋습니다",
        NOON + 2,
    )


def test_old_content_stays_in_use_until_its_edit_is_approved(tx: Tx) -> None:
    added = templates.add(tx, 1, profile(tx), "order", DESIGN, PICTURE, NOON)
    templates.set_status(tx, added, TemplateStatus.APPROVED, "좋습니다", NOON)

    templates.update_design(tx, added, EDITED, None, NOON + 1)

    kept = by_id(tx, added)
    assert (kept.latest, kept.approved) == (EDITED, DESIGN)
    assert (kept.status, kept.comment) == (TemplateStatus.REGISTERED, None)
    templates.set_status(tx, added, TemplateStatus.REJECTED, "안 됩니다", NOON + 2)
    assert by_id(tx, added).approved == DESIGN
    templates.set_status(tx, added, TemplateStatus.APPROVED, None, NOON + 3)
    assert by_id(tx, added).approved == EDITED


def test_image_is_replaced_by_an_edit_and_deleted_with_the_template(tx: Tx) -> None:
    added = templates.add(tx, 1, profile(tx), "order", DESIGN, PICTURE, NOON)
    assert templates.get_image(tx, added) == PICTURE
    assert templates.get_image(tx, added + 1) is None

    templates.update_design(tx, added, DESIGN, PICTURE._replace(file_name="b.jpg"), NOON)
    assert tx.fetch_all("select file_name from template_images") == [("b.jpg",)]

    templates.delete(tx, added)
    assert tx.fetch_all("select * from template_images") == []
    assert templates.get_by_id(tx, added) is None


def test_templates_are_listed_newest_first_by_page_and_filter(tx: Tx) -> None:
    owner, other = profile(tx), profile(tx, "@other", "b" * 40)
    ids = [templates.add(tx, 1, owner, f"t{number}", DESIGN, None, NOON) for number in range(4)]
    ids.append(templates.add(tx, 1, other, "t1", DESIGN, None, NOON))
    templates.set_status(tx, ids[0], TemplateStatus.APPROVED, None, NOON)

    def found(wanted: TemplateFilter, page: int = 1, page_size: int = 10) -> tuple[int, list[int]]:
        total, each = templates.find(tx, wanted, page, page_size)
        return total, [one.id for one in each]

    assert found(TemplateFilter(1)) == (5, ids[::-1])
    assert found(TemplateFilter(1), 2, 2) == (5, [ids[2], ids[1]])
    assert found(TemplateFilter(1, sender_key="b" * 40)) == (1, [ids[4]])
    assert found(TemplateFilter(1, code="t1")) == (2, [ids[4], ids[1]])
    assert found(TemplateFilter(1, status=TemplateStatus.APPROVED)) == (1, [ids[0]])
    assert found(TemplateFilter(1, sender_key="b" * 40, status=TemplateStatus.APPROVED)) == (0, [])
    assert found(TemplateFilter(2)) == (0, [])


def test_templates_of_a_deleted_profile_are_not_listed(tx: Tx) -> None:
    owner = profile(tx)
    added = templates.add(tx, 1, owner, "order", DESIGN, None, NOON)
    assert [each.id for each in templates.list_all(tx)] == [added]

    profiles.delete(tx, owner, NOON)

    assert templates.list_all(tx) == []
    assert templates.get_by_id(tx, added) is None
    assert templates.find(tx, TemplateFilter(1), 1, 10) == (0, [])


def test_template_queries_never_scan_the_table(tx: Tx) -> None:
    owner = profile(tx)
    for number in range(50):
        templates.add(tx, 1, owner, f"t{number}", DESIGN, None, NOON)
    explaining = ExplainingTx(tx)

    templates.get(explaining, owner, "t1")
    templates.get_by_id(explaining, 1)
    templates.find(explaining, TemplateFilter(1), 1, 10)
    templates.get_names(explaining, 1, ["t1", "t2"])
    templates.list_under_review(explaining, 0, 10)
    templates.update_design(explaining, 1, EDITED, None, NOON)
    templates.set_status(explaining, 1, TemplateStatus.APPROVED, None, NOON)
    templates.delete(explaining, 1)

    assert explaining.scans == []


def test_templates_of_all_accounts_wait_for_an_operator_unless_a_relay_reviews_them(tx: Tx) -> None:
    ours, deleted = profile(tx), profile(tx, "@gone", "c" * 40)
    theirs = profiles.add(tx, accounts.ensure_account(tx, "other", NOON), "@their", "00100010001", PHONE, NOON)
    added = [templates.add(tx, 1, each, "order", DESIGN, None, NOON) for each in (ours, theirs, deleted)]
    reviewed = templates.add(tx, 1, ours, "reviewed", DESIGN, None, NOON)
    for each in (*added, reviewed):
        templates.set_status(tx, each, TemplateStatus.INSPECTING, None, NOON)
    templates.set_status(tx, reviewed, TemplateStatus.APPROVED, None, NOON)
    profiles.delete(tx, deleted, NOON)

    waiting = templates.list_under_review(tx, 0, 10)
    tx.execute("update profiles set carrier = 'relay' where id = ?", (theirs,))

    assert [(account, each.id) for account, each in waiting] == [("acme", added[0]), ("acme", added[1])]
    assert [each.id for _, each in templates.list_under_review(tx, 0, 10)] == [added[0]]
    assert templates.list_under_review(tx, added[0], 10) == []
    assert [each.id for _, each in templates.list_under_review(tx, 0, 1)] == [added[0]]


def test_names_are_found_by_code(tx: Tx) -> None:
    owner = profile(tx)
    for code, name in (("a", "하나"), ("b", "둘")):
        templates.add(tx, 1, owner, code, DESIGN._replace(name=name), None, NOON)

    assert templates.get_names(tx, 1, ["a", "missing"]) == {"a": "하나"}
    assert templates.get_names(tx, 2, ["a"]) == {}
    assert templates.get_names(tx, 1, []) == {}


def test_relay_and_operator_states_of_a_template_are_independent(tx: Tx) -> None:
    added = templates.add(tx, 1, profile(tx), "order", DESIGN, PICTURE, NOON)

    templates.apply_remote(tx, added, EDITED, DESIGN, TemplateStatus.REJECTED, "왜", Suspension.GONE, NOON + 1)

    kept = by_id(tx, added)
    assert (kept.latest, kept.approved, kept.status, kept.comment) == (
        EDITED,
        DESIGN,
        TemplateStatus.REJECTED,
        "왜",
    )
    assert (kept.suspension, kept.is_enabled, kept.changed_at) == (Suspension.GONE, True, NOON + 1)
    assert [each.id for each in templates.list_by_profile(tx, kept.profile_id)] == [added]
    templates.apply_remote(tx, added, EDITED, None, TemplateStatus.INSPECTING, None, None, NOON + 2)
    assert (by_id(tx, added).approved, by_id(tx, added).suspension) == (None, None)


@pytest.mark.parametrize("bar", [None, Suspension.GONE, Suspension.BLOCKED])
def test_suspension_of_an_unknown_kind_still_suspends(tx: Tx, bar: Suspension | None) -> None:
    added = templates.add(tx, 1, profile(tx), "order", DESIGN, None, NOON)
    tx.execute("update templates set suspension = ?", (bar.code if bar else None,))
    assert by_id(tx, added).suspension is bar

    tx.execute("update templates set suspension = 'something new'")

    assert by_id(tx, added).suspension is Suspension.UNREADABLE


def told(tx: Tx) -> list[tuple[str, str | None]]:
    """Return status and suspension of each template in an event, in order."""
    rows = tx.fetch_all("select data from event_data where type = ?", (EventType.TEMPLATE_STATUS.number,))
    found = [templates.from_event(json.loads(row[0])) for row in rows]
    found.sort(key=lambda each: each.changed_at)
    return [(each.status.code, each.suspension.code if each.suspension else None) for each in found]


def test_each_new_state_of_a_template_is_recorded_as_it_was(tx: Tx) -> None:
    added = templates.add(tx, 1, profile(tx), "order", DESIGN, None, NOON)
    templates.update_design(tx, added, EDITED, None, NOON + 1)
    assert told(tx) == []

    templates.set_status(tx, added, TemplateStatus.INSPECTING, None, NOON + 2)
    templates.set_status(tx, added, TemplateStatus.INSPECTING, None, NOON + 3)
    templates.set_status(tx, added, TemplateStatus.REJECTED, "왜", NOON + 4)
    templates.apply_remote(tx, added, EDITED, None, TemplateStatus.REJECTED, "다시", None, NOON + 5)
    templates.update_design(tx, added, DESIGN, None, NOON + 6)
    templates.apply_remote(tx, added, DESIGN, DESIGN, TemplateStatus.APPROVED, None, None, NOON + 7)
    templates.apply_remote(tx, added, DESIGN, EDITED, TemplateStatus.APPROVED, None, None, NOON + 8)
    templates.apply_remote(tx, added, EDITED, EDITED, TemplateStatus.APPROVED, None, None, NOON + 9)
    templates.apply_remote(tx, added, EDITED, EDITED, TemplateStatus.APPROVED, None, Suspension.GONE, NOON + 10)
    now = present(templates.get_by_id(tx, added))
    templates.delete(tx, added)

    assert told(tx) == [
        ("inspecting", None),
        ("rejected", None),
        ("rejected", None),
        ("registered", None),
        ("approved", None),
        ("approved", None),
        ("approved", "gone"),
    ]
    rows = tx.fetch_all("select data from event_data where created_at = ?", (NOON + 10,))
    assert [templates.from_event(json.loads(row[0])) for row in rows] == [now._replace(approved=None)]
