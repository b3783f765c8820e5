"""What a change does, seen while it is in force and before: lines to read, and what reads otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from governance.contracts import EffectLine, Snapshot, SnapshotChange
from governance.hooks import effects, snapshot_takers
from kernel.actions import Change
from kernel.context import Ctx

COMPARED = 20


def effect(changes: Sequence[Change], ctx: Ctx) -> tuple[list[EffectLine], list[Snapshot]]:
    """The lines of a change that is in force, and what reads otherwise while it is."""
    lines = [line for find in effects() for line in find(changes, ctx)]
    said = {line.instead_of for line in lines}
    return [*(line for line in _rows(changes) if line.what not in said), *lines], snapshots(changes, ctx)


def snapshots(changes: Sequence[Change], ctx: Ctx) -> list[Snapshot]:
    """What a change is compared by, as it reads now."""
    return [snapshot for take in snapshot_takers() for snapshot in take(changes, ctx)][:COMPARED]


def _rows(changes: Sequence[Change]) -> list[EffectLine]:
    """How many rows of each table are added, changed or removed."""
    counts = Counter(
        f"{'added to' if c.before is None else 'removed from' if c.after is None else 'changed in'} {c.table}"
        for c in changes
        if not c.incidental
    )
    return [EffectLine(kind="rows", what=what, count=count) for what, count in sorted(counts.items())]


def compare(before: list[Snapshot], after: list[Snapshot]) -> list[SnapshotChange]:
    """Snapshots from before a change beside those from while it was in force."""
    then = {(snapshot.kind, snapshot.id): snapshot for snapshot in after}
    now = {(snapshot.kind, snapshot.id): snapshot for snapshot in before}
    found = []
    for place in list(dict.fromkeys([*now, *then]))[:COMPARED]:
        first, second = now.get(place), then.get(place)
        lines, lines_then = first.lines if first else [], second.lines if second else []
        named = first or second
        title = named.title if named else ""
        found.append(
            SnapshotChange(
                kind=place[0],
                id=place[1],
                title=title,
                before=lines,
                after=lines_then,
                differs=lines != lines_then,
            )
        )
    return found
