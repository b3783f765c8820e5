"""Memory's background jobs: one line each, the work is in actions."""

from __future__ import annotations

from uuid import UUID

from governance.gate import perform, system_ctx
from kernel.context import Door
from memory.actions.extraction import EXTRACT_TURN
from memory.contracts.extraction import ExtractTurnInput


def extract_turn(turn_id: str) -> None:
    """Learn from one stored turn with the configured model."""
    perform(EXTRACT_TURN, ExtractTurnInput(turn_id=UUID(turn_id)), ctx=system_ctx("worker", Door.JOB))
