"""Invitations, second factors, sign-ins that wait for a code, and rates of keys, on both engines."""

from pabal.domain.people.user import Role
from pabal.store.accounts import accounts
from pabal.store.campaigns import drafts
from pabal.store.campaigns.drafts import DraftKey
from pabal.store.engine.base import Tx
from pabal.store.messages import recent_texts
from pabal.store.users import invites, second_factors, sessions, users
from tests.fixtures.rows import present
from tests.fixtures.virtual import NOON


def make(tx: Tx, name: str = "kim", role: Role = Role.OWNER, account: str = "acme") -> tuple[int, int]:
    """Add a user and return the ids of account and user."""
    account_id = accounts.ensure_account(tx, account, NOON)
    user_id = present(users.add(tx, account_id, name, role, "hash", NOON))
    return account_id, user_id


def test_invitation_is_found_by_its_hash_and_deleted_once(tx: Tx) -> None:
    account_id, kim = make(tx)
    other_id, _ = make(tx, "lee", account="other")

    invite_id = invites.add(tx, account_id, b"h", Role.SENDER, kim, NOON, NOON + 10)
    found = present(invites.get_by_hash(tx, b"h"))

    assert (found.id, found.account, found.role, found.inviter.name) == (invite_id, "acme", Role.SENDER, "kim")
    assert found.is_usable(NOON + 9)
    assert not found.is_usable(NOON + 10)
    assert invites.list_by_account(tx, account_id) == [found]
    assert not invites.delete(tx, other_id, invite_id)
    assert invites.delete(tx, account_id, invite_id)
    assert not invites.delete(tx, account_id, invite_id)


def test_invitation_is_void_while_its_inviter_may_not_give_it(tx: Tx) -> None:
    account_id, kim = make(tx)
    invites.add(tx, account_id, b"h", Role.OWNER, kim, NOON, NOON + 10)

    users.set_role(tx, kim, Role.SENDER)
    demoted = present(invites.get_by_hash(tx, b"h"))
    users.set_role(tx, kim, Role.OWNER)
    accounts.set_disabled(tx, "acme", NOON)
    disabled = present(invites.get_by_hash(tx, b"h"))

    assert not demoted.is_usable(NOON)
    assert not disabled.is_usable(NOON)


def test_expired_invitations_and_those_of_a_deleted_user_are_deleted(tx: Tx) -> None:
    account_id, kim = make(tx)
    for number in range(3):
        invites.add(tx, account_id, bytes([number]), Role.SENDER, kim, NOON, NOON + number)

    assert invites.delete_expired(tx, NOON + 1, 1) == 1
    assert invites.delete_expired(tx, NOON + 1, 10) == 1
    users.delete(tx, kim)
    assert invites.list_by_account(tx, account_id) == []


def test_second_factor_is_proposed_enabled_and_its_codes_used_once(tx: Tx) -> None:
    _, kim = make(tx)

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
    _, kim = make(tx)
    _, lee = make(tx, "lee")
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
    _, kim = make(tx)
    sessions.add_pending(tx, b"h", kim, NOON + 10)
    sessions.add_pending(tx, b"i", kim, NOON + 20)

    sessions.count_pending_failure(tx, b"h")
    found = present(sessions.get_pending(tx, b"h"))

    assert (found.user.name, found.failures, found.expires_at) == ("kim", 1, NOON + 10)
    assert sessions.delete_expired_pending(tx, NOON + 10, 10) == 1
    assert sessions.get_pending(tx, b"h") is None
    assert sessions.delete_pending(tx, b"i")
    assert not sessions.delete_pending(tx, b"i")


def test_sessions_of_a_user_are_listed_and_ended(tx: Tx) -> None:
    account_id, kim = make(tx)
    _, lee = make(tx, "lee")
    for hash, who, used_at in ((b"1", kim, NOON), (b"2", kim, NOON + 5), (b"3", lee, NOON)):
        sessions.add(tx, hash, who, account_id, "csrf", used_at, NOON + 100, "Chrome, Windows")

    assert [(each.hash, each.browser) for each in sessions.list_by_user(tx, kim)] == [
        (b"2", "Chrome, Windows"),
        (b"1", "Chrome, Windows"),
    ]
    assert not sessions.delete_of_user(tx, lee, b"1")
    assert sessions.delete_others(tx, kim, b"2") == 1
    assert sessions.delete_of_user(tx, kim, b"2")
    assert len(sessions.list_by_user(tx, lee)) == 1


def test_owners_who_can_sign_in_are_counted_and_users_deleted(tx: Tx) -> None:
    account_id, kim = make(tx)
    _, lee = make(tx, "lee")
    make(tx, "park", Role.SENDER)
    drafts.save(tx, DraftKey(lee, account_id, "send"), "{}", "", NOON, 20)

    users.set_disabled(tx, kim, NOON)

    assert users.count_active_owners(tx, account_id) == 1
    users.delete(tx, lee)
    assert users.count_active_owners(tx, account_id) == 0
    assert users.get_by_name(tx, "lee") is None


def test_rate_of_a_key_is_changed_for_its_account_only(tx: Tx) -> None:
    account_id, _ = make(tx)
    other_id, _ = make(tx, "lee", account="other")
    first, second = (
        accounts.add_key(tx, account_id, "", bytes([number]), "send", "", 5, NOON, None) for number in range(2)
    )

    assert not accounts.set_key_rate(tx, other_id, first, 9)
    assert accounts.set_key_rate(tx, account_id, first, 9)
    accounts.revoke_key(tx, second, NOON)
    assert not accounts.set_key_rate(tx, account_id, second, 9)
    assert [each.rate for each in accounts.list_keys_by_account(tx, account_id)] == [9, 5]


def test_texts_can_be_forgotten(tx: Tx) -> None:
    recent_texts.claim(tx, [b"a", b"b"], NOON, NOON + 10)

    recent_texts.delete(tx, [b"a"])

    assert recent_texts.find(tx, [b"a", b"b"], NOON) == {b"b"}
