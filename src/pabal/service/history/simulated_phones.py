"""The phones of the simulator, as the console shows them."""

from pabal.domain.sends.simulated_message import SimulatedMessage
from pabal.service.context import Context
from pabal.store.queue import simulator


async def list_recent_phones(context: Context, account_id: int, limit: int) -> list[str]:
    """Return the numbers that received a message of an account, latest first."""
    return await context.store.read(simulator.list_recent_phones, account_id, context.world.now(), limit)


async def list_messages(
    context: Context, account_id: int, number: str, limit: int
) -> tuple[int, list[SimulatedMessage]]:
    """Return how many messages of an account a phone holds, and the latest of them."""
    return await context.store.read(simulator.list_on_phone, account_id, number, context.world.now(), 1, limit)
