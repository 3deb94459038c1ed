"""Templates: created, reviewed, edited while the old content stays in use, deleted."""

import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest

from pabal.domain.base.codes import Code, Refused
from pabal.domain.content.image import Image
from pabal.domain.kakao.profile import Registration
from pabal.domain.kakao.template import ReviewDecision, Template, TemplateContent, TemplateStatus
from pabal.service.relay import templates
from pabal.service.relay.templates import TemplateRef
from pabal.store.kakao import templates as kept
from tests.fixtures.service import FakeCarrier, account_id_of
from tests.fixtures.virtual import Environment

REGISTERED, INSPECTING = TemplateStatus.REGISTERED, TemplateStatus.INSPECTING
APPROVED, REJECTED = TemplateStatus.APPROVED, TemplateStatus.REJECTED
DESIGN = TemplateContent("주문", "#{name}님의 주문", "999999")
EDITED = DESIGN._replace(content="고친 글")


class Reviewer:
    """A provider that decides as configured, at once or later."""

    def __init__(self) -> None:
        self.decision: ReviewDecision | None = None
        self.may_decide = asyncio.Event()
        self.may_decide.set()
        self.seen: list[TemplateContent] = []

    async def register_profile(self, account_id: int, registration: Registration, token: str | None) -> None:
        raise NotImplementedError

    async def upload_thumbnail(self, image: Image) -> str:
        raise AssertionError("there are no thumbnails here")

    async def submit_template(
        self, sender_key: str, code: str, content: TemplateContent, image: Image | None
    ) -> ReviewDecision | None:
        self.seen.append(content)
        await self.may_decide.wait()
        return self.decision


@pytest.fixture
def reviewer(carrier: FakeCarrier) -> Reviewer:
    """The provider of the carrier of `env`."""
    found = Reviewer()
    carrier.provider = found
    return found


async def place(env: Environment, code: str = "order") -> TemplateRef:
    """Return the key of a template of an approved profile."""
    return TemplateRef(await account_id_of(env), f"{await env.add_profile():040x}", code)


async def refusal(work: Awaitable[Any]) -> Code:
    with pytest.raises(Refused) as refused:
        await work
    return refused.value.code


async def at(env: Environment, where: TemplateRef) -> Template:
    """Return the current template."""
    wanted = kept.TemplateFilter(where.account_id, where.sender_key, where.code)
    _, (found,) = await env.store.read(kept.find, wanted, 1, 1)
    return found


async def put_in(env: Environment, reviewer: Reviewer, where: TemplateRef, status: TemplateStatus) -> Template:
    """Create a template in this state."""
    template = await templates.create(env.context, where, DESIGN, None)
    if status is REGISTERED:
        return template
    reviewer.decision = {APPROVED: ReviewDecision(True), REJECTED: ReviewDecision(False, "안 됩니다")}.get(status)
    return await templates.request_review(env.context, where)


async def test_new_template_is_registered_and_cannot_be_sent_yet(env: Environment, reviewer: Reviewer) -> None:
    where = await place(env)

    template = await templates.create(env.context, where, DESIGN, Image("image/jpeg", "a", b"\xff\xd8\xff"))

    assert (template.status, template.latest, template.approved) == (REGISTERED, DESIGN, None)
    assert (template.code, template.sender_key, template.channel_id) == ("order", where.sender_key, "@shop")
    assert template.latest.variables == ("name",)
    assert reviewer.seen == []


async def test_template_code_is_unique_per_profile(env: Environment, reviewer: Reviewer) -> None:
    where = await place(env)
    await templates.create(env.context, where, DESIGN, None)

    assert await refusal(templates.create(env.context, where, EDITED, None)) is Code.DUPLICATE
    other = where._replace(sender_key=f"{await env.add_profile('@other'):040x}")
    await templates.create(env.context, other, DESIGN, None)


async def test_unknown_category_is_refused(env: Environment, reviewer: Reviewer) -> None:
    where = await place(env)
    strange = DESIGN._replace(category="000000")

    assert await refusal(templates.create(env.context, where, strange, None)) is Code.CATEGORY_NOT_FOUND
    await templates.create(env.context, where, DESIGN, None)
    assert await refusal(templates.update(env.context, where, strange, None)) is Code.CATEGORY_NOT_FOUND


@pytest.mark.parametrize(
    ("decision", "status", "in_use"),
    [
        (ReviewDecision(True), APPROVED, DESIGN),
        (ReviewDecision(False, "안 됩니다"), REJECTED, None),
        (None, INSPECTING, None),
    ],
)
async def test_review_may_be_decided_at_once_or_later(
    env: Environment,
    reviewer: Reviewer,
    decision: ReviewDecision | None,
    status: TemplateStatus,
    in_use: TemplateContent | None,
) -> None:
    where = await place(env)
    await templates.create(env.context, where, DESIGN, None)
    reviewer.decision = decision

    template = await templates.request_review(env.context, where)

    assert (template.status, template.approved) == (status, in_use)
    assert template.comment == (decision.comment if decision else None)
    assert reviewer.seen == [DESIGN]


