"""`pabal doctor` checks the OpenID Connect provider, and the operator who may use a password."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.openid.provider import KEYS
from tests.fixtures.cli import CommandLine
from tests.fixtures.scripted_service import ScriptedAnswer, ScriptedService, SeenRequest


@contextmanager
def answering(documents: dict[str, Any]) -> Iterator[str]:
    """Serve documents by their paths on this machine, and yield the address; `ISSUER` in them becomes it."""

    def respond(request: SeenRequest) -> ScriptedAnswer:
        found = documents.get(request.path)
        text = json.dumps(found).replace("ISSUER", service.base_url)
        return ScriptedAnswer(200 if found else 404, text.encode())

    with ScriptedService(respond) as service:
        yield service.base_url


def documents(**changes: Any) -> dict[str, Any]:
    """Return what a provider describes itself with."""
    description = {
        "issuer": "ISSUER",
        "authorization_endpoint": "ISSUER/auth",
        "token_endpoint": "ISSUER/token",
        "jwks_uri": "ISSUER/keys",
    }
    keys = {"keys": [KEYS["first"].as_dict(private=False)]}
    return {"/.well-known/openid-configuration": description | changes, "/keys": keys}


def diagnose(command_line: CommandLine, folder: Path, issuer: str, **settings: str) -> str:
    """Return what `pabal doctor` says about sign-ins."""
    lines = {"openid_issuer": issuer, "openid_client_id": "pabal", **settings}
    config = folder / "pabal.toml"
    config.write_text("port = 0\n" + "".join(f'{name} = "{value}"\n' for name, value in lines.items()))
    command_line("migrate")
    return command_line("doctor", "--config", str(config)).out


def test_doctor_passes_a_provider_that_answers(new_command_line: CommandLine, tmp_path: Path) -> None:
    new_command_line("migrate")
    new_command_line("user", "create", "admin", "--role", "operator")

    with answering(documents()) as issuer:
        told = diagnose(new_command_line, tmp_path, issuer, break_glass_operator="admin")

    assert f"ok    the OpenID Connect provider {issuer} answers" in told
    assert "ok    only the operator admin may sign in with a password" in told


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "its description answers with HTTP 404"),
        (documents(issuer="https://other.example"), "it calls itself 'https://other.example'"),
        (documents(jwks_uri="http://login.example/keys"), "names an address without TLS"),
        (documents(token_endpoint=None), "is not that of an OpenID Connect provider"),
        (documents() | {"/keys": {"keys": []}}, "has no key that we can verify"),
        (documents() | {"/keys": {"keys": [{"kty": "oct", "k": "AAAA"}]}}, "has no key that we can verify"),
        (documents() | {"/keys": ["x"]}, "are not a JSON Web Key Set"),
        (documents() | {"/keys": {"keys": "x" * 300_000}}, "its answer is too long"),
    ],
)
def test_doctor_says_why_a_provider_cannot_be_used(
    new_command_line: CommandLine, tmp_path: Path, given: dict[str, Any], told: str
) -> None:
    with answering(given) as issuer:
        found = diagnose(new_command_line, tmp_path, issuer)

    assert f"WRONG the OpenID Connect provider {issuer} cannot be used: " in found
    assert told in found
    assert f"{issuer}/.well-known/openid-configuration must answer" in found


def test_doctor_reports_a_provider_that_is_down(new_command_line: CommandLine, tmp_path: Path) -> None:
    with answering({}) as issuer:
        pass

    found = diagnose(new_command_line, tmp_path, issuer)

    assert f"WRONG the OpenID Connect provider {issuer} cannot be used: Connection refused" in found


@pytest.mark.parametrize("what", ["unknown", "owner", "disabled"])
def test_doctor_reports_a_break_glass_operator_who_cannot_sign_in(
    new_command_line: CommandLine, tmp_path: Path, what: str
) -> None:
    new_command_line("migrate")
    if what == "owner":
        new_command_line("user", "create", "admin", "--account", "acme", "--new-account")
    if what == "disabled":
        new_command_line("user", "create", "admin", "--role", "operator")
        new_command_line("user", "disable", "admin")

    with answering(documents()) as issuer:
        found = diagnose(new_command_line, tmp_path, issuer, break_glass_operator="admin")

    assert "WRONG break_glass_operator names admin, who is no operator with a password" in found
