"""Whose the older system's documents, topics and jobs become here.

`system` was the older system's word for whoever called without a token: what is its becomes the owner's of the run, as
the sessions do. What any other principal owned belongs here to the principal of the same name and to nobody else. One
that is not here is made without a key and without a grant, so nobody sees what is its until an operator lets it in.
"""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import TypeAdapter, ValidationError

from governance import gate
from governance.contracts.access import CreatePrincipalInput
from kernel.context import Actor, ActorKind
from kernel.text import has_invisible
from legacy.contracts import Quarantined, Reason, SourceRow
from legacy.steps.base import Run
from scopes.models import Principal
from scopes.services import create_principal

SYSTEM = "system"
_NAME: TypeAdapter[CreatePrincipalInput] = TypeAdapter(CreatePrincipalInput)


def principal_of(row: SourceRow) -> str:
    """The older name of a row's owner. Raises Quarantined for one that no principal here could have."""
    name = row.text("principal") or SYSTEM
    try:
        _NAME.validate_python({"name": name})
    except ValidationError:
        raise Quarantined(Reason.BAD_ID, f"principal {name[:80]!r}") from None
    if has_invisible(name):
        raise Quarantined(Reason.BAD_ID, "principal with signs that nobody sees")
    return name


def owners(names: Iterable[str], run: Run) -> dict[str, Actor]:
    """Who each older name is here; those that are not here are made."""
    wanted = set(names) - {SYSTEM}
    rows = {row.name: row for row in Principal.objects.filter(name__in=wanted)}
    for name in sorted(wanted - rows.keys()):
        rows[name] = _made(name, run)
    found = {name: Actor(ActorKind.AGENT, str(row.id), row.name) for name, row in rows.items()}
    return {**found, SYSTEM: run.owner}


def _made(name: str, run: Run) -> Principal:
    row, change = create_principal(name, "agent", None)
    gate.by_itself("migrate_legacy", lambda: [change], run.ctx)
    return row
