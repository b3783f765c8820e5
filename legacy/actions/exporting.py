"""The action that hands turns committed here back to the older system."""

from __future__ import annotations

from kernel.actions import Action, Target, register
from kernel.context import Ctx, Right
from legacy.contracts.exporting import ExportLegacyInput, ExportLegacyResult
from legacy.selectors.exporting import export_page
from scopes.selectors import require_domain


def _target(given: ExportLegacyInput, ctx: Ctx) -> Target:
    require_domain(given.domain_id, ctx)
    return Target(given.domain_id)


EXPORT_LEGACY = register(
    Action(
        "export_legacy",
        "Turns and memories committed here since the migration, as rows of the older system's tables, a page a call.",
        ExportLegacyInput,
        ExportLegacyResult,
        Right.OPERATE,
        _target,
        lambda given, ctx: export_page(given),
    )
)
