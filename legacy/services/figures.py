"""What a run of the migration did: rows by table and outcome, its rate, and the most memory that it took."""

from __future__ import annotations

import resource
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from legacy.contracts import Reason, SourceRow

NAMED = 50  # rows that stay as they are here of which the figures tell the ids


@dataclass(slots=True)
class Figures:
    """What a run did so far. `tables` counts by source table: `read`, `migrated`, `quarantined`, `left_out`, `unchanged`
    (taken by an earlier run), and of those that are other in the source since, `changed` (what they became follows) and
    `kept` (it stays as it is here). `reasons` are those of the quarantine, `kept` says of which rows and why, with a note that
    may quote them; `left_out` why no row of a table is taken along; `closed` names the domains where the owner has sessions
    that it may not reach, each with what opens it; `hosts` counts the jobs that wait for a file of a host that is closed
    here."""

    tables: dict[str, dict[str, int]] = field(default_factory=dict)
    reasons: dict[str, int] = field(default_factory=dict)
    kept: list[dict[str, str]] = field(default_factory=list)
    closed: list[dict[str, str]] = field(default_factory=list)
    hosts: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    rows: int = 0
    started: float = field(default_factory=time.monotonic)

    def count(self, table: str, what: str, many: int = 1) -> None:
        """Add to a count of a table."""
        counts = self.tables.setdefault(table, {})
        counts[what] = counts.get(what, 0) + many

    def aside(self, reason: str, note: str) -> None:
        """Count a row of the quarantine by its reason; of jobs that wait for a closed host the hosts are named too."""
        self.reasons[reason] = self.reasons.get(reason, 0) + 1
        if reason == Reason.HOST_CLOSED:
            host = note if note in self.hosts or len(self.hosts) < NAMED else "others"
            self.hosts[host] = self.hosts.get(host, 0) + 1

    def keep(self, row: SourceRow, reason: str, note: str) -> None:
        """Count a row that changed in the source while what it became stays; the first of them are named."""
        self.count(row.table, "kept")
        if len(self.kept) < NAMED:
            self.kept.append({"table": row.table, "id": row.key, "reason": reason, "note": note[:200]})

    @property
    def seconds(self) -> float:
        """How long the run has taken."""
        return max(time.monotonic() - self.started, 0.001)

    def as_json(self) -> dict[str, Any]:
        """As the row of the run keeps them: without the notes, whose words would outlive what they quote. Memory is in
        bytes."""
        return {
            "tables": self.tables,
            "reasons": self.reasons,
            "kept": [{name: each[name] for name in each if name != "note"} for each in self.kept],
            "closed_domains": self.closed,
            "closed_hosts": self.hosts,
            "left_out": self.left_out,
            "rows": self.rows,
            "seconds": round(self.seconds, 1),
            "rows_per_second": round(self.rows / self.seconds),
            "peak_memory": peak_memory(),
        }


def peak_memory() -> int:
    """The most memory that this process has held, in bytes.

    Linux counts it by itself: what the system says of a process that another started includes the memory of that one.
    """
    told = Path("/proc/self/status")
    if told.exists():
        line = next(line for line in told.read_text("utf-8").splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
