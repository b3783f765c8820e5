"""The action that checks the installation."""

from __future__ import annotations

from governance.contracts.health import DoctorInput, DoctorResult
from governance.selectors.health import findings
from kernel.actions import Action, Target, register
from kernel.context import Ctx, Right


def _look(given: DoctorInput, ctx: Ctx) -> DoctorResult:
    found = findings(ctx.now)
    return DoctorResult(well=all(each.well for each in found), findings=found)


DOCTOR = register(
    Action(
        "doctor",
        "Check the installation: migrations, queue, audit log, policy, stored bytes, index, jobs; say what to do.",
        DoctorInput,
        DoctorResult,
        Right.OPERATE,
        lambda given, ctx: Target(None),
        _look,
    )
)
