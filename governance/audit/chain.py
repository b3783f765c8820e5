"""The hash chain over the audit log: sealing what is not sealed yet, and checking what is.

A seal holds one digest for each group of an entry's fields, and its hash covers those digests and the hash before. The
digests of the groups that may hold free text or names are salted, each with a salt of its own that only the seal has.
So text can be erased later without breaking the chain: who erases it drops the salt of its group, the digest stays,
and nobody can find the text again by hashing guesses.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, QuerySet

from governance.audit import erased
from governance.models import AuditEntry, AuditSeal
from kernel import clock
from kernel.canonical import digest

BATCH = 200
GENESIS = "0" * 64
_FIXED = (
    "id", "at", "request_id", "action", "actor_kind", "door", "domain_id", "outcome", "rule", "policy_version", "code",
    "input_digest", "proposal_id",
)  # fmt: skip
_ERASABLE = {
    "actor": ("actor_id", "actor_name", "on_behalf_of"),
    "place": ("scope", "facts"),
    "reason": ("reason",),
    "changes": ("changes",),
}

_open: ContextVar[bool] = ContextVar("sealing", default=False)


@dataclass(frozen=True, slots=True)
class Fault:
    """One place where the chain and the log disagree. `kind` is gap, link, seal, removed, changed or unsealed."""

    number: int
    kind: str
    what: str
    entry_id: UUID | None = None


@dataclass(slots=True)
class Stretch:
    """What checking one stretch of the chain showed: `number` and `hash` are those of its last seal."""

    number: int
    hash: str
    checked: int = 0
    erased: int = 0
    faults: list[Fault] = field(default_factory=list)


def is_open() -> bool:
    """Whether the code that asks is sealing: the one writer of seals, and the write guard's one exception for them."""
    return _open.get()


def seal_next(size: int = BATCH) -> int:
    """Seal the next entries, `size` at most, in one transaction; how many. Of two sealers at once one gets nothing."""
    with _sealing():
        try:
            with transaction.atomic():
                return _seal(size)
        except IntegrityError:
            return 0  # the other sealer took these numbers


def _seal(size: int) -> int:
    last = AuditSeal.objects.order_by("-number").first()
    number, previous = (last.number, last.hash) if last else (0, GENESIS)
    seals = []
    # Held, so that nobody scrubs an entry between here and its seal. One that has a seal and denies it would stop all.
    entries = list(_unsealed().select_for_update().order_by("id")[:size])
    for entry in entries:
        number += 1
        salts = {group: secrets.token_hex(16) for group in _ERASABLE}
        digests = field_digests(entry, salts)
        seal_hash = chain_hash(number, entry.id, digests, previous)
        seals.append(
            AuditSeal(
                number=number,
                entry_id=entry.id,
                salts=salts,
                digests=digests,
                previous=previous,
                hash=seal_hash,
                sealed_at=clock.now(),
            )
        )
        previous = seal_hash
    AuditSeal.objects.bulk_create(seals)
    AuditEntry.objects.filter(pk__in=[entry.pk for entry in entries]).update(sealed=True)
    return len(seals)


def _unsealed() -> QuerySet[AuditEntry]:
    return AuditEntry.objects.filter(sealed=False).exclude(_has_seal())


def _has_seal() -> Exists:
    return Exists(AuditSeal.objects.filter(entry_id=OuterRef("pk")))


def forget(groups: Mapping[UUID, Collection[str]]) -> None:
    """Drop the salts of groups of fields whose text was erased, by entry, inside the gate's transaction: their digests
    stay, so that the chain holds, and say nothing of the text any more."""
    seals = list(AuditSeal.objects.filter(entry_id__in=groups.keys()))
    for seal in seals:
        seal.salts = {group: salt for group, salt in seal.salts.items() if group not in groups[seal.entry_id]}
    AuditSeal.objects.bulk_update(seals, ["salts"], batch_size=BATCH)


@contextmanager
def _sealing() -> Iterator[None]:
    token = _open.set(True)
    try:
        yield
    finally:
        _open.reset(token)


