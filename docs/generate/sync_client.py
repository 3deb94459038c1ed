"""Writes the synchronous client, which is the asynchronous one without `async`: run `make docs`."""

from pathlib import Path

_FOLDER = Path(__file__).parents[2] / "src" / "pabal" / "client"
SYNC_CLIENT = _FOLDER / "sync_client.py"
_REPLACED = (
    (
        "The client for asyncio; `sync_client` is the same without `async`, made by `make docs`.",
        "The synchronous client, made from `async_client` by `make docs`.",
    ),
    ("import asyncio\nimport os\n", "import os\nimport threading\n"),
    (
        "from collections.abc import AsyncIterator, Awaitable, Callable\n",
        "from collections.abc import Callable, Iterator\n",
    ),
    ("            for item in page.items:\n                yield item\n", "            yield from page.items\n"),
    ("await asyncio.sleep(delay_s)", "threading.Event().wait(delay_s)"),
    (" An AsyncClient is used in one event loop.", " Threads may share a Client."),
    ("httpx.AsyncBaseTransport", "httpx.BaseTransport"),
    ("AsyncIterator", "Iterator"),
    ("AsyncClient", "Client"),
    ("Awaitable[P]", "P"),
    ("Awaitable[ItemsPage[T]]", "ItemsPage[T]"),
    ("__aenter__", "__enter__"),
    ("__aexit__", "__exit__"),
    ("aclose", "close"),
    ("async ", ""),
    ("await ", ""),
)


def sync_client() -> str:
    """Return the source of the synchronous client."""
    source = (_FOLDER / "async_client.py").read_text(encoding="utf-8")
    for old, new in _REPLACED:
        source = source.replace(old, new)
    return source
