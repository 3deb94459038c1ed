"""Templates: written, reviewed, edited while the old text stays in use, deleted."""

import asyncio
from collections.abc import Awaitable
from typing import Any

import pytest

from pabal.domain.codes import Code, Refused
from pabal.domain.image import Image
from pabal.domain.profile import Registration
from pabal.domain.template import Design, Review, Template, TemplateStatus
from pabal.service.relay import templates
from pabal.service.relay.templates import Place
from pabal.store import templates as kept
from tests.fixtures.service import POST, Play, Post, account, add_profile
from tests.fixtures.virtual import Town

REGISTERED, INSPECTING = TemplateStatus.REGISTERED, TemplateStatus.INSPECTING
APPROVED, REJECTED = TemplateStatus.APPROVED, TemplateStatus.REJECTED
DESIGN = Design("주문", "#{name}님의 주문", "999999")
EDITED = DESIGN._replace(content="고친 글")


class Reviewer:
    """Someone who decides as told, and may take time over it."""

    def __init__(self) -> None:
        self.decision: Review | None = None
        self.may_decide = asyncio.Event()
        self.may_decide.set()
        self.seen: list[Design] = []

    async def register(self, account_id: int, registration: Registration, token: str | None) -> None:
        raise NotImplementedError

    async def submit(self, sender_key: str, code: str, design: Design, image: Image | None) -> Review | None:
        self.seen.append(design)
        await self.may_decide.wait()
        return self.decision


class Stage:
    """A town whose templates have a reviewer."""

    def __init__(self, play: Play) -> None:
        self._play = play
        self.reviewer = Reviewer()
        self.post = Post()
        self.post.desk = self.reviewer

    def play(self, scene: Any) -> None:
        self._play(scene, carriers={POST: self.post})


@pytest.fixture
def stage(play: Play) -> Stage:
    return Stage(play)


async def place(town: Town, code: str = "order") -> Place:
    """Return where a template of an approved profile belongs."""
    return Place(await account(town), f"{await add_profile(town):040x}", code)


async def refusal(work: Awaitable[Any]) -> Code:
    with pytest.raises(Refused) as refused:
        await work
    return refused.value.code


async def at(town: Town, where: Place) -> Template:
    """Return a template as it is now."""
    wanted = kept.Filter(where.account_id, where.sender_key, where.code)
    _, (found,) = await town.store.read(kept.find, wanted, 1, 1)
    return found


async def put_in(town: Town, stage: Stage, where: Place, status: TemplateStatus) -> Template:
    """Bring a new template into a state."""
    template = await templates.create(town.context, where, DESIGN, None)
    if status is REGISTERED:
        return template
    stage.reviewer.decision = {APPROVED: Review(True), REJECTED: Review(False, "안 됩니다")}.get(status)
    return await templates.request(town.context, where)


def test_a_new_template_is_registered_and_cannot_be_sent_yet(stage: Stage) -> None:
    async def scene(town: Town) -> None:
        where = await place(town)

        template = await templates.create(town.context, where, DESIGN, Image("image/jpeg", "a", b"\xff\xd8\xff"))

        assert (template.status, template.design, template.in_use) == (REGISTERED, DESIGN, None)
        assert (template.code, template.sender_key, template.channel_id) == ("order", where.sender_key, "@shop")
        assert template.design.variables == ("name",)
        assert stage.reviewer.seen == []

    stage.play(scene)


def test_a_code_is_taken_once_for_each_profile(stage: Stage) -> None:
    async def scene(town: Town) -> None:
        where = await place(town)
        await templates.create(town.context, where, DESIGN, None)

        assert await refusal(templates.create(town.context, where, EDITED, None)) is Code.DUPLICATE
        other = where._replace(sender_key=f"{await add_profile(town, '@other'):040x}")
        await templates.create(town.context, other, DESIGN, None)

    stage.play(scene)


def test_an_unknown_category_is_refused(stage: Stage) -> None:
    async def scene(town: Town) -> None:
        where = await place(town)
        strange = DESIGN._replace(category="000000")

        assert await refusal(templates.create(town.context, where, strange, None)) is Code.CATEGORY_NOT_FOUND
        await templates.create(town.context, where, DESIGN, None)
        assert await refusal(templates.update(town.context, where, strange, None)) is Code.CATEGORY_NOT_FOUND

    stage.play(scene)


@pytest.mark.parametrize(
    ("decision", "status", "in_use"),
    [
        (Review(True), APPROVED, DESIGN),
        (Review(False, "안 됩니다"), REJECTED, None),
        (None, INSPECTING, None),
    ],
)
def test_a_review_may_fall_at_once_or_later(
    stage: Stage, decision: Review | None, status: TemplateStatus, in_use: Design | None
) -> None:
    async def scene(town: Town) -> None:
        where = await place(town)
        await templates.create(town.context, where, DESIGN, None)
        stage.reviewer.decision = decision

        template = await templates.request(town.context, where)

        assert (template.status, template.in_use) == (status, in_use)
        assert template.comment == (decision.comment if decision else None)
        assert stage.reviewer.seen == [DESIGN]

    stage.play(scene)


