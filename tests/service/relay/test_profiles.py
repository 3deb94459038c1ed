"""Sender profiles: registered, verified by a token, deleted."""

import re
from typing import NamedTuple

import pytest

from pabal.carriers.provider import ProfileProvider
from pabal.domain.base.codes import Code, Refused
from pabal.domain.content.image import Image
from pabal.domain.kakao.profile import AuthStatus, Profile, Registration
from pabal.domain.kakao.template import ReviewDecision, TemplateContent
from pabal.service.relay.profiles import authenticate, delete, register
from pabal.store.engine.base import Tx
from pabal.store.kakao import profiles
from tests.fixtures.service import PHONE, FakeCarrier, account_id_of
from tests.fixtures.virtual import Environment

SHOP = Registration("@shop", "00100010001", PHONE)
KEY = re.compile(r"[0-9a-f]{40}")


class Sent(NamedTuple):
    """A token that was sent."""

    account_id: int
    cellphone: str
    channel_id: str
    token: str


class RecordingProvider:
    """A profile provider that records the tokens it sent."""

    def __init__(self) -> None:
        self.sent: list[Sent] = []

    async def register_profile(self, account_id: int, registration: Registration, token: str | None) -> None:
        assert token is not None
        self.sent.append(Sent(account_id, registration.cellphone, registration.channel_id, token))

    async def upload_thumbnail(self, image: Image) -> str:
        raise AssertionError("there are no thumbnails here")

    @property
    def token(self) -> str:
        """The token that was sent last."""
        return self.sent[-1].token

    async def submit_template(
        self, sender_key: str, code: str, content: TemplateContent, image: Image | None
    ) -> ReviewDecision | None:
        return None


@pytest.fixture
def operator(carrier: FakeCarrier) -> RecordingProvider:
    """The provider of the carrier of `env`."""
    found = RecordingProvider()
    provider: ProfileProvider = found
    carrier.provider = provider
    return found


async def refusal(work: object) -> Refused:
    with pytest.raises(Refused) as refused:
        await work  # type: ignore[misc]
    return refused.value


async def auth(env: Environment, token: str, channel: str = "@shop", name: str = "acme") -> None:
    await authenticate(env.context, await account_id_of(env, name), channel, token)


async def begin(env: Environment, registration: Registration = SHOP, name: str = "acme") -> Profile:
    return await register(env.context, await account_id_of(env, name), registration)


async def find(env: Environment, channel: str = "@shop", name: str = "acme") -> Profile | None:
    return await env.store.read(profiles.get_by_channel, await account_id_of(env, name), channel)


async def test_registered_profile_is_pending_and_its_admin_gets_a_token(
    env: Environment, operator: RecordingProvider
) -> None:
    profile = await begin(env)

    assert (profile.status, profile.sender_key, profile.channel_id) == (AuthStatus.WAITING, None, "@shop")
    (sent,) = operator.sent
    assert (sent.account_id, sent.cellphone, sent.channel_id) == (await account_id_of(env), PHONE, "@shop")
    assert re.fullmatch(r"[0-9]{6}", sent.token)


async def test_token_is_stored_only_as_a_hash(env: Environment, operator: RecordingProvider) -> None:
    await begin(env)

    def everything(tx: Tx) -> str:
        return repr(tx.fetch_all("select * from tokens")) + repr(tx.fetch_all("select * from profiles"))

    assert operator.token not in await env.store.read(everything)


async def test_right_token_approves_the_profile_and_gives_a_sender_key(
    env: Environment, operator: RecordingProvider
) -> None:
    await begin(env)

    await auth(env, operator.token)

    profile = await find(env)
    assert profile is not None
    assert profile.status is AuthStatus.APPROVAL
    assert profile.sender_key is not None
    assert KEY.fullmatch(profile.sender_key)


@pytest.mark.settings(token_minutes=1)
async def test_token_validity_is_a_setting(env: Environment, operator: RecordingProvider) -> None:
    await begin(env)
    await env.wait(60)

    assert (await refusal(auth(env, operator.token))).code is Code.TOKEN_EXPIRED


async def test_approved_channel_cannot_be_registered_or_authenticated_again(
    env: Environment, operator: RecordingProvider
) -> None:
    await begin(env)
    await auth(env, operator.token)

    again = await refusal(begin(env))
    assert (again.code, again.problems[0].field) == (Code.DUPLICATE, "channelId")
    assert (await refusal(auth(env, operator.token))).code is Code.INVALID_STATE
    assert len(operator.sent) == 1


async def test_unknown_category_is_refused_before_anything_is_sent(
    env: Environment, operator: RecordingProvider
) -> None:
    refused = await refusal(begin(env, SHOP._replace(category="99999999999")))

    assert refused.code is Code.CATEGORY_NOT_FOUND
    assert operator.sent == []
    assert await find(env) is None


async def test_accounts_sharing_a_channel_have_separate_tokens_and_keys(
    env: Environment, operator: RecordingProvider
) -> None:
    await begin(env)
    mine = operator.token
    await begin(env, name="other")
    theirs = operator.token

    if mine != theirs:
        assert (await refusal(auth(env, mine, name="other"))).code is Code.TOKEN_INVALID
    await auth(env, mine)
    await auth(env, theirs, name="other")

    keys = {each.sender_key for name in ("acme", "other") if (each := await find(env, name=name))}
    assert len(keys) == 2


async def test_unknown_channel_and_channel_of_another_account_are_not_found(
    env: Environment, operator: RecordingProvider
) -> None:
    await begin(env)

    for work in (
        auth(env, operator.token, "@nobody"),
        auth(env, operator.token, name="other"),
        delete(env.context, await account_id_of(env, "other"), None, "@shop"),
        delete(env.context, await account_id_of(env), "f" * 40, None),
        delete(env.context, await account_id_of(env), None, None),
    ):
        assert (await refusal(work)).code is Code.SENDER_NOT_FOUND
    assert await find(env) is not None


async def test_key_and_channel_must_match_if_both_are_given(env: Environment, operator: RecordingProvider) -> None:
    await begin(env)
    await auth(env, operator.token)
    profile = await find(env)
    assert profile is not None
    owner = await account_id_of(env)

    refused = await refusal(delete(env.context, owner, profile.sender_key, "@another"))
    assert refused.code is Code.SENDER_NOT_FOUND
    await delete(env.context, owner, profile.sender_key, "@shop")
    assert await find(env) is None


async def test_no_channel_is_registered_without_a_profile_provider(env: Environment, carrier: FakeCarrier) -> None:
    assert (await refusal(begin(env))).code is Code.PRODUCT_NOT_AVAILABLE
    assert await find(env) is None