@pytest.mark.parametrize("status", [INSPECTING, APPROVED, REJECTED])
async def test_only_new_content_is_reviewed(env: Environment, reviewer: Reviewer, status: TemplateStatus) -> None:
    where = await place(env)
    await put_in(env, reviewer, where, status)

    assert await refusal(templates.request_review(env.context, where)) is Code.INVALID_STATE
    assert len(reviewer.seen) == 1


@pytest.mark.parametrize("status", [REGISTERED, APPROVED, REJECTED])
async def test_template_not_under_review_can_be_edited_and_resubmitted(
    env: Environment, reviewer: Reviewer, status: TemplateStatus
) -> None:
    where = await place(env)
    before = await put_in(env, reviewer, where, status)

    edited = await templates.update(env.context, where, EDITED, None)

    assert (edited.id, edited.status, edited.latest, edited.comment) == (before.id, REGISTERED, EDITED, None)
    assert edited.approved == before.approved
    reviewer.decision = ReviewDecision(True)
    assert (await templates.request_review(env.context, where)).approved == EDITED


async def test_template_under_review_cannot_be_edited(env: Environment, reviewer: Reviewer) -> None:
    where = await place(env)
    await put_in(env, reviewer, where, INSPECTING)

    assert await refusal(templates.update(env.context, where, EDITED, None)) is Code.INVALID_STATE
    assert (await at(env, where)).latest == DESIGN


async def test_template_edited_during_its_review_is_not_approved(env: Environment, reviewer: Reviewer) -> None:
    where = await place(env)
    await templates.create(env.context, where, DESIGN, None)
    reviewer.decision = ReviewDecision(True)
    reviewer.may_decide.clear()
    asked = asyncio.ensure_future(templates.request_review(env.context, where))
    await env.wait(1)
    await templates.update(env.context, where, EDITED, None)
    reviewer.may_decide.set()

    assert await refusal(asked) is Code.INVALID_STATE
    assert ((await at(env, where)).status, (await at(env, where)).approved) == (REGISTERED, None)


@pytest.mark.parametrize(
    ("status", "code"),
    [(REGISTERED, None), (REJECTED, None), (INSPECTING, Code.INVALID_STATE), (APPROVED, Code.INVALID_STATE)],
)
async def test_template_in_use_or_under_review_cannot_be_deleted(
    env: Environment, reviewer: Reviewer, status: TemplateStatus, code: Code | None
) -> None:
    where = await place(env)
    await put_in(env, reviewer, where, status)

    if code:
        assert await refusal(templates.delete(env.context, where)) is code
    else:
        await templates.delete(env.context, where)
        assert await refusal(templates.delete(env.context, where)) is Code.TEMPLATE_NOT_FOUND
        await templates.create(env.context, where, DESIGN, None)


@pytest.mark.parametrize(
    ("review", "status"),
    [(ReviewDecision(True, "좋습니다"), APPROVED), (ReviewDecision(False, "안 됩니다"), REJECTED)],
)
async def test_operator_decides_once_on_a_template_under_review(
    env: Environment, reviewer: Reviewer, review: ReviewDecision, status: TemplateStatus
) -> None:
    where = await place(env)
    template = await put_in(env, reviewer, where, INSPECTING)

    async def decide() -> Template:
        return await env.store.write(templates.decide_review, template.id, review, env.world.now())

    decided = await decide()
    assert (decided.status, decided.comment) == (status, review.comment)
    assert await refusal(decide()) is Code.INVALID_STATE


async def test_operator_cannot_decide_on_unknown_or_unsubmitted_template(
    env: Environment, reviewer: Reviewer
) -> None:
    template = await put_in(env, reviewer, await place(env), REGISTERED)

    for number, code in ((999, Code.TEMPLATE_NOT_FOUND), (template.id, Code.INVALID_STATE)):
        work = env.store.write(templates.decide_review, number, ReviewDecision(True), env.world.now())
        assert await refusal(work) is code


async def test_templates_of_another_account_are_not_found(env: Environment, reviewer: Reviewer) -> None:
    where = await place(env)
    await templates.create(env.context, where, DESIGN, None)
    foreign = where._replace(account_id=await account_id_of(env, "other"))
    unknown = where._replace(code="nothing")

    for work in (
        templates.create(env.context, foreign, DESIGN, None),
        templates.update(env.context, foreign, EDITED, None),
        templates.request_review(env.context, foreign),
        templates.delete(env.context, foreign),
    ):
        assert await refusal(work) is Code.SENDER_NOT_FOUND
    for work in (
        templates.update(env.context, unknown, EDITED, None),
        templates.request_review(env.context, unknown),
        templates.delete(env.context, unknown),
    ):
        assert await refusal(work) is Code.TEMPLATE_NOT_FOUND