@pytest.mark.parametrize("status", [INSPECTING, APPROVED, REJECTED])
def test_only_a_newly_written_text_is_reviewed(stage: Stage, status: TemplateStatus) -> None:
    async def scene(town: Town) -> None:
        where = await place(town)
        await put_in(town, stage, where, status)

        assert await refusal(templates.request(town.context, where)) is Code.INVALID_STATE
        assert len(stage.reviewer.seen) == 1

    stage.play(scene)


@pytest.mark.parametrize("status", [REGISTERED, APPROVED, REJECTED])
def test_a_template_that_is_not_under_review_can_be_edited_and_reviewed_anew(
    stage: Stage, status: TemplateStatus
) -> None:
    async def scene(town: Town) -> None:
        where = await place(town)
        before = await put_in(town, stage, where, status)

        edited = await templates.update(town.context, where, EDITED, None)

        assert (edited.id, edited.status, edited.design, edited.comment) == (before.id, REGISTERED, EDITED, None)
        assert edited.in_use == before.in_use
        stage.reviewer.decision = Review(True)
        assert (await templates.request(town.context, where)).in_use == EDITED

    stage.play(scene)


def test_a_template_under_review_cannot_be_edited(stage: Stage) -> None:
    async def scene(town: Town) -> None:
        where = await place(town)
        await put_in(town, stage, where, INSPECTING)

        assert await refusal(templates.update(town.context, where, EDITED, None)) is Code.INVALID_STATE
        assert (await at(town, where)).design == DESIGN

    stage.play(scene)


def test_an_approved_text_stays_in_use_while_its_edit_is_rejected(stage: Stage) -> None:
    async def scene(town: Town) -> None:
        where = await place(town)
        await put_in(town, stage, where, APPROVED)
        await templates.update(town.context, where, EDITED, None)
        stage.reviewer.decision = Review(False, "안 됩니다")

        rejected = await templates.request(town.context, where)

        assert (rejected.status, rejected.design, rejected.in_use) == (REJECTED, EDITED, DESIGN)

    stage.play(scene)


def test_what_was_edited_while_its_reviewer_read_it_is_not_approved(stage: Stage) -> None:
    async def scene(town: Town) -> None:
        where = await place(town)
        await templates.create(town.context, where, DESIGN, None)
        stage.reviewer.decision = Review(True)
        stage.reviewer.may_decide.clear()
        asked = asyncio.ensure_future(templates.request(town.context, where))
        await town.wait(1)
        await templates.update(town.context, where, EDITED, None)
        stage.reviewer.may_decide.set()

        assert await refusal(asked) is Code.INVALID_STATE
        assert ((await at(town, where)).status, (await at(town, where)).in_use) == (REGISTERED, None)

    stage.play(scene)


@pytest.mark.parametrize(
    ("status", "code"),
    [(REGISTERED, None), (REJECTED, None), (INSPECTING, Code.INVALID_STATE), (APPROVED, Code.INVALID_STATE)],
)
def test_only_what_is_neither_in_use_nor_under_review_is_deleted(
    stage: Stage, status: TemplateStatus, code: Code | None
) -> None:
    async def scene(town: Town) -> None:
        where = await place(town)
        await put_in(town, stage, where, status)

        if code:
            assert await refusal(templates.delete(town.context, where)) is code
        else:
            await templates.delete(town.context, where)
            assert await refusal(templates.delete(town.context, where)) is Code.TEMPLATE_NOT_FOUND
            await templates.create(town.context, where, DESIGN, None)

    stage.play(scene)


@pytest.mark.parametrize(
    ("review", "status"), [(Review(True, "좋습니다"), APPROVED), (Review(False, "안 됩니다"), REJECTED)]
)
def test_an_operator_decides_on_what_is_under_review_and_only_once(
    stage: Stage, review: Review, status: TemplateStatus
) -> None:
    async def scene(town: Town) -> None:
        where = await place(town)
        template = await put_in(town, stage, where, INSPECTING)

        async def decide() -> Template:
            return await town.store.write(templates.decide, template.id, review, town.world.now())

        decided = await decide()
        assert (decided.status, decided.comment) == (status, review.comment)
        assert await refusal(decide()) is Code.INVALID_STATE

    stage.play(scene)


def test_an_operator_cannot_decide_on_what_does_not_exist_or_was_not_handed_in(stage: Stage) -> None:
    async def scene(town: Town) -> None:
        template = await put_in(town, stage, await place(town), REGISTERED)

        for number, code in ((999, Code.TEMPLATE_NOT_FOUND), (template.id, Code.INVALID_STATE)):
            work = town.store.write(templates.decide, number, Review(True), town.world.now())
            assert await refusal(work) is code

    stage.play(scene)


def test_another_accounts_templates_do_not_exist(stage: Stage) -> None:
    async def scene(town: Town) -> None:
        where = await place(town)
        await templates.create(town.context, where, DESIGN, None)
        foreign = where._replace(account_id=await account(town, "other"))
        unknown = where._replace(code="nothing")

        for work in (
            templates.create(town.context, foreign, DESIGN, None),
            templates.update(town.context, foreign, EDITED, None),
            templates.request(town.context, foreign),
            templates.delete(town.context, foreign),
        ):
            assert await refusal(work) is Code.SENDER_NOT_FOUND
        for work in (
            templates.update(town.context, unknown, EDITED, None),
            templates.request(town.context, unknown),
            templates.delete(town.context, unknown),
        ):
            assert await refusal(work) is Code.TEMPLATE_NOT_FOUND

    stage.play(scene)
