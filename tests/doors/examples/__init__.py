"""One example of every action: who may do it, with what, and who may not."""

from __future__ import annotations

from tests.doors.examples.example import Example
from tests.doors.examples.governance import GOVERNANCE
from tests.doors.examples.media import MEDIA
from tests.doors.examples.memory import MEMORY

EXAMPLES: dict[str, Example] = {**GOVERNANCE, **MEDIA, **MEMORY}
