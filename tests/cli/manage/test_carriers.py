"""`pabal carrier`, and a service that is started without the settings of its carriers."""

from pathlib import Path

import pytest

from pabal.domain.sends.message import Product
from pabal.domain.sends.sending import Receiver, Sending
from pabal.service.delivery.carrier.known_carriers import register_carriers
from pabal.service.sending.accept import accept
from pabal.store.accounts import accounts
from pabal.store.engine.base import Tx
from pabal.store.queue import queue_admin
from pabal.world import RealWorld
from tests.fixtures.cli import CommandLine, CommandResult

WORLD = RealWorld()
SMPP = '[carriers.{name}]\nkind = "smpp"\nhost = "127.0.0.1"\nport = 1\nsystem_id = "pabal"\npassword = "x"\n'


def queue_for(command_line: CommandLine, carrier: str, kind: str | None, product: Product = Product.SMS) -> None:
    """Store a message that waits for a carrier, as a service with that carrier would have done."""

    async def store_message(context: object) -> None:
        store = context.store  # type: ignore[attr-defined]
        account_id = await store.write(accounts.ensure_account, "acme", WORLD.now())
        sending = Sending(product, "안녕하세요", [Receiver("01012345678")], sender="0212345678")
        await accept(context, account_id, sending)  # type: ignore[arg-type]

    command_line.run_in_context(store_message)
    command_line.run_in_store(lambda tx: tx.execute("update jobs set carrier = ?", (carrier,)))
    if kind:
        command_line.run_in_store(register_carriers, {carrier: kind})


def config_of(folder: Path, *names: str, route: str = "") -> Path:
    """Write settings with these SMPP carriers, all in the route of SMS."""
    path = folder / "pabal.toml"
    listed = ", ".join(f'"{name}"' for name in names)
    path.write_text("".join(SMPP.format(name=name) for name in names) + f"[routes]\nsms = [{listed}]\n{route}")
    return path


def rows_of(result: CommandResult) -> dict[str, list[str]]:
    return {row[0]: row[1:] for row in result.rows}


def statuses(tx: Tx) -> list[int]:
    return [row[0] for row in tx.fetch_all("select status from messages order by id")]


NOT_CONFIGURED = "this store has real carriers (telco), but only a simulator is configured"


@pytest.mark.parametrize(
    ("kind", "is_queued", "settings", "said"),
    [
        ("smpp", True, "", [NOT_CONFIGURED, "Messages in the queue: for telco.", "--config FILE"]),
        (None, True, "", [NOT_CONFIGURED, "Messages in the queue: for telco.", "--config FILE"]),
        ("smpp", False, "", [NOT_CONFIGURED]),
        (
            "smpp",
            True,
            '[carriers.telco]\nkind = "simulator"\n[routes]\nsms = ["telco"]\n',
            ["the carrier telco is smpp in this store, and simulator in these settings"],
        ),
        (
            "simulator",
            True,
            SMPP.format(name="telco") + '[routes]\nsms = ["telco"]\n',
            ["the carrier telco was a simulator", "`pabal carrier cancel telco`"],
        ),
    ],
    ids=["real", "unknown", "empty queue", "became a simulator", "became real"],
)
def test_service_does_not_start_with_carriers_that_the_messages_must_not_get(
    command_line: CommandLine, kind: str | None, is_queued: bool, settings: str, said: list[str]
) -> None:
    if is_queued:
        queue_for(command_line, "telco", kind)
    elif kind:
        command_line.run_in_store(register_carriers, {"telco": kind})
    command_line.configure(settings)

    refused = command_line("serve", "--port", "0")

    assert refused.status == 2
    assert [each for each in said if each not in refused.err] == []
    assert command_line.run_in_store(queue_admin.carriers_in_queue) == ["telco"] * is_queued


def test_doctor_says_that_a_service_would_not_start(command_line: CommandLine) -> None:
    queue_for(command_line, "telco", "smpp")

    found = command_line("doctor")

    assert found.status == 1
    assert "WRONG 1 messages wait for the carrier telco, which is not configured" in found.out
    assert "WRONG a service will not start with these settings" in found.out


def test_carriers_are_listed_with_their_messages(command_line: CommandLine) -> None:
    queue_for(command_line, "telco", "smpp")

    listed = rows_of(command_line("carrier", "list"))

    assert listed["telco"] == ["smpp", "not configured", "1 waiting", "0 awaiting a receipt"]
    assert listed["simulator"][:2] == ["simulator", "configured"]


def test_given_up_carrier_no_longer_prevents_the_start(command_line: CommandLine) -> None:
    queue_for(command_line, "telco", "smpp")

    early = command_line("carrier", "forget", "telco")
    cancelled = command_line("carrier", "cancel", "telco")
    forgotten = command_line("carrier", "forget", "telco")

    assert (early.status, "has messages in the queue" in early.err) == (2, True)
    assert cancelled.out == "1 messages of telco are cancelled\n"
    assert forgotten.out == "the carrier telco is forgotten\n"
    assert command_line.run_in_store(statuses) == [4]
    assert command_line("doctor").status == 0


def test_messages_move_to_another_real_carrier(command_line: CommandLine, tmp_path: Path) -> None:
    queue_for(command_line, "telco", "smpp")
    config = config_of(tmp_path, "backup")

    moved = command_line("carrier", "move", "telco", "--to", "backup", "--config", config)

    assert moved.out == "1 messages moved from telco to backup\n"
    assert command_line.run_in_store(queue_admin.carriers_in_queue) == ["backup"]


def test_messages_do_not_move_to_a_carrier_that_cannot_send_them(command_line: CommandLine, tmp_path: Path) -> None:
    queue_for(command_line, "telco", "smpp", Product.MMS)
    config = config_of(tmp_path, "backup")

    moved = command_line("carrier", "move", "telco", "--to", "backup", "--config", config)

    assert moved.out == "0 messages moved from telco to backup\n"


@pytest.mark.parametrize(
    ("target", "reason"),
    [("simulator", "do not move between real carriers and simulators"), ("other", "is not configured")],
)
def test_messages_of_a_real_carrier_do_not_move_to_a_simulator(
    command_line: CommandLine, target: str, reason: str
) -> None:
    queue_for(command_line, "telco", "smpp")

    refused = command_line("carrier", "move", "telco", "--to", target)

    assert refused.status == 2
    assert reason in refused.err
    assert command_line.run_in_store(queue_admin.carriers_in_queue) == ["telco"]


def test_configured_carrier_is_neither_moved_nor_forgotten(command_line: CommandLine) -> None:
    for words in (("move", "simulator", "--to", "other"), ("forget", "simulator")):
        refused = command_line("carrier", *words)

        assert refused.status == 2
        assert "the carrier simulator is configured" in refused.err
