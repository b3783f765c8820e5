"""The one door: decide, then run, queue or refuse, and leave a record in the same transaction."""

from __future__ import annotations

from governance.gate.calls import Answer, KeyUsedError, call, carried_within, perform, queue_within, refuse
from governance.gate.deciding import decided_in, foresee, place_of
from governance.gate.foretelling import Foretold, foretell
from governance.gate.metering import charge_upload
from governance.gate.opening import is_open
from governance.gate.standing import makers, may_no_longer
from governance.gate.stored import Stored, carry_out, draft, preview, ready, touched_by, tried
from governance.gate.system import by_itself, note, system_ctx

__all__ = [
    "Answer",
    "Foretold",
    "KeyUsedError",
    "Stored",
    "by_itself",
    "call",
    "carried_within",
    "carry_out",
    "charge_upload",
    "decided_in",
    "draft",
    "foresee",
    "foretell",
    "is_open",
    "makers",
    "may_no_longer",
    "note",
    "perform",
    "place_of",
    "preview",
    "queue_within",
    "ready",
    "refuse",
    "system_ctx",
    "touched_by",
    "tried",
]
