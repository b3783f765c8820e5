"""Actions on proposals; importing this package registers them."""

from __future__ import annotations

from governance.actions.proposals import bulk, deciding, desk, looking, own, reading, undoing

__all__ = ["bulk", "deciding", "desk", "looking", "own", "reading", "undoing"]
