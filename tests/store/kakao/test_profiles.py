"""Stored sender profiles and their tokens."""

import json

import pytest

from pabal.domain.base.dates import HOUR, MINUTE
from pabal.domain.events.event import EventType
from pabal.domain.kakao.profile import AuthStatus, Profile, Suspension
from pabal.store.accounts import accounts
from pabal.store.engine.base import Tx
from pabal.store.kakao import profiles
from pabal.store.kakao.profiles import ProfileFilter
from tests.fixtures.rows import PHONE, ExplainingTx, present
from tests.fixtures.store_modes import CONSTRAINT_ERRORS
from tests.fixtures.virtual import NOON

KEY = "a" * 40


def add(tx: Tx, channel: str = "@shop", account: str = "acme", at: int = NOON) -> int:
    return profiles.add(tx, accounts.ensure_account(tx, account, NOON), channel, "00100010001", PHONE, at)


def approved(tx: Tx, channel: str = "@shop", key: str = KEY, account: str = "acme") -> int:
    profile = add(tx, channel, account)
    profiles.approve(tx, profile, key, NOON)
    return profile


def test_new_profile_is_pending_enabled_and_has_no_key(tx: Tx) -> None:
    added = add(tx)

    profile = present(profiles.get_by_channel(tx, 1, "@shop"))

    assert (profile.id, profile.status, profile.sender_key, profile.is_enabled) == (
        added,
        AuthStatus.WAITING,
        None,
        True,
    )
    assert (profile.category, profile.cellphone) == ("00100010001", PHONE)
    assert (profile.created_at, profile.changed_at) == (NOON, NOON)


def test_channel_is_unique_per_account(tx: Tx) -> None:
    add(tx)
    add(tx, account="other")

    with pytest.raises(CONSTRAINT_ERRORS):
        add(tx)


def test_repeated_registration_updates_the_profile(tx: Tx) -> None:
    added = add(tx)

    profiles.update(tx, added, "00100010002", "01099998888", NOON + 1)

    profile = present(profiles.get_by_channel(tx, 1, "@shop"))
    assert (profile.category, profile.cellphone, profile.changed_at) == ("00100010002", "01099998888", NOON + 1)
    assert profile.created_at == NOON


def test_approved_profile_is_found_by_key_only_by_its_account(tx: Tx) -> None:
    added = approved(tx)

    profile = present(profiles.get_by_sender_key(tx, 1, KEY))

    assert (profile.id, profile.status, profile.sender_key) == (added, AuthStatus.APPROVAL, KEY)
    assert profiles.get_by_sender_key(tx, 2, KEY) is None
    assert profiles.get_by_channel(tx, 2, "@shop") is None


def test_deleted_profile_is_not_listed_and_frees_its_channel(tx: Tx) -> None:
    old = approved(tx)

    profiles.delete(tx, old, NOON + 1)

    assert profiles.get_by_channel(tx, 1, "@shop") is None
    assert profiles.get_by_sender_key(tx, 1, KEY) is None
    assert profiles.find(tx, ProfileFilter(1), 1, 10) == (0, [])
    assert profiles.list_all(tx) == []
    assert not profiles.set_enabled(tx, old, False, NOON)
    assert add(tx) != old


def test_deleted_profile_is_pending_cleanup_until_cleaned_up(tx: Tx) -> None:
    kept, gone = add(tx, "@kept"), add(tx, "@gone")
    assert profiles.list_unswept(tx) == []

    profiles.delete(tx, gone, NOON)

    assert profiles.list_unswept(tx) == [gone]
    assert profiles.find_deleted(tx, {kept, gone, 999}) == {gone}
    profiles.mark_swept(tx, gone)
    assert profiles.list_unswept(tx) == []
    assert profiles.find_deleted(tx, {kept, gone}) == {gone}
    assert profiles.find_deleted(tx, set()) == set()


def test_profiles_are_listed_newest_first_by_page_and_filter(tx: Tx) -> None:
    ids = [add(tx, f"@shop{number}") for number in range(5)]
    profiles.approve(tx, ids[2], KEY, NOON)
    add(tx, "@foreign", "other")

    def found(wanted: ProfileFilter, page: int = 1, page_size: int = 10) -> tuple[int, list[int]]:
        total, each = profiles.find(tx, wanted, page, page_size)
        return total, [one.id for one in each]

    assert found(ProfileFilter(1)) == (5, ids[::-1])
    assert found(ProfileFilter(1), 2, 2) == (5, [ids[2], ids[1]])
    assert found(ProfileFilter(1), 9, 2) == (5, [])
    assert found(ProfileFilter(1, channel_id="@shop3")) == (1, [ids[3]])
    assert found(ProfileFilter(1, sender_key=KEY)) == (1, [ids[2]])
    assert found(ProfileFilter(1, status=AuthStatus.WAITING)) == (4, [ids[4], ids[3], ids[1], ids[0]])
    assert found(ProfileFilter(1, channel_id="@shop3", status=AuthStatus.APPROVAL)) == (0, [])


