"""Writing governance's own rows: audit entries, proposals, idempotency records and policy versions."""

from __future__ import annotations

from governance.services.audit import (
    Trail,
    record,
    record_refusal,
)
from governance.services.caps import DailyCapError, bulk_cap, require_room_today
from governance.services.filters import (
    delete_filter,
    save_filter,
)
from governance.services.idempotency import (
    claim_key,
    earlier_answer,
    earlier_removal,
    keep_answer,
    was_erased,
)
from governance.services.policies import (
    add_policy_version,
    own_document,
    register_file,
    restore_policy,
)
from governance.services.preferences import (
    set_preferences,
)
from governance.services.proposals import (
    Evidence,
    NewProposal,
    add_decision,
    changes_digest,
    content_columns,
    domains_with_open_proposals,
    expire_proposals,
    facts_about,
    move_proposal,
    note_failure,
    open_proposal,
    refuse_rejected,
    scopes_of,
    touch_proposal,
)
from governance.services.quotas import (
    charge_call,
    charge_items,
    charge_upload,
    check_open_proposals,
)
from governance.services.reversals import (
    IrreversibleError,
    carried_out,
    no_way_back,
    require_reversible,
    take_back,
)
from governance.services.sampling import (
    in_sample,
    look_again,
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
    held_unchanged,
    hold_still,
    outrun,
    require_mine,
    require_open,
    require_step,
    standing_approvals,
)

__all__ = [
    "DailyCapError",
    "Evidence",
    "IrreversibleError",
    "NewProposal",
    "Step",
    "Trail",
    "add_decision",
    "add_mentions",
    "add_policy_version",
    "add_step",
    "bulk_cap",
    "carried_out",
    "changes_digest",
    "charge_call",
    "charge_items",
    "charge_upload",
    "check_open_proposals",
    "claim",
    "claim_key",
    "content_columns",
    "delete_filter",
    "domains_with_open_proposals",
    "earlier_answer",
    "earlier_removal",
    "expire_proposals",
    "facts_about",
    "held_unchanged",
    "hold_still",
    "in_sample",
    "keep_answer",
    "look_again",
    "move_proposal",
    "no_way_back",
    "note_failure",
    "open_proposal",
    "outrun",
    "own_document",
    "record",
    "record_refusal",
    "refuse_rejected",
    "register_file",
    "release",
    "require_mine",
    "require_open",
    "require_reversible",
    "require_room_today",
    "require_step",
    "restore_policy",
    "reviewers_named",
    "save_filter",
    "scopes_of",
    "set_preferences",
    "snooze",
    "standing_approvals",
    "take_back",
    "touch_proposal",
    "was_erased",
]
