"""The page of result codes."""

import re

from pabal.domain.base.codes import Code
from pabal.domain.sends.message import Outcome
from pabal.domain.users.user import Role
from tests.fixtures.console import signed_in_browser
from tests.fixtures.virtual import Environment


async def test_every_code_is_shown_with_what_to_do(env: Environment) -> None:
    browser = await signed_in_browser(env, Role.VIEWER)

    shown = (await browser.get("/console/codes")).text

    assert re.findall(r'id="outcome-(\d+)"', shown) == [str(each.number) for each in Outcome]
    assert re.findall(r'id="result-(\w+)"', shown) == [each.name for each in Code if each is not Code.SUCCESS]
    assert Code.KEY_EXPIRED.remedy.ko in shown
    assert "결번" in shown
