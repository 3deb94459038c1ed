"""Connections of webhooks go to the address that was checked, also after the DNS has changed."""

import asyncio
import threading
from pathlib import Path

import pytest

from pabal.settings.field import BadSetting
from pabal.settings.webhook_settings import AllowedEndpoint
from pabal.webhooks.client import MAX_LOOKUPS, MAX_LOOKUPS_PER_ACCOUNT, RESOLVED_S, SystemResolver, WebhookClient
from pabal.webhooks.permitted_addresses import AddressRules
from pabal.webhooks.poster import PostError
from pabal.world import RealWorld
from tests.fixtures.certificates import AUTHORITY
from tests.fixtures.webhooks import ACCOUNT, LocalResolver, TlsServer, local_rules, serving_tls

BODY = b"{}"

pytestmark = pytest.mark.real_time


class SteppedWorld(RealWorld):
    """A world whose monotonic clock a test moves."""

    def __init__(self) -> None:
        super().__init__()
        self.step_s = 0.0

    def monotonic(self) -> float:
        return super().monotonic() + self.step_s


async def post(client: WebhookClient, server: TlsServer, account: str = ACCOUNT) -> PostError | None:
    return (await client.post(f"https://localhost:{server.port}/", account, {}, BODY)).error


async def test_connection_is_used_again() -> None:
    resolver = LocalResolver()
    client = WebhookClient(local_rules(), RealWorld(), AUTHORITY, resolver)
    async with serving_tls() as server:
        for _ in range(5):
            assert await post(client, server) is None
        await client.close()

    assert (server.connections, len(server.requests), len(resolver.asked)) == (1, 5, 1)


async def test_posts_at_the_same_time_load_the_authorities_once() -> None:
    """It takes so long that a burst after a start would time out otherwise; each time has a thread of its own."""
    client = WebhookClient(local_rules(), RealWorld(), AUTHORITY, LocalResolver())
    async with serving_tls() as server:
        found = await asyncio.gather(*(post(client, server) for _ in range(20)))
        await client.close()

    assert set(found) == {None}
    assert len([each for each in threading.enumerate() if each.name.startswith("asyncio_")]) == 1


async def test_authorities_that_could_not_be_read_are_loaded_by_a_later_post(tmp_path: Path) -> None:
    file = tmp_path / "authority.pem"
    file.write_bytes(AUTHORITY.read_bytes())
    client = WebhookClient(local_rules(), RealWorld(), file, LocalResolver())
    async with serving_tls() as server:
        file.unlink()
        with pytest.raises(BadSetting):
            await post(client, server)
        file.write_bytes(AUTHORITY.read_bytes())
        assert await post(client, server) is None
        await client.close()


async def test_accounts_do_not_share_connections() -> None:
    client = WebhookClient(local_rules(), RealWorld(), AUTHORITY, LocalResolver())
    async with serving_tls() as server:
        for account in ("one", "two", "one"):
            assert await post(client, server, account) is None
        await client.close()

    assert server.connections == 2


async def test_name_is_not_looked_up_again_when_it_is_connected_to() -> None:
    """The second answer of a name server that rebinds its name is never asked for."""
    answers = iter([["127.0.0.1"], ["10.0.0.1"]])

    async def rebinding(host: str, port: int) -> list[str]:
        return next(answers)

    client = WebhookClient(local_rules(), RealWorld(), AUTHORITY, rebinding)
    async with serving_tls() as server:
        assert await post(client, server) is None
        await client.close()

    assert next(answers) == ["10.0.0.1"]


@pytest.mark.parametrize("new", ["10.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1"])
async def test_name_that_moves_to_a_private_address_is_refused(new: str) -> None:
    world, resolver = SteppedWorld(), LocalResolver()
    client = WebhookClient(local_rules(), world, AUTHORITY, resolver)
    async with serving_tls() as server:
        assert await post(client, server) is None
        resolver.addresses = [new]
        world.step_s += RESOLVED_S + 1
        assert await post(client, server) is PostError.ADDRESS
        await client.close()

    assert (server.connections, len(server.requests)) == (1, 1)


async def test_kept_connection_is_not_used_after_the_name_has_moved() -> None:
    world, resolver = SteppedWorld(), LocalResolver()
    client = WebhookClient(local_rules(), world, AUTHORITY, resolver)
    async with serving_tls() as old, serving_tls(host="127.0.0.2", port=old.port) as new:
        assert await post(client, old) is None
        resolver.addresses = ["127.0.0.2"]
        world.step_s += RESOLVED_S + 1
        assert await post(client, old) is None
        await client.close()

    assert (len(old.requests), len(new.requests)) == (1, 1)


