"""Stored webhooks: what they want, and how it goes."""

import pytest

from pabal.domain.base.dates import MINUTE
from pabal.domain.events.event import EventType
from pabal.domain.events.webhook import Webhook, WebhookState
from pabal.domain.sends.message import Product
from pabal.store.accounts import accounts
from pabal.store.engine.base import Tx
from pabal.store.events import events, webhook_posts, webhooks
from pabal.store.events.webhooks import SUCCESS_PRECISION_MS, NewWebhook
from pabal.store.users import sessions
from tests.fixtures.rows import ExplainingTx, present
from tests.fixtures.virtual import NOON

URL = "https://hook.example/in"


@pytest.fixture
def account(tx: Tx) -> int:
    return accounts.ensure_account(tx, "acme", NOON)


def add(tx: Tx, account: int, **fields: object) -> int:
    new = NewWebhook(account, URL, [EventType.MESSAGE_RESULT], [], "", b"secret")
    return webhooks.add(tx, new._replace(**fields), NOON)  # type: ignore[arg-type]


def get(tx: Tx, account: int, webhook_id: int) -> Webhook:
    return present(webhooks.get(tx, account, webhook_id))


def test_webhook_is_read_as_stored(tx: Tx, account: int) -> None:
    types = [EventType.TEMPLATE_STATUS, EventType.MESSAGE_RESULT]
    one = add(tx, account, events=types, products=[Product.SMS, Product.ALIMTALK], description="주문")

    found = get(tx, account, one)

    assert found == Webhook(
        one,
        account,
        "acme",
        URL,
        frozenset(types),
        frozenset([Product.SMS, Product.ALIMTALK]),
        description="주문",
        secret=b"secret",
        previous_secret=None,
        previous_until=None,
        state=WebhookState.ACTIVE,
        created_at=NOON,
        changed_at=NOON,
        last_success_at=None,
        failures=0,
        failing_since=None,
        trial_at=None,
        dropped=0,
        gone=0,
        gone_since=None,
    )
    assert webhooks.list_by_account(tx, account) == [found] == webhooks.list_enabled(tx)
    assert webhooks.get(tx, account + 1, one) is None
    assert webhooks.list_by_account(tx, account + 1) == []


@pytest.mark.parametrize(
    ("type", "product", "is_wanted"),
    [
        (EventType.MESSAGE_RESULT, Product.SMS.number, True),
        (EventType.MESSAGE_RESULT, Product.LMS.number, False),
        (EventType.TEMPLATE_STATUS, 0, True),
        (EventType.LIMIT_NEAR, 0, False),
    ],
)
def test_webhook_wants_its_types_and_products(
    tx: Tx, account: int, type: EventType, product: int, is_wanted: bool
) -> None:
    types = [EventType.MESSAGE_RESULT, EventType.TEMPLATE_STATUS]
    one = add(tx, account, events=types, products=[Product.SMS])

    assert get(tx, account, one).wants(type, product) is is_wanted


def test_failures_count_until_a_success(tx: Tx, account: int) -> None:
    one = add(tx, account)

    assert webhooks.record_failure(tx, one, NOON + 1, is_gone=False) == (1, NOON + 1, 0, None)
    assert webhooks.record_failure(tx, one, NOON + 2, is_gone=True) == (2, NOON + 1, 1, NOON + 2)
    assert webhooks.record_failure(tx, one, NOON + 3, is_gone=True) == (3, NOON + 1, 2, NOON + 2)
    assert webhooks.record_failure(tx, one + 1, NOON, is_gone=False) is None
    assert not webhooks.record_success(tx, one, NOON + 4)

    found = get(tx, account, one)
    assert (found.failures, found.failing_since, found.last_success_at) == (0, None, NOON + 4)
    assert (found.gone, found.gone_since) == (0, None)


def test_answers_410_count_until_any_other_failure(tx: Tx, account: int) -> None:
    one = add(tx, account)
    webhooks.record_failure(tx, one, NOON, is_gone=True)

    assert webhooks.record_failure(tx, one, NOON + 1, is_gone=False) == (2, NOON, 0, None)


def test_disabled_webhook_stays_as_it_was_disabled_whatever_comes_back_later(tx: Tx, account: int) -> None:
    one, two = add(tx, account), add(tx, account)
    webhooks.record_failure(tx, one, NOON, is_gone=True)
    webhooks.disable(tx, one, NOON, is_gone=True)
    webhooks.disable(tx, two, NOON)

    assert webhooks.record_failure(tx, one, NOON, is_gone=False) is None
    webhooks.record_success(tx, one, NOON)

    assert [get(tx, account, each).is_gone for each in (one, two)] == [True, False]
    assert ([each.id for each in webhooks.list_stopped(tx, 10)], webhooks.count_stopped(tx)) == ([one], (0, 1))
    assert [each.id for each in webhooks.list_disabled(tx)] == [one, two]


