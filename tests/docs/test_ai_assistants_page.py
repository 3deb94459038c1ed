"""Follows the page ai-assistants: its command makes the key, its file starts the server, its tools are there."""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters

from tests.fixtures.live import run, serving
from tests.fixtures.pages import blocks, lines, section

PAGE = "ai-assistants"


@pytest.mark.slow
@pytest.mark.real_time
async def test_file_of_the_page_starts_a_server_with_the_documented_tools(tmp_path: Path) -> None:
    (make_key,) = lines(section(PAGE, "Set it up"))
    (file,) = blocks(section(PAGE), "json")
    server = json.loads(file)["mcpServers"]["pabal"]
    offered = re.findall(r"`(\w+)`(?=.*\| scope `read` \|)", section(PAGE, "Tools"))
    with serving(tmp_path / "data") as live:
        made = run(*shlex.split(make_key)[1:], data=tmp_path / "data")
        environment = server["env"] | {"PABAL_URL": live.base_url, "PABAL_API_KEY": made.stdout.strip()}
        words = ["-m", "pabal.cli", *server["args"]]
        async with Client(StdioServerParameters(command=sys.executable, args=words, env=environment)) as client:
            tools = (await client.list_tools()).tools

    assert Path(server["command"]).name == "pabal"
    assert [each.name for each in tools] == offered
