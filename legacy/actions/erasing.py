"""Which records of moving in quote what is erased."""

from __future__ import annotations

from governance.hooks import register_scrubber
from legacy.services.scrubbing import scrub_moved_rows

register_scrubber(scrub_moved_rows)
