"""Domains of the source that have the name of one here: whoever has a grant there would see what is moved in, so an operator
has to say that they are the same."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from kernel.errors import ConflictError, InvalidInputError
from legacy.contracts import Fate
from legacy.models import MigratedRow, MigrationRun
from legacy.source import Source
from scopes.contracts import LEGACY_DOMAIN
from scopes.models import Domain

# The tables whose rows lie in a domain of their own, and the column that names it.
_NAMED = (("domains", "id"), ("memory_scopes", "domain_id"), ("sessions", "domain_id"))
TAKEN = "domains"  # what a run notes of the domains that it takes


def domains_of(source: Source, tables: Collection[str]) -> set[str]:
    """The domains that rows of these tables name there, but for the one that everything without a domain gets."""
    found = {name for table, column in _NAMED if table in tables for name in source.values(table, column)}
    return found - {LEGACY_DOMAIN, ""}


def refuse_in_use(named: Collection[str], join: Iterable[str]) -> None:
    """Raise ConflictError where a domain of these is here, was not made by an earlier run, and is not one to be joined;
    InvalidInputError where one to be joined is not among them."""
    joined = set(join)
    strange = sorted(joined - set(named))
    if strange:
        raise InvalidInputError(f"--join-domains: no domain {', '.join(strange)} in the older database.")
    taken = _taken_before()
    here = set(Domain.objects.filter(pk__in=list(named)).values_list("pk", flat=True))
    used = sorted(here - joined - taken)
    if used:
        raise ConflictError(
            f"Domains of the older database have the name of one that is in use here: {', '.join(used)}. Whoever has a "
            "grant there would see what is moved in. Where they are the same, or the domain was prepared for it, say "
            f"--join-domains {','.join(used)}; else rename one of the two first."
        )


def _taken_before() -> set[str]:
    """The domains that earlier runs took: those they noted, and those of which the row came along."""
    noted = MigrationRun.objects.values_list("options", flat=True)
    rows = MigratedRow.objects.filter(source_table="domains", outcome=Fate.MIGRATED)
    return {name for options in noted for name in options.get(TAKEN, ())} | set(
        rows.values_list("target_id", flat=True)
    )
