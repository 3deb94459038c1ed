"""The console against a real OpenID Connect provider, npm's `oidc-provider`, over real sockets."""

import re
from collections.abc import Iterator
from html import unescape
from urllib.parse import parse_qs, urljoin, urlsplit

import httpx
import pytest

from tests.fakes.openid.server import OpenIdServer, running_provider
from tests.fixtures.live import LiveService, run, serving

pytestmark = pytest.mark.slow

MAX_STEPS = 20
TIMEOUT_S = 300.0


@pytest.fixture(scope="module")
def provider() -> Iterator[OpenIdServer]:
    with running_provider() as server:
        yield server


@pytest.fixture(scope="module")
def live(provider: OpenIdServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    with serving(tmp_path_factory.mktemp("openid") / "data", **provider.settings) as service:
        provider.register(service.base_url)
        yield service


def new_user(live: LiveService, name: str) -> str:
    """Create a user and return the password."""
    return run("user", "create", name, "--account", "first", data=live.data).stdout.strip()


def submit(client: httpx.Client, page: httpx.Response, action: str, **fields: str) -> httpx.Response:
    """Submit a form of a page with its hidden fields, and follow redirects."""
    form = next(
        each for each in re.findall(r"<form.*?</form>", page.text, re.DOTALL) if f'action="{action}"' in each
    )
    hidden = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form)
    return client.post(urljoin(str(page.url), action), data={**dict(hidden), **fields}, follow_redirects=True)


def set_out(client: httpx.Client, page: httpx.Response, action: str, **fields: str) -> str:
    """Press a button that leads to the provider, and return its address."""
    left = submit(client, page, action, **fields)
    assert left.status_code == 200, left.text
    return left.headers["refresh"].removeprefix("0;url=")


def sign_in_there(client: httpx.Client, url: str, name: str, callback: str) -> str:
    """Sign in at the provider and agree to everything; return where it sends the browser back to."""
    response = client.get(url)
    for _ in range(MAX_STEPS):
        if response.is_redirect:
            target = urljoin(str(response.url), response.headers["location"])
            if target.startswith(callback):
                return target
            response = client.get(target)
            continue
        action = unescape(re.findall(r'<form[^>]* action="([^"]+)"', response.text)[0])
        prompt = re.findall(r'name="prompt" value="(\w+)"', response.text)[0]
        fields = {"prompt": prompt} | ({"login": name, "password": "x"} if prompt == "login" else {})
        response = client.post(urljoin(str(response.url), action), data=fields)
    raise AssertionError(response.text)


def link(live: LiveService, name: str, subject: str) -> None:
    """Have a user sign in with the password, and link to the provider."""
    password = new_user(live, name)
    with httpx.Client(base_url=live.base_url, timeout=TIMEOUT_S) as client:
        submit(client, client.get("/console/login"), "/console/login", name=name, password=password)
        url = set_out(client, client.get("/console/me"), "/console/me/openid", openid_password=password)
        back = sign_in_there(client, url, subject, f"{live.base_url}/console/login/openid/callback")
        done = client.get(back, follow_redirects=True)
        assert done.url.path == "/console/me"
        assert subject in done.text


def begin(live: LiveService, subject: str) -> tuple[httpx.Client, str]:
    """Return a browser that has signed in at the provider, and where it is sent back to."""
    client = httpx.Client(base_url=live.base_url, timeout=TIMEOUT_S)
    url = set_out(client, client.get("/console/login"), "/console/login/openid")
    return client, sign_in_there(client, url, subject, f"{live.base_url}/console/login/openid/callback")


def test_user_links_and_signs_in_once_with_each_answer(live: LiveService) -> None:
    link(live, "kim", "kim-at-acme")
    client, back = begin(live, "kim-at-acme")
    taken_along = client.cookies["pabal_openid"]

    entered = client.get(back, follow_redirects=True)
    client.cookies.set("pabal_openid", taken_along, domain="127.0.0.1")
    replayed = client.get(back)

    assert entered.url.path == "/console"
    assert "kim" in client.get("/console/me").text
    assert replayed.status_code == 403
    client.close()


def test_name_at_the_provider_is_no_user_name(live: LiveService) -> None:
    new_user(live, "lee")
    client, back = begin(live, "lee")

    refused = client.get(back)

    assert refused.status_code == 403
    assert client.get("/console/me").status_code == 303
    client.close()


def test_provider_refuses_a_code_of_another_browser(live: LiveService, provider: OpenIdServer) -> None:
    link(live, "park", "park-at-acme")
    victim, stolen = begin(live, "park-at-acme")
    thief, own = begin(live, "thief")
    code = parse_qs(urlsplit(stolen).query)["code"][0]
    own_code = parse_qs(urlsplit(own).query)["code"][0]
    seen = len(provider.all_events)

    refused = thief.get(own.replace(own_code, code))

    assert refused.status_code == 403
    assert thief.get("/console/me").status_code == 303
    provider.wait_for(lambda event: event["event"] == "refused", since=seen)
    victim.close()
    thief.close()
