"""Which steps of setting up an account are done, for its first page."""

from pabal.service.context import Context
from pabal.store.accounts import first_steps
from pabal.store.accounts.first_steps import FirstSteps

__all__ = ["FirstSteps", "get_first_steps"]


async def get_first_steps(context: Context, account_id: int) -> FirstSteps:
    """Return which steps an account has done."""
    return await context.store.read(first_steps.read, account_id)
