"""Codes of authenticator apps, by the examples of RFC 6238, and recovery codes."""

import pytest

from pabal.domain.people import totp

SECRET = b"12345678901234567890"


@pytest.mark.parametrize(
    ("second", "code"),
    [
        (59, "287082"),
        (1111111109, "081804"),
        (1111111111, "050471"),
        (1234567890, "005924"),
        (2000000000, "279037"),
        (20000000000, "353130"),
    ],
)
def test_codes_are_those_of_the_standard(second: int, code: str) -> None:
    now = second * 1000

    assert totp.code_at(SECRET, totp.step_of(now)) == code
    assert totp.find_step(SECRET, code, now) == totp.step_of(now)


@pytest.mark.parametrize(("steps", "is_found"), [(-2, False), (-1, True), (0, True), (1, True), (2, False)])
def test_code_of_a_neighbouring_period_is_accepted(steps: int, is_found: bool) -> None:
    now = 1_700_000_000_000
    step = totp.step_of(now) + steps

    found = totp.find_step(SECRET, totp.code_at(SECRET, step), now)

    assert found == (step if is_found else None)


@pytest.mark.parametrize("typed", ["28 70 82", "287-082", " 287082\n"])
def test_blanks_and_hyphens_in_a_code_do_not_matter(typed: str) -> None:
    assert totp.find_step(SECRET, typed, 59_000) == 1


@pytest.mark.parametrize("typed", ["", "28708", "2870820", "２８７０８２", "28708x", "\ud800"])
def test_what_is_no_code_is_not_found(typed: str) -> None:
    assert totp.find_step(SECRET, typed, 59_000) is None


def test_secret_is_spelled_as_apps_take_it() -> None:
    spelled = totp.spell_secret(SECRET)
    uri = totp.make_uri(SECRET, "kim@shop")

    assert spelled == "GEZD GNBV GY3T QOJQ GEZD GNBV GY3T QOJQ"
    assert uri.startswith("otpauth://totp/Pabal%3Akim%40shop?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Pabal")


def test_recovery_code_is_hashed_for_its_user_however_it_is_typed() -> None:
    code = totp.spell_recovery_code(bytes(range(totp.RECOVERY_CODE_BYTES)))
    stored = totp.hash_recovery_code(7, code)

    assert len(code.replace("-", "")) == 16
    assert totp.hash_recovery_code(7, code.lower().replace("-", " ")) == stored
    assert totp.hash_recovery_code(8, code) != stored
    assert totp.hash_recovery_code(7, f"{code}A") != stored
