"""What all pages share: the service's context, the templates, the menu, limits, and who may open which page."""

import asyncio
import logging
from collections import Counter
from collections.abc import Coroutine, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from pabal.console.shell.file_processes import FileProcesses
from pabal.console.shell.rendering import TextCatalog, load_assets, load_templates
from pabal.domain.base.codes import LANGUAGES, Code, Refused, Text
from pabal.domain.people.user import Role
from pabal.service.access.users.passwords import WorkerThreads
from pabal.service.context import Context
from pabal.service.errors import describe_error
from pabal.settings.settings import Settings

MENU_GROUPS = {
    "": ("menu.overview",),
    "menu_group.send": ("menu.send", "menu.approvals", "menu.texts", "menu.contacts", "menu.opt_outs"),
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
RETRY_AFTER_S = 10.0
MAX_FILE_CHECKS = 4
"""Files and groups of receivers that the service reads at the same time; `file_memory_mb` limits each file."""
MAX_FILE_CHECKS_PER_ACCOUNT = 2
FILES_BUSY = Text(
    "다른 파일을 확인하고 있습니다. 그 확인이 끝난 뒤 파일을 다시 올리세요.",
    "Other files are being checked. Upload the file again when they are done.",
)
MAX_PROVIDER_CALLS = 40
"""Browsers that come back from the OpenID Connect provider at the same time: for each, it is called."""
MAX_PROVIDER_CALLS_PER_NETWORK = 8
PROVIDER_BUSY = Text(
    "로그인하는 사람이 많습니다. 잠시 뒤 처음부터 다시 시도하세요.",
    "Many people are signing in. Start again in a moment.",
)
log = logging.getLogger("pabal.console")
Roles = frozenset[Role] | None
"""The roles that a page is for; None: for anyone, signed in or not."""


class MenuLink(NamedTuple):
    """A link in the menu."""

    path: str
    name: str
    icon: str
    is_current: bool
    waiting: int
    """How many things there wait for the user."""


class MenuGroup(NamedTuple):
    """Links under a heading; the first group has none."""

    name: str
    links: list[MenuLink]


class ConcurrencyLimit:
    """Counts what runs; those who come beyond the limit are told to come again."""

    def __init__(self, max_running: int, max_each: int, busy: Text) -> None:
        self._max_running = max_running
        self._max_each = max_each
        self._busy = busy
        self._running: Counter[Hashable] = Counter()

    @contextmanager
    def hold(self, owner: Hashable) -> Iterator[None]:
        """Count one piece of work of an account or a network while the block runs.

        Raises Refused(RATE_LIMITED), which says what is being waited for.
        """
        if self._running.total() >= self._max_running or self._running[owner] >= self._max_each:
            raise Refused(Code.RATE_LIMITED, "", self._busy, retry_after_s=RETRY_AFTER_S)
        self._running[owner] += 1
        try:
            yield
        finally:
            self._running[owner] -= 1
            if not self._running[owner]:
                del self._running[owner]


class MenuItem(NamedTuple):
    """A page in the menu."""

    path: str
    key: str
    """The key of its text."""
    roles: Roles


class Site:
    """The console, ready to answer requests for pages."""

    def __init__(
        self,
        context: Context,
        settings: Settings,
        texts: TextCatalog,
        roles: Mapping[tuple[str, str], Roles],
        menu: Sequence[MenuItem],
    ) -> None:
        self.context = context
        self.settings = settings
        self.texts = texts
        self.menu = menu
        self.is_test_environment = not settings.has_real_carriers
        """Whether the simulator is the only carrier, so that no message leaves the machine."""
        self.threads = WorkerThreads(context.world, "rows", threads=1)
        """For exports and groups of receivers, step by step; Python runs one thread at a time, so a second would
        compete with calls and sign-ins."""
        self.password_threads = WorkerThreads(context.world, "passwords")
        """For passwords alone, so that nobody's file delays a sign-in."""
        self.file_checks = ConcurrencyLimit(MAX_FILE_CHECKS, MAX_FILE_CHECKS_PER_ACCOUNT, FILES_BUSY)
        self.file_processes = FileProcesses(context.world, settings)
        self.provider_calls = ConcurrencyLimit(MAX_PROVIDER_CALLS, MAX_PROVIDER_CALLS_PER_NETWORK, PROVIDER_BUSY)
        self.assets = load_assets()
        self._templates = {language: load_templates(texts, language) for language in LANGUAGES}
        self._compile_lock = asyncio.Lock()
        self._roles = roles
        self._tasks: set[asyncio.Task[None]] = set()

    def run_in_background(self, work: Coroutine[Any, Any, None]) -> None:
        """Start work that continues after its request was answered; an error of ours is logged."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._end_task)

    def _end_task(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error:
            log.error("work in the background failed", extra=describe_error(error))

    def is_allowed(self, path: str, method: str, role: Role) -> bool:
        """Return whether there is such a page for this role."""
        if (path, method) not in self._roles:
            return False
        roles = self._roles[path, method]
        return roles is None or role in roles

    def closest_page(self, path: str) -> str:
        """Return a path that can be opened, else the closest one above it: forms are also posted to other paths."""
        while path and not self._can_open(path):
            path = path.rpartition("/")[0]
        return path

    async def compile_templates(self, folder: str, language: str) -> None:
        """Compile the templates of a folder of the console, once, in a thread."""
        templates = self._templates[language]
        if templates.is_compiled(folder):
            return
        async with self._compile_lock:
            if self.context.world.has_threads:
                await asyncio.to_thread(templates.compile, folder)
            else:
                templates.compile(folder)

    def render(self, template: str, language: str, values: Mapping[str, object]) -> str:
        """Return a page as text, every value in it escaped."""
        return self._templates[language].render(template, values)

    def _can_open(self, path: str) -> bool:
        parts = path.split("/")
        return any(method == "GET" and _fits(template.split("/"), parts) for template, method in self._roles)


def _fits(template: Sequence[str], parts: Sequence[str]) -> bool:
    """Return whether the parts of a path are those of a template; `{name}` stands for any part."""
    return len(template) == len(parts) and all(
        expected == part or expected.startswith("{") for expected, part in zip(template, parts, strict=True)
    )
