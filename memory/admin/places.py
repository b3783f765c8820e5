"""Where the shadow inspector can look: the person's domains, the scopes of one by type, its newest recorded contexts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from governance.adminbase import as_uuid
from kernel.context import Ctx
from memory.models import ContextRecord
from memory.selectors.contexts import visible_contexts
from scopes.contracts import SESSION
from scopes.selectors import visible_domains, visible_scopes

MAX_DOMAINS, MAX_SCOPES, MAX_CONTEXTS = 100, 200, 20


@dataclass(frozen=True, slots=True)
class Places:
    """What the form offers: of the chosen domain scopes by type, each with whether it is chosen, and contexts, newest
    first. `others` are chosen scopes that are not offered. `more_domains`: there are too many to choose from;
    `more_scopes` is how many are offered where there are more."""

    domains: Sequence[str]
    domain: str
    groups: dict[str, list[tuple[str, bool]]]
    others: Sequence[str]
    more_domains: bool
    more_scopes: int
    contexts: Sequence[ContextRecord]


def offered_places(domain: str, context_id: str, chosen: Sequence[str], ctx: Ctx) -> Places:
    """The choices for a domain; where none is named, for that of the context, else for the only one or the one of most of
    the newest contexts."""
    domains = list(visible_domains(ctx).order_by("pk").values_list("pk", flat=True)[: MAX_DOMAINS + 1])
    seen = visible_contexts(ctx).order_by("-id")
    domain = domain or _of_context(seen, context_id) or _usual(domains, seen)
    rows = visible_scopes(ctx).filter(domain_id=domain).exclude(scope_type=SESSION)
    found = list(rows.order_by("scope_type", "external_id")[: MAX_SCOPES + 1]) if domain else []
    groups: dict[str, list[tuple[str, bool]]] = {}
    for row in found[:MAX_SCOPES]:
        groups.setdefault(row.scope_type, []).append((row.name, row.name in chosen))
    offered = {name for names in groups.values() for name, _ in names}
    return Places(
        domains=domains[:MAX_DOMAINS],
        domain=domain,
        groups=groups,
        others=[name for name in chosen if name not in offered],
        more_domains=len(domains) > MAX_DOMAINS,
        more_scopes=MAX_SCOPES if len(found) > MAX_SCOPES else 0,
        contexts=list(seen.filter(domain_id=domain).defer("package")[:MAX_CONTEXTS]),
    )


def _of_context(seen: QuerySet[ContextRecord], context_id: str) -> str:
    row_id = as_uuid(context_id)
    return seen.filter(pk=row_id).values_list("domain_id", flat=True).first() or "" if row_id else ""


def _usual(domains: Sequence[str], seen: QuerySet[ContextRecord]) -> str:
    if len(domains) == 1:
        return domains[0]
    most = Counter(seen.values_list("domain_id", flat=True)[:MAX_CONTEXTS]).most_common(1)
    return most[0][0] if most else (domains[0] if domains else "")
