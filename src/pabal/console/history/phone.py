"""The simulated phone: the messages it received, and what brand messages show besides text and buttons."""

from collections.abc import Sequence
from typing import NamedTuple

from starlette.responses import Response

from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Refused, Text
from pabal.domain.base.dates import Instant
from pabal.domain.brand.message import BrandAttachment, BrandButton, CarouselItem, Commerce
from pabal.domain.content.button import Button, is_web_link
from pabal.domain.kakao.template_parts import NO_PARTS, TemplateParts
from pabal.domain.people import phone
from pabal.domain.sends.message import PRODUCT_BY_CODE, TOKEN_KIND, Product, SimulatedMessage
from pabal.service.history import history


class BrandPreview(NamedTuple):
    """One part of a brand message: a header, an item, a card, a product, a video or a coupon."""

    kind: str
    """How it is drawn: header, video, image, product, item, card, coupon or buttons."""
    title: str = ""
    text: str = ""
    price: str = ""
    regular: str = ""
    """The price before the discount, where there is one."""
    discount: str = ""
    has_image: bool = False
    buttons: Sequence[tuple[str, str]] = ()
    """Name of each button, and its link if a browser can open it."""


def preview_attachment(attachment: BrandAttachment) -> list[BrandPreview]:
    """Return the parts of an attachment, in the order in which a phone shows them."""
    return list(preview_groups(attachment).values())


def preview_groups(attachment: BrandAttachment) -> dict[str, BrandPreview]:
    """Return the parts of an attachment by the key of the fields that make each, in the order of a phone."""
    found = {"header": BrandPreview("header", title=attachment.header)} if attachment.header else {}
    if attachment.video is not None:
        found["video"] = BrandPreview("video", text=attachment.video.video_url or "")
    if attachment.image is not None:
        found["image"] = BrandPreview("image", has_image=True)
    if attachment.commerce is not None:
        found["commerce"] = _product(attachment.commerce, attachment.additional_content)
    for place, item in enumerate((attachment.item.items if attachment.item else None) or (), 1):
        found[f"item-{place}"] = BrandPreview("item", title=item.title or "", has_image=True)
    carousel = attachment.carousel
    if carousel and carousel.head:
        head = carousel.head
        found["head"] = BrandPreview("card", title=head.header or "", text=head.content or "", has_image=True)
    for place, card in enumerate((carousel.cards if carousel else None) or (), 1):
        found[f"card-{place}"] = _card(card)
    if attachment.coupon is not None:
        title, description = attachment.coupon.title or "", attachment.coupon.description or ""
        found["coupon"] = BrandPreview("coupon", title=title, text=description)
    if attachment.buttons:
        found["buttons"] = BrandPreview("buttons", buttons=_buttons(attachment.buttons))
    return found


def _card(card: CarouselItem) -> BrandPreview:
    if card.commerce is None:
        part = BrandPreview("card", title=card.header or "", text=card.message or "")
    else:
        part = _product(card.commerce, card.additional_content)
    return part._replace(kind="card", has_image=True, buttons=_buttons(card.buttons or ()))


def _product(commerce: Commerce, more: str | None) -> BrandPreview:
    regular, reduced = commerce.regular_price, commerce.discount_price
    price = regular if reduced is None else reduced
    rate, off = commerce.discount_rate, commerce.discount_fixed
    return BrandPreview(
        "product",
        title=commerce.title or "",
        text=more or "",
        price=f"{price:,}원" if price is not None else "",
        regular=f"{regular:,}원" if reduced is not None and regular is not None else "",
        discount=f"{rate}%" if rate is not None else f"{off:,}원" if off is not None else "",
    )


def _buttons(buttons: Sequence[BrandButton]) -> list[tuple[str, str]]:
    return [(one.name or "", one.link_mo if one.link_mo and is_web_link(one.link_mo) else "") for one in buttons]


MAX_MESSAGES = 30
MAX_PHONES = 12
NO_CONTENT = 204


class Bubble(NamedTuple):
    """A message as the phone shows it."""

    time: str
    shown_time: str
    """What stands beside the bubble: the minute, or of another day than today, the day."""
    kind: str
    is_token: bool
    is_talk: bool
    is_alimtalk: bool
    sender: str
    subject: str | None
    content: str
    buttons: list[tuple[str, str]]
    """Name of each button, and its link if a browser can open it."""
    images: int
    parts: Sequence[BrandPreview] = ()
    """What a brand message shows besides."""
    talk_parts: TemplateParts = NO_PARTS
    """What an Alimtalk shows besides."""


