"""The outbox of mails: stored before it is sent, leased while it is, repeated at most once."""

import pytest

from pabal.domain.events.notice import CONFIRMATION, NoticeKind
from pabal.domain.people.user import Role
from pabal.store.accounts import accounts
from pabal.store.engine.base import Tx
from pabal.store.events import mails, notices
from pabal.store.events.mails import MAX_ITEMS, ClaimedMail, NewMail
from pabal.store.events.notices import Alert, NoticeSettings, Recipient
from pabal.store.users import users
from tests.fixtures.rows import present
from tests.fixtures.virtual import NOON

LEASE_MS = 60_000
KIND = NoticeKind.TEMPLATE.code


def make_user(tx: Tx, name: str = "kim", role: Role = Role.OWNER, address: str | None = "kim@example.com") -> int:
    account_id = None if role is Role.OPERATOR else accounts.ensure_account(tx, "acme", NOON)
    user_id = present(users.add(tx, account_id, name, role, "hash", NOON))
    notices.put_settings(tx, user_id, NoticeSettings(address=address))
    return user_id


def add(tx: Tx, user_id: int, number: int, due_at: int = NOON, kind: str = KIND) -> None:
    mails.add(tx, NewMail(bytes([number]) * 16, user_id, kind, [{"number": number}]), due_at, NOON)


def claim(tx: Tx, now: int = NOON) -> ClaimedMail:
    return present(mails.claim(tx, now, LEASE_MS))


def test_notices_of_one_kind_are_one_mail_until_it_is_being_sent(tx: Tx) -> None:
    user_id = make_user(tx)
    add(tx, user_id, 1)
    add(tx, user_id, 2)
    add(tx, user_id, 3, kind=NoticeKind.CAMPAIGN.code)

    first, second = claim(tx), claim(tx)
    add(tx, user_id, 4)
    third = claim(tx)

    assert [[each["number"] for each in mail.items] for mail in (first, second, third)] == [[1, 2], [3], [4]]
    assert (first.address, first.language, first.tries) == ("kim@example.com", "ko", 1)


def test_mail_names_so_many_notices_and_counts_the_others(tx: Tx) -> None:
    user_id = make_user(tx)
    for number in range(MAX_ITEMS + 5):
        add(tx, user_id, number)

    found = claim(tx)

    assert (len(found.items), found.more) == (MAX_ITEMS, 5)


def test_mail_is_sent_once_and_forgets_what_it_said(tx: Tx) -> None:
    user_id = make_user(tx)
    add(tx, user_id, 1)

    found = claim(tx)
    assert mails.claim(tx, NOON, LEASE_MS) is None
    assert mails.finish(tx, found, NOON + 5)

    assert mails.claim(tx, NOON + LEASE_MS + 1, LEASE_MS) is None
    assert not mails.finish(tx, found, NOON + 6)
    assert mails.last_sent_at(tx, user_id, KIND) == NOON + 5
    assert tx.fetch_all("select items from mails") == [("[]",)]
    assert mails.count_waiting(tx) == 0


def test_mail_in_flight_when_the_process_died_is_repeated_once(tx: Tx) -> None:
    user_id = make_user(tx)
    add(tx, user_id, 1)

    first = claim(tx)
    repeat = claim(tx, NOON + LEASE_MS)
    third = mails.claim(tx, NOON + 2 * LEASE_MS, LEASE_MS)

    assert (first.id, first.items) == (repeat.id, repeat.items)
    assert third is None
    (failed,) = mails.list_failed(tx, 10)
    assert (failed.user, failed.error) == ("kim", mails.UNKNOWN_OUTCOME)
    assert notices.get_settings(tx, user_id).error == mails.UNKNOWN_OUTCOME
    assert not mails.finish(tx, first, NOON)


def test_mail_that_the_server_did_not_take_is_repeated_as_often_as_needed(tx: Tx) -> None:
    add(tx, make_user(tx), 1)

    for number in range(5):
        mails.retry(tx, claim(tx, NOON + number), NOON + number + 1, "451 later", is_in_doubt=False)

    assert claim(tx, NOON + 5).tries == 6


def test_mail_in_doubt_gets_no_more_notices(tx: Tx) -> None:
    user_id = make_user(tx)
    add(tx, user_id, 1)
    mails.retry(tx, claim(tx), NOON + 9, "no answer", is_in_doubt=True)

    add(tx, user_id, 2)

    assert [each["number"] for each in claim(tx).items] == [2]
    assert [each["number"] for each in claim(tx, NOON + 9).items] == [1]


def test_leases_of_a_process_that_died_are_released(tx: Tx) -> None:
    add(tx, make_user(tx), 1)
    claim(tx)

    mails.release_leases(tx, NOON + 1)

    assert claim(tx, NOON + 1).doubts == 2


