"""Writing policy versions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Max

from governance.models import PolicyVersion
from kernel.actions import Change
from kernel.canonical import digest
from kernel.context import Ctx
from kernel.errors import ConflictError, StaleError


def register_file(document: Mapping[str, Any], ctx: Ctx) -> Change | None:
    """Append the document of `brain.yml` as a version; None where another call has just done so."""
    newest = PolicyVersion.objects.filter(domain_id=None, source="file").order_by("-number").first()
    if newest is not None and newest.digest == digest(document):
        return None
    try:
        number = newest.number + 1 if newest else 1
        return add_policy_version(None, "file", document, "brain.yml changed", ctx, number=number)[1]
    except ConflictError:
        return None


def add_policy_version(
    domain_id: str | None,
    source: str,
    document: Mapping[str, Any],
    reason: str,
    ctx: Ctx,
    *,
    number: int | None = None,
) -> tuple[PolicyVersion, Change]:
    """Append a policy version; versions are numbered from 1 for each domain and source. `number` is the one that the
    caller read to be next: where another took it, ConflictError."""
    if number is None:
        rows = PolicyVersion.objects.filter(domain_id=domain_id, source=source)
        number = (rows.aggregate(n=Max("number"))["n"] or 0) + 1
    try:
        with transaction.atomic():
            row = PolicyVersion.objects.create(
                domain_id=domain_id,
                number=number,
                source=source,
                digest=digest(document),
                document=dict(document),
                reason=reason,
                author_id=ctx.actor.id,
                author_name=ctx.actor.name,
                created_at=ctx.now,
            )
    except IntegrityError as exc:
        raise ConflictError("Someone else changed this policy at the same moment: read it again.") from exc
    after = {"domain_id": domain_id, "source": source, "number": row.number, "document": dict(document)}
    return row, Change("policy_versions", str(row.id), None, after)


def restore_policy(changes: Sequence[Change], ctx: Ctx) -> list[Change]:
    """Append the document that was in force before a policy version. Raises StaleError where it was replaced since."""
    made = next(change.after for change in changes if change.table == "policy_versions" and change.after is not None)
    versions = PolicyVersion.objects.filter(domain_id=made["domain_id"], source=made["source"])
    newest = versions.order_by("-number").first()
    if newest is None or newest.number != made["number"]:
        raise StaleError("That policy version was replaced since: set the policy that you want instead.")
    earlier = versions.filter(number__lt=newest.number).order_by("-number").first()
    document = earlier.document if earlier else {}
    reason = f"version {newest.number} taken back"
    number = newest.number + 1
    return [add_policy_version(made["domain_id"], made["source"], document, reason, ctx, number=number)[1]]


def own_document(domain_id: str | None) -> dict[str, Any]:
    """The newest stored document of a domain or the installation by itself, to be changed; empty where there is none."""
    newest = PolicyVersion.objects.filter(domain_id=domain_id, source="action").order_by("-number").first()
    return dict(newest.document) if newest else {}