def field_digests(entry: AuditEntry, salts: Mapping[str, str]) -> dict[str, str]:
    """The digest of each group of fields; of a group whose salt was dropped there is none."""
    found = {"record": digest([_plain(getattr(entry, name)) for name in _FIXED])}
    for group, names in _ERASABLE.items():
        if group in salts:
            found[group] = digest([salts[group], *(_plain(getattr(entry, name)) for name in names)])
    return found


def chain_hash(number: int, entry_id: UUID, digests: Mapping[str, str], previous: str) -> str:
    """The hash of a seal: over its number, its entry's id, its digests and the hash before it."""
    return digest([number, str(entry_id), dict(digests), previous])


def _plain(value: Any) -> Any:
    if isinstance(value, UUID):
        return str(value)
    return value.astimezone(UTC).isoformat(timespec="microseconds") if isinstance(value, datetime) else value


def check(after: int, size: int) -> Stretch:
    """Check the `size` seals that follow number `after` against each other and against their entries."""
    before = AuditSeal.objects.filter(number=after).first()
    known = before.hash if before else GENESIS if after == 0 else None
    stretch = Stretch(after, known or "")
    if known is None:
        stretch.faults.append(Fault(after, "gap", f"there is no seal {after}"))
    seals = list(AuditSeal.objects.filter(number__gt=after).order_by("number")[:size])
    entries = AuditEntry.objects.in_bulk([seal.entry_id for seal in seals])
    lost = {seal.entry_id: set(_ERASABLE) - set(seal.salts) for seal in seals}
    told_of = erased.told_in(
        [entries[entry_id] for entry_id, groups in lost.items() if groups and entry_id in entries]
    )
    for seal in seals:
        stretch.faults += _link_faults(seal, stretch)
        entry = entries.get(seal.entry_id)
        stretch.faults += _entry_faults(seal, entry)
        if entry is not None and (told := erased.unexplained(entry, lost[seal.entry_id], told_of)):
            what = f"no erasure leaves its entry as it is: {', '.join(told)}"
            stretch.faults.append(Fault(seal.number, "changed", what, seal.entry_id))
        stretch.erased += bool(lost[seal.entry_id])
        stretch.checked += 1
        stretch.number, stretch.hash = seal.number, seal.hash
    return stretch


def _link_faults(seal: AuditSeal, so_far: Stretch) -> list[Fault]:
    """A number left out, a seal that does not follow the one before, a seal that is not what its hash says."""
    faults = []
    expected = so_far.number + 1
    if seal.number != expected:
        missing = f"{expected}" if seal.number == expected + 1 else f"{expected} to {seal.number - 1}"
        faults.append(Fault(expected, "gap", f"no seal {missing}"))
    elif so_far.hash and seal.previous != so_far.hash:
        faults.append(Fault(seal.number, "link", "does not follow the seal before it", seal.entry_id))
    if seal.hash != chain_hash(seal.number, seal.entry_id, seal.digests, seal.previous):
        faults.append(Fault(seal.number, "seal", "the seal itself was changed", seal.entry_id))
    return faults


def _entry_faults(seal: AuditSeal, entry: AuditEntry | None) -> list[Fault]:
    if entry is None:
        return [Fault(seal.number, "removed", "its entry is gone", seal.entry_id)]
    differing = [
        group for group, value in field_digests(entry, seal.salts).items() if seal.digests.get(group) != value
    ]
    if not differing:
        return []
    return [Fault(seal.number, "changed", f"its entry was changed: {', '.join(differing)}", seal.entry_id)]


def unchained(limit: int = 100) -> list[Fault]:
    """Entries that say they are sealed but have no seal: the chain was cut off behind them, or they were put in. Then
    those that have a seal and say they have none."""
    without = AuditEntry.objects.filter(sealed=True).exclude(_has_seal())
    denying = AuditEntry.objects.filter(_has_seal(), sealed=False)
    return [
        Fault(0, "unchained", what, row_id)
        for rows, what in (
            (without, "it says that it is sealed, but has no seal"),
            (denying, "it has a seal, but says that it has none"),
        )
        for row_id in rows.order_by("id").values_list("pk", flat=True)[:limit]
    ]


def waiting() -> tuple[int, datetime | None]:
    """How many entries wait for their seal, and since when the oldest of them."""
    rows = _unsealed()
    oldest = rows.order_by("id").values_list("at", flat=True).first()
    return rows.count(), oldest
