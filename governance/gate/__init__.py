"""The one door: decide, then run, queue or refuse, and leave a record in the same transaction."""

from __future__ import annotations

from governance.gate.calls import Answer, call, perform, queue_within, refuse
from governance.gate.deciding import foresee, place_of
from governance.gate.metering import charge_upload
from governance.gate.opening import is_open
from governance.gate.stored import Stored, carry_out, draft, preview, ready, tried
from governance.gate.system import by_itself, note, system_ctx

__all__ = [
    "Answer",
    "Stored",
    "by_itself",
    "call",
    "carry_out",
    "charge_upload",
    "draft",
    "foresee",
    "is_open",
    "note",
    "perform",
    "place_of",
    "preview",
    "queue_within",
    "ready",
    "refuse",
    "system_ctx",
    "tried",
]
