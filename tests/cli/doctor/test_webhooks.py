"""`pabal doctor` names webhooks whose accounts get no results, and says what to do."""

from pabal.store.engine.base import Tx
from pabal.store.events import webhook_posts, webhooks
from pabal.store.events.webhook_posts import DeliveryTry, WebhookPost
from pabal.world import RealWorld
from tests.fixtures.cli import CommandLine
from tests.fixtures.virtual import NOON


def pause(tx: Tx, webhook_id: int, status: int | None, error: str) -> None:
    """Pause a webhook after a failed post."""
    webhooks.record_failure(tx, webhook_id, NOON, is_gone=False)
    webhooks.pause(tx, webhook_id, NOON)
    failed = DeliveryTry(webhook_id, NOON, bytes(16), [], 1, status, "", error, 5)
    webhook_posts.add_tries(tx, [failed])


def test_doctor_names_paused_webhooks_and_what_to_do(command_line: CommandLine) -> None:
    for name in ("acme", "two words", "gone"):
        command_line("key", "create", "--account", name, *(["--new-account"] if name != "acme" else []))
        made = command_line(
            "webhook", "create", f"https://{name[:3]}.example/", "--account", name, "--event", "message.result"
        )
        assert made.status == 0, made.err
    sound = command_line("doctor")
    for webhook_id, status, error in ((1, 503, ""), (2, None, "tls: certificate has expired"), (3, 500, "")):
        command_line.run_in_store(pause, webhook_id, status, error)
    command_line("account", "disable", "gone")

    found = command_line("doctor")

    assert "is paused" not in sound.out
    assert found.status == 0
    since = "keeps failing since 2026-11-15 12:00:00"
    assert f"note  the webhook 1 of acme is paused: https://acm.example/ {since} (HTTP 503)" in found.out
    assert f"https://two.example/ {since} (tls: certificate has expired)" in found.out
    assert "`pabal webhook test 2 --account 'two words'`" in found.out
    assert "gon.example" not in found.out


def test_doctor_names_webhooks_that_answered_410_and_the_command_that_enables_them(
    command_line: CommandLine,
) -> None:
    command_line("key", "create", "--account", "acme")
    command_line("webhook", "create", "https://acm.example/", "--account", "acme", "--event", "message.result")
    command_line.run_in_store(webhooks.record_failure, 1, NOON, is_gone=True)
    command_line.run_in_store(webhooks.disable, 1, NOON, is_gone=True)

    found = command_line("doctor")
    listed = command_line("webhook", "list")
    enabled = command_line("webhook", "enable", "1", "--account", "acme", "--no-replay")
    after = command_line("doctor")

    since = "disabled since 2026-11-15 12:00:00"
    assert f"note  the webhook 1 of acme is {since}: https://acm.example/ kept answering 410 Gone" in found.out
    assert "`pabal webhook enable 1 --account acme`" in found.out
    assert "disabled (410)" in listed.out
    assert enabled.out == "webhook 1 is enabled\n"
    assert "410" not in after.out


def test_doctor_names_webhooks_that_fail_before_they_are_paused(command_line: CommandLine) -> None:
    command_line("key", "create", "--account", "acme")
    command_line("webhook", "create", "https://acm.example/", "--account", "acme", "--event", "message.result")
    failed = DeliveryTry(1, NOON, bytes(16), [], 1, 503, "", "", 5)
    post = WebhookPost(bytes(16), 1, [bytes(16), bytes(16)], b"", NOON, 1, NOON)

    command_line.run_in_store(webhooks.record_failure, 1, RealWorld().now(), is_gone=False)
    just_now = command_line("doctor")
    command_line.run_in_store(webhooks.record_success, 1, NOON)
    command_line.run_in_store(webhooks.record_failure, 1, NOON, is_gone=False)
    command_line.run_in_store(webhook_posts.add_tries, [failed])
    command_line.run_in_store(webhook_posts.add, [post])
    found = command_line("doctor")

    assert "acm.example" not in just_now.out
    since = "keeps failing since 2026-11-15 12:00:00"
    assert f"note  the webhook 1 of acme fails: https://acm.example/ {since} (HTTP 503)" in found.out
    assert "The events that wait, 2, are tried again; `pabal webhook test 1 --account acme`" in found.out
    assert found.status == 0
