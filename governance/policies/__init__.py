"""What is allowed, queued or denied: the typed policy document, where it comes from, and the pure decision over it."""

from __future__ import annotations

from governance.policies.decide import (
    ALWAYS_REVIEWED,
    Decision,
    Facts,
    ScopeFacts,
    Verdict,
    decide,
    denied,
    may_wait,
)
from governance.policies.effective import (
    Draft,
    Policies,
    at_version,
    effective,
    effective_or_defaults,
    in_force,
    read_file,
)
from governance.policies.quotas import (
    ActorQuota,
    QuotasPolicy,
)
from governance.policies.replay import (
    Recorded,
    Replayed,
    Turned,
    replay,
)
from governance.policies.sections import (
    AllowRule,
    CareRule,
    QueueRule,
    ReviewPolicy,
    ScopesPolicy,
)
from governance.policies.sense import (
    check_document,
)
from governance.policies.weigh import (
    Weighed,
    Weight,
    by_two,
    for_scope,
    heavier,
    weigh,
)
from governance.policies.words import (
    deciding,
    held_by,
    in_words,
    verdict_of,
)

__all__ = [
    "ALWAYS_REVIEWED",
    "ActorQuota",
    "AllowRule",
    "CareRule",
    "Decision",
    "Draft",
    "Facts",
    "Policies",
    "QueueRule",
    "QuotasPolicy",
    "Recorded",
    "Replayed",
    "ReviewPolicy",
    "ScopeFacts",
    "ScopesPolicy",
    "Turned",
    "Verdict",
    "Weighed",
    "Weight",
    "at_version",
    "by_two",
    "check_document",
    "decide",
    "deciding",
    "denied",
    "effective",
    "effective_or_defaults",
    "for_scope",
    "heavier",
    "held_by",
    "in_force",
    "in_words",
    "may_wait",
    "read_file",
    "replay",
    "verdict_of",
    "weigh",
]
