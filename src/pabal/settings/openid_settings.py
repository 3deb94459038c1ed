"""The settings of sign-ins by OpenID Connect."""

from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from pabal.domain.base.codes import Refused
from pabal.domain.people import user
from pabal.settings.field import BadSetting, read_setting_file, setting

MAX_ISSUER_CHARACTERS = 500


@dataclass(frozen=True)
class OpenIdSettings:
    """The provider, and who may sign in without it."""

    openid_issuer: str = setting(
        "",
        "콘솔 로그인에 쓸 OpenID Connect 제공자의 주소(issuer)입니다. 비우면 쓰지 않습니다.",
        "Address of the OpenID Connect provider that users may sign in to the console with; empty: none.",
    )
    openid_client_id: str = setting(
        "",
        "이 제공자가 콘솔에 발급한 클라이언트 ID입니다.",
        "Client id that this provider knows the console by.",
        max_length=500,
    )
    openid_client_secret: str = setting(
        "",
        "이 제공자가 발급한 클라이언트 비밀값입니다. 비우면 PKCE만 씁니다.",
        "Client secret for this provider; empty: PKCE alone.",
        is_secret=True,
    )
    openid_client_secret_file: Path | None = setting(
        None, "그 클라이언트 비밀값을 담은 파일입니다.", "File with that client secret."
    )
    openid_name: str = setting(
        "SSO",
        "로그인 버튼에 표시할 제공자 이름입니다.",
        "Name of this provider on the button to sign in.",
        max_length=40,
    )
    openid_tls_ca: Path | None = setting(
        None,
        "이 제공자에 접속할 때 시스템의 인증 기관 대신 신뢰할 인증 기관의 PEM 파일입니다.",
        "PEM file of authorities that are trusted for this provider, in place of those of the system.",
    )
    break_glass_operator: str = setting(
        "",
        "OpenID Connect 제공자에 장애가 있을 때를 위해 혼자만 비밀번호로 로그인할 수 있는 운영자입니다."
        " 비우면 모든 사용자가 비밀번호로 로그인할 수 있습니다.",
        "Operator who alone may sign in with a password, in case the OpenID Connect provider fails; empty:"
        " every user may.",
    )

    def read_openid_secret(self) -> str:
        """Return the client secret for the OpenID Connect provider; empty: there is none.

        Raises BadSetting if its file cannot be read, without showing the secret.
        """
        file = self.openid_client_secret_file
        if file is None:
            return self.openid_client_secret
        found = read_setting_file("openid_client_secret_file", file).strip()
        if not found:
            raise BadSetting(
                f"openid_client_secret_file: {file}이(가) 비어 있습니다",
                f"openid_client_secret_file: {file} is empty",
            )
        return found


def check_openid(settings: OpenIdSettings) -> None:
    """Raise BadSetting for settings that cannot work; a file is read only when its secret is needed."""
    issuer, client_id, name = settings.openid_issuer, settings.openid_client_id, settings.openid_name
    break_glass_operator = settings.break_glass_operator
    if settings.openid_client_secret and settings.openid_client_secret_file:
        raise BadSetting(
            "openid_client_secret: openid_client_secret과 openid_client_secret_file 중 하나만 설정하세요",
            "openid_client_secret: set either openid_client_secret or openid_client_secret_file",
        )
    if not name.strip() or not name.isprintable():
        raise BadSetting(
            "openid_name: 사용자가 아는 제공자의 이름을 적으세요. 예: Google",
            "openid_name: write the name of the provider as users know it, such as Google",
        )
    if not issuer:
        if client_id:
            raise BadSetting(
                "openid_client_id: openid_issuer도 설정하세요", "openid_client_id: set openid_issuer as well"
            )
        if break_glass_operator:
            raise BadSetting(
                "break_glass_operator: openid_issuer가 없으면 다른 사람은 로그인할 수 없습니다. 함께 설정하세요",
                "break_glass_operator: without openid_issuer, nobody else could sign in; set it as well",
            )
        return
    if len(issuer) > MAX_ISSUER_CHARACTERS or not is_safe_base(issuer):
        raise BadSetting(
            f"openid_issuer: {issuer!r}은(는) https://accounts.google.com 같은 제공자 주소가 아닙니다. http는 이"
            " 컴퓨터에서만 쓸 수 있습니다",
            f"openid_issuer: {issuer!r} is not the address of a provider, such as https://accounts.google.com;"
            " http is for this machine only",
        )
    if not client_id:
        raise BadSetting(
            "openid_client_id: 제공자가 콘솔에 준 클라이언트 ID를 설정하세요",
            "openid_client_id: set the client id that the provider has given to the console",
        )
    if break_glass_operator:
        _check_operator(break_glass_operator)


def is_safe_url(url: str) -> bool:
    """Return whether secrets may be sent to an address: over TLS, or on this machine."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        is_whole = bool(host) and parts.port != 0
    except ValueError:
        return False
    is_plain = url.isascii() and url.isprintable() and " " not in url and not parts.username and not parts.password
    return is_plain and is_whole and (parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host)))


def is_safe_base(url: str) -> bool:
    """Return whether secrets may be sent to an address, and paths be added to it."""
    return is_safe_url(url) and not {"?", "#"} & set(url)


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine, which no other reaches."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _check_operator(name: str) -> None:
    try:
        is_normal = user.parse_name(name) == name
    except Refused:
        is_normal = False
    if not is_normal:
        raise BadSetting(
            f"break_glass_operator: {name!r}은(는) `pabal user list`에 보이는 사용자 이름이 아닙니다",
            f"break_glass_operator: {name!r} is not the name of a user, as `pabal user list` shows it",
        )
