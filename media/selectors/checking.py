"""Comparing files, rows and index: the store with the rows that know of it, a stretch of hashes at a time, then sections."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from kernel.errors import NotFoundError
from media.contracts.objects import CheckMediaResult, MediaFault
from media.models import MediaObject
from media.selectors.indexed import lost_sections, misplaced_entries
from media.selectors.objects import counted_objects, needed_objects
from media.storage import Store, StoredFile, store
from search.contracts import Kind
from search.selectors.upkeep import outdated_entries

STRETCHES = "0123456789abcdef"
REST = "rest"  # what lies in the store beside the folders of hashes
_SHOWN = 100
_OF_INDEX = {
    "unindexed": "This section is not found everywhere it may be read: run `manage.py rebuild_index` for its domain.",
    "stale_entry": "The index holds a section that is gone, or holds it where it may not be read: run "
    "`manage.py rebuild_index` for its domain.",
    "outdated_entry": "An earlier tokeniser indexed this section: run `manage.py rebuild_index` for its domain.",
}


def check_stretch(cursor: str | None, *, deep: bool) -> CheckMediaResult:
    """What is wrong with the contents whose hash begins with the digit at `cursor`; reads bytes only if `deep`. At the
    end, what lies beside them, and the index of sections."""
    kept, at = store(), cursor or STRETCHES[0]
    if at == REST:
        files = list(kept.rest())
        faults = [_stray(file) for file in files]
        of_index, count = _of_index()
        return _result(0, len(files), [*faults, *of_index], len(faults) + count, None)
    # Files first: a row comes before its bytes, so that what is being stored meanwhile is no unknown file.
    files = list(kept.iterate(at))
    rows = {row.content_hash: row for row in counted_objects(at)}
    found = {file.content_hash: file for file in files if file.content_hash}
    faults = [_stray(file) for file in files if not file.content_hash]
    faults += [_unknown(file) for name, file in found.items() if name not in rows and not _known(name)]
    needed = needed_objects([row.pk for row in rows.values() if row.content_hash not in found])
    for row in rows.values():
        faults += _of_row(row, found.get(row.content_hash), kept, needed=row.pk in needed)
        if deep and row.content_hash in found:
            faults += _of_content(row, kept)
    following = STRETCHES[STRETCHES.index(at) + 1 :][:1] or REST
    return _result(len(rows), len(files), faults, len(faults), following)


def _of_index() -> tuple[list[MediaFault], int]:
    """Sections against the index that they are found by: what is shown, and how much there is."""
    lost, misplaced, outdated = lost_sections(), misplaced_entries(), outdated_entries(Kind.SECTION)
    names = {
        "unindexed": lost.order_by("pk").values_list("pk", flat=True),
        "stale_entry": misplaced.values_list("object_id", flat=True),
        "outdated_entry": outdated.values_list("object_id", flat=True),
    }
    faults = [
        MediaFault.model_validate({"kind": kind, "name": str(name), "what": _OF_INDEX[kind]})
        for kind, rows in names.items()
        for name in rows[:_SHOWN]
    ]
    return faults, sum(rows.count() for rows in names.values())


def _result(objects: int, files: int, faults: list[MediaFault], count: int, following: str | None) -> CheckMediaResult:
    return CheckMediaResult(
        objects=objects, files=files, faults=faults[:_SHOWN], fault_count=count, next_cursor=following
    )


def _of_row(row: MediaObject, file: StoredFile | None, kept: Store, *, needed: bool) -> Iterator[MediaFault]:
    count = getattr(row, "references_found", 0)
    if count != row.reference_count:
        yield _fault("wrong_count", row, f"It counts {row.reference_count} references, and there are {count}.")
    if file is None:
        if needed and not kept.exists(row.content_hash):  # asked again: it may have come meanwhile
            yield _fault("missing_bytes", row, "A document or a job needs these bytes, and they are not in the store.")
    elif file.byte_size != row.byte_size:
        yield _fault("wrong_size", row, f"It should have {row.byte_size} bytes and has {file.byte_size}.")


def _of_content(row: MediaObject, kept: Store) -> Iterator[MediaFault]:
    digest = hashlib.sha256()
    try:
        for piece in kept.stream(row.content_hash):
            digest.update(piece)
    except NotFoundError:  # removed while we looked
        return
    if digest.hexdigest() != row.content_hash:
        yield _fault("wrong_content", row, "Its bytes are not those of its hash: restore them from a backup.")


def _known(content_hash: str) -> bool:
    return MediaObject.objects.filter(content_hash=content_hash).exists()


def _unknown(file: StoredFile) -> MediaFault:
    what = "No row knows of these bytes: they were left by a restored backup, or put there by hand."
    return MediaFault(kind="unknown_file", name=file.content_hash, media_object_id=None, what=what)


def _stray(file: StoredFile) -> MediaFault:
    what = "This is no file of the store: a write that was broken off left it, or somebody put it there."
    return MediaFault(kind="stray_file", name=file.name[:500], media_object_id=None, what=what)


def _fault(kind: str, row: MediaObject, what: str) -> MediaFault:
    return MediaFault.model_validate({"kind": kind, "name": row.content_hash, "media_object_id": row.pk, "what": what})
