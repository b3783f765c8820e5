"""What a job does: the action of its operation, with the input that the job's row holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kernel.actions import Action, get
from kernel.contracts import Contract
from media.contracts.jobs import Operation
from media.models import MediaJob


def action_of(operation: str) -> Action[Any, Any, Any]:
    """The action that does the same at once."""
    return get(operation)


def input_of(operation: str, tree: Mapping[str, Any]) -> Contract:
    """The action's own input. Raises InvalidInputError for what that action refuses."""
    given: Contract = action_of(operation).input.parse(tree)
    return given


def tree_of(domain_id: str, source: str, options: Mapping[str, Any], scopes: Sequence[str]) -> dict[str, Any]:
    """The input of an import as plain JSON; `scopes` are written `type:id`."""
    named = [dict(zip(("type", "id"), name.split(":", 1), strict=True)) for name in scopes]
    return {"domain_id": domain_id, "source": source, "options": dict(options), "scopes": named}


def input_of_job(row: MediaJob) -> Contract:
    """What a stored job asks for."""
    return input_of(Operation(row.operation), tree_of(row.domain_id, row.source, row.options, row.scopes))