def test_profile_can_be_disabled_and_enabled(tx: Tx) -> None:
    added = approved(tx)

    assert profiles.set_enabled(tx, added, False, NOON + 1)
    profile = present(profiles.get_by_sender_key(tx, 1, KEY))
    assert (profile.is_enabled, profile.changed_at) == (False, NOON + 1)

    assert profiles.set_enabled(tx, added, True, NOON + 2)
    assert not profiles.set_enabled(tx, 999, True, NOON + 2)


def test_profiles_of_all_accounts_have_their_account_name(tx: Tx) -> None:
    add(tx)
    add(tx, account="other")

    assert [(name, each.channel_id) for name, each in profiles.list_all(tx)] == [
        ("acme", "@shop"),
        ("other", "@shop"),
    ]


def send_token(tx: Tx, profile: int, at: int, hash: bytes = b"h", channel: str = "@shop", to: str = PHONE) -> None:
    profiles.add_token(tx, 1, profile, channel, to, hash, at, at + 30 * MINUTE)


def test_only_the_newest_token_of_a_profile_is_valid(tx: Tx) -> None:
    profile = add(tx)
    assert profiles.newest_token(tx, profile) is None
    send_token(tx, profile, NOON, b"old")
    send_token(tx, profile, NOON, b"new")
    profiles.add_failed_attempts(tx, 1)

    token = present(profiles.newest_token(tx, profile))

    assert (token.hash, token.failed_attempts, token.expires_at) == (b"new", 0, NOON + 30 * MINUTE)
    profiles.add_failed_attempts(tx, token.id)
    again = present(profiles.newest_token(tx, profile))
    assert again.failed_attempts == 1


def test_tokens_of_the_last_hour_are_counted_by_channel_and_by_number(tx: Tx) -> None:
    profile = add(tx)
    send_token(tx, profile, NOON - HOUR)
    send_token(tx, profile, NOON - HOUR + 1)
    send_token(tx, profile, NOON, channel="@another")
    send_token(tx, profile, NOON, to="01099999999")

    assert profiles.count_tokens_since(tx, 1, "@shop", PHONE, NOON - HOUR) == (2, 2)
    assert profiles.count_tokens_since(tx, 2, "@shop", PHONE, NOON - HOUR) == (0, 0)


def test_expired_tokens_are_deleted_in_batches(tx: Tx) -> None:
    profile = add(tx)
    for _ in range(3):
        send_token(tx, profile, NOON - 3 * HOUR)
    profiles.add_token(tx, 1, profile, "@shop", PHONE, b"long", NOON - 3 * HOUR, NOON + HOUR)
    send_token(tx, profile, NOON)

    assert profiles.delete_expired_tokens(tx, NOON - HOUR, 2) == 2
    assert profiles.delete_expired_tokens(tx, NOON - HOUR, 2) == 1
    assert profiles.delete_expired_tokens(tx, NOON - HOUR, 2) == 0
    assert tx.fetch_one("select count(*) from tokens") == (2,)


def test_profile_and_token_queries_never_scan_a_table(tx: Tx) -> None:
    for number in range(50):
        send_token(tx, add(tx, f"@shop{number}"), NOON)
    explaining = ExplainingTx(tx)

    profiles.get_by_channel(explaining, 1, "@shop1")
    profiles.get_by_sender_key(explaining, 1, KEY)
    profiles.get_by_any_sender_key(explaining, KEY)
    profiles.list_by_carrier(explaining, "relay")
    profiles.get_approved(explaining, "relay", "@shop1")
    profiles.release_sender_key(explaining, KEY)
    profiles.find_deleted(explaining, {1, 2, 3})
    profiles.list_unswept(explaining)
    profiles.find(explaining, ProfileFilter(1), 1, 10)
    profiles.count_tokens_since(explaining, 1, "@shop", PHONE, NOON - HOUR)
    profiles.newest_token(explaining, 1)
    profiles.add_failed_attempts(explaining, 1)
    profiles.delete_expired_tokens(explaining, NOON, 10)
    profiles.approve(explaining, 1, KEY, NOON)

    scanned = [step for step, _ in explaining.scans]
    swept = ["SCAN profiles USING COVERING INDEX profiles_to_sweep"]  # this index has only unswept profiles
    assert scanned == ([] if explaining.is_on_postgresql else swept)
    by_age = explaining.is_on_postgresql and explaining.uses(
        "tokens_by_age"
    )  # with one account this index serves as well
    assert by_age or explaining.uses("tokens_by_account (account_id=? AND sent_at>?)")
    assert explaining.uses("tokens_by_profile (profile_id=?)")
    assert explaining.uses("profiles_by_account (account_id=? AND channel_id=?)")


