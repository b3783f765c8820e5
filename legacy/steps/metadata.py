"""The metadata of a document in the shape it has here, from the older shapes: those of SmartRAG before media, which noted
what the file was, and those of its media memory. What fits nowhere is kept aside, whole."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from kernel.contracts import Contract
from kernel.errors import InvalidInputError
from legacy.contracts import Quarantined, Reason
from media.contracts.kinds import MediaType
from media.contracts.metadata import CONTENT, RESERVED, DocumentMetadata, MediaFacts, Semantic

PROVENANCE = "provenance"
_PARTS: dict[str, type[Contract]] = {"media": MediaFacts, "semantic": Semantic}
_OURS = frozenset(DocumentMetadata.model_fields) - _PARTS.keys() - {"media_type"}


def document_metadata(old: dict[str, Any], provenance: dict[str, Any]) -> dict[str, Any]:
    """What is stored of a document's metadata. The caller's own members stay; what has another place here or does not fit
    stands in `provenance.metadata`. Raises Quarantined for what is nested too deep to be read again."""
    kept: dict[str, Any] = {"media_type": _media_type(old)}
    aside: dict[str, Any] = {}
    for name, value in old.items():
        if name in _PARTS:
            kept[name], rest = _fitting(_PARTS[name], value)
            if rest not in ({}, None):
                aside[name] = rest
        elif name in _OURS:
            place = kept if _fits(DocumentMetadata, {"media_type": kept["media_type"], name: value}) else aside
            place[name] = value
        elif name == "media_type":
            if value != kept[name]:
                aside[name] = value
        else:
            place = aside if name in RESERVED or name == PROVENANCE else kept
            place[name] = value
    if len(kept.get("content", "")) > CONTENT:
        aside["content"], kept["content"] = kept["content"], kept["content"][:CONTENT]
    kept = {**_file(old), **kept}
    kept[PROVENANCE] = {**provenance, **({"metadata": aside} if aside else {})}
    if not _fits(DocumentMetadata, kept):
        raise Quarantined(Reason.BAD_JSON, "metadata is nested too deep")
    return kept


def _media_type(old: dict[str, Any]) -> str:
    """Before there was media, everything was a document; a word that nobody knows is something else."""
    given = old.get("media_type")
    if given is None:
        return MediaType.DOCUMENT.value
    return given if given in list(MediaType) else MediaType.OTHER.value


def _fitting(model: type[Contract], value: Any) -> tuple[dict[str, Any], Any]:
    """The members that the model takes, and the rest."""
    if not isinstance(value, dict):
        return {}, value
    kept = {name: inner for name, inner in value.items() if name in model.model_fields and _fits(model, {name: inner})}
    return kept, {name: inner for name, inner in value.items() if name not in kept}


def _fits(model: type[Contract], tree: dict[str, Any]) -> bool:
    try:
        model.parse(tree)
    except InvalidInputError:
        return False
    return True


def _file(old: dict[str, Any]) -> dict[str, Any]:
    """What the first shape said of the file, under the names of today."""
    found: dict[str, Any] = {}
    path = old.get("path") or old.get("file_path")
    if isinstance(path, str):
        found["file_name"] = PurePosixPath(path.replace("\\", "/")).name[:255]
    if isinstance(size := old.get("size"), int) and not isinstance(size, bool):
        found["file_size"] = size
    if isinstance(kind := old.get("type"), str) and "/" in kind:
        found["file_type"] = kind
    return found
