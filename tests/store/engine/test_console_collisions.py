"""What two people do at the same moment on PostgreSQL: one of them comes first, and the other sees it."""

import pytest

from pabal.domain.base.dates import HOUR
from pabal.domain.people.contact import ContactEntry
from pabal.domain.people.user import Role
from pabal.domain.sends.message import Status
from pabal.service.access.contacts import contact_groups as group_service
from pabal.service.access.users import team
from pabal.service.policy import build_policy
from pabal.service.sending import accept, replace
from pabal.service.sending.accept import AcceptedRequest, NewRequest
from pabal.service.sending.replace import Replacement
from pabal.settings.settings import load
from pabal.store.accounts import accounts
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Tx
from pabal.store.messages import requests
from pabal.store.people import contact_groups, contacts
from pabal.store.users import invites, second_factors, users
from tests.fixtures.collisions import Work, collide, kinds
from tests.fixtures.cutting_proxy import Cut, CuttingProxy
from tests.fixtures.postgres_store import new_request, open_postgres, query_outside
from tests.fixtures.rows import ACCOUNT, sms
from tests.fixtures.virtual import NOON

POLICY = build_policy(load({}))


def scheduled(number: int, key: str | None = None) -> NewRequest:
    """Return a request that waits for an hour."""
    new = new_request(number, key)
    row = requests.build_row(new.request_id, ACCOUNT, sms(["01012345678", "01087654321"]), NOON + HOUR)
    return new._replace(request=row, scheduled_at=NOON + HOUR, ready_at=NOON + HOUR)


@pytest.mark.parametrize("keys", [("k", "k"), ("first", "second")], ids=["two clicks", "two people"])
def test_scheduled_request_is_replaced_once(address: str, keys: tuple[str, str]) -> None:
    old = scheduled(1)

    def replacing(number: int, key: str) -> Work:
        return lambda tx: replace._replace(tx, Replacement(old.request_id, scheduled(number, key), []), POLICY)

    results = collide(
        address, lambda tx: accept.store_request(tx, old), replacing(2, keys[0]), replacing(3, keys[1])
    )

    is_same = keys[0] == keys[1]
    assert kinds(results) == ["AcceptedRequest", "AcceptedRequest" if is_same else "Refused"]
    assert len({each.request_id for each in results if isinstance(each, AcceptedRequest)}) == 1
    counted = query_outside(address, "select status, count(*) from messages group by status order by status")
    assert counted == [(Status.WAITING.number, 2), (Status.CANCEL.number, 2)]
    assert query_outside(address, "select count(*) from jobs") == [(2,)]


@pytest.mark.parametrize("address", ["postgresql"], indirect=True)  # the proxy is in front of that server
@pytest.mark.parametrize("cuts", [[Cut.BEFORE], [Cut.AFTER], [Cut.AFTER, Cut.AFTER]])
async def test_connection_lost_at_the_commit_leaves_neither_both_nor_none(
    address: str, cutter: CuttingProxy, cuts: list[Cut]
) -> None:
    old, new = scheduled(1), scheduled(2, "k")
    async with open_postgres(cutter.address(address)) as store:
        await store.write(accept.store_request, old)
        cutter.cuts.extend(cuts)

        stored = await store.write(replace._replace, Replacement(old.request_id, new, []), POLICY)

        assert stored == AcceptedRequest(new.request_id, True)
    assert cutter.cuts == []
    counted = query_outside(address, "select status, count(*) from messages group by status order by status")
    assert counted == [(Status.WAITING.number, 2), (Status.CANCEL.number, 2)]
    assert query_outside(address, "select count(*) from jobs") == [(2,)]


def add_owners(tx: Tx) -> tuple[int, dict[str, int]]:
    """Add two owners, and return the account and their ids."""
    account_id = accounts.ensure_account(tx, "acme", NOON)
    added = {name: users.add(tx, account_id, name, Role.OWNER, "hash", NOON) or 0 for name in ("kim", "lee")}
    return account_id, added


@pytest.mark.parametrize("way", ["role", "remove"])
def test_two_owners_cannot_take_the_account_from_each_other(address: str, way: str) -> None:
    account_id, owners = 0, dict[str, int]()

    def prepare(tx: Tx) -> None:
        nonlocal account_id
        account_id, found = add_owners(tx)
        owners.update(found)

    def taking(actor: str, other: str) -> Work:
        def take(tx: Tx) -> None:
            entry = AuditEntry(NOON, owners[actor], actor, account_id, "user.role")
            if way == "role":
                team.change_role(tx, account_id, other, Role.VIEWER, entry)
            else:
                team.remove(tx, account_id, other, entry)

        return take

    results = collide(address, prepare, taking("kim", "lee"), taking("lee", "kim"))

    assert kinds(results) == ["NoneType", "Refused"]
    assert query_outside(address, "select count(*) from users where role = 'owner'") == [(1,)]


def test_invitation_lets_one_of_two_in(address: str) -> None:
    def prepare(tx: Tx) -> None:
        account_id, owners = add_owners(tx)
        invites.add(tx, account_id, b"token", Role.OWNER, owners["kim"], NOON, NOON + HOUR)

    results = collide(
        address,
        prepare,
        lambda tx: team.accept(tx, b"token", "park", "hash", NOON),
        lambda tx: team.accept(tx, b"token", "choi", "hash", NOON),
    )

    assert kinds(results) == ["Refused", "User"]
    assert query_outside(address, "select count(*) from users") == [(3,)]


def test_code_and_recovery_code_work_once(address: str) -> None:
    kim = 0

    def prepare(tx: Tx) -> None:
        nonlocal kim
        kim = add_owners(tx)[1]["kim"]
        second_factors.propose(tx, kim, b"secret")
        second_factors.enable(tx, kim, 1, NOON)
        second_factors.set_recovery_codes(tx, kim, [b"code"])

    def using() -> Work:
        return lambda tx: (
            second_factors.use_step(tx, kim, 2),
            second_factors.use_recovery_code(tx, kim, b"code"),
        )

    assert sorted(collide(address, prepare, using(), using())) == [(False, False), (True, True)]


@pytest.mark.parametrize("way", ["chosen", "imported"])
def test_group_counts_nobody_who_is_deleted_while_put_into_it(address: str, way: str) -> None:
    account_id, group_id, contact_id = 0, 0, 0
    entries = [ContactEntry("01012345678")]

    def prepare(tx: Tx) -> None:
        nonlocal account_id, group_id, contact_id
        account_id = accounts.ensure_account(tx, "acme", NOON)
        group_id = contact_groups.add(tx, account_id, "단골", NOON) or 0
        contact_id = contacts.save_all(tx, account_id, entries, NOON, updates=False).ids["01012345678"]

    def put(tx: Tx) -> None:
        if way == "chosen":
            group_service.add_members(tx, account_id, group_id, [contact_id])
        else:
            saved = contacts.save_all(tx, account_id, entries, NOON, updates=False)
            contact_groups.add_members(tx, account_id, group_id, saved.ids.values())

    collide(address, prepare, lambda tx: contacts.delete(tx, account_id, [contact_id]), put)

    members = query_outside(address, "select count(*) from contact_members")
    assert query_outside(address, "select contacts from contact_groups") == members
    assert query_outside(address, "select count(*) from contacts") == members
    assert way == "imported" or members == [(0,)]
