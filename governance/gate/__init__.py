"""The one door: decide, then run, queue or refuse, and leave a record in the same transaction."""

from __future__ import annotations

from governance.gate.calls import Answer, call, foresee, is_open, perform, place_of, queue_within, refuse, system_ctx
from governance.gate.stored import Stored, carry_out, draft, preview, ready, tried

__all__ = [
    "Answer",
    "Stored",
    "call",
    "carry_out",
    "draft",
    "foresee",
    "is_open",
    "perform",
    "place_of",
    "preview",
    "queue_within",
    "ready",
    "refuse",
    "system_ctx",
    "tried",
]
