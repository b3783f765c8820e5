"""Checking references to evidence: each must exist in the domain and be visible to the one who gives it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from kernel.canonical import digest
from kernel.context import Ctx
from kernel.errors import InvalidInputError
from kernel.ids import uuids_in
from memory.contracts.refs import EvidenceRef
from memory.models import Message, Ref, ToolCall
from memory.selectors.items import visible_items
from scopes.selectors import domain_filter, visible_scopes
from search import hooks


@dataclass(frozen=True, slots=True)
class PlacedRef:
    """A reference and where in the input it stands, such as `("verification_refs", "0")`."""

    place: tuple[str, ...]
    ref: EvidenceRef


def checked_refs(
    placed: Iterable[PlacedRef], domain_id: str, ctx: Ctx, own: Collection[str] = ()
) -> dict[EvidenceRef, EvidenceRef]:
    """Each reference as it is stored; `own` are ids of messages that the same call brings and that need no check.

    One statement for each kind. Raises InvalidInputError that names the place of the first fault.
    """
    by_kind: defaultdict[str, list[PlacedRef]] = defaultdict(list)
    for each in placed:
        by_kind[each.ref.kind].append(each)
    found: dict[EvidenceRef, EvidenceRef] = {}
    for kind, refs in by_kind.items():
        ids = list(dict.fromkeys(each.ref.id for each in refs if not (kind == "message" and each.ref.id in own)))
        known = hooks.resolve_evidence(kind, ids, domain_id, ctx) if ids else {}
        if known is None:
            raise _fault(refs[0], f"no store of kind {kind!r} is installed here: name a memory, message or url")
        for each in refs:
            if each.ref.id in ids and each.ref.id not in known:
                raise _fault(each, f"no {kind} {each.ref.id[:200]!r} that you can see in this domain")
            found[each.ref] = EvidenceRef(kind=each.ref.kind, id=known.get(each.ref.id, each.ref.id))
    return found


def distinct(refs: Iterable[EvidenceRef], found: Mapping[EvidenceRef, EvidenceRef]) -> list[EvidenceRef]:
    """The references as they are stored; of those that name the same thing the first."""
    once: dict[tuple[str, str], EvidenceRef] = {}
    for ref in refs:
        once.setdefault(found[ref].identity, found[ref])
    return list(once.values())


def identities(refs: Iterable[EvidenceRef], domain_id: str, ctx: Ctx) -> set[tuple[str, str]]:
    """What references name, in whichever of its spellings each was given; one that leads nowhere is taken as it is."""
    by_kind: defaultdict[str, list[EvidenceRef]] = defaultdict(list)
    for ref in refs:
        by_kind[ref.kind].append(ref)
    found = set()
    for kind, given in by_kind.items():
        known = hooks.resolve_evidence(kind, [ref.id for ref in given], domain_id, ctx) or {}
        found |= {EvidenceRef(kind=ref.kind, id=known.get(ref.id, ref.id)).identity for ref in given}
    return found


def pieces_of(found: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """A digest of each reference, as a proposal keeps them."""
    return tuple(sorted(digest([kind, ref]) for kind, ref in set(found)))


def resolve_memories(ids: Sequence[str], domain_id: str, ctx: Ctx) -> Mapping[str, str]:
    """Memory items by their id."""
    wanted = uuids_in(ids)
    rows = visible_items(ctx).filter(domain_id=domain_id, pk__in=wanted.values()) if wanted else []
    known = {row.pk for row in rows}
    return {text: str(item_id) for text, item_id in wanted.items() if item_id in known}


def resolve_messages(ids: Sequence[str], domain_id: str, ctx: Ctx) -> Mapping[str, str]:
    """Messages, tool calls and references of turns by their id, and messages by the caller's own id: the newest that
    carries it. They are visible in their session and in the default_write scope of their commit."""
    wanted = uuids_in(ids)
    names = [text for text in ids if text not in wanted]
    messages = _seen(Message, domain_id, ctx).filter(Q(pk__in=wanted.values()) | Q(external_id__in=names))
    rows = messages.order_by().values_list("pk", "external_id")
    if wanted:
        others = [_seen(model, domain_id, ctx).filter(pk__in=wanted.values()) for model in (ToolCall, Ref)]
        rows = rows.union(*(other.order_by().values_list("pk", "external_id") for other in others))
    found = sorted(rows)
    by_id = {row_id: str(row_id) for row_id, _ in found}
    by_name = {name: str(row_id) for row_id, name in found if name in names}
    return by_name | {text: by_id[row_id] for text, row_id in wanted.items() if row_id in by_id}


def resolve_addresses(ids: Sequence[str], domain_id: str, ctx: Ctx) -> Mapping[str, str]:
    """Addresses are taken as they are: nothing is fetched."""
    return {text: text for text in ids}


def _seen(model: type[Any], domain_id: str, ctx: Ctx) -> QuerySet[Any]:
    scopes = visible_scopes(ctx)
    here = Exists(scopes.filter(session=OuterRef("turn__session_id"))) | Exists(
        scopes.filter(pk=OuterRef("turn__default_write_id"))
    )
    rows: QuerySet[Any] = model.objects.filter(domain_filter(ctx), here, domain_id=domain_id)
    return rows


def _fault(at: PlacedRef, message: str) -> InvalidInputError:
    where = ".".join(at.place)
    error = {"loc": list(at.place), "msg": message, "type": "evidence_ref"}
    return InvalidInputError(f"{where}: {message}.", errors=[error])
