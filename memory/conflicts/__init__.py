"""Finding memories at odds with each other: pure rules over two statements, and the signatures by which they meet."""

from __future__ import annotations

from memory.conflicts.judging import compare_versions, judge, judge_key
from memory.conflicts.signing import key_signature, signatures, wide_signatures
from memory.conflicts.values import LABELS, Difference, Finding, Label, Rule, Severity, Told

__all__ = [
    "LABELS",
    "Difference",
    "Finding",
    "Label",
    "Rule",
    "Severity",
    "Told",
    "compare_versions",
    "judge",
    "judge_key",
    "key_signature",
    "signatures",
    "wide_signatures",
]
