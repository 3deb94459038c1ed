"""Stored users, their sessions, sign-in attempts and audit log."""

import pytest

from pabal.domain.user import Role
from pabal.store import accounts, audit_log, sessions, sign_in_attempts, users
from pabal.store.audit_log import AuditEntry
from pabal.store.engine.base import Tx
from pabal.store.sign_in_attempts import Subject
from tests.fixtures.audit import latest_entries
from tests.fixtures.virtual import NOON

WINDOW = 1000
ONE = Subject(b"one", 2)
OTHER = Subject(b"other", 5)


def add(tx: Tx, name: str = "kim", role: Role = Role.OWNER, account: str | None = "acme") -> int:
    account_id = None if account is None else accounts.ensure_account(tx, account, NOON)
    added = users.add(tx, account_id, name, role, "hash", NOON)
    assert added is not None
    return added


def test_user_is_read_as_stored(tx: Tx) -> None:
    added = add(tx)

    found = users.get_by_name(tx, "kim")

    assert found is not None
    assert found.hash == "hash"
    assert (found.user.id, found.user.account, found.user.role) == (added, "acme", Role.OWNER)
    assert found.user.is_active
    assert users.list_all(tx) == [found.user]
    assert users.get_by_name(tx, "lee") is None


def test_user_name_is_unique_across_accounts(tx: Tx) -> None:
    add(tx)
    other = accounts.ensure_account(tx, "other", NOON)

    assert users.add(tx, other, "kim", Role.VIEWER, "another", NOON) is None
    assert len(users.list_all(tx)) == 1


def test_operator_has_no_account(tx: Tx) -> None:
    assert users.is_empty(tx)
    add(tx, "op", Role.OPERATOR, None)

    found = users.get_by_name(tx, "op")

    assert not users.is_empty(tx)
    assert found is not None
    assert (found.user.account_id, found.user.account, found.user.is_active) == (None, None, True)


def test_test_phone_is_stored_per_user(tx: Tx) -> None:
    kim, lee = add(tx), add(tx, "lee")

    users.set_test_number(tx, kim, "01012345678")

    assert (users.get_test_number(tx, kim), users.get_test_number(tx, lee)) == ("01012345678", "")
    users.set_test_number(tx, kim, "01099990000")
    assert users.get_test_number(tx, kim) == "01099990000"


def test_sender_numbers_belong_to_one_account(tx: Tx) -> None:
    ours, theirs = accounts.ensure_account(tx, "acme", NOON), accounts.ensure_account(tx, "other", NOON)
    for account, number in ((ours, "15880000"), (ours, "0212345678"), (theirs, "0311234567")):
        accounts.add_number(tx, account, number, NOON)

    assert accounts.list_numbers_by_account(tx, ours) == [("0212345678", NOON), ("15880000", NOON)]


@pytest.mark.parametrize("whose", ["user", "account"])
def test_user_disabled_or_in_a_disabled_account_is_not_active(tx: Tx, whose: str) -> None:
    added = add(tx)

    if whose == "user":
        users.set_disabled(tx, added, NOON)
    else:
        accounts.set_disabled(tx, "acme", NOON)

    found = users.get_by_name(tx, "kim")
    assert found is not None
    assert not found.user.is_active


def test_session_has_its_user_and_the_viewed_account(tx: Tx) -> None:
    op = add(tx, "op", Role.OPERATOR, None)
    acme = accounts.ensure_account(tx, "acme", NOON)
    other = accounts.ensure_account(tx, "other", NOON)
    sessions.add(tx, b"h", op, acme, "csrf", NOON, NOON + 100)

    sessions.switch_account(tx, b"h", other)
    sessions.touch(tx, b"h", NOON + 5)

    found = sessions.get(tx, b"h")
    assert found is not None
    assert (found.user.name, found.account_id, found.account, found.csrf) == ("op", other, "other", "csrf")
    assert (found.used_at, found.expires_at) == (NOON + 5, NOON + 100)
    assert sessions.get(tx, b"another") is None


