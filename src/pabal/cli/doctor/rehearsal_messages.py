"""The messages of a rehearsal: one of each kind, with what the operator and the relay have for it."""

from collections.abc import Sequence
from typing import NamedTuple
from zoneinfo import ZoneInfo

from pabal.carriers.provider import RelayProvider, RemoteTemplate
from pabal.domain.base import dates, identifiers
from pabal.domain.base.codes import Refused, Text
from pabal.domain.brand.message import BrandMessage, BrandType
from pabal.domain.content.image import Image
from pabal.domain.kakao.template import TemplateStatus
from pabal.domain.kakao.template_parts import fill_parts
from pabal.domain.sends.message import Attempt, Product
from pabal.domain.sends.sending import fill_buttons, fill_text
from pabal.world import World

CONTENT = "[Pabal] 중계사 점검 메시지입니다."
SUBJECT = "중계사 점검"
_PICTURES = (Product.MMS, Product.FRIENDTALK_IMAGE, Product.FRIENDTALK_WIDE_IMAGE)
_NO_SENDER = Text("--sender가 없습니다", "--sender is missing")
_NO_IMAGE = Text("--image가 없습니다", "--image is missing")
_NIGHT = Text("광고를 보내지 않는 시간입니다(20:50~08:00)", "advertising is not sent now (20:50 to 08:00)")
_NO_PROFILE = Text(
    "중계사에 쓸 수 있는 발신 프로필이 없습니다. --channel을 확인하세요",
    "the relay has no sender profile to use; check --channel",
)
_NO_TEMPLATE = Text(
    "중계사에 승인된 템플릿이 없습니다. --template을 확인하세요",
    "the relay has no approved template to use; check --template",
)


class Choices(NamedTuple):
    """What the operator chose."""

    receiver: str
    products: Sequence[Product]
    sender: str = ""
    channel: str = ""
    template: str = ""
    image: Image | None = None


class Unsent(NamedTuple):
    """A kind of message that cannot be tried, and why."""

    product: Product
    reason: Text


class Planner:
    """Makes messages; profile and template come from the relay."""

    def __init__(self, choices: Choices, provider: RelayProvider | None, world: World, zone: ZoneInfo) -> None:
        self._choices = choices
        self._provider = provider
        self._world = world
        self._zone = zone
        self._sender_key: str | None = None

    async def plan(self) -> tuple[list[Attempt], list[Unsent]]:
        """Return the messages to send, and the kinds that have none."""
        attempts: list[Attempt] = []
        unsent: list[Unsent] = []
        await self._find_profile()
        for product in self._choices.products:
            planned = await self._plan_one(product)
            if isinstance(planned, Text):
                unsent.append(Unsent(product, planned))
            else:
                attempts.append(planned)
        return attempts, unsent

    async def _find_profile(self) -> None:
        if self._provider is None or all(product.is_text for product in self._choices.products):
            return
        if self._choices.channel:
            found = await self._provider.find_profile(self._choices.channel)
            profiles = [found] if found else []
        else:
            profiles = await self._provider.list_profiles()
        usable = [each.sender_key for each in profiles if each.sender_key and each.suspension is None]
        self._sender_key = usable[0] if usable else None

    async def _plan_one(self, product: Product) -> Attempt | Text:
        if product in _PICTURES and self._choices.image is None:
            return _NO_IMAGE
        request_id = identifiers.make_request_id(
            self._world.now(), 0, self._world.random_bits(identifiers.RANDOM_BITS)
        )
        attempt = Attempt(
            identifiers.make_message_id(request_id, 1),
            1,
            0,
            product,
            self._choices.receiver,
            self._choices.sender,
            SUBJECT if product in (Product.LMS, Product.MMS) else None,
            CONTENT,
            image_request_id=request_id if product in _PICTURES else None,
        )
        if product.is_text:
            return attempt if self._choices.sender else _NO_SENDER
        if self._sender_key is None:
            return _NO_PROFILE
        if product is Product.ALIMTALK:
            return await self._fill_template(attempt._replace(sender_key=self._sender_key))
        if dates.is_night(self._world.now(), self._zone):
            return _NIGHT
        brand = BrandMessage(BrandType.TEXT) if product is Product.BRAND_MESSAGE else None
        return attempt._replace(sender_key=self._sender_key, is_ad=True, brand=brand)

    async def _fill_template(self, attempt: Attempt) -> Attempt | Text:
        assert self._provider
        assert self._sender_key
        found: list[RemoteTemplate]
        if self._choices.template:
            one = await self._provider.get_template(self._sender_key, self._choices.template)
            found = [one] if one else []
        else:
            found = await self._provider.list_templates(self._sender_key)
        usable = [one for one in found if one.status is TemplateStatus.APPROVED and one.suspension is None]
        if not usable:
            return _NO_TEMPLATE
        content, names = usable[0].content, usable[0].content.variables
        values = ["1"] * len(names)
        try:
            return attempt._replace(
                template_code=usable[0].code,
                subject=fill_text(content.title, names, values) if content.title else None,
                content=fill_text(content.content, names, values),
                buttons=fill_buttons(content.buttons, names, values),
                parts=fill_parts(content.parts, names, values),
                parameters=dict(zip(names, values, strict=True)),
            )
        except Refused:
            return Text(
                "템플릿의 변수에 시험 값을 넣을 수 없습니다. 다른 --template을 고르세요",
                "the template's variables cannot be filled with test values; choose another --template",
            )
