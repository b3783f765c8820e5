"""Domains of the source that have the name of one here: whoever has a grant there would see what is moved in, so an operator
has to say that they are the same."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kernel.errors import ConflictError, InvalidInputError
from kernel.rows import batches
from legacy.contracts import Fate
from legacy.models import MigratedRow, MigrationRun
from legacy.source import Source
from memory.models import Session
from scopes.contracts import LEGACY_DOMAIN
from scopes.models import Domain, MemoryScope

# The tables whose rows lie in a domain of their own, and the column that names it.
_NAMED = (("domains", "id"), ("memory_scopes", "domain_id"), ("sessions", "domain_id"))
_LYING: tuple[tuple[str, type[Session] | type[MemoryScope], str], ...] = (
    ("memory_scopes", MemoryScope, "id"),
    ("sessions", Session, "pk"),
)
JOINED = "join_domains"  # what a run notes of the domains that it was told to join


def domains_of(source: Source, tables: Collection[str]) -> set[str]:
    """The domains that rows of these tables name there, but for the one that everything without a domain gets."""
    found = {name for table, column in _NAMED if table in tables for name in source.values(table, column)}
    return found - {LEGACY_DOMAIN, ""}


def refuse_strange(source: Source, join: Iterable[str]) -> None:
    """Raise InvalidInputError where a domain to be joined is nowhere in the source, whatever steps the run takes."""
    strange = sorted(set(join) - domains_of(source, [table for table, _ in _NAMED]))
    if strange:
        raise InvalidInputError(f"--join-domains: no domain {', '.join(strange)} in the older database.")


def refuse_in_use(named: Collection[str], join: Iterable[str]) -> None:
    """Raise ConflictError where a domain of these is here, was not taken by an earlier run, and is not one to be joined."""
    here = set(Domain.objects.filter(pk__in=list(named)).values_list("pk", flat=True))
    used = sorted(_not_taken(here - set(join)))
    if used:
        raise ConflictError(
            f"Domains of the older database have the name of one that is in use here: {', '.join(used)}. Whoever has a "
            "grant there would see what is moved in. Where they are the same, or the domain was prepared for it, say "
            f"--join-domains {','.join(used)}; else rename one of the two first."
        )


def _not_taken(names: set[str]) -> set[str]:
    """Those of these domains that no earlier run was told to join, and in which no row of one lies. What a run only meant to
    take it may never have come to."""
    rows = MigratedRow.objects.filter(outcome=Fate.MIGRATED)
    left = names - {
        name for options in MigrationRun.objects.values_list("options", flat=True) for name in options.get(JOINED, ())
    }
    left -= set(rows.filter(source_table="domains", target_id__in=left).values_list("target_id", flat=True))
    for table, model, column in _LYING:
        went = rows.filter(source_table=table).values_list("target_id", flat=True) if left else ()
        for some in batches(list(went)):
            lying = model._default_manager.filter(**{f"{column}__in": some}, domain_id__in=left)
            left -= set(lying.values_list("domain_id", flat=True))
    return left
