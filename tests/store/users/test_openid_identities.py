"""Identities of users at OpenID Connect providers, and answers that were used, on both engines."""

from pabal.domain.people.user import Role
from pabal.store.accounts import accounts
from pabal.store.engine.base import Tx
from pabal.store.users import openid_identities, sign_in_attempts, users
from pabal.store.users.openid_identities import Identity
from pabal.store.users.sign_in_attempts import FORGET_MS, Subject
from tests.fixtures.rows import present
from tests.fixtures.virtual import NOON

KIM, LEE = Identity("https://login.example", "1"), Identity("https://login.example", "2")


def make(tx: Tx, name: str = "kim") -> int:
    """Add a user without a password, and return the id."""
    account_id = accounts.ensure_account(tx, "acme", NOON)
    return present(users.add(tx, account_id, name, Role.OWNER, None, NOON))


def test_user_is_found_by_issuer_and_subject_together(tx: Tx) -> None:
    kim = make(tx)
    openid_identities.add(tx, KIM, kim, NOON)

    found = present(openid_identities.find_user(tx, KIM))
    credentials = present(users.get_by_name(tx, "kim"))

    assert (found.id, found.name, found.account) == (kim, "kim", "acme")
    assert credentials.hash is None
    assert openid_identities.find_user(tx, KIM._replace(issuer="https://other.example")) is None
    assert openid_identities.find_user(tx, LEE) is None


def test_identity_has_one_user_and_a_user_one_identity_of_an_issuer(tx: Tx) -> None:
    kim, lee = make(tx), make(tx, "lee")
    elsewhere = Identity("https://other.example", "1")

    added = [
        openid_identities.add(tx, KIM, kim, NOON),
        openid_identities.add(tx, KIM, lee, NOON),
        openid_identities.add(tx, LEE, kim, NOON),
        openid_identities.add(tx, elsewhere, kim, NOON + 1),
    ]

    assert added == [True, False, False, True]
    linked = present(openid_identities.get(tx, kim, KIM.issuer))
    assert linked == (KIM, NOON)
    assert openid_identities.get(tx, lee, KIM.issuer) is None
    assert openid_identities.list_linked(tx, KIM.issuer, [kim, lee]) == {kim}
    assert openid_identities.list_linked(tx, KIM.issuer, []) == set()


def test_names_with_many_recent_failures_are_listed(tx: Tx) -> None:
    for name, failures in ((b"often", 5), (b"once", 1), (b"other", 5)):
        for _ in range(failures):
            sign_in_attempts.count(tx, Subject(b"both " + name, 9, 0, name), NOON)

    found = sign_in_attempts.list_failing(tx, [b"often", b"once", b"never"], 5, NOON + 1)

    assert found == {b"often"}
    assert sign_in_attempts.list_failing(tx, [b"often"], 5, NOON + FORGET_MS) == set()
    assert sign_in_attempts.list_failing(tx, [], 5, NOON) == set()
