"""The console costs nothing to those who do not open it."""

import subprocess
import sys

HEAVY = ("jinja2", "argon2", "pabal.console.app")


def test_service_starts_without_importing_the_console() -> None:
    code = f"import sys, pabal.cli; print([name for name in {HEAVY} if name in sys.modules])"

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)

    assert ran.stdout.strip() == "[]"
