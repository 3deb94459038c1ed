"""The environment of this process: its variables, its language, and who runs it."""

import os
import pwd
from collections.abc import Mapping

ENVIRONMENT_PREFIX = "PABAL_"
_LANGUAGE_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")
"""The first that is set says the language, as everywhere on POSIX."""


def read_variables() -> Mapping[str, str]:
    """Return the variables."""
    return os.environ


def choose_language(environment: Mapping[str, str] | None = None) -> str:
    """Return the language of the command line by its locale: `ko` or `en`."""
    environment = os.environ if environment is None else environment
    spelled = next((environment[name] for name in _LANGUAGE_VARIABLES if environment.get(name)), "")
    return "ko" if spelled.lower().startswith("ko") else "en"


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
