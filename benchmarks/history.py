"""How long a page of the audit log takes under each filter, in a log of 20,000 and of 200,000 entries, on both databases.

`python -m benchmarks.history [--quick]`: the first page of 50, seen by an operator, by who reviews one whole domain,
and by who audits one scope. Filters are frequent, rare or never met; dates lie in the middle of the log.
"""

from __future__ import annotations

import random
import sys
import uuid
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from benchmarks.measuring import Measured, run, set_up, timed

if TYPE_CHECKING:
    from kernel.context import Ctx

SIZES = (20_000, 200_000)
DAYS = 100
START = datetime(2026, 1, 1, tzinfo=UTC)
PAGE = 50
FILTERS: dict[str, dict[str, object]] = {
    "no filter": {},
    "frequent actor": {"actor": "agent-0"},
    "rare actor": {"actor": "agent-rare"},
    "no such actor": {"actor": "nobody"},
    "frequent scope": {"scope": "project:p1"},
    "rare scope": {"scope": "project:rare"},
    "frequent door": {"door": "http"},
    "rare door": {"door": "job"},
    "rare outcome": {"outcome": "failed"},
    "rare action": {"action": "erase"},
    "days": {"since": START + timedelta(days=40), "until": START + timedelta(days=60)},
    "an hour": {"since": START + timedelta(days=50), "until": START + timedelta(days=50, hours=1)},
    "actor and days": {"actor": "agent-0", "until": START + timedelta(days=50)},
    "rare door, days": {"door": "job", "until": START + timedelta(days=50)},
}


def fill(first: int, last: int) -> None:
    """The entries of these numbers, evenly over the days: one in a thousand is rare in every respect."""
    from governance.models import AuditEntry  # noqa: PLC0415  Django has to be set up first

    draw = random.Random(first)
    rows = []
    for number in range(first, last):
        rare = number % 1000 == 500
        at = START + timedelta(days=DAYS) * (number / SIZES[1])
        place = draw.randrange(20)
        rows.append(
            AuditEntry(
                id=uuid.UUID(int=(int(at.timestamp() * 1000) << 80) | (7 << 76) | (2 << 62) | number),
                at=at,
                request_id=uuid.UUID(int=number),
                action="erase" if rare else f"action_{number % 7}",
                actor_kind="agent",
                actor_id=f"id-{'rare' if rare else number % 10}",
                actor_name=f"agent-{'rare' if rare else number % 10}",
                door="job" if rare else ("http", "mcp", "admin")[number % 3],
                domain_id=f"domain-{number % 4}",
                scope="project:rare" if rare else f"project:p{place}",
                outcome="failed" if rare else "allowed",
                facts={"effect": "write", "scopes": [{"name": f"project:p{place}", "type": "project"}]},
                changes=[{"table": "memory_items", "id": str(number), "before": None, "after": {"key": f"k{number}"}}],
            )
        )
    AuditEntry.objects.bulk_create(rows, batch_size=2000)


def measure(samples: int) -> list[Measured]:
    """Fill the log, list its first page under each filter a twentieth of `samples` times."""
    set_up()
    from django.db import connection  # noqa: PLC0415

    from governance import gate  # noqa: PLC0415
    from kernel.context import Door, Right  # noqa: PLC0415
    from scopes.models import Domain  # noqa: PLC0415

    Domain.objects.bulk_create(Domain(id=f"domain-{number}") for number in range(4))
    everywhere = gate.system_ctx("bench", Door.CLI)
    readers = {
        "operator": everywhere,
        "domain": _reader(everywhere, "domain-0", "*", Right.AUDIT),
        "scope": _reader(everywhere, "domain-0", "project:p1", Right.AUDIT),
    }
    found: list[Measured] = []
    done = 0
    for size in SIZES:
        fill(done, size)
        done = size
        if connection.vendor == "postgresql":  # what its own housekeeping does in time
            connection.cursor().execute("ANALYZE")
        found += [
            timed(f"{name}: {what}", size, samples // 20, lambda who=ctx, wanted=given: _list(who, wanted))  # type: ignore[misc]
            for name, ctx in readers.items()
            for what, given in FILTERS.items()
        ]
    return found


def _list(ctx: Ctx, given: dict[str, object]) -> None:
    from governance import selectors  # noqa: PLC0415
    from governance.contracts import ListAuditInput  # noqa: PLC0415

    selectors.page_of_audit(ListAuditInput(limit=PAGE, **given), ctx)


def _reader(like: Ctx, domain_id: str, pattern: str, right: object) -> Ctx:
    from dataclasses import replace  # noqa: PLC0415

    from kernel.context import Reach  # noqa: PLC0415

    return replace(like, reach=(Reach(domain_id, pattern, frozenset({right})),))  # type: ignore[arg-type]


if __name__ == "__main__":
    sys.exit(run("benchmarks.history", "entries", measure))
