"""Whether the bytes of files that were moved are still there, and still those of their hash."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from kernel.errors import NotFoundError
from media.storage import store


def lost_bytes(objects: Mapping[str, Any]) -> dict[str, str]:
    """Of stored objects, by target id, those whose bytes are not theirs, each with what is wrong. All of them are read."""
    kept, found = store(), {}
    for name, row in objects.items():
        if row.collector is not None:  # nobody refers to it, and it is being removed at this moment
            continue
        digest, size = hashlib.sha256(), 0
        try:
            for piece in kept.stream(row.content_hash):
                digest.update(piece)
                size += len(piece)
        except NotFoundError:
            found[name] = "Its bytes are not in the store."
            continue
        if (digest.hexdigest(), size) != (row.content_hash, row.byte_size):
            found[name] = f"The store has {size} bytes of SHA-256 {digest.hexdigest()}."
    return found