def test_sessions_are_deleted_by_token_by_user_and_by_age(tx: Tx) -> None:
    kim, lee = add(tx), add(tx, "lee")
    for hash, owner, until in ((b"1", kim, 10), (b"2", kim, 20), (b"3", lee, 30), (b"4", lee, 40)):
        sessions.add(tx, hash, owner, None, "csrf", NOON, NOON + until)

    sessions.delete(tx, b"1")
    sessions.delete_all_by_user(tx, kim)
    dropped = sessions.delete_expired(tx, NOON + 30, 10)

    assert dropped == 1
    assert [hash for hash in (b"1", b"2", b"3", b"4") if sessions.get(tx, hash)] == [b"4"]


def test_sign_in_attempts_are_limited_within_a_window(tx: Tx) -> None:
    taken = [sign_in_attempts.acquire(tx, [ONE, OTHER], WINDOW, NOON + each) for each in range(3)]

    assert taken == [None, None, NOON + WINDOW]
    assert sign_in_attempts.acquire(tx, [OTHER], WINDOW, NOON + 4) is None
    assert sign_in_attempts.acquire(tx, [ONE], WINDOW, NOON + WINDOW) is None


def test_blocked_attempt_does_not_count_for_other_subjects(tx: Tx) -> None:
    for each in range(20):
        sign_in_attempts.acquire(tx, [ONE, OTHER], WINDOW, NOON + each)

    assert [sign_in_attempts.acquire(tx, [OTHER], WINDOW, NOON + 30) for _ in range(4)] == [
        None,
        None,
        None,
        NOON + WINDOW,
    ]


def test_names_tried_by_a_blocked_caller_are_not_stored(tx: Tx) -> None:
    for each in range(20):
        sign_in_attempts.acquire(tx, [ONE, Subject(b"name %d" % each, 5)], WINDOW, NOON + each)

    assert tx.fetch_one("select count(*) from sign_in_attempts") == (1 + ONE.limit,)


def test_successful_attempt_is_not_counted(tx: Tx) -> None:
    for each in range(10):
        assert sign_in_attempts.acquire(tx, [ONE, OTHER], WINDOW, NOON + each) is None
        sign_in_attempts.release(tx, [ONE, OTHER])

    sign_in_attempts.acquire(tx, [ONE], WINDOW, NOON)
    sign_in_attempts.clear(tx, ONE)
    assert sign_in_attempts.acquire(tx, [ONE], WINDOW, NOON) is None


def test_clock_set_back_locks_nobody_out(tx: Tx) -> None:
    for _ in range(3):
        sign_in_attempts.acquire(tx, [ONE], WINDOW, NOON)

    assert sign_in_attempts.acquire(tx, [ONE], WINDOW, NOON - 10 * WINDOW) is None


def test_old_attempt_counts_are_deleted(tx: Tx) -> None:
    sign_in_attempts.acquire(tx, [ONE], WINDOW, NOON)
    sign_in_attempts.acquire(tx, [OTHER], WINDOW, NOON + 10)

    assert sign_in_attempts.delete_old(tx, NOON + 5, 10) == 1
    assert sign_in_attempts.delete_old(tx, NOON + 5, 10) == 0


def test_audit_log_is_newest_first_per_account_and_trimmed_by_age(tx: Tx) -> None:
    acme = accounts.ensure_account(tx, "acme", NOON)
    done = [
        AuditEntry(NOON, 1, "kim", acme, "template.create", "T1"),
        AuditEntry(NOON + 1, None, audit_log.COMMAND_LINE_NAME, None, "user.create", "op"),
        AuditEntry(NOON + 2, 1, "kim", acme, "session.end"),
    ]

    for deed in done:
        audit_log.add(tx, deed)

    assert latest_entries(tx, None, 10) == done[::-1]
    assert latest_entries(tx, acme, 10) == [done[2], done[0]]
    assert latest_entries(tx, acme, 1) == [done[2]]
    listed = audit_log.find(tx, None, "", None, 10)
    assert [(each.account, each.entry) for each in listed] == list(
        zip(["acme", None, "acme"], done[::-1], strict=True)
    )
    assert audit_log.find(tx, acme, "kim", listed[0].id, 10) == listed[2:]
    assert audit_log.find(tx, None, audit_log.COMMAND_LINE_NAME, None, 10) == [listed[1]]
    assert audit_log.find(tx, acme, audit_log.COMMAND_LINE_NAME, None, 10) == []
    assert audit_log.find(tx, None, "", None, 1) == listed[:1]
    assert audit_log.delete_old(tx, NOON + 1, 10) == 1
    assert latest_entries(tx, None, 10) == done[:0:-1]
