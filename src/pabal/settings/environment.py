"""The environment of this process: its variables, its language, who runs it, and what the system refuses."""

import errno
import os
import pwd
from collections.abc import Mapping

from pabal.domain.base.codes import Text

ENVIRONMENT_PREFIX = "PABAL_"
_LANGUAGE_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")
"""The first that is set says the language, as everywhere on POSIX."""
_KOREAN_ERRORS = {
    errno.ENOENT: "없는 파일",
    errno.EACCES: "권한 없음",
    errno.EISDIR: "디렉터리임",
    errno.ENOTDIR: "디렉터리가 아님",
    errno.ENOSPC: "디스크 공간 부족",
    errno.EROFS: "읽기 전용 디스크",
    errno.EADDRINUSE: "이미 사용 중인 주소",
}
"""The system's errors are in English; the common ones are translated."""


def read_variables() -> Mapping[str, str]:
    """Return the variables."""
    return os.environ


def choose_language(environment: Mapping[str, str] | None = None) -> str:
    """Return the language of the command line by its locale: `ko` or `en`."""
    environment = os.environ if environment is None else environment
    spelled = next((environment[name] for name in _LANGUAGE_VARIABLES if environment.get(name)), "")
    return "ko" if spelled.lower().startswith("ko") else "en"


def explain_os_error(error: OSError) -> Text:
    """Return why the system has refused something."""
    said = error.strerror or str(error)
    return Text(_KOREAN_ERRORS.get(error.errno or 0, said), said)


def cannot_read(what: object, error: OSError) -> Text:
    """Return that the system has refused to read something, and why."""
    why = explain_os_error(error)
    return Text(f"{what}: 읽을 수 없습니다({why.ko})", f"{what}: cannot be read ({why.en})")


def cannot_write(what: object, error: OSError) -> Text:
    """Return that the system has refused to write something, and why."""
    why = explain_os_error(error)
    return Text(f"{what}: 쓸 수 없습니다({why.ko})", f"{what}: cannot be written ({why.en})")


def get_user_name(environment: Mapping[str, str] | None = None) -> str:
    """Return the name of the user who runs this process, also through sudo."""
    environment = os.environ if environment is None else environment
    user_id = os.getuid()
    if user_id == 0 and environment.get("SUDO_USER"):
        return environment["SUDO_USER"]
    try:
        return pwd.getpwuid(user_id).pw_name
    except KeyError:  # a container may run as a user without a name
        return str(user_id)
