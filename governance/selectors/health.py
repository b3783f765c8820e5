"""What the doctor finds: every check that apps registered, and those of the gate's own tables and of the queue."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db import Error

from governance.contracts.health import DiagnosticsPart, Finding
from governance.hooks import Checked, DoctorCheck, diagnostics_parts, doctor_checks
from governance.models import AuditEntry
from governance.policies.effective import effective, read_file
from kernel import queue
from kernel.db import unapplied_migrations
from kernel.errors import DomainError

_NO_WORKER = "Start a worker (`manage.py qcluster`) and look at its log."
_LATE = timedelta(minutes=15)
_SHOWN = 3


def findings(now: datetime, checks: Mapping[str, DoctorCheck] | None = None) -> list[Finding]:
    """What each check found; a check that cannot be made is itself something wrong."""
    return [_finding(name, check, now) for name, check in (doctor_checks() if checks is None else checks).items()]


def _finding(name: str, check: DoctorCheck, now: datetime) -> Finding:
    try:
        found = check(now)
    except DomainError as exc:
        found = Checked(exc.message, "Remove the cause, then run the doctor again.")
    except (Error, OSError) as exc:
        found = Checked(f"It could not be checked: {type(exc).__name__}.", "Look at the server's log for the cause.")
    return Finding(check=name, well=not found.advice, what=found.what, advice=found.advice)


def parts_of(domain_id: str, now: datetime) -> list[DiagnosticsPart]:
    """The figures of every app that gives some, by name."""
    return [
        DiagnosticsPart(name=name, figures=dict(find(domain_id, now))) for name, find in diagnostics_parts().items()
    ]


def check_migrations(now: datetime) -> Checked:
    """Whether the database has the shape that this code needs."""
    missing = unapplied_migrations()
    if not missing:
        return Checked("The database has every migration.")
    more = f" and {len(missing) - _SHOWN} more" if len(missing) > _SHOWN else ""
    return Checked(f"Not applied: {', '.join(missing[:_SHOWN])}{more}.", "Run `manage.py migrate`.")


def check_queue(now: datetime) -> Checked:
    """Whether somebody works on the queue."""
    found = queue.health(now)
    if found.overdue:
        return Checked(f"{found.overdue} schedules wait that are long due: nobody works on the queue.", _NO_WORKER)
    if found.failed:
        return Checked(
            f"{found.failed} queued jobs failed in the last day.", "Look at the worker's log for the cause."
        )
    return Checked(f"{found.waiting} jobs wait; none failed in the last day.")


def check_sealing(now: datetime) -> Checked:
    """Whether audit entries are sealed soon after they are written."""
    waiting = AuditEntry.objects.filter(sealed=False)
    if waiting.filter(at__lt=now - _LATE).exists():
        return Checked("Audit entries older than 15 minutes are not sealed.", _NO_WORKER)
    return Checked("Every audit entry older than 15 minutes is sealed.")


def check_policy(now: datetime) -> Checked:
    """Whether the policy of the installation can be used."""
    read_file()
    return Checked(f"The policy in force is {effective(None).version}.")
