"""What is allowed, queued or denied: the typed policy document, where it comes from, and the pure decision over it."""

from __future__ import annotations

from governance.policies.decide import Decision, Facts, ScopeFacts, Verdict, decide
from governance.policies.effective import (
    Policies,
    effective,
    effective_or_defaults,
    in_force,
    read_file,
    validate_document,
)
from governance.policies.sections import QueueRule, ReviewPolicy, ScopesPolicy

__all__ = [
    "Decision",
    "Facts",
    "Policies",
    "QueueRule",
    "ReviewPolicy",
    "ScopeFacts",
    "ScopesPolicy",
    "Verdict",
    "decide",
    "effective",
    "effective_or_defaults",
    "in_force",
    "read_file",
    "validate_document",
]
