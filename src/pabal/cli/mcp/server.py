"""Serves the tools by the Model Context Protocol on standard input and output."""

import asyncio
import json

from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from pabal import __version__
from pabal.cli.mcp.tools import ToolRefusal, Tools

NAME = "pabal"


def run_server(tools: Tools) -> None:
    """Serve until standard input ends."""
    asyncio.run(_serve(tools))


async def _serve(tools: Tools) -> None:
    offered = {each.name: each for each in tools.list_all()}

    async def list_tools(context: object, params: object) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[
                types.Tool(
                    name=each.name,
                    description=each.description,
                    input_schema=each.input_schema,
                    annotations=types.ToolAnnotations(
                        read_only_hint=not each.is_send, destructive_hint=each.is_send, open_world_hint=True
                    ),
                )
                for each in offered.values()
            ]
        )

    async def call_tool(context: object, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name not in offered:
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {params.name!r}: {', '.join(offered)}")
        try:
            answer = await asyncio.to_thread(tools.use, params.name, params.arguments or {})
        except ToolRefusal as refusal:
            return types.CallToolResult(content=[types.TextContent(text=str(refusal))], is_error=True)
        text = json.dumps(answer, ensure_ascii=False)
        return types.CallToolResult(content=[types.TextContent(text=text)], structured_content=answer)

    server = Server(NAME, version=__version__, on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (received, sent):
        await server.run(received, sent, server.create_initialization_options())