def test_last_success_is_recorded_once_a_second(tx: Tx, account: int) -> None:
    one = add(tx, account)

    seen = []
    for passed_ms in (0, 1, SUCCESS_PRECISION_MS, SUCCESS_PRECISION_MS + 1):
        webhooks.record_success(tx, one, NOON + passed_ms)
        seen.append(get(tx, account, one).last_success_at)

    assert seen == [NOON, NOON, NOON, NOON + SUCCESS_PRECISION_MS + 1]


def test_paused_webhook_is_active_after_a_success_and_a_disabled_one_is_not(tx: Tx, account: int) -> None:
    one, two = add(tx, account), add(tx, account)

    assert webhooks.pause(tx, one, NOON + MINUTE)
    assert not webhooks.pause(tx, one, NOON + 2 * MINUTE)
    assert get(tx, account, one).trial_at == NOON + 2 * MINUTE
    webhooks.disable(tx, two, NOON)
    assert not webhooks.pause(tx, two, NOON)

    assert [webhooks.record_success(tx, each, NOON) for each in (one, two)] == [True, False]
    assert get(tx, account, one).state is WebhookState.ACTIVE
    assert get(tx, account, two).state is WebhookState.DISABLED
    assert [each.id for each in webhooks.list_enabled(tx)] == [one]


def test_disabled_webhook_goes_on_where_it_was_when_it_is_enabled(tx: Tx, account: int) -> None:
    one = add(tx, account)
    events.record(tx, account, EventType.LIMIT_NEAR, "a", {}, NOON)
    events.number_some(tx, 0, 0, NOON, 10)
    webhooks.pause(tx, one, NOON)
    webhooks.enable(tx, one, NOON)
    assert webhook_posts.get_progress(tx, one) == ({}, 0)

    webhooks.disable(tx, one, NOON)
    webhooks.enable(tx, one, NOON + 1)

    found = get(tx, account, one)
    assert (found.state, found.failures, found.trial_at, found.changed_at) == (
        WebhookState.ACTIVE,
        0,
        None,
        NOON + 1,
    )
    assert webhook_posts.get_progress(tx, one) == ({}, 0)


def test_previous_secret_signs_along_until_its_end(tx: Tx, account: int) -> None:
    found = get(tx, account, add(tx, account))._replace(previous_secret=b"old", previous_until=NOON + 5)

    assert found.stored_secrets(NOON + 4) == [b"secret", b"old"]
    assert found.stored_secrets(NOON + 5) == [b"secret"]


def test_webhook_is_deleted_with_all_that_belongs_to_it(tx: Tx, account: int) -> None:
    one = add(tx, account)

    assert not webhooks.delete(tx, account + 1, one)
    assert webhooks.delete(tx, account, one)

    assert webhooks.get(tx, account, one) is None
    assert webhook_posts.get_progress(tx, one) is None


def test_owner_changes_a_webhook(tx: Tx, account: int) -> None:
    one, two = add(tx, account), add(tx, account)
    changed = get(tx, account, one)._replace(
        url="https://new.example/",
        events=frozenset([EventType.LIMIT_NEAR]),
        products=frozenset([Product.SMS]),
        description="새 주소",
        secret=b"new",
        previous_secret=b"secret",
        previous_until=NOON + 2,
        changed_at=NOON + 1,
    )

    webhooks.change(tx, changed, NOON + 1)

    assert get(tx, account, one) == changed
    assert webhooks.count(tx, account) == 2
    assert [each.id for each in webhooks.list_some(tx, 0, 10)] == [one, two]
    assert [each.id for each in webhooks.list_some(tx, one, 10)] == [two]


def test_secrets_are_replaced_unless_they_have_changed_meanwhile(tx: Tx, account: int) -> None:
    found = get(tx, account, add(tx, account))

    assert webhooks.replace_secrets(tx, found, b"encrypted", b"old")
    assert not webhooks.replace_secrets(tx, found, b"late", None)

    again = get(tx, account, found.id)
    assert (again.secret, again.previous_secret) == (b"encrypted", b"old")


def test_paused_webhooks_are_listed_and_counted_except_those_of_disabled_accounts(tx: Tx, account: int) -> None:
    other = accounts.ensure_account(tx, "other", NOON)
    ours, _, theirs = add(tx, account), add(tx, account), add(tx, other)
    for one in (ours, theirs):
        webhooks.pause(tx, one, NOON)

    both = [each.id for each in webhooks.list_stopped(tx, 10)], webhooks.count_stopped(tx)
    first = [each.id for each in webhooks.list_stopped(tx, 1)]
    accounts.set_disabled(tx, "other", NOON)
    enabled = [each.id for each in webhooks.list_stopped(tx, 10)], webhooks.count_stopped(tx)
    assert theirs not in [each.id for each in webhooks.list_enabled(tx)]

    assert both == ([ours, theirs], (2, 0))
    assert first == [ours]
    assert enabled == ([ours], (1, 0))


def test_session_finds_paused_webhooks_by_an_index(tx: Tx, account: int) -> None:
    for _ in range(50):
        webhooks.pause(tx, add(tx, account), NOON)
        webhooks.disable(tx, add(tx, account), NOON)
    explaining = ExplainingTx(tx)

    sessions.get(explaining, b"hash")

    assert explaining.scans == []
