"""What someone who writes a message can choose from: sender numbers, sender profiles, templates."""

from pabal.domain.kakao.profile import AuthStatus, Profile
from pabal.domain.kakao.template import Template
from pabal.domain.people.phone import NumberState
from pabal.service.context import Context
from pabal.store.accounts import numbers
from pabal.store.kakao import profiles, templates
from pabal.store.kakao.profiles import ProfileFilter
from pabal.store.kakao.templates import TemplateFilter
from pabal.store.users import users

MAX_CHOICES = 1000


async def list_sender_numbers(context: Context, account_id: int) -> list[str]:
    """Return the sender numbers that an account may use; where all may be used, those that are pending too."""
    usable = {NumberState.APPROVED} if context.policy.checks_sender_numbers else set(NumberState)
    return [
        each.number
        for each in await context.store.read(numbers.list_by_account, account_id)
        if each.state in usable
    ]


async def list_usable_profiles(context: Context, account_id: int) -> list[Profile]:
    """Return the profiles of an account that messages can be sent from."""
    approved = ProfileFilter(account_id, status=AuthStatus.APPROVAL)
    _, found = await context.store.read(profiles.find, approved, 1, MAX_CHOICES)
    return [profile for profile in found if profile.is_usable]


async def list_usable_templates(context: Context, account_id: int, sender_key: str | None = None) -> list[Template]:
    """Return the templates that messages can be sent with, of one profile or of all."""
    _, found = await context.store.read(templates.find, TemplateFilter(account_id, sender_key), 1, MAX_CHOICES)
    return [each for each in found if each.is_usable]


async def get_test_number(context: Context, user_id: int) -> str:
    """Return the number that a user last sent a test to, empty if none."""
    return await context.store.read(users.get_test_number, user_id)


async def set_test_number(context: Context, user_id: int, number: str) -> None:
    """Store the number that a user sends tests to."""
    await context.store.write(users.set_test_number, user_id, number)
