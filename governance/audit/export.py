"""Audit entries as text for other programs: CSV that a spreadsheet cannot be tricked by, or JSON lines."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from governance.contracts import AuditView, ExportFormat
from kernel.canonical import canonical_json

COLUMNS = (
    "id", "at", "request_id", "action", "actor", "actor_kind", "on_behalf_of", "door", "domain_id", "scope", "outcome",
    "rule", "policy_version", "code", "reason", "proposal_id", "changes",
    "withheld",
)  # fmt: skip
_STARTS_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def render(entries: Sequence[AuditView], wanted: ExportFormat, *, header: bool) -> str:
    """The entries in the wanted format; `header`: with the CSV line that names the columns."""
    rows = [entry.model_dump(mode="json") for entry in entries]
    if wanted is ExportFormat.JSON:
        return "".join(f"{canonical_json({name: row[name] for name in COLUMNS})}\n" for row in rows)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    if header:
        writer.writerow(COLUMNS)
    writer.writerows([_cell(row[name]) for name in COLUMNS] for row in rows)
    return out.getvalue()


def _cell(value: object) -> str:
    """The text of a cell. One that a spreadsheet would take for a formula gets an apostrophe before it."""
    if value is None:
        return ""
    text = value if isinstance(value, str) else canonical_json(value)
    return f"'{text}" if text.startswith(_STARTS_FORMULA) else text