def test_relay_profiles_are_found_by_carrier_and_by_channel(tx: Tx) -> None:
    account = accounts.ensure_account(tx, "acme", NOON)
    mine = profiles.add(tx, account, "@shop", "00100010001", PHONE, NOON, "relay")
    other = profiles.add(
        tx, accounts.ensure_account(tx, "other", NOON), "@shop", "00100010001", PHONE, NOON, "relay"
    )
    approved(tx, "@alone")
    profiles.add(tx, account, "@elsewhere", "00100010001", PHONE, NOON, "relay2")

    assert [each.id for each in profiles.list_by_carrier(tx, "relay")] == [mine, other]
    assert profiles.get_approved(tx, "relay", "@shop") is None
    profiles.approve(tx, other, "b" * 40, NOON)
    found = present(profiles.get_approved(tx, "relay", "@shop"))
    assert (found.id, found.carrier) == (other, "relay")
    assert profiles.get_approved(tx, "relay", "@alone") is None
    profiles.delete(tx, other, NOON)
    assert profiles.get_approved(tx, "relay", "@shop") is None
    assert [each.id for each in profiles.list_by_carrier(tx, "relay")] == [mine]


def test_relay_and_operator_states_of_a_profile_are_independent(tx: Tx) -> None:
    added = approved(tx)

    profiles.apply_remote(tx, added, "00100010002", Suspension.BLOCKED, NOON + 1)
    profiles.set_enabled(tx, added, True, NOON + 2)

    found = present(profiles.get_by_any_sender_key(tx, KEY))
    assert (found.category, found.suspension, found.is_enabled, found.is_usable) == (
        "00100010002",
        Suspension.BLOCKED,
        True,
        False,
    )
    profiles.apply_remote(tx, added, "00100010002", None, NOON + 3)
    found = present(profiles.get_by_any_sender_key(tx, KEY))
    assert found.is_usable


def test_only_a_deleted_profile_releases_its_key(tx: Tx) -> None:
    added = approved(tx)
    profiles.release_sender_key(tx, KEY)
    assert profiles.get_by_any_sender_key(tx, KEY) is not None

    profiles.delete(tx, added, NOON)
    profiles.release_sender_key(tx, KEY)

    assert approved(tx, account="other")


def told(tx: Tx) -> list[Profile]:
    """Return the profile of each event, in order."""
    rows = tx.fetch_all("select data from event_data where type = ?", (EventType.SENDER_AUTH.number,))
    return sorted((profiles.from_event(json.loads(row[0])) for row in rows), key=lambda each: each.changed_at)


def test_each_new_state_of_a_profile_is_recorded_as_it_was(tx: Tx) -> None:
    added = add(tx)
    profiles.update(tx, added, "00100010002", PHONE, NOON + 1)
    assert told(tx) == []

    profiles.approve(tx, added, KEY, NOON + 2)
    profiles.approve(tx, added, KEY, NOON + 3)
    profiles.set_enabled(tx, added, False, NOON + 4)
    profiles.set_enabled(tx, added, False, NOON + 5)
    profiles.set_enabled(tx, added, True, NOON + 6)
    profiles.apply_remote(tx, added, "00100010001", None, NOON + 7)
    profiles.apply_remote(tx, added, "00100010001", Suspension.BLOCKED, NOON + 8)
    now = profiles.get_by_sender_key(tx, 1, KEY)
    profiles.delete(tx, added, NOON + 9)

    found = told(tx)
    assert [each.changed_at - NOON for each in found] == [2, 4, 6, 8]
    assert [each.is_usable for each in found] == [True, False, True, False]
    assert found[-1] == now
