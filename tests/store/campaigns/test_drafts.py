"""Drafts: one for each form of a user and account, the newest of them, erasable by account."""

from pabal.domain.people.user import Role
from pabal.store.accounts import accounts
from pabal.store.campaigns import drafts
from pabal.store.campaigns.drafts import DraftKey
from pabal.store.engine.base import Tx
from pabal.store.users import users


def make_users(tx: Tx) -> tuple[int, int]:
    """Add an account with two users and return their ids."""
    account_id = accounts.ensure_account(tx, "acme", 0)
    first, second = (users.add(tx, account_id, name, Role.OWNER, "hash", 0) for name in ("one", "two"))
    assert first is not None
    assert second is not None
    return first, second


def test_draft_replaces_the_one_before(tx: Tx) -> None:
    user, other = make_users(tx)
    key = DraftKey(user, 1, "send")

    drafts.save(tx, key, '{"a":"1"}', "", 5, 10)
    drafts.save(tx, key, '{"a":"2"}', "", 6, 10)

    assert drafts.get(tx, key) == ('{"a":"2"}', 6)
    assert drafts.get(tx, key._replace(user_id=other)) is None
    assert drafts.get(tx, key._replace(account_id=2)) is None


def test_oldest_drafts_of_a_user_are_dropped(tx: Tx) -> None:
    user, other = make_users(tx)
    drafts.save(tx, DraftKey(other, 1, "send"), "{}", "", 1, 3)
    for number in range(5):
        drafts.save(tx, DraftKey(user, 1, f"send.{number}"), "{}", "", number, 3)

    listed = drafts.list_by_account(tx, 1, (0, ""), 10)

    assert [each.key[::2] for each in listed] == [
        (user, "send.2"), (user, "send.3"), (user, "send.4"), (other, "send"),
    ]  # fmt: skip
    assert drafts.list_by_account(tx, 1, (user, "send.3"), 1)[0].key.form == "send.4"


def test_old_drafts_are_deleted_in_batches(tx: Tx) -> None:
    user, _ = make_users(tx)
    for number in range(5):
        drafts.save(tx, DraftKey(user, 1, f"send.{number}"), "{}", "", number, 10)

    assert [drafts.delete_old(tx, 4, 3) for _ in range(3)] == [3, 1, 0]
    assert [each.key.form for each in drafts.list_by_account(tx, 1, (0, ""), 10)] == ["send.4"]


def test_page_that_has_sent_its_draft_keeps_nothing_any_more(tx: Tx) -> None:
    user, _ = make_users(tx)
    key = DraftKey(user, 1, "send")
    drafts.save(tx, key, '{"a":"1"}', "page1", 5, 10)
    drafts.end(tx, key, "page1", 6)

    late = drafts.save(tx, key, '{"a":"1"}', "page1", 7, 10)
    after_late = drafts.get(tx, key)
    other = drafts.save(tx, key, '{"a":"2"}', "page2", 8, 10)
    later = drafts.save(tx, key, '{"a":"1"}', "page1", 9, 10)

    assert (late, after_late) == (False, None)
    assert (other, later) == (True, False)
    assert drafts.get(tx, key) == ('{"a":"2"}', 8)


def test_sent_drafts_neither_count_nor_stay(tx: Tx) -> None:
    user, _ = make_users(tx)
    drafts.save(tx, DraftKey(user, 1, "send"), "{}", "page", 0, 2)
    for number in range(3):
        drafts.end(tx, DraftKey(user, 1, f"send.{number}"), "page", number)
    drafts.save(tx, DraftKey(user, 1, "send.other"), "{}", "page", 5, 2)

    kept = [each.key.form for each in drafts.list_by_account(tx, 1, (0, ""), 10)]
    drafts.end(tx, DraftKey(user, 1, "send.last"), "page", drafts.SENT_MS + 100)

    assert kept == ["send", "send.other"]
    assert [tuple(row) for row in tx.fetch_all("select form from drafts where fields = ''")] == [("send.last",)]
