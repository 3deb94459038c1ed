"""Who may call Solapi's endpoints: signatures in all spellings, keys, scopes, addresses, host names."""

import hashlib
import hmac
from datetime import UTC, datetime

import pytest

from tests.fixtures.solapi_calls import SECRET, SETTINGS, solapi_caller
from tests.fixtures.virtual import Environment

pytestmark = pytest.mark.settings(**SETTINGS)
KEY, SALT = "NCSAYU7YDBXYORXC", "ab" * 16


def header(spelling: str, date: str, *, digest: str = "sha256", secret: str = SECRET, salt: str = SALT) -> str:
    signature = hmac.new(secret.encode(), (date + salt).encode(), digest).hexdigest()
    return spelling.format(key=KEY, date=date, salt=salt, signature=signature)


NODE = "HMAC-SHA256 apiKey={key}, date={date}, salt={salt}, signature={signature}"
SPELLINGS = {
    "Node and Go": (NODE, "{at}+00:00", "sha256"),
    "Python": (
        "HMAC-SHA256 ApiKey={key}, Date={date}, salt={salt}, signature={signature}",
        "{at}.123456+00:00",
        "sha256",
    ),
    "Kotlin": (
        "HMAC-SHA256 Apikey={key}, Date={date}, salt={salt}, signature={signature}",
        "{at}.123456789+00:00",
        "sha256",
    ),
    "no spaces": ("HMAC-SHA256 apiKey={key},date={date},salt={salt},signature={signature}", "{at}Z", "sha256"),
    "MD5": ("HMAC-MD5 apiKey={key}, date={date}, salt={salt}, signature={signature}", "{at}Z", "md5"),
}


def at(env: Environment, offset_s: int = 0) -> str:
    return datetime.fromtimestamp(env.world.now() / 1000 + offset_s, UTC).strftime("%Y-%m-%dT%H:%M:%S")


@pytest.mark.parametrize("name", SPELLINGS)
async def test_every_client_spells_the_header_its_own_way(env: Environment, name: str) -> None:
    caller = await solapi_caller(env)
    spelling, date, digest = SPELLINGS[name]
    answer = await caller("GET", "cash/v1/balance", header=header(spelling, date.format(at=at(env)), digest=digest))

    assert answer.status == 200


@pytest.mark.parametrize(
    ("signed", "code"),
    [
        ({"secret": "x" * 32}, "SignatureDoesNotMatch"),
        ({"salt": "short"}, "SignatureDoesNotMatch"),
        ({"offset_s": -901}, "RequestTimeTooSkewed"),
        ({"offset_s": 901}, "RequestTimeTooSkewed"),
        ({"spelling": NODE.replace("{key}", "OTHERKEY")}, "InvalidAPIKey"),
        ({"spelling": "Bearer {signature}"}, "InvalidAPIKey"),
        ({"spelling": "HMAC-SHA256 apiKey={key}"}, "InvalidAPIKey"),
    ],
)
async def test_wrong_header_is_refused(env: Environment, signed: dict[str, object], code: str) -> None:
    caller = await solapi_caller(env)
    given = dict(signed)
    date = f"{at(env, int(str(given.pop('offset_s', 0))))}Z"
    spelling = str(given.pop("spelling", NODE))
    answer = await caller("GET", "cash/v1/balance", header=header(spelling, date, **given))  # type: ignore[arg-type]

    assert (answer.status, answer.body["errorCode"]) == (403, code)


async def test_scope_and_address_are_those_of_the_key(env: Environment) -> None:
    reader = await solapi_caller(env, api_key="READER-KEY", scopes=("read",), allow=("10.0.0.0/8",))
    elsewhere = await reader("GET", "cash/v1/balance")
    allowed = await reader("GET", "cash/v1/balance", peer="10.1.2.3")
    sent = await reader("POST", "messages/v4/send", {"message": {"to": "01012345678"}}, peer="10.1.2.3")

    assert [elsewhere.status, allowed.status, sent.status] == [403, 200, 403]
    assert elsewhere.body["errorCode"] == sent.body["errorCode"] == "Forbidden"


async def test_key_does_not_open_our_own_api(env: Environment) -> None:
    await solapi_caller(env)
    for key in (KEY, SECRET, hashlib.sha256(KEY.encode()).hexdigest()):
        caller = await env.caller()
        caller.key = key
        assert (await caller("message/list", {})).status == 401


async def test_paths_are_served_as_they_are_at_a_host_name(env: Environment) -> None:
    caller = await solapi_caller(env)
    named = await caller("GET", "cash/v1/balance", prefix="", headers={"host": "API.old.example:8080"})
    other = await caller("GET", "cash/v1/balance", prefix="", headers={"host": "api.other.example"})
    forwarded = {"host": "inside", "x-forwarded-host": "api.old.example"}
    untrusted = await caller("GET", "cash/v1/balance", prefix="", headers=forwarded)

    assert [named.status, other.status, untrusted.status] == [200, 404, 404]


@pytest.mark.parametrize("path", ["POST messages/v4/nothing", "GET messages/v4/groups//messages"])
async def test_unknown_path_is_not_found(env: Environment, path: str) -> None:
    caller = await solapi_caller(env)
    method, _, where = path.partition(" ")
    await caller.send({"to": "01012345678"})
    answer = await caller(method, where, {} if method == "POST" else None)

    assert (answer.status, answer.body["errorCode"]) == (404, "ResourceNotFound")


@pytest.mark.settings(max_body_bytes=2000)
async def test_body_has_the_limit_of_every_other(env: Environment) -> None:
    caller = await solapi_caller(env)
    answer = await caller("POST", "messages/v4/send-many/detail", b" " * 2001)

    assert (answer.status, answer.body["errorCode"]) == (413, "RequestEntityTooLarge")
