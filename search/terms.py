"""The key under which a term of a scope is indexed."""

from __future__ import annotations

import hashlib


def term_key(scope_key: int, term: str) -> int:
    """The signed 64-bit key of a term within a scope, the same on every database and platform."""
    raw = hashlib.blake2b(f"{scope_key}\x00{term}".encode(), digest_size=8).digest()
    return int.from_bytes(raw, "big", signed=True)
