"""Tables of policies, proposals, decisions, the audit log and idempotency records, recovery codes, receipts and holds."""

from __future__ import annotations

from governance.models.audit import (
    AuditEntry,
    AuditObject,
    AuditPlace,
    AuditSeal,
)
from governance.models.erasing import (
    LegalHold,
    Tombstone,
)
from governance.models.idempotency import (
    IdempotencyRecord,
)
from governance.models.policies import (
    PolicyVersion,
)
from governance.models.preferences import (
    Preference,
)
from governance.models.proposals import (
    OPEN_STATES,
    RISKS,
    BlindReview,
    Decision,
    Mention,
    Proposal,
    ProposalStep,
    SavedFilter,
)
from governance.models.quotas import (
    QuotaCounter,
)
from governance.models.recovery import (
    RecoveryCode,
    RecoveryDevice,
)
from governance.models.reversals import (
    Reversal,
)

__all__ = [
    "OPEN_STATES",
    "RISKS",
    "AuditEntry",
    "AuditObject",
    "AuditPlace",
    "AuditSeal",
    "BlindReview",
    "Decision",
    "IdempotencyRecord",
    "LegalHold",
    "Mention",
    "PolicyVersion",
    "Preference",
    "Proposal",
    "ProposalStep",
    "QuotaCounter",
    "RecoveryCode",
    "RecoveryDevice",
    "Reversal",
    "SavedFilter",
    "Tombstone",
]
