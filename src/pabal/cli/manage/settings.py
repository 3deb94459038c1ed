"""`pabal settings`: prints every setting with its value and meaning."""

import argparse

from pabal.cli.shared.language import choose
from pabal.cli.shared.options import add_settings_options
from pabal.settings.settings import Settings, describe_settings


def declare_settings(parser: argparse.ArgumentParser) -> None:
    """Declare `pabal settings`."""
    add_settings_options(parser, _show)


def _show(settings: Settings, given: argparse.Namespace) -> None:
    for name, value, meaning in describe_settings(settings):
        print(f"{name} = {value}\n    {choose(*meaning)}")
