"""The headers that change how a call is handled: Idempotency-Key, Dry-Run and Strict."""

import hashlib
from collections.abc import Mapping
from typing import NamedTuple

from pabal.domain.base.codes import Code, Refused, Text
from pabal.service.sending.accept import IdempotencyKey
from pabal.web.endpoints.endpoint import Endpoint

MAX_IDEMPOTENCY_KEY_CHARACTERS = 255
MISSPELT_DRY_RUNS = {b"dryrun": "DryRun", b"x-dry-run": "X-Dry-Run"}
"""Headers that are refused, so that a misspelt dry run never sends."""
_TRUTHS = {b"true": True, b"false": False}
_TRUE_OR_FALSE = Text("true 또는 false로 보내세요.", "Use true or false.")
_DRY_RUN_IS_SPELT_SO = Text("Dry-Run: true로 보내세요.", "Write it as Dry-Run: true.")
_ONLY_SENDS = Text("메시지를 보내는 요청에서만 쓸 수 있습니다.", "Only requests that send messages take it.")


class CallOptions(NamedTuple):
    """What the headers of a call say about how to handle it."""

    is_dry_run: bool
    is_strict: bool
    """Whether unknown fields are refused."""
    idempotency_key: IdempotencyKey | None


def read_options(endpoint: Endpoint, headers: Mapping[bytes, bytes], raw: bytes) -> CallOptions:
    """Return the options of a call; a dry run has no Idempotency-Key.

    Raises Refused(INVALID_PARAMETER) naming the header.
    """
    for header, name in MISSPELT_DRY_RUNS.items():
        if header in headers:
            raise Refused(Code.INVALID_PARAMETER, name, _DRY_RUN_IS_SPELT_SO)
    is_dry_run = b"dry-run" in headers and _read_truth(headers[b"dry-run"], "Dry-Run")
    if b"dry-run" in headers and not endpoint.is_send:
        raise Refused(Code.INVALID_PARAMETER, "Dry-Run", _ONLY_SENDS)
    is_strict = b"strict" in headers and _read_truth(headers[b"strict"], "Strict")
    key = headers.get(b"idempotency-key") if endpoint.is_send and not is_dry_run else None
    return CallOptions(is_dry_run, is_strict, None if key is None else _read_idempotency_key(endpoint, key, raw))


def _read_truth(value: bytes, name: str) -> bool:
    found = _TRUTHS.get(value.lower() if len(value) <= len(b"false") else b"")
    if found is None:
        raise Refused(Code.INVALID_PARAMETER, name, _TRUE_OR_FALSE)
    return found


def _read_idempotency_key(endpoint: Endpoint, header: bytes, raw: bytes) -> IdempotencyKey:
    key = header.decode("latin-1")
    if not 1 <= len(key) <= MAX_IDEMPOTENCY_KEY_CHARACTERS or not key.isascii() or not key.isprintable():
        limit = MAX_IDEMPOTENCY_KEY_CHARACTERS
        detail = Text(
            f"출력 가능한 ASCII 문자 1~{limit}자로 보내세요.", f"Use 1 to {limit} printable ASCII characters."
        )
        raise Refused(Code.INVALID_PARAMETER, "Idempotency-Key", detail)
    return IdempotencyKey(key, hashlib.sha256(endpoint.path.encode() + b"\n" + raw).digest())
