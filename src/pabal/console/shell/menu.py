"""The menu: which pages stand in which group, and in which order."""

from typing import NamedTuple

MENU_GROUPS = {
    "": ("menu.overview",),
    "menu_group.send": ("menu.send", "menu.texts", "menu.contacts", "menu.opt_outs"),
    "menu_group.results": (
        "menu.requests",
        "menu.history",
        "menu.inbound",
        "menu.statistics",
        "menu.codes",
        "menu.phone",
    ),
    "menu_group.registered": ("menu.templates", "menu.profiles", "menu.numbers"),
    "menu_group.account": (
        "menu.team",
        "menu.preferences",
        "menu.keys",
        "menu.webhooks",
        "menu.privacy",
        "menu.audit",
    ),
    "menu_group.operate": ("menu.operate",),
}
"""Keys of pages by the key of their group; each has an icon of the same name in static/icons.svg."""


class MenuLink(NamedTuple):
    """A link in the menu."""

    path: str
    name: str
    icon: str
    is_current: bool


class MenuGroup(NamedTuple):
    """Links under a heading; the first group has none."""

    name: str
    links: list[MenuLink]
