"""Who may call NHN Cloud's endpoints: app keys and secret keys, versions, scopes, addresses, host names."""

import hashlib

import pytest

from pabal.service.upkeep import stored_secrets
from tests.fixtures.nhncloud_calls import APP_KEY, SECRET, SETTINGS, NhnCaller, nhn_caller, secretless_caller
from tests.fixtures.virtual import Environment

pytestmark = pytest.mark.settings(**SETTINGS)
V2, V3 = "sms/v2.4/appKeys", "sms/v3.0/appKeys"


async def code(caller: NhnCaller, root: str = V3, **options: object) -> int:
    answer = await caller("GET", "sendNos", root=root, **options)  # type: ignore[arg-type]
    assert answer.status == 200
    header = answer.body["header"]
    assert header["isSuccessful"] is (header["resultCode"] == 0)
    return int(header["resultCode"])


async def test_app_key_and_secret_key_open_every_version(env: Environment) -> None:
    caller = await nhn_caller(env)

    assert [await code(caller, f"sms/v{each}/appKeys") for each in ("2.2", "2.3", "2.4", "3.0")] == [0] * 4
    assert await code(caller, "sms/v3.0/appkeys") == 0


@pytest.mark.parametrize(("app_key", "secret"), [(APP_KEY, "wrongone"), (APP_KEY, None), ("OTHER-KEY", SECRET)])
async def test_wrong_keys_are_refused(env: Environment, app_key: str, secret: str | None) -> None:
    await nhn_caller(env)
    caller = NhnCaller(env, app_key, secret)

    assert [await code(caller, root) for root in (V2, V3)] == [-1000, -1000]


async def test_version_before_secrets_needs_a_key_made_without_one(env: Environment) -> None:
    caller = await secretless_caller(env)
    stored = await env.store.read(lambda tx: tx.fetch_all("select public_id, secret from compat_keys"))

    assert [await code(caller, V2), await code(caller, V3)] == [0, -1000]
    assert len(caller.app_key) == 24
    assert [(caller.app_key in row[0], bytes(row[1])) for row in stored] == [(False, b"")]


async def test_stored_id_of_a_key_without_secret_opens_nothing(env: Environment) -> None:
    caller = await secretless_caller(env)
    stored = f"#{hashlib.sha256(caller.app_key.encode()).hexdigest()}"
    for secret in (None, "x"):
        other = NhnCaller(env, stored, secret)
        assert [await code(other, root) for root in (V2, V3)] == [-1000, -1000]


async def test_many_wrong_secrets_are_refused_unhashed_and_the_right_one_goes_on(env: Environment) -> None:
    caller = await nhn_caller(env)
    assert await code(caller) == 0
    answers = []
    for number in range(12):
        caller.secret = f"guess{number:03}"
        answers.append((await caller("GET", "sendNos")).status)
    caller.secret = SECRET
    known = await code(caller)
    await env.wait(61)
    caller.secret = "guess999"

    assert (answers.count(200), answers.count(429), known) == (10, 2, 0)
    assert await code(caller) == -1000


async def test_secret_is_stored_as_a_hash(env: Environment) -> None:
    await nhn_caller(env)
    ((stored,),) = await env.store.read(lambda tx: tx.fetch_all("select secret from compat_keys"))

    assert bytes(stored).startswith(b"$argon2id$")


async def test_hashed_secrets_are_none_of_those_that_are_encrypted(env: Environment) -> None:
    await nhn_caller(env)
    await secretless_caller(env)
    states = await stored_secrets.count_states(env.context, stored_secrets.of_signing_keys(env.context))

    assert states == (0, 0, 0)


async def test_unknown_version_and_path_are_named(env: Environment) -> None:
    caller = await nhn_caller(env)

    assert await code(caller, "sms/v2.1/appKeys") == -9995
    assert await code(caller, "fax/v3.0/appKeys") == -9998
    assert (await caller("DELETE", "sendNos")).body["header"]["resultCode"] == -9998


async def test_scope_address_and_expiry_are_those_of_the_key(env: Environment) -> None:
    until = env.world.now() + 60_000
    reader = await nhn_caller(env, app_key="READER-KEY", scopes=("read",), allow=("10.0.0.0/8",), expires_at=until)
    elsewhere, allowed = await code(reader), await code(reader, peer="10.1.2.3")
    sent = await reader("POST", "sender/sms", {"body": "hi"}, peer="10.1.2.3")
    await env.wait(61)

    assert [elsewhere, allowed, sent.body["header"]["resultCode"]] == [-1004, 0, -1004]
    assert await code(reader, peer="10.1.2.3") == -1000


async def test_paths_are_served_as_they_are_at_a_host_name(env: Environment) -> None:
    caller = await nhn_caller(env)
    named = await caller("GET", "sendNos", prefix="", headers={"host": "API-SMS.old.example:443"})
    other = await caller("GET", "sendNos", prefix="", headers={"host": "api.other.example"})

    assert [named.status, other.status] == [200, 404]


async def test_app_key_does_not_open_our_own_api(env: Environment) -> None:
    secretless = await secretless_caller(env)
    caller = await env.caller()
    for key in (secretless.app_key, APP_KEY, SECRET):
        caller.key = key
        assert (await caller("message/list", {})).status == 401


@pytest.mark.settings(max_body_bytes=2000)
async def test_body_has_the_limit_of_every_other(env: Environment) -> None:
    answer = await (await nhn_caller(env))("POST", "sender/sms", b" " * 2001)

    assert (answer.status, answer.body["header"]["resultCode"]) == (413, 4131000)


async def test_rate_of_the_key_is_kept(env: Environment) -> None:
    caller = await nhn_caller(env, rate=1)
    answers = [await caller("GET", "sendNos") for _ in range(2)]

    assert [each.status for each in answers] == [200, 429]
    assert answers[1].body["header"]["isSuccessful"] is False
