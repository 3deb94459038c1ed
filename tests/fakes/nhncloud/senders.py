"""Sender profiles, API v2.3: categories, registration, tokens, deletion and lists."""

from typing import Any

import msgspec

from tests.fakes.nhncloud import kakaotalk
from tests.fakes.nhncloud.answers import ApiError, Json, Request, format_seoul
from tests.fakes.nhncloud.state import ALIMTALK, FRIENDTALK, Profile, State

CATEGORIES: tuple[Any, ...] = (
    ("001", "건강", (("0001", "병원", (("0001", "종합병원"), ("0002", "피부과"))),)),
    ("002", "교육", (("0001", "학원", (("0001", "어학원"), ("0009", "등대지기 학원"))),)),
)
"""A few; one exists only here, so that a test can tell that a caller uses this list."""
CODES = frozenset(
    first + second + third for first, _, below in CATEGORIES for second, _, lowest in below for third, _ in lowest
)
MIN_TOKEN, MAX_TOKEN = 100_000, 999_999
VENDOR_FAILED = "Vender request API is failed."


class Registration(msgspec.Struct, forbid_unknown_fields=True):
    plusFriendId: str
    phoneNo: str
    categoryCode: str


class Verification(msgspec.Struct, forbid_unknown_fields=True):
    plusFriendId: str
    token: int


_REGISTRATION = msgspec.json.Decoder(Registration)
_VERIFICATION = msgspec.json.Decoder(Verification)


def categories(state: State, request: Request) -> Json:
    """List categories: GET `sender/categories`.

    Each has the code of its own level, of 3, 4 and 4 digits; a registration takes all three joined (Alimtalk
    ko/sender-api-guide-v2.3.md, "발신 프로필 등록": "카테고리 코드(11자) … ex) 00100010001 건강(001) - 병원(0001) -
    종합병원(0001)").
    """
    found = [_category("", 1, first, name, below) for first, name, below in CATEGORIES]
    return {"categories": found}


def _category(parent: str, depth: int, code: str, name: str, below: Any) -> Json:
    found: Json = {"parentCode": parent or None, "depth": depth, "code": code, "name": name}
    if below:
        found["subCategories"] = [
            _category(code, depth + 1, each[0], each[1], each[2] if len(each) > 2 else ()) for each in below
        ]
    return found


def register(state: State, request: Request) -> Json:
    """Register a channel, and have Kakao send a token to its administrator: POST `senders`."""
    given: Registration = kakaotalk.decode_body(_REGISTRATION, request.body)
    channel, phone, category = given.plusFriendId, given.phoneNo, given.categoryCode
    if category not in CODES:
        raise ApiError(-4000, "Invalid parameter")
    known = find_by_channel(state, channel)
    if channel in state.unknown_channels or (known and known.is_registered):
        raise ApiError(-7000, VENDOR_FAILED)
    token = state.random.randint(MIN_TOKEN, MAX_TOKEN)
    profile = known or Profile(channel, state.new_key(), phone, category, state.clock())
    profile.phone, profile.category, profile.token = phone, category, token
    state.profiles[profile.sender_key] = profile
    state.tokens_sent.append((state.clock(), phone, channel, token))
    return {}


def find_by_channel(state: State, channel: str) -> Profile | None:
    """Return the profile of a channel, registered or not."""
    return next((each for each in state.profiles.values() if each.channel == channel), None)


def verify(state: State, request: Request) -> Json:
    """Verify the token of a registration: POST `sender/token`."""
    given: Verification = kakaotalk.decode_body(_VERIFICATION, request.body)
    profile = find_by_channel(state, given.plusFriendId)
    if profile is None:
        raise ApiError(-2017, "Not exist plus friend.")
    if profile.token != given.token:
        raise ApiError(-7000, VENDOR_FAILED)
    profile.token = None
    found = ("plusFriendId", "senderKey", "categoryCode", "status")
    row = _row(state, profile)
    return {"sender": {name: row[name] for name in found}}


def get_registered(state: State, sender_key: str) -> Profile:
    profile = state.profiles.get(sender_key)
    if profile is None or not profile.is_registered:
        raise ApiError(-2017, "Not exist plus friend.")
    return profile


def remove(state: State, request: Request) -> Json:
    """Delete a profile and its templates: DELETE `senders/{senderKey}`."""
    profile = get_registered(state, request.path_params["senderKey"])
    delete(state, profile.sender_key)
    return {}


def delete(state: State, sender_key: str) -> None:
    del state.profiles[sender_key]
    for key in [key for key in state.templates if key[0] == sender_key]:
        del state.templates[key]


def show(state: State, request: Request) -> Json:
    """Show a profile: GET `senders/{senderKey}`."""
    return {"sender": _row(state, get_registered(state, request.path_params["senderKey"]))}


def search(state: State, request: Request) -> Json:
    """List profiles: GET `senders`."""
    query = request.query
    rows = [
        row
        for row in [_row(state, each) for each in state.profiles.values()]
        if all(row[name] == query[name] for name in ("plusFriendId", "senderKey", "status") if query.get(name))
    ]
    return {"senders": kakaotalk.page(rows, query), "totalCount": len(rows)}


def _usage(state: State, profile: Profile, product: str) -> Json:
    """Return the daily quota: Alimtalk ko/sender-api-guide-v2.3.md, "발신 프로필 단건 조회", `dailyMaxCount`."""
    day = format_seoul(state.clock(), "%Y-%m-%d") or ""
    return {"dailyMaxCount": profile.daily_limit, "sentCount": profile.sent.get((product, day), 0)}


def _row(state: State, profile: Profile) -> Json:
    """Return the row of a profile; until its token is verified it has no key and no state at Kakao."""
    is_known, kakao_status = profile.is_registered, "S" if profile.is_blocked else "A"
    return {
        "plusFriendId": profile.channel,
        "senderKey": profile.sender_key if is_known else None,
        "categoryCode": profile.category,
        "status": "YSC03" if is_known else "YSC02",
        "kakaoStatus": kakao_status if is_known else None,
        "kakaoProfileStatus": profile.kakao_profile_status if is_known else None,
        "alimtalk": _usage(state, profile, ALIMTALK),
        "friendtalk": _usage(state, profile, FRIENDTALK),
        "dormant": profile.is_dormant,
        "block": profile.is_blocked,
        "createDate": format_seoul(profile.created_at),
    }
