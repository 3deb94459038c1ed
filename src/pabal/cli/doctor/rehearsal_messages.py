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


async def plan(
    choices: Choices, provider: RelayProvider | None, world: World, zone: ZoneInfo
) -> tuple[list[Attempt], list[tuple[Product, Text]]]:
    """Return the messages to send, and the kinds that cannot be tried, each with the reason.

    Profile and template come from the relay.
    """
    attempts: list[Attempt] = []
    unsent: list[tuple[Product, Text]] = []
    sender_key = await _find_sender_key(choices, provider)
    for product in choices.products:
        planned: Attempt | Text = _make(product, choices, sender_key, world, zone)
        if isinstance(planned, Attempt) and product is Product.ALIMTALK:
            assert provider
            planned = await _fill_template(planned, choices.template, provider)
        if isinstance(planned, Text):
            unsent.append((product, planned))
        else:
            attempts.append(planned)
    return attempts, unsent


async def _find_sender_key(choices: Choices, provider: RelayProvider | None) -> str | None:
    if provider is None or all(product.is_text for product in choices.products):
        return None
    if choices.channel:
        found = await provider.find_profile(choices.channel)
        profiles = [found] if found else []
    else:
        profiles = await provider.list_profiles()
    return next((each.sender_key for each in profiles if each.sender_key and each.suspension is None), None)


def _make(
    product: Product, choices: Choices, sender_key: str | None, world: World, zone: ZoneInfo
) -> Attempt | Text:
    """Return a message, of an Alimtalk without its template; or why there is none."""
    if product in _PICTURES and choices.image is None:
        return _NO_IMAGE
    request_id = identifiers.make_request_id(world.now(), 0, world.random_bits(identifiers.RANDOM_BITS))
    attempt = Attempt(
        identifiers.make_message_id(request_id, 1),
        1,
        0,
        product,
        choices.receiver,
        choices.sender,
        SUBJECT if product in (Product.LMS, Product.MMS) else None,
        CONTENT,
        image_request_id=request_id if product in _PICTURES else None,
    )
    if product.is_text:
        return attempt if choices.sender else _NO_SENDER
    if sender_key is None:
        return _NO_PROFILE
    if product is Product.ALIMTALK:
        return attempt._replace(sender_key=sender_key)
    if dates.is_night(world.now(), zone):
        return _NIGHT
    brand = BrandMessage(BrandType.TEXT) if product is Product.BRAND_MESSAGE else None
    return attempt._replace(sender_key=sender_key, is_ad=True, brand=brand)


async def _fill_template(attempt: Attempt, code: str, provider: RelayProvider) -> Attempt | Text:
    assert attempt.sender_key
    found: list[RemoteTemplate]
    if code:
        one = await provider.get_template(attempt.sender_key, code)
        found = [one] if one else []
    else:
        found = await provider.list_templates(attempt.sender_key)
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
