"""The tool list, generated from the action list, and calling one. Knows no MCP library, so that it loads fast."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.db import InterfaceError, OperationalError
from pydantic.json_schema import models_json_schema

from governance import gate
from governance.contracts import QueuedAnswer
from kernel.actions import Action, Effect, all_actions
from kernel.context import Ctx, Door
from kernel.errors import DomainError, InternalError, UnavailableError
from kernel.ids import new_id
from scopes.selectors import Identity

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool call gets back: plain JSON, and whether it is a refusal (then a problem body)."""

    body: dict[str, Any]
    refused: bool


@cache
def tool_list() -> list[dict[str, Any]]:
    """Every action as an MCP tool in its wire form, by name: what `schemas/mcp-tools.json` holds."""
    return [_tool(action) for action in all_actions()]


def text() -> str:
    """The document as it is written to `schemas/mcp-tools.json`."""
    return json.dumps({"tools": tool_list()}, indent=2, ensure_ascii=False) + "\n"


@cache
def input_schema(name: str) -> dict[str, Any] | None:
    """The input schema of a tool, or None where there is no such tool."""
    schemas: dict[str, dict[str, Any]] = {tool["name"]: tool["inputSchema"] for tool in tool_list()}
    return schemas.get(name)


def call_tool(name: str, arguments: Mapping[str, Any], identify: Callable[[], Identity]) -> ToolAnswer:
    """Perform the action of that name as whoever `identify` finds; a refusal or a bug comes back as a problem body."""
    request_id = new_id()
    try:
        identity = identify()
        ctx = Ctx(identity.actor, Door.MCP, identity.reach, request_id)
        return ToolAnswer(gate.call(name, arguments, ctx=ctx).body(), refused=False)
    except DomainError as exc:
        error = exc
    except (OperationalError, InterfaceError) as exc:
        logger.warning("database unavailable, request %s: %s", request_id, exc)
        error = UnavailableError("The database is busy or cannot be reached: try again later.")
    except Exception:
        logger.exception("tool %s failed, request %s", name, request_id)
        error = InternalError()
    return ToolAnswer(error.problem(str(request_id)), refused=True)


def _tool(action: Action[Any, Any, Any]) -> dict[str, Any]:
    return {
        "name": action.name,
        "description": action.summary,
        "inputSchema": action.input.model_json_schema(),
        "outputSchema": _output_schema(action),
        "annotations": {
            "readOnlyHint": action.effect is Effect.READ,
            "destructiveHint": action.effect is Effect.DESTROY,
            "idempotentHint": action.idempotent,
            "openWorldHint": False,
        },
    }


def _output_schema(action: Action[Any, Any, Any]) -> dict[str, Any]:
    """The schema of the answer; a call that changes something may also be queued for a person."""
    if action.effect is Effect.READ:
        schema: dict[str, Any] = action.output.model_json_schema(mode="serialization")
        return schema
    references, shared = models_json_schema([(action.output, "serialization"), (QueuedAnswer, "serialization")])
    return {"type": "object", "anyOf": list(references.values()), "$defs": shared["$defs"]}
