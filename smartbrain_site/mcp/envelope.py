"""Messages that the MCP library cannot read, such as half of a surrogate pair or a very deep tree.

The library answers some of them with silence. Here each gets an answer, and one that is a call still goes through the
gate, which refuses and records it as on every other door.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from pydantic_core import from_json

from kernel.errors import DomainError, InvalidJsonError
from kernel.ids import new_id
from kernel.wire import read_object
from scopes.selectors import Identity
from smartbrain_site.mcp.tools import ToolAnswer, call_tool

PARSE_ERROR = -32700
INVALID_REQUEST = -32600


def answer_unreadable(raw: bytes, identify: Callable[[], Identity]) -> dict[str, Any] | None:
    """The JSON-RPC answer to a message that the library cannot read; None where it can."""
    try:
        tree = read_object(raw)
    except DomainError as exc:
        return refusal(exc)
    try:
        from_json(raw)
    except ValueError:
        return _answer(tree, identify)
    return None


def refusal(error: DomainError, message_id: str | int | None = None) -> dict[str, Any]:
    """A JSON-RPC error that carries the problem body."""
    code = PARSE_ERROR if isinstance(error, InvalidJsonError) else INVALID_REQUEST
    problem = error.problem(str(new_id()))
    return {
        "jsonrpc": "2.0",
        "id": message_id,
        "error": {"code": code, "message": error.message, "data": problem},
    }


def tool_result(answer: ToolAnswer) -> dict[str, Any]:
    """A tool's answer in its wire form: the JSON as structured content, and again as text."""
    return {
        "content": [{"type": "text", "text": json.dumps(answer.body, ensure_ascii=False)}],
        "structuredContent": answer.body,
        "isError": answer.refused,
    }


def _answer(tree: dict[str, Any], identify: Callable[[], Identity]) -> dict[str, Any]:
    message_id, params = _id_of(tree), tree.get("params")
    if tree.get("method") == "tools/call" and isinstance(params, dict):
        name, arguments = params.get("name"), params.get("arguments")
        if isinstance(name, str) and isinstance(arguments, dict):
            result = tool_result(call_tool(name, arguments, identify))
            return {"jsonrpc": "2.0", "id": message_id, "result": result}
    return refusal(InvalidJsonError("The message holds text or nesting that cannot be read."), message_id)


def _id_of(tree: dict[str, Any]) -> str | int | None:
    given = tree.get("id")
    if isinstance(given, str):
        return given if given.isascii() else None
    return given if isinstance(given, int) else None
