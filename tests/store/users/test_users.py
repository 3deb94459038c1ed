"""Stored users: their test phone, sign-in attempts, devices and second factors, and what is deleted with time."""

from pabal.domain.people.user import Role
from pabal.store.accounts import accounts, audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Tx
from pabal.store.users import openid_identities, second_factors, sessions, sign_in_attempts, users
from pabal.store.users.sessions import MAX_DEVICES_PER_USER
from pabal.store.users.sign_in_attempts import FORGET_MS, Subject
from tests.fixtures.rows import present
from tests.fixtures.virtual import NOON

ONE = Subject(b"one", 2, 5000)
OTHER = Subject(b"other", 5, 5000)


def add(tx: Tx, name: str = "kim", role: Role = Role.OWNER, account: str | None = "acme") -> int:
    account_id = None if account is None else accounts.ensure_account(tx, account, NOON)
    return present(users.add(tx, account_id, name, role, "hash", NOON))


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


def test_second_factor_is_proposed_enabled_and_its_codes_used_once(tx: Tx) -> None:
    kim = add(tx)

    assert second_factors.propose(tx, kim, b"first")
    assert second_factors.propose(tx, kim, b"second")
    assert second_factors.list_enabled(tx, [kim]) == set()
    assert not second_factors.use_step(tx, kim, 5), "it is not in use yet"
    second_factors.enable(tx, kim, 7, NOON)
    assert not second_factors.propose(tx, kim, b"third")
    assert second_factors.list_enabled(tx, [kim, 99]) == {kim}
    assert [second_factors.use_step(tx, kim, step) for step in (6, 7, 8, 8)] == [False, False, True, False]
    found = present(second_factors.get(tx, kim))
    assert (found.secret, found.enabled_at, found.last_step) == (b"second", NOON, 8)
    assert second_factors.replace_secret(tx, found, b"sealed")
    assert not second_factors.replace_secret(tx, found, b"again")
    assert [each.secret for each in second_factors.list_some(tx, 0, 10)] == [b"sealed"]
    assert second_factors.list_some(tx, kim, 10) == []


def test_recovery_codes_are_replaced_and_used_once(tx: Tx) -> None:
    kim, lee = add(tx), add(tx, "lee")
    second_factors.propose(tx, kim, b"secret")
    second_factors.enable(tx, kim, 1, NOON)
    second_factors.set_recovery_codes(tx, kim, [b"old"])

    second_factors.set_recovery_codes(tx, kim, [b"a", b"b"])

    assert [second_factors.use_recovery_code(tx, kim, each) for each in (b"old", b"a", b"a")] == [
        False,
        True,
        False,
    ]
    assert not second_factors.use_recovery_code(tx, lee, b"b")
    assert second_factors.count_recovery_codes(tx, kim) == 1
    assert second_factors.delete(tx, kim)
    assert not second_factors.delete(tx, kim)
    assert second_factors.count_recovery_codes(tx, kim) == 0


def test_sign_in_waits_for_its_code(tx: Tx) -> None:
    kim = add(tx)
    sessions.add_pending(tx, b"h", kim, NOON + 10)

    sessions.count_pending_failure(tx, b"h")
    found = present(sessions.get_pending(tx, b"h"))

    assert (found.user.name, found.failures, found.expires_at) == ("kim", 1, NOON + 10)
    assert sessions.delete_pending(tx, b"h")
    assert not sessions.delete_pending(tx, b"h")


def test_what_is_too_old_is_deleted_some_at_a_time(tx: Tx) -> None:
    kim = add(tx)
    for number in range(3):
        hash, at = bytes([number]), NOON + number
        sessions.add(tx, hash, kim, None, "csrf", NOON, at)
        sessions.add_pending(tx, hash, kim, at)
        sessions.trust(tx, hash, None, kim, at)
        openid_identities.use_answer(tx, hash, at)
        sign_in_attempts.acquire(tx, [Subject(hash, 2, 5000)], at)
        audit_log.add(tx, AuditEntry(at, kim, "kim", None, "session.begin"))

    for delete in (
        sessions.delete_expired,
        sessions.delete_expired_pending,
        sessions.delete_expired_devices,
        openid_identities.delete_expired_answers,
    ):
        assert [delete(tx, NOON + 1, most) for most in (1, 9)] == [1, 1]
    for delete in (sign_in_attempts.delete_old, audit_log.delete_old):
        assert [delete(tx, NOON + 2, most) for most in (1, 9)] == [1, 1]
