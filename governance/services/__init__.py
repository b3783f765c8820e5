"""Writing governance's own rows: audit entries, proposals, idempotency records and policy versions."""

from __future__ import annotations

from governance.services.audit import Trail, record, record_refusal
from governance.services.idempotency import claim_key, earlier_answer, keep_answer
from governance.services.policies import add_policy_version, register_file
from governance.services.preferences import set_preferences
from governance.services.proposals import add_decision, changes_digest, move_proposal, note_failure, open_proposal

__all__ = [
    "Trail",
    "add_decision",
    "add_policy_version",
    "changes_digest",
    "claim_key",
    "earlier_answer",
    "keep_answer",
    "move_proposal",
    "note_failure",
    "open_proposal",
    "record",
    "record_refusal",
    "register_file",
    "set_preferences",
]