class PhoneContent(NamedTuple):
    """The messages of a phone: how many, the newest of them, and a version that changes with each new one."""

    total: int
    bubbles: list[Bubble]
    version: str


async def show_phone(request: PageRequest) -> Response:
    """Show a phone, and links to other phones."""
    known = await history.list_recent_phones(request.context, request.account_id, MAX_PHONES)
    typed = request.field("number")
    number, error = _read_number(request, typed)
    if not typed and known:
        number = known[0]
    held = await _read_content(request, number) if number else None
    status = 400 if error else 200
    return request.render(
        "history/phone.html", status, known=known, typed=typed, number=number, error=error, held=held, is_news=False
    )


async def show_messages(request: PageRequest) -> Response:
    """Answer with the phone's messages, or with nothing if the page already shows them."""
    number = phone.parse_mobile(request.field("number"))
    held = await _read_content(request, number)
    if held.version == request.field("seen"):
        return Response(status_code=NO_CONTENT)
    return request.render("history/phone_messages.html", number=number, is_news=True, held=held)


async def _read_content(request: PageRequest, number: str) -> PhoneContent:
    total, found = await history.list_messages(request.context, request.account_id, number, MAX_MESSAGES)
    newest = found[0].arrives_at if found else 0
    return PhoneContent(total, [_bubble(request, each) for each in found], f"{total}-{newest}")


def _read_number(request: PageRequest, typed: str) -> tuple[str, str]:
    """Return the number that was typed, and an error if it is invalid."""
    if not typed:
        return "", ""
    try:
        return phone.parse_mobile(typed), ""
    except Refused as refused:
        return "", request.tell(refused.problems[0])


def _bubble(request: PageRequest, arrival: SimulatedMessage) -> Bubble:
    product = PRODUCT_BY_CODE.get(arrival.kind)
    at = arrival.arrives_at or arrival.accepted_at
    is_sender_number = arrival.sender.isascii() and arrival.sender.isdigit()
    return Bubble(
        time=request.time(at),
        shown_time=shown_time(request, at),
        kind=request.translate(product.label) if product else request.t("phone.token"),
        is_token=arrival.kind == TOKEN_KIND,
        is_talk=product is not None and not product.is_text,
        is_alimtalk=product is Product.ALIMTALK,
        sender=phone.hyphenate(arrival.sender) if is_sender_number else arrival.sender,
        subject=arrival.subject,
        content=arrival.content,
        buttons=[_button(one) for one in arrival.buttons],
        images=arrival.images,
        parts=preview_attachment(arrival.brand.attachment) if arrival.brand else (),
        talk_parts=arrival.parts,
    )


def shown_time(request: PageRequest, at: Instant) -> str:
    """Return what stands beside a bubble."""
    time = request.time(at)
    return time[11:16] if time[:10] == request.time(request.now)[:10] else time[5:10].replace("-", "/")


def _button(button: Button) -> tuple[str, str]:
    link = button.mobile_url or button.pc_url or ""
    return button.name, link if is_web_link(link) else ""


TEXTS = {
    "menu.phone": Text("가상 휴대폰", "Simulated phone"),
    "phone.about": Text(
        "시뮬레이터로 발송한 메시지가 도착하는 가상의 휴대폰입니다. 화면을 열어 두면 새 메시지가 바로 표시됩니다.",
        "Messages sent through the simulator arrive here. New messages appear while this page is open.",
    ),
    "phone.known": Text("최근에 메시지를 받은 휴대폰", "Phones that received messages recently"),
    "phone.nobody": Text(
        "아직 메시지를 받은 휴대폰이 없습니다. 번호를 입력해 두거나 메시지를 발송하세요.",
        "No phone has received a message yet. Enter a number, or send a message.",
    ),
    "phone.of": Text("{number} 번호의 메시지", "Messages to {number}"),
    "phone.screen": Text("받은 메시지", "Received messages"),
    "phone.empty": Text("받은 메시지가 없습니다.", "No messages yet."),
    "phone.news": Text("새 메시지: {kind}, {sender}", "New message: {kind}, from {sender}"),
    "phone.token": Text("인증 토큰", "Verification token"),
    "phone.image": Text("이미지가 첨부되었습니다", "Image attached"),
    "phone.more": Text("전체 {total}건 중 최근 {shown}건을 표시합니다.", "Showing the latest {shown} of {total}."),
}
