"""Actions on proposals; importing this package registers them."""

from __future__ import annotations

from governance.actions.proposals import (
    bulk,
    deciding,
    desk,
    filters,
    keeping,
    looking,
    own,
    quality,
    reading,
    undoing,
)

__all__ = ["bulk", "deciding", "desk", "filters", "keeping", "looking", "own", "quality", "reading", "undoing"]
