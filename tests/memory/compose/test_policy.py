"""The policy sections of composing."""

from __future__ import annotations

from governance.hooks import policy_sections
from memory.compose.policy import CompositionPolicy, RetrievalPolicy


def test_the_policy_has_the_documented_defaults():
    sections = policy_sections()
    assert sections["retrieval"] is RetrievalPolicy
    assert sections["composition"] is CompositionPolicy
    assert RetrievalPolicy().model_dump() == {
        "enable_resource_retrieval": "auto",
        "top_k": 30,
        "candidate_k": 200,
        "query_expansion": {"enabled": True, "max_queries": 8},
        "scope_filter": "closed",
    }
    assert CompositionPolicy().model_dump() == {
        "token_limit": 8192,
        "system_blocks_max_tokens": 800,
        "summary_max_tokens": 600,
        "recent_turns_max": 8,
        "evidence_max_items": 12,
        "max_snippet_chars": 800,
        "diversity": {
            "by_document": 3,
            "by_source_uri": 2,
            "by_lineage": 2,
            "memory_resource_ratio": "40/60",
        },
    }
