"""`pabal privacy`: export and erasure of what is stored about one phone number."""

import json

from pabal.domain.sends.message import Product
from pabal.domain.sends.sending import Receiver, Sending
from pabal.service.context import Context
from pabal.service.sending.accept import accept
from pabal.store.accounts import accounts
from pabal.world import RealWorld
from tests.fixtures.cli import CommandLine

NUMBER = "010-7777-0001"


def send_to_number(command_line: CommandLine) -> None:
    async def store_message(context: Context) -> None:
        account_id = await context.store.write(accounts.ensure_account, "acme", RealWorld().now())
        receiver = Receiver(NUMBER.replace("-", ""))
        await accept(context, account_id, Sending(Product.SMS, "비밀", [receiver], sender="0212345678"))

    command_line.run_in_context(store_message)


def test_number_is_exported_and_erased(command_line: CommandLine) -> None:
    send_to_number(command_line)

    exported = json.loads(command_line("privacy", "export", NUMBER, "--account", "acme").out)
    erased = command_line("privacy", "erase", NUMBER, "--account", "acme")
    again = json.loads(command_line("privacy", "export", NUMBER, "--account", "acme").out)

    assert (exported["phoneNumber"], exported["messages"][0]["content"]) == (NUMBER, "비밀")
    assert erased.out.startswith("1 messages erased, 1 of them cancelled;")
    assert "Backups are not covered" in erased.out
    assert again["messages"] == []


def test_wrong_number_or_account_is_refused(command_line: CommandLine) -> None:
    assert command_line("privacy", "erase", "12", "--account", "acme").status == 1
    refused = command_line("privacy", "erase", NUMBER, "--account", "nobody")
    assert (refused.status, "there is no account 'nobody'" in refused.err) == (2, True)