@pytest.mark.parametrize("reason", ["no address", "disabled", "account disabled"])
def test_mails_to_nobody_are_deleted(tx: Tx, reason: str) -> None:
    user_id = make_user(tx)
    add(tx, user_id, 1)
    if reason == "no address":
        notices.put_settings(tx, user_id, NoticeSettings(new_address="new@example.com"))
    elif reason == "disabled":
        users.set_disabled(tx, user_id, NOON)
    else:
        accounts.set_disabled(tx, "acme", NOON)

    assert mails.claim(tx, NOON, LEASE_MS) is None
    assert tx.fetch_all("select id from mails") == []
    assert notices.list_recipients(tx) == []


def test_only_the_confirmation_goes_to_an_address_that_is_not_confirmed(tx: Tx) -> None:
    user_id = make_user(tx, address="old@example.com")
    notices.put_settings(tx, user_id, NoticeSettings(address="old@example.com", new_address="new@example.com"))
    mails.add(tx, NewMail(b"c" * 16, user_id, CONFIRMATION, [], b"token"), NOON, NOON)
    add(tx, user_id, 1, NOON + 1)

    assert claim(tx).address == "new@example.com"
    assert claim(tx, NOON + 1).address == "old@example.com"


def test_damaged_mail_keeps_no_other_from_being_sent(tx: Tx) -> None:
    user_id = make_user(tx)
    add(tx, user_id, 1)
    tx.execute("update mails set items = '{'")
    add(tx, user_id, 2, kind=NoticeKind.CAMPAIGN.code)

    assert [claim(tx).items, claim(tx).items] == [[], [{"number": 2}]]


def test_what_became_of_mails_is_deleted_later(tx: Tx) -> None:
    user_id = make_user(tx)
    add(tx, user_id, 1)
    add(tx, user_id, 2, kind=NoticeKind.CAMPAIGN.code)
    add(tx, user_id, 3, NOON + 99, NoticeKind.QUOTA.code)
    mails.finish(tx, claim(tx), NOON)
    mails.give_up(tx, claim(tx), "550", NOON)

    assert mails.delete_old(tx, NOON, 10) == 0
    assert mails.delete_old(tx, NOON + 1, 10) == 2
    assert mails.count_waiting(tx) == 1
    assert mails.next_due_at(tx) == NOON + 99


def test_users_have_the_notices_of_their_role_until_they_choose(tx: Tx) -> None:
    kim = make_user(tx)
    operator = make_user(tx, "lee", Role.OPERATOR)
    make_user(tx, "park", Role.VIEWER, None)
    chosen = frozenset({NoticeKind.CARRIER})
    notices.put_settings(tx, operator, NoticeSettings(kinds=chosen, address="lee@example.com", language="en"))

    found = notices.list_recipients(tx)

    usual = frozenset(set(NoticeKind) - {NoticeKind.CARRIER})
    assert found == [Recipient(kim, 1, usual), Recipient(operator, None, chosen)]
    assert notices.get_settings(tx, operator).chosen(Role.OPERATOR) == chosen
    users.delete(tx, operator)
    assert notices.get_settings(tx, operator) == NoticeSettings()


def test_notices_are_stored_once_for_an_event(tx: Tx) -> None:
    for _ in range(2):
        notices.add(tx, b"e" * 16, NoticeKind.QUOTA, 1, {"share": 70}, NOON)
    notices.add(tx, None, NoticeKind.QUOTA, 1, {}, NOON)
    notices.add(tx, b"f" * 16, NoticeKind.CARRIER, None, {"carrier": "telco"}, NOON + 1)
    tx.execute("insert into notices (id, kind, created_at, data) values (?, 'other', 0, '{}')", (b"g" * 16,))

    ids, found = notices.list_some(tx, 10)

    assert ids == [b"g" * 16, b"e" * 16, b"f" * 16]
    assert [(each.kind, each.account_id) for each in found] == [(NoticeKind.QUOTA, 1), (NoticeKind.CARRIER, None)]
    assert notices.delete_old(tx, NOON + 1, 10) == 2
    notices.delete(tx, [b"f" * 16])
    assert not notices.has_any(tx)


def test_alert_is_forgotten_once_it_is_off(tx: Tx) -> None:
    notices.put_alert(tx, NoticeKind.CARRIER, "telco", Alert(True, NOON))
    notices.put_alert(tx, NoticeKind.CARRIER, "other", Alert(False, NOON))

    notices.delete_old_alerts(tx, NOON + 1, 10)

    assert notices.list_alerts(tx, NoticeKind.CARRIER) == {"telco": Alert(True, NOON)}
    assert notices.get_alert(tx, NoticeKind.CARRIER, "other") is None


def test_success_of_a_mail_server_keeps_its_last_error(tx: Tx) -> None:
    failing = mails.get(tx, "a:25")._replace(failing_since=NOON, failures=3, failed_at=NOON, error="timeout")
    mails.put(tx, failing)

    mails.record_success(tx, "a:25", NOON + 5)

    found = mails.get(tx, "a:25")
    assert (found.failing_since, found.failures, found.succeeded_at) == (None, 0, NOON + 5)
    assert (found.error, found.failed_at) == ("timeout", NOON)
