"""The diagnostics action."""

from __future__ import annotations

from kernel.actions import Action, Target, register
from kernel.context import Ctx, Right
from memory.contracts.diagnostics import DiagnosticsInput, DiagnosticsResult
from memory.selectors.diagnostics import diagnostics
from scopes.selectors import require_domain


def _target(given: DiagnosticsInput, ctx: Ctx) -> Target:
    require_domain(given.domain_id, ctx)
    return Target(given.domain_id)


def _diagnostics(given: DiagnosticsInput, ctx: Ctx) -> DiagnosticsResult:
    return diagnostics(given.domain_id, given.limit, ctx)


DIAGNOSTICS = register(
    Action(
        "diagnostics",
        "Say how memory is doing in one domain: logs, figures and counts.",
        DiagnosticsInput,
        DiagnosticsResult,
        Right.READ,
        _target,
        _diagnostics,
    )
)
