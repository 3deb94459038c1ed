"""Changes of accounts' set-up: every statement that changes a row of it is counted, once for its account."""

import ast
import inspect
import pkgutil
import re
from collections.abc import Callable, Iterator
from importlib import import_module

import pytest

import pabal.store
from pabal.domain.kakao.profile import Suspension
from pabal.domain.kakao.template import TemplateContent, TemplateStatus
from pabal.domain.people.phone import NumberState
from pabal.domain.sends.account import AccountLimits
from pabal.store.accounts import account_limits, accounts, numbers, setup_changes
from pabal.store.engine.base import Tx
from pabal.store.kakao import profiles, templates
from pabal.store.people import personal_data
from tests.fixtures.rows import present
from tests.fixtures.virtual import NOON

SENDER, PHONE = "0212345678", "01012345678"
CONTENT = TemplateContent("주문", "주문하셨습니다", "999999")
SETUP_TABLES = "accounts|keys|account_limits|numbers|profiles|templates"
CHANGES_ROWS = re.compile(
    rf"\b(?:update|delete from|upsert) ({SETUP_TABLES})\b|\binsert into ({SETUP_TABLES})\b.*\bdo update\b"
)
NOT_COUNTED = {
    "accounts.lock": "it changes nothing",
    "accounts.set_sender_codes": "processes that deliver read these codes every few seconds by themselves",
    "profiles.release_sender_key": "it changes profiles that are deleted already",
    "profiles.mark_swept": "it changes profiles that are deleted already",
}


class SetUp:
    """The set-up of one account, whose id is not 1."""

    def __init__(self, tx: Tx) -> None:
        accounts.ensure_account(tx, "other", NOON)
        self.account_id = accounts.ensure_account(tx, "acme", NOON)
        self.key_id = accounts.add_key(tx, self.account_id, "first", b"hash", "send", "", 0, NOON, None)
        numbers.add(tx, self.account_id, SENDER, NOON)
        self.profile_id = profiles.add(tx, self.account_id, "@shop", "00100010001", PHONE, NOON)
        self.template_id = templates.add(tx, self.account_id, self.profile_id, "T1", CONTENT, None, NOON)


def _set_number_state(tx: Tx, found: SetUp) -> None:
    number = present(numbers.get(tx, found.account_id, SENDER))
    numbers.set_state(tx, number, NumberState.REJECTED)


def _apply_remote_template(tx: Tx, found: SetUp) -> None:
    status = TemplateStatus.APPROVED
    templates.apply_remote(tx, found.template_id, CONTENT, CONTENT, status, None, Suspension.BLOCKED, NOON)


CHANGES: dict[str, Callable[[Tx, SetUp], object]] = {
    "disabled account": lambda tx, found: accounts.set_disabled(tx, "acme", NOON),
    "number for opting out": lambda tx, found: accounts.set_opt_out_number(tx, found.account_id, "08012345678"),
    "revoked key": lambda tx, found: accounts.revoke_key(tx, found.key_id, NOON),
    "limits": lambda tx, found: account_limits.save(tx, found.account_id, AccountLimits(1)),
    "removed number": lambda tx, found: numbers.remove(tx, found.account_id, SENDER),
    "rejected number": _set_number_state,
    "updated profile": lambda tx, found: profiles.update(tx, found.profile_id, "00100010002", PHONE, NOON),
    "approved profile": lambda tx, found: profiles.approve(tx, found.profile_id, "f" * 40, NOON),
    "disabled profile": lambda tx, found: profiles.set_enabled(tx, found.profile_id, False, NOON),
    "suspended profile": lambda tx, found: profiles.apply_remote(
        tx, found.profile_id, "00100010001", Suspension.BLOCKED, NOON
    ),
    "deleted profile": lambda tx, found: profiles.delete(tx, found.profile_id, NOON),
    "erased number": lambda tx, found: personal_data.erase_elsewhere(tx, found.account_id, PHONE),
    "edited template": lambda tx, found: templates.update_design(tx, found.template_id, CONTENT, None, NOON),
    "reviewed template": lambda tx, found: templates.set_status(
        tx, found.template_id, TemplateStatus.APPROVED, None, NOON
    ),
    "suspended template": _apply_remote_template,
    "deleted template": lambda tx, found: templates.delete(tx, found.template_id),
}


@pytest.mark.parametrize("change", CHANGES)
def test_change_is_counted_for_its_account(tx: Tx, change: str) -> None:
    found = SetUp(tx)
    assert setup_changes.count_all(tx) == {}

    CHANGES[change](tx, found)
    assert setup_changes.count_all(tx) == {setup_changes.bucket_of(found.account_id): 1}


def test_change_of_nothing_is_not_counted(tx: Tx) -> None:
    found = SetUp(tx)

    assert not accounts.revoke_key(tx, found.key_id + 1, NOON)
    assert not accounts.set_disabled(tx, "nobody", NOON)
    assert not numbers.remove(tx, found.account_id, "15881588")
    assert not profiles.set_enabled(tx, found.profile_id + 1, False, NOON)

    assert setup_changes.count_all(tx) == {}


def test_changes_of_accounts_with_the_same_count_add_up(tx: Tx) -> None:
    setup_changes.record_changed(tx, [(3,), (3 + setup_changes.BUCKETS,), (4,), (4,)])

    assert setup_changes.count_all(tx) == {3: 2, 4: 1}


def test_every_function_that_changes_the_set_up_counts_it() -> None:
    uncounted = {name for name, counts in _changing_functions() if not counts}

    assert uncounted == set(NOT_COUNTED)


def _changing_functions() -> Iterator[tuple[str, bool]]:
    """Yield the functions of the store that change rows of the set-up, and whether they count that."""
    for module in pkgutil.walk_packages(pabal.store.__path__, "pabal.store."):
        if module.name.startswith("pabal.store.engine"):
            continue
        tree = ast.parse(inspect.getsource(import_module(module.name)))
        functions = [each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
        counting = {each.name for each in functions if "setup_changes.record" in ast.unparse(each)}
        for function in functions:
            values = [each.value for each in ast.walk(function) if isinstance(each, ast.Constant)]
            texts = [each for each in values if isinstance(each, str)]
            called = {ast.unparse(each.func) for each in ast.walk(function) if isinstance(each, ast.Call)}
            texts += [f"upsert {each}" for each in texts if "upsert" in called]
            if CHANGES_ROWS.search(" ".join(texts)):
                yield f"{module.name.rpartition('.')[2]}.{function.name}", bool({function.name, *called} & counting)
