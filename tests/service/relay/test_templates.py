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
from tests.fixtures.service import DEFAULT_CARRIER, FakeCarrier, RunScenario, account_id_of, add_profile
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


class Stage:
    """An environment with a reviewer of templates."""

    def __init__(self, run_scenario: RunScenario) -> None:
        self._play = run_scenario
        self.reviewer = Reviewer()
        self.post = FakeCarrier()
        self.post.provider = self.reviewer

    def run(self, scenario: Any) -> None:
        self._play(scenario, carriers={DEFAULT_CARRIER: self.post})


@pytest.fixture
def stage(run_scenario: RunScenario) -> Stage:
    return Stage(run_scenario)


async def place(env: Environment, code: str = "order") -> TemplateRef:
    """Return the key of a template of an approved profile."""
    return TemplateRef(await account_id_of(env), f"{await add_profile(env):040x}", code)


async def refusal(work: Awaitable[Any]) -> Code:
    with pytest.raises(Refused) as refused:
        await work
    return refused.value.code


async def at(env: Environment, where: TemplateRef) -> Template:
    """Return the current template."""
    wanted = kept.TemplateFilter(where.account_id, where.sender_key, where.code)
    _, (found,) = await env.store.read(kept.find, wanted, 1, 1)
    return found


async def put_in(env: Environment, stage: Stage, where: TemplateRef, status: TemplateStatus) -> Template:
    """Create a template in this state."""
    template = await templates.create(env.context, where, DESIGN, None)
    if status is REGISTERED:
        return template
    stage.reviewer.decision = {APPROVED: ReviewDecision(True), REJECTED: ReviewDecision(False, "안 됩니다")}.get(
        status
    )
    return await templates.request_review(env.context, where)


def test_new_template_is_registered_and_cannot_be_sent_yet(stage: Stage) -> None:
    async def scenario(env: Environment) -> None:
        where = await place(env)

        template = await templates.create(env.context, where, DESIGN, Image("image/jpeg", "a", b"\xff\xd8\xff"))

        assert (template.status, template.latest, template.approved) == (REGISTERED, DESIGN, None)
        assert (template.code, template.sender_key, template.channel_id) == ("order", where.sender_key, "@shop")
        assert template.latest.variables == ("name",)
        assert stage.reviewer.seen == []

    stage.run(scenario)


def test_template_code_is_unique_per_profile(stage: Stage) -> None:
    async def scenario(env: Environment) -> None:
        where = await place(env)
        await templates.create(env.context, where, DESIGN, None)

        assert await refusal(templates.create(env.context, where, EDITED, None)) is Code.DUPLICATE
        other = where._replace(sender_key=f"{await add_profile(env, '@other'):040x}")
        await templates.create(env.context, other, DESIGN, None)

    stage.run(scenario)


def test_unknown_category_is_refused(stage: Stage) -> None:
    async def scenario(env: Environment) -> None:
        where = await place(env)
        strange = DESIGN._replace(category="000000")

        assert await refusal(templates.create(env.context, where, strange, None)) is Code.CATEGORY_NOT_FOUND
        await templates.create(env.context, where, DESIGN, None)
        assert await refusal(templates.update(env.context, where, strange, None)) is Code.CATEGORY_NOT_FOUND

    stage.run(scenario)


@pytest.mark.parametrize(
    ("decision", "status", "in_use"),
    [
        (ReviewDecision(True), APPROVED, DESIGN),
        (ReviewDecision(False, "안 됩니다"), REJECTED, None),
        (None, INSPECTING, None),
    ],
)
def test_review_may_be_decided_at_once_or_later(
    stage: Stage, decision: ReviewDecision | None, status: TemplateStatus, in_use: TemplateContent | None
) -> None:
    async def scenario(env: Environment) -> None:
        where = await place(env)
        await templates.create(env.context, where, DESIGN, None)
        stage.reviewer.decision = decision

        template = await templates.request_review(env.context, where)

        assert (template.status, template.approved) == (status, in_use)
        assert template.comment == (decision.comment if decision else None)
        assert stage.reviewer.seen == [DESIGN]

    stage.run(scenario)


@pytest.mark.parametrize("status", [INSPECTING, APPROVED, REJECTED])
def test_only_new_content_is_reviewed(stage: Stage, status: TemplateStatus) -> None:
    async def scenario(env: Environment) -> None:
        where = await place(env)
        await put_in(env, stage, where, status)

        assert await refusal(templates.request_review(env.context, where)) is Code.INVALID_STATE
        assert len(stage.reviewer.seen) == 1

    stage.run(scenario)


