"""What a browser takes along to the provider: read back as it was, and of nobody else."""

import base64
import hashlib

import pytest

from pabal.openid.flow import FLOW_LIFETIME_MS, MAX_COOKIE_CHARACTERS, Flow, Purpose, read_cookie
from tests.fixtures.virtual import NOON

FLOW = Flow("ab" * 32, Purpose.JOIN, NOON, "/console/history?q=가", "cd" * 32, "김")


def encode(text: bytes) -> str:
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


def test_cookie_is_read_back_as_it_was() -> None:
    cookie = FLOW.to_cookie()

    assert read_cookie(cookie) == FLOW
    assert cookie.isascii()
    assert not set(cookie) & set('";, \\=')


@pytest.mark.parametrize(
    "value",
    [
        "",
        "x",
        "가",
        "!!!!",
        encode(b"{"),
        encode(b"[]"),
        encode(b'{"secret":"ab","purpose":"join","started_at":1}'),
        encode(b'{"secret":"%s","purpose":"rule","started_at":1}' % (b"ab" * 32)),
        encode(b'{"secret":"%s","purpose":"join","started_at":"1"}' % (b"ab" * 32)),
        encode(b'{"secret":"%s","purpose":"join","started_at":1,"role":"owner"}' % (b"ab" * 32)),
        encode(b'{"secret":"%s","purpose":"join","started_at":1}' % (b"AB" * 32)),
        "A" * (MAX_COOKIE_CHARACTERS + 1),
    ],
)
def test_cookie_that_is_none_of_ours_is_passed_over(value: str) -> None:
    assert read_cookie(value) is None


def test_challenge_is_the_hash_of_the_verifier() -> None:
    digest = hashlib.sha256(FLOW.verifier.encode()).digest()

    assert len(FLOW.verifier) == 43
    assert base64.urlsafe_b64encode(digest).decode().rstrip("=") == FLOW.challenge


def test_derived_secrets_differ_from_each_other_and_from_other_flows() -> None:
    other = Flow("ba" * 32, FLOW.purpose, FLOW.started_at, FLOW.next_path, FLOW.invite, FLOW.name)
    for_sign_in = Flow(FLOW.secret, Purpose.SIGN_IN, FLOW.started_at)

    derived = [each for flow in (FLOW, other) for each in (flow.secret, flow.nonce, flow.verifier, flow.state())]
    states = {FLOW.state(), FLOW.state("session"), FLOW.state("other session"), for_sign_in.state(), other.state()}

    assert len(set(derived)) == len(derived)
    assert len(states) == 5


def test_visit_lasts_ten_minutes() -> None:
    times = (NOON - 1, NOON, NOON + FLOW_LIFETIME_MS - 1, NOON + FLOW_LIFETIME_MS)

    assert [FLOW.is_current(now) for now in times] == [False, True, True, False]
