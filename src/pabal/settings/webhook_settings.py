"""The settings of webhooks, and of the keys that encrypt secrets."""

import base64
import binascii
import contextlib
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from pabal.settings.field import BadSetting, read_setting_file, setting

KEY_BYTES = 32
MAX_KEYS = 10


@dataclass(frozen=True)
class AllowedEndpoint:
    """An exception of webhook_allow: an account may reach a host at a port, whatever its addresses are."""

    account: str
    host: str
    port: int


@dataclass(frozen=True)
class WebhookSettings:
    """Where webhooks may go, and the key of their secrets."""

    webhook_allow: list[str] = setting(
        [],
        "사설 주소로 보내도 되는 웹훅의 예외입니다(계정@호스트:포트). 이 주소의 응답은 상태 코드만 저장하고"
        " 보여 줍니다.",
        "Exceptions for webhooks to private addresses, as ACCOUNT@HOST:PORT; of their answers only the"
        " status is stored and shown.",
    )
    webhook_tls_ca: Path | None = setting(
        None,
        "웹훅이 시스템 인증 기관 외에 추가로 신뢰하는 인증 기관의 PEM 파일입니다.",
        "PEM file of authorities that webhooks trust besides those of the system.",
    )
    secret_key: list[str] = setting(
        [],
        "저장소에 있는 웹훅 비밀 값과 수신거부 해시 키를 암호화하는 키입니다. Base64로 쓴 임의의 32바이트이며"
        " `pabal secrets new-key`로 만듭니다. 교체하는 동안에는 새 키를 먼저, 이전 키를 뒤에 적습니다.",
        "Key that encrypts the secrets of webhooks and the key of the opt-outs in the store: 32 random bytes in"
        " Base64, see `pabal secrets new-key`; while it is replaced, the new key first, then old ones.",
        is_secret=True,
    )
    secret_key_file: Path | None = setting(
        None,
        "그 키가 든 파일입니다. 여러 개면 한 줄에 하나씩 적습니다.",
        "File with that key, or with several, one a line.",
    )

    @property
    def allowed_endpoints(self) -> list[AllowedEndpoint]:
        """The exceptions of webhook_allow."""
        return [parse_allowed(each) for each in self.webhook_allow]

    def read_secret_keys(self) -> tuple[bytes, ...]:
        """Return the keys that encrypt secrets in the store; none: they are stored as they are.

        Raises BadSetting if their file cannot be read.
        """
        return read_keys(self.secret_key, self.secret_key_file)


def parse_allowed(spelling: str) -> AllowedEndpoint:
    """Return the exception that an operator has written as ACCOUNT@HOST:PORT.

    Raises BadSetting.
    """
    account, at, place = spelling.rpartition("@")
    host, colon, port = place.rpartition(":")
    host = host.removeprefix("[").removesuffix("]").removesuffix(".").lower()
    is_complete = bool(at and colon and account.strip() and host)
    if not is_complete or not port.isascii() or not port.isdigit() or not 1 <= int(port) <= 65535:
        raise BadSetting(
            f"webhook_allow: {spelling!r}은(는) shop@hooks.internal:8443 같은 ACCOUNT@HOST:PORT가 아닙니다",
            f"webhook_allow: {spelling!r} is not ACCOUNT@HOST:PORT, such as shop@hooks.internal:8443",
        )
    with contextlib.suppress(ValueError):
        host = str(ip_address(host))  # in its usual spelling
    return AllowedEndpoint(account.strip(), host, int(port))


def check_webhooks(settings: WebhookSettings) -> None:
    """Raise BadSetting for a wrong exception or key; a file is read only when its keys are needed."""
    _ = settings.allowed_endpoints
    if settings.secret_key and settings.secret_key_file:
        raise BadSetting(
            "secret_key: secret_key와 secret_key_file 가운데 하나만 설정하세요",
            "secret_key: set either secret_key or secret_key_file",
        )
    read_keys(settings.secret_key, None)


def read_keys(spellings: list[str], file: Path | None) -> tuple[bytes, ...]:
    """Return the keys of secret_key, else those in secret_key_file, one a line; the first one encrypts.

    Raises BadSetting, without showing a key.
    """
    name = "secret_key_file" if file else "secret_key"
    if file:
        spellings = read_setting_file(name, file, "ascii").split()
        if not spellings:
            raise BadSetting(f"{name}: {file}이(가) 비어 있습니다", f"{name}: {file} is empty")
    if len(spellings) > MAX_KEYS:
        raise BadSetting(f"{name}: 키는 {MAX_KEYS}개까지입니다", f"{name}: at most {MAX_KEYS} keys")
    return tuple(_parse_key(name, each) for each in spellings)


def _parse_key(name: str, spelling: str) -> bytes:
    try:
        key = base64.b64decode(spelling, altchars=b"-_" if {"-", "_"} & set(spelling) else None, validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != KEY_BYTES:
        raise BadSetting(
            f"{name}: 키는 Base64로 적은 임의의 {KEY_BYTES}바이트입니다. `pabal secrets new-key`로 만드세요",
            f"{name}: a key is {KEY_BYTES} random bytes in Base64; `pabal secrets new-key` makes one",
        )
    return key
