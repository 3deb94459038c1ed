"""Templates: what endpoints cannot bring about; `tests/web/endpoints/test_templates.py` has the rest."""

import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest

from pabal.domain.base.codes import Code, Refused
from pabal.domain.content.image import Image
from pabal.domain.kakao.profile import Registration
from pabal.domain.kakao.template import ReviewDecision, TemplateContent, TemplateStatus
from pabal.service.relay import profiles, templates
from pabal.service.relay.templates import TemplateRef
from pabal.store.kakao import templates as kept
from tests.fixtures.service import PHONE, FakeCarrier, account_id_of
from tests.fixtures.virtual import Environment

DESIGN = TemplateContent("주문", "#{name}님의 주문", "999999")


class SlowReviewer:
    """A provider that approves every template when it is told to."""

    def __init__(self) -> None:
        self.may_decide = asyncio.Event()

    async def register_profile(self, account_id: int, registration: Registration, token: str | None) -> None:
        raise NotImplementedError

    async def upload_thumbnail(self, image: Image) -> str:
        raise AssertionError("there are no thumbnails here")

    async def submit_template(
        self, sender_key: str, code: str, content: TemplateContent, image: Image | None
    ) -> ReviewDecision | None:
        await self.may_decide.wait()
        return ReviewDecision(True)


async def place(env: Environment) -> TemplateRef:
    """Return the key of a template of an approved profile."""
    return TemplateRef(await account_id_of(env), f"{await env.add_profile():040x}", "order")


async def refusal(work: Awaitable[Any]) -> Code:
    with pytest.raises(Refused) as refused:
        await work
    return refused.value.code


async def test_template_edited_during_its_review_is_not_approved(env: Environment, carrier: FakeCarrier) -> None:
    carrier.provider = reviewer = SlowReviewer()
    where = await place(env)
    template = await templates.create(env.context, where, DESIGN, None)
    asked = asyncio.ensure_future(templates.request_review(env.context, where))
    await env.wait(1)
    await templates.update(env.context, where, DESIGN._replace(content="고친 글"), None)
    reviewer.may_decide.set()

    assert await refusal(asked) is Code.INVALID_STATE
    found = await env.store.read(kept.get_by_id, template.id)
    assert found is not None
    assert (found.status, found.approved) == (TemplateStatus.REGISTERED, None)


async def test_operator_cannot_decide_on_unknown_or_unsubmitted_template(
    env: Environment, carrier: FakeCarrier
) -> None:
    template = await templates.create(env.context, await place(env), DESIGN, None)

    for number, code in ((999, Code.TEMPLATE_NOT_FOUND), (template.id, Code.INVALID_STATE)):
        work = env.store.write(templates.decide_review, number, ReviewDecision(True), env.world.now())
        assert await refusal(work) is code


async def test_no_channel_is_registered_without_a_profile_provider(env: Environment, carrier: FakeCarrier) -> None:
    registration = Registration("@shop", "00100010001", PHONE)
    work = profiles.register(env.context, await account_id_of(env), registration)

    assert await refusal(work) is Code.PRODUCT_NOT_AVAILABLE
