"""Which records of moving in quote what is erased."""

from __future__ import annotations

from governance.hooks import Scrubber, register_scrubber
from legacy.services.scrubbing import scrub_moved_rows

register_scrubber(Scrubber(lambda ids, found, domain_id, receipt_id: scrub_moved_rows(ids, domain_id, receipt_id)))
