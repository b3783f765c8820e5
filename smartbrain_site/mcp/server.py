"""The MCP server over the tool list. Importing it loads the MCP library, which takes seconds: import it when needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server

from scopes.selectors import Identity
from smartbrain_site.mcp.envelope import tool_result
from smartbrain_site.mcp.threads import in_thread
from smartbrain_site.mcp.tools import call_tool, input_schema, tool_list

INSTRUCTIONS = (
    "Shared memory of agents and people. Commit what happened with commit_turn and look it up with search_memory. "
    "whoami says what you may reach. An answer with status `queued` waits for a person: it has not happened yet. "
    "A refusal is a problem object: `code` is stable, `detail` says what to do."
)

Request = ServerRequestContext[Any, Any]
Identify = Callable[[Request], Identity]


def build(identify: Identify) -> Server[Any]:
    """A server whose every call acts as the one whom `identify` finds; it may raise DomainError."""

    async def list_tools(request: Request, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool.model_validate(tool) for tool in tool_list()])

    async def call(request: Request, params: types.CallToolRequestParams) -> types.CallToolResult:
        answer = await in_thread(lambda: call_tool(params.name, params.arguments or {}, lambda: identify(request)))
        return types.CallToolResult.model_validate(tool_result(answer))

    return Server(
        "smartbrain",
        instructions=INSTRUCTIONS,
        get_tool_input_schema=input_schema,
        on_list_tools=list_tools,
        on_call_tool=call,
    )