async def test_post_in_flight_ends_though_the_name_moves() -> None:
    world, resolver = SteppedWorld(), LocalResolver()
    was_asked, may_answer = asyncio.Event(), asyncio.Event()

    async def wait(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        was_asked.set()
        await may_answer.wait()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    client = WebhookClient(local_rules(), world, AUTHORITY, resolver)
    async with serving_tls(handle=wait) as old, serving_tls(host="127.0.0.2", port=old.port) as new:
        first = asyncio.create_task(post(client, old))
        await was_asked.wait()
        resolver.addresses = ["127.0.0.2"]
        world.step_s += RESOLVED_S + 1
        assert await post(client, new) is None
        may_answer.set()
        assert await first is None
        await client.close()

    assert len(new.requests) == 1


async def test_exception_of_one_account_lends_no_connection_to_another() -> None:
    async with serving_tls() as server:
        rules = AddressRules([AllowedEndpoint("one", "localhost", server.port)])
        client = WebhookClient(rules, RealWorld(), AUTHORITY, LocalResolver())
        assert await post(client, server, "one") is None
        assert await post(client, server, "two") is PostError.ADDRESS
        await client.close()

    assert len(server.requests) == 1


async def test_name_of_a_private_address_is_refused_with_the_setting_that_allows_it() -> None:
    async with serving_tls() as server:
        client = WebhookClient(AddressRules(), RealWorld(), AUTHORITY, LocalResolver())
        found = await client.post(f"https://localhost:{server.port}/", "one", {}, BODY)
        await client.close()

    assert f'webhook_allow = ["one@localhost:{server.port}"]' in found.detail
    assert server.requests == []


async def test_idle_connections_are_closed() -> None:
    was_closed = asyncio.Event()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n{}")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        await reader.read()
        was_closed.set()

    client = WebhookClient(local_rules(), RealWorld(), AUTHORITY, LocalResolver(), keepalive_s=0.05)
    async with serving_tls(handle=answer) as server:
        assert await post(client, server) is None
        await asyncio.wait_for(was_closed.wait(), 60)
        await client.close()


def test_system_resolver_finds_this_machine() -> None:
    found = asyncio.run(SystemResolver()("localhost", 443))

    assert {"127.0.0.1", "::1"} & set(found)


def test_system_resolver_says_what_it_cannot_find() -> None:
    for host in ("absent.invalid", "a" * 70):
        with pytest.raises(OSError, match=r"."):
            asyncio.run(SystemResolver()(host, 443))


async def test_names_that_take_long_stop_only_the_look_ups_of_their_account() -> None:
    may_go_on, all_begun, begun = asyncio.Event(), asyncio.Event(), list[str]()

    async def resolve(host: str, port: int) -> list[str]:
        if host.startswith("slow"):
            begun.append(host)
            if len(begun) == MAX_LOOKUPS_PER_ACCOUNT:
                all_begun.set()
            await may_go_on.wait()
        return ["127.0.0.1"]

    client = WebhookClient(local_rules(), RealWorld(), AUTHORITY, resolve)
    async with serving_tls() as server:
        slow = [f"https://slow{each}.example:{server.port}/" for each in range(MAX_LOOKUPS_PER_ACCOUNT)]
        posts = [asyncio.create_task(client.post(url, "slow", {}, BODY)) for url in (*slow, *slow)]
        await all_begun.wait()
        for each in posts:  # nobody waits for them any more, but they are still being looked up
            each.cancel()
        await asyncio.gather(*posts, return_exceptions=True)
        refused = await client.post(f"https://localhost:{server.port}/", "slow", {}, BODY)
        assert await post(client, server, "quick") is None
        may_go_on.set()
        await asyncio.gather(*(asyncio.sleep(0) for _ in range(5)))
        assert await post(client, server, "slow") is None
        await client.close()

    assert len(begun) == MAX_LOOKUPS_PER_ACCOUNT
    assert (refused.error, refused.detail) == (
        PostError.DNS,
        "too many hosts of this account are being looked up",
    )


async def test_look_ups_are_shared_and_limited() -> None:
    may_go_on = threading.Event()

    def slow(host: str, port: int) -> list[str]:
        may_go_on.wait(30)
        return [host]

    resolver = SystemResolver(slow)
    same = [asyncio.create_task(resolver("same", 443)) for _ in range(2 * MAX_LOOKUPS)]
    others = [asyncio.create_task(resolver(f"host{each}", 443)) for each in range(1, MAX_LOOKUPS)]
    await asyncio.gather(*(asyncio.sleep(0) for _ in range(3)))
    with pytest.raises(OSError, match="too many look-ups"):
        await resolver("one more", 443)
    others[0].cancel()
    may_go_on.set()
    assert [await each for each in same] == [["same"]] * len(same)
    assert await others[1] == ["host2"]
    assert await resolver("one more", 443) == ["one more"]
