"""Stored users, their sessions, sign-in attempts and audit log."""

import pytest

from pabal.domain.people.user import Role
from pabal.store.accounts import accounts, audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Tx
from pabal.store.users import sessions, sign_in_attempts, users
from pabal.store.users.sessions import MAX_DEVICES_PER_USER
from pabal.store.users.sign_in_attempts import FORGET_MS, Subject
from tests.fixtures.audit import latest_entries
from tests.fixtures.rows import present
from tests.fixtures.virtual import NOON

ONE = Subject(b"one", 2, 5000)
OTHER = Subject(b"other", 5, 5000)


def add(tx: Tx, name: str = "kim", role: Role = Role.OWNER, account: str | None = "acme") -> int:
    account_id = None if account is None else accounts.ensure_account(tx, account, NOON)
    return present(users.add(tx, account_id, name, role, "hash", NOON))


def test_user_is_read_as_stored(tx: Tx) -> None:
    added = add(tx)

    found = present(users.get_by_name(tx, "kim"))

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

    found = present(users.get_by_name(tx, "op"))

    assert not users.is_empty(tx)
    assert (found.user.account_id, found.user.account, found.user.is_active) == (None, None, True)


def test_test_phone_is_stored_per_user(tx: Tx) -> None:
    kim, lee = add(tx), add(tx, "lee")

    users.set_test_number(tx, kim, "01012345678")

    assert (users.get_test_number(tx, kim), users.get_test_number(tx, lee)) == ("01012345678", "")
    users.set_test_number(tx, kim, "01099990000")
    assert users.get_test_number(tx, kim) == "01099990000"


@pytest.mark.parametrize("whose", ["user", "account"])
def test_user_disabled_or_in_a_disabled_account_is_not_active(tx: Tx, whose: str) -> None:
    added = add(tx)

    if whose == "user":
        users.set_disabled(tx, added, NOON)
    else:
        accounts.set_disabled(tx, "acme", NOON)

    found = present(users.get_by_name(tx, "kim"))
    assert not found.user.is_active


def test_session_has_its_user_and_the_viewed_account(tx: Tx) -> None:
    op = add(tx, "op", Role.OPERATOR, None)
    acme = accounts.ensure_account(tx, "acme", NOON)
    other = accounts.ensure_account(tx, "other", NOON)
    sessions.add(tx, b"h", op, acme, "csrf", NOON, NOON + 100)

    sessions.switch_account(tx, b"h", other)
    sessions.touch(tx, b"h", NOON + 5)

    found = present(sessions.get(tx, b"h"))
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


def acquire(tx: Tx, subjects: list[Subject], now: int) -> int | None:
    """Count an attempt; return None, or how long it has to wait."""
    until = sign_in_attempts.acquire(tx, subjects, now).blocked_until
    return None if until is None else until - now


def test_delay_of_sign_in_attempts_doubles_up_to_its_limit(tx: Tx) -> None:
    now = NOON
    delays: list[int] = []
    while len(delays) < 5:
        wait = acquire(tx, [ONE, OTHER], now)
        delays += [] if wait is None else [wait]
        now += wait or 0

    assert delays == [1000, 2000, 4000, 5000, 5000]
    assert acquire(tx, [ONE], now) is None
    assert acquire(tx, [ONE], now) == 5000
    assert acquire(tx, [ONE], now + FORGET_MS) is None
    assert acquire(tx, [ONE], now + FORGET_MS) is None, "the failures are forgotten"


def test_blocked_attempt_does_not_count_for_other_subjects(tx: Tx) -> None:
    for each in range(20):
        acquire(tx, [ONE, OTHER], NOON + each)

    assert [acquire(tx, [OTHER], NOON + 30) for _ in range(4)] == [None, None, None, 1000]


def test_names_tried_by_a_blocked_caller_are_not_stored(tx: Tx) -> None:
    for each in range(20):
        acquire(tx, [ONE, Subject(b"name %d" % each, 5, 5000)], NOON + each)

    assert tx.fetch_one("select count(*) from sign_in_attempts") == (1 + ONE.free,)


def test_successful_attempt_is_not_counted(tx: Tx) -> None:
    for each in range(10):
        assert acquire(tx, [ONE, OTHER], NOON + each) is None
        sign_in_attempts.release(tx, [ONE, OTHER])

    acquire(tx, [ONE], NOON)
    sign_in_attempts.clear(tx, ONE)
    assert acquire(tx, [ONE], NOON) is None


def test_failures_of_a_name_are_cleared_together(tx: Tx) -> None:
    ours = [Subject(b"both", 1, 5000, b"kim"), Subject(b"name", 1, 5000, b"kim")]
    theirs = Subject(b"both too", 1, 5000, b"lee")
    acquire(tx, [*ours, theirs, ONE], NOON)

    assert sign_in_attempts.clear_name(tx, b"kim")

    assert not sign_in_attempts.clear_name(tx, b"kim")
    assert acquire(tx, ours, NOON) is None
    assert acquire(tx, [theirs], NOON) == 1000


def test_clock_set_back_locks_nobody_out(tx: Tx) -> None:
    for _ in range(3):
        acquire(tx, [ONE], NOON)

    assert acquire(tx, [ONE], NOON - 10 * FORGET_MS) is None


def test_old_attempt_counts_are_deleted(tx: Tx) -> None:
    acquire(tx, [ONE], NOON)
    acquire(tx, [OTHER], NOON + 10)

    assert sign_in_attempts.delete_old(tx, NOON + 5, 10) == 1
    assert sign_in_attempts.delete_old(tx, NOON + 5, 10) == 0


def test_device_is_trusted_for_its_users_until_it_expires(tx: Tx) -> None:
    kim, lee = add(tx), add(tx, "lee")
    sessions.trust(tx, b"first", None, kim, NOON)
    sessions.trust(tx, b"second", b"first", lee, NOON + 10)

    assert not sessions.is_trusted(tx, b"first", kim, 0), "a token is replaced by the next one"
    assert sessions.is_trusted(tx, b"second", kim, NOON - 1)
    assert not sessions.is_trusted(tx, b"second", kim, NOON)
    assert sessions.is_trusted(tx, b"second", lee, NOON)
    assert not sessions.is_trusted(tx, b"third", lee, NOON)

    assert sessions.delete_expired_devices(tx, NOON, 10) == 1
    sessions.delete_all_by_user(tx, lee)
    assert not sessions.is_trusted(tx, b"second", lee, 0)


def test_user_has_a_limited_number_of_trusted_devices(tx: Tx) -> None:
    kim = add(tx)
    devices = [b"%d" % each for each in range(MAX_DEVICES_PER_USER + 2)]
    for number, device in enumerate(devices):
        sessions.trust(tx, device, None, kim, NOON + number)

    assert [each for each in devices if not sessions.is_trusted(tx, each, kim, 0)] == devices[:2]


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
