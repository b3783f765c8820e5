"""Judging the reply of another server: its shape, its claims about filters, and each evidence on its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import JsonValue
from pydantic_core import from_json

from kernel.errors import InvalidInputError
from media.contracts.retrieval import EvidencePack, PackEvidence, RetrievalPlan
from memory.resources.client import empty_pack
from scopes.contracts import ScopeContext

LANGUAGE_IGNORED = "global_filters.language not supported"
SCOPE_IGNORED = "scope_context not supported"
_NAMED_FAULTS = 10


def read_reply(
    body: bytes, plan: RetrievalPlan, scope_filter: Literal["closed", "warn"], took_ms: float
) -> EvidencePack:
    """The pack in a reply, without what may not be used. Raises InvalidInputError or ValueError where it is none."""
    tree = from_json(body, allow_inf_nan=False)
    if not isinstance(tree, dict):
        raise InvalidInputError("the reply is not an object")
    kept, faults = _sound(tree.get("evidences"))
    # A plan that comes back is of no use to us, and would be one more thing to be wrong.
    pack = EvidencePack.parse({**tree, "evidences": kept, "plan": None})
    if pack.request_id != plan.request_id:
        raise InvalidInputError("the reply belongs to another request")
    pack, notes = _at_most(pack, plan)
    ignored = []
    if plan.global_filters.language and not pack.supports_language_filter:
        ignored.append(LANGUAGE_IGNORED)
    said = _told(pack, [*faults, *notes], ignored, took_ms)
    return said if plan.scope_context is None else _within_scopes(said, plan, plan.scope_context, scope_filter)


def _sound(evidences: Any) -> tuple[list[Any], list[str]]:
    """The evidences that are well formed, and what is wrong with the others; one bad text spoils no good one."""
    if not isinstance(evidences, list):
        raise InvalidInputError("evidences: a list is missing")
    kept, faults = [], []
    for place, item in enumerate(evidences):
        if fault := _fault(item):
            faults.append(f"evidences[{place}] left out: {fault}")
        else:
            kept.append(item)
    more = len(faults) - _NAMED_FAULTS
    return kept, faults[:_NAMED_FAULTS] + ([f"{more} more evidences left out as malformed"] if more > 0 else [])


def _fault(item: Any) -> str | None:
    if not isinstance(item, Mapping):
        return "not an object"
    try:
        PackEvidence.parse(item)
    except InvalidInputError as exc:
        return exc.message
    return None


def _at_most(pack: EvidencePack, plan: RetrievalPlan) -> tuple[EvidencePack, list[str]]:
    limit, count = plan.budget.top_k, len(pack.evidences)
    if count <= limit:
        return pack, []
    return pack.model_copy(update={"evidences": pack.evidences[:limit]}), [
        f"{count - limit} evidences left out: the plan asked for {limit}"
    ]


def _within_scopes(
    pack: EvidencePack, plan: RetrievalPlan, context: ScopeContext, scope_filter: Literal["closed", "warn"]
) -> EvidencePack:
    """Only what was found through the scopes that may be read; the store's word for it is checked as far as it can."""
    readable = {ref.name for ref in context.read}
    fault = _scope_fault(pack, plan, readable)
    if fault and scope_filter == "closed":
        closed = empty_pack(plan, "closed", f"scope filter not applied ({fault}): no resource evidence")
        return _told(closed, pack.warnings, [*pack.explain.ignored_fields, SCOPE_IGNORED], pack.stats.took_ms)
    warnings = [f"scope filter not applied ({fault}): evidence of other scopes is possible"] if fault else []
    kept = [item for item in pack.evidences if item.scope is None or item.scope.name in readable]
    if len(kept) < len(pack.evidences):
        warnings.append(f"{len(pack.evidences) - len(kept)} evidences left out: they name a scope that is not read")
    ignored = [SCOPE_IGNORED] if fault else []
    return _told(pack.model_copy(update={"evidences": kept}), warnings, ignored, pack.stats.took_ms)


def _scope_fault(pack: EvidencePack, plan: RetrievalPlan, readable: set[str]) -> str | None:
    """Why the reply is not to be trusted with scopes; nothing where it is."""
    applied = pack.explain.filters_applied
    if not pack.supports_scope_filter:
        return "the store does not support it"
    scopes = _names(applied.get("scopes"))
    if not scopes:
        return "the store does not name the scopes that it applied"
    if not scopes <= readable:
        return "the store applied a scope that is not read"
    domain = applied.get("domain_id")
    if domain is not None and domain != plan.debug.caller.domain_id:
        return "the store applied another domain"
    return None


def _names(scopes: JsonValue) -> set[str]:
    """Scopes written `type:id` or as `{type, id}`; what is neither counts as a scope that nobody reads."""
    if not isinstance(scopes, list):
        return set()
    return {f"{entry.get('type')}:{entry.get('id')}" if isinstance(entry, dict) else str(entry) for entry in scopes}


def _told(pack: EvidencePack, warnings: list[str], ignored: list[str], took_ms: float) -> EvidencePack:
    """The pack with more said about it, and the time as we measured it."""
    explain = pack.explain.model_copy(
        update={"ignored_fields": list(dict.fromkeys([*pack.explain.ignored_fields, *ignored]))}
    )
    stats = pack.stats.model_copy(update={"took_ms": took_ms, "returned": len(pack.evidences)})
    return pack.model_copy(
        update={"explain": explain, "stats": stats, "warnings": list(dict.fromkeys([*pack.warnings, *warnings]))}
    )
