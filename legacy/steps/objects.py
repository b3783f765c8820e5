"""Stored bytes of SmartRAG: copied from the folder of the older system once their hash was found true."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from urllib.parse import unquote

from legacy.contracts import Outcome, Quarantined, Reason, SourceRow
from legacy.contracts.outcomes import moved
from legacy.source import Source
from legacy.steps.base import Run, each, show_life, told_beside
from legacy.steps.documents import sha256_of
from media.models import MediaObject
from media.services.objects import keep, register
from media.sniffing import sniff
from media.storage import Measured, measure

TABLE = "media_objects"
_KNOWN = frozenset(
    {"id", "content_hash", "storage_uri", "byte_size", "reference_count", "created_at", "updated_at", "mime"}
)
_COUNTED = (
    "LEFT JOIN (SELECT media_object_id, count(*) AS many FROM {media_object_references} c GROUP BY media_object_id) f "
    "ON f.media_object_id = r.id"
)
_PARTS = 12  # of an address, how many last parts may be the path under the folder


@dataclass(frozen=True, slots=True)
class Mapped:
    """What an object's row says."""

    content_hash: str
    storage_uri: str
    byte_size: int
    created_at: datetime | None
    notes: tuple[str, ...]


def mapped(row: SourceRow) -> Mapped:
    """An object from its row. Raises Quarantined."""
    content_hash = sha256_of(row.text("content_hash"))
    if not content_hash:
        raise Quarantined(Reason.BAD_ID, "content_hash is no SHA-256")
    notes = [told_beside(row, _KNOWN)]
    if row.place and row.columns.get("reference_count") != str(row.place[0]):
        notes.append(f"it counted {row.columns.get('reference_count')} references and had {row.place[0]}")
    return Mapped(
        content_hash=content_hash,
        storage_uri=row.text("storage_uri"),
        byte_size=row.integer("byte_size", most=2**63 - 1),
        created_at=row.moment("created_at"),
        notes=tuple(filter(None, notes)),
    )


def found_file(root: Path, content_hash: str, storage_uri: str) -> Path | None:
    """The file of an object in the folder: at `aa/bb/<hash>` with any ending, else where its address ends. Nothing outside
    of the folder is ever looked at."""
    inside = root.resolve()
    places = sorted((root / content_hash[:2] / content_hash[2:4]).glob(f"{content_hash}*"))
    parts = [part for part in unquote(storage_uri.partition("://")[2] or storage_uri).split("/") if part]
    if ".." not in parts and not any("\x00" in part for part in parts):
        places += [root.joinpath(*parts[start:]) for start in range(max(0, len(parts) - _PARTS), len(parts))]
    for place in places:
        if place.resolve().is_relative_to(inside) and place.is_file():
            return place
    return None


@dataclass(frozen=True, slots=True)
class Checked:
    """A file whose bytes are those of its hash; `row` is where they are kept now, None in a dry run."""

    measured: Measured
    mime: str
    row: MediaObject | None


class Objects:
    """The step of stored bytes."""

    name = "media_objects"
    tables: tuple[str, ...] = (TABLE,)

    def rows(self, source: Source) -> Iterator[SourceRow]:
        """Every object, with how many references to it there are."""
        if source.has("media_object_references") and source.has(TABLE, "reference_count"):
            return source.rows(TABLE, join=_COUNTED, places=("coalesce(f.many, 0)",))
        return source.rows(TABLE)

    def prepare(self, rows: Sequence[SourceRow], run: Run) -> Mapping[str, Checked | Quarantined]:
        """Check the bytes of each and store them."""
        found = {}
        for row in rows:
            found[row.id] = _checked(row, run)
            show_life(run)
        return found

    def store(self, rows: Sequence[SourceRow], run: Run) -> list[Outcome]:
        """Say of each where its bytes are."""

        def take(row: SourceRow) -> Outcome:
            said = mapped(row)
            if run.again is not None:
                return _taken_again(row, said, run)
            found: Checked | Quarantined = run.ready[row.id]
            if isinstance(found, Quarantined):
                raise found
            kept = found.row or register(found.measured, found.mime)[0]
            if kept is None:
                raise Quarantined(Reason.BYTES_MISSING, "the same bytes are being removed at this moment")
            if said.created_at is not None:
                MediaObject.objects.filter(pk=kept.pk, created_at__gt=said.created_at).update(
                    created_at=said.created_at
                )
            size = found.measured.byte_size
            notes = [f"byte_size was {said.byte_size}"] if said.byte_size != size else []
            return moved(row, TABLE, kept.pk, "; ".join([*said.notes, *notes]))

        return each(rows, take)


def _taken_again(row: SourceRow, said: Mapped, run: Run) -> Outcome:
    """Bytes never change; how often they are referred to is counted here. Raises Quarantined for other bytes."""
    there = MediaObject.objects.get(pk=run.became)
    if there.content_hash != said.content_hash:
        raise Quarantined(Reason.MOVED_THERE, "it stands for other bytes than when it was moved in")
    notes = [f"byte_size was {said.byte_size}"] if said.byte_size != there.byte_size else []
    return moved(row, TABLE, there.pk, "; ".join([*said.notes, *notes]))


def _checked(row: SourceRow, run: Run) -> Checked | Quarantined:
    """The stored bytes of a row, or why there are none."""
    try:
        return _kept(mapped(row), run)
    except Quarantined as why:
        return why
    except OSError as exc:
        return Quarantined(Reason.BYTES_MISSING, f"the file cannot be read: {exc.strerror}")


def _kept(said: Mapped, run: Run) -> Checked:
    """The bytes, checked and stored. Raises Quarantined, or OSError where they cannot be read."""
    if run.media_root is None:
        raise Quarantined(Reason.BYTES_MISSING, "no --media-root was given")
    path = found_file(run.media_root, said.content_hash, said.storage_uri)
    if path is None:
        raise Quarantined(Reason.BYTES_MISSING, f"no file of {said.content_hash}")
    measured = measure(path)
    if measured.content_hash != said.content_hash:
        raise Quarantined(Reason.BYTES_DIFFER, f"the file has the SHA-256 {measured.content_hash}")
    mime = sniff(path.name, path).mime
    return Checked(measured, mime, None if run.dry_run else keep(path, mime, run.ctx))
