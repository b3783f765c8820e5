"""How pages ask the gate."""

from __future__ import annotations

import ast
from pathlib import Path

from kernel.actions import all_actions

ROOT = Path(__file__).parents[3]


def decided() -> list[str]:
    """The actions of which a page takes the result without asking whether they wait."""
    sources = [
        path for app in ("governance", "legacy", "media", "memory") for path in (ROOT / app).rglob("admin/*.py")
    ]
    calls = [node for path in sources for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call)]
    made = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "decide"]
    return [str(call.args[0].value) for call in made if isinstance(call.args[0], ast.Constant)]


def test_only_what_can_never_wait_is_taken_to_be_done():
    queueable = {action.name: action.queueable for action in all_actions()}
    assert len(decided()) > 5
    assert [name for name in decided() if queueable[name]] == []
