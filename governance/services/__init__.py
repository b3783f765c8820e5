"""Writing governance's own rows: audit entries, proposals, idempotency records and policy versions."""

from __future__ import annotations

from governance.services.audit import (
    Trail,
    record,
    record_refusal,
)
from governance.services.idempotency import (
    claim_key,
    earlier_answer,
    keep_answer,
)
from governance.services.policies import (
    add_policy_version,
    register_file,
    restore_policy,
)
from governance.services.preferences import (
    set_preferences,
)
from governance.services.proposals import (
    NewProposal,
    add_decision,
    changes_digest,
    content_columns,
    facts_about,
    move_proposal,
    note_failure,
    open_proposal,
    refuse_rejected,
    touch_proposal,
)
from governance.services.quotas import (
    charge_call,
    charge_items,
    check_open_proposals,
)
from governance.services.reversals import (
    carried_out,
    require_reversible,
    take_back,
)
from governance.services.steps import (
    add_mentions,
    add_step,
    claim,
    release,
    reviewers_named,
    snooze,
)
from governance.services.transitions import (
    Step,
    outrun,
    require_mine,
    require_open,
    require_step,
    standing_approvals,
)

__all__ = [
    "NewProposal",
    "Step",
    "Trail",
    "add_decision",
    "add_mentions",
    "add_policy_version",
    "add_step",
    "carried_out",
    "changes_digest",
    "charge_call",
    "charge_items",
    "check_open_proposals",
    "claim",
    "claim_key",
    "content_columns",
    "earlier_answer",
    "facts_about",
    "keep_answer",
    "move_proposal",
    "note_failure",
    "open_proposal",
    "outrun",
    "record",
    "record_refusal",
    "refuse_rejected",
    "register_file",
    "release",
    "require_mine",
    "require_open",
    "require_reversible",
    "require_step",
    "restore_policy",
    "reviewers_named",
    "set_preferences",
    "snooze",
    "standing_approvals",
    "take_back",
    "touch_proposal",
]
