"""What a change would do to documents: rows, sections, and who gains or loses sight of them."""

from __future__ import annotations

from collections.abc import Sequence

from governance.contracts.presenting import EffectLine
from kernel.actions import Change
from kernel.context import Ctx
from scopes.selectors import readers_of

_MOST = 20


def effect_on_documents(changes: Sequence[Change], ctx: Ctx) -> list[EffectLine]:
    """Lines of the preview, from the rows that change."""
    rows = [change for change in changes if change.table == "source_documents"]
    lines = [
        _rows("new documents", [change for change in rows if change.before is None], "added to"),
        _rows("documents imported again", [change for change in rows if change.before and change.after], "changed in"),
        _rows("documents taken away", [change for change in rows if change.after is None], "removed from"),
        _sections(changes),
        _sight(changes, "gains_sight", "principals gain sight of a document"),
        _sight(changes, "loses_sight", "principals lose sight of a document"),
    ]
    return [line for line in lines if line.count]


def _rows(what: str, changes: Sequence[Change], done: str) -> EffectLine:
    titles = [str((change.after or change.before or {}).get("title", "")) for change in changes[:_MOST]]
    told = f"{done} source_documents"
    return EffectLine(kind="rows", what=what, count=len(changes), rows=titles, instead_of=told)


def _sections(changes: Sequence[Change]) -> EffectLine:
    """Sections that are new, and those that go."""
    told = [change.after or {} for change in changes if change.table == "source_sections"]
    gone = [change.before or {} for change in changes if change.table == "source_documents" and change.after is None]
    count = sum(int(each.get("added", 0)) + int(each.get("removed", 0)) for each in told)
    return EffectLine(kind="index", what="sections", count=count + sum(int(each.get("sections", 0)) for each in gone))


def _sight(changes: Sequence[Change], kind: str, what: str) -> EffectLine:
    """Those who read a scope to which a document is newly shared, or out of which it is taken."""
    shares = [change for change in changes if change.table == "document_shares"]
    told = [change.after if kind == "gains_sight" else change.before for change in shares]
    names = {
        name for each in told if each is not None for name in readers_of(str(each["domain_id"]), str(each["scope"]))
    }
    return EffectLine(kind=kind, what=what, count=len(names), who=sorted(names)[:_MOST])