@pytest.mark.parametrize("status", [REGISTERED, APPROVED, REJECTED])
def test_template_not_under_review_can_be_edited_and_resubmitted(stage: Stage, status: TemplateStatus) -> None:
    async def scenario(env: Environment) -> None:
        where = await place(env)
        before = await put_in(env, stage, where, status)

        edited = await templates.update(env.context, where, EDITED, None)

        assert (edited.id, edited.status, edited.latest, edited.comment) == (before.id, REGISTERED, EDITED, None)
        assert edited.approved == before.approved
        stage.reviewer.decision = ReviewDecision(True)
        assert (await templates.request_review(env.context, where)).approved == EDITED

    stage.run(scenario)


def test_template_under_review_cannot_be_edited(stage: Stage) -> None:
    async def scenario(env: Environment) -> None:
        where = await place(env)
        await put_in(env, stage, where, INSPECTING)

        assert await refusal(templates.update(env.context, where, EDITED, None)) is Code.INVALID_STATE
        assert (await at(env, where)).latest == DESIGN

    stage.run(scenario)


def test_approved_content_stays_in_use_when_its_edit_is_rejected(stage: Stage) -> None:
    async def scenario(env: Environment) -> None:
        where = await place(env)
        await put_in(env, stage, where, APPROVED)
        await templates.update(env.context, where, EDITED, None)
        stage.reviewer.decision = ReviewDecision(False, "안 됩니다")

        rejected = await templates.request_review(env.context, where)

        assert (rejected.status, rejected.latest, rejected.approved) == (REJECTED, EDITED, DESIGN)

    stage.run(scenario)


def test_template_edited_during_its_review_is_not_approved(stage: Stage) -> None:
    async def scenario(env: Environment) -> None:
        where = await place(env)
        await templates.create(env.context, where, DESIGN, None)
        stage.reviewer.decision = ReviewDecision(True)
        stage.reviewer.may_decide.clear()
        asked = asyncio.ensure_future(templates.request_review(env.context, where))
        await env.wait(1)
        await templates.update(env.context, where, EDITED, None)
        stage.reviewer.may_decide.set()

        assert await refusal(asked) is Code.INVALID_STATE
        assert ((await at(env, where)).status, (await at(env, where)).approved) == (REGISTERED, None)

    stage.run(scenario)


@pytest.mark.parametrize(
    ("status", "code"),
    [(REGISTERED, None), (REJECTED, None), (INSPECTING, Code.INVALID_STATE), (APPROVED, Code.INVALID_STATE)],
)
def test_template_in_use_or_under_review_cannot_be_deleted(
    stage: Stage, status: TemplateStatus, code: Code | None
) -> None:
    async def scenario(env: Environment) -> None:
        where = await place(env)
        await put_in(env, stage, where, status)

        if code:
            assert await refusal(templates.delete(env.context, where)) is code
        else:
            await templates.delete(env.context, where)
            assert await refusal(templates.delete(env.context, where)) is Code.TEMPLATE_NOT_FOUND
            await templates.create(env.context, where, DESIGN, None)

    stage.run(scenario)


@pytest.mark.parametrize(
    ("review", "status"),
    [(ReviewDecision(True, "좋습니다"), APPROVED), (ReviewDecision(False, "안 됩니다"), REJECTED)],
)
def test_operator_decides_once_on_a_template_under_review(
    stage: Stage, review: ReviewDecision, status: TemplateStatus
) -> None:
    async def scenario(env: Environment) -> None:
        where = await place(env)
        template = await put_in(env, stage, where, INSPECTING)

        async def decide() -> Template:
            return await env.store.write(templates.decide_review, template.id, review, env.world.now())

        decided = await decide()
        assert (decided.status, decided.comment) == (status, review.comment)
        assert await refusal(decide()) is Code.INVALID_STATE

    stage.run(scenario)


def test_operator_cannot_decide_on_unknown_or_unsubmitted_template(stage: Stage) -> None:
    async def scenario(env: Environment) -> None:
        template = await put_in(env, stage, await place(env), REGISTERED)

        for number, code in ((999, Code.TEMPLATE_NOT_FOUND), (template.id, Code.INVALID_STATE)):
            work = env.store.write(templates.decide_review, number, ReviewDecision(True), env.world.now())
            assert await refusal(work) is code

    stage.run(scenario)


def test_templates_of_another_account_are_not_found(stage: Stage) -> None:
    async def scenario(env: Environment) -> None:
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

    stage.run(scenario)
