"""The steps of the migration, in order of dependency."""

from __future__ import annotations

from legacy.steps.base import Step
from legacy.steps.edges import Edges
from legacy.steps.entities import Entities, Mentions
from legacy.steps.history import History
from legacy.steps.items import Items
from legacy.steps.library import LIBRARY
from legacy.steps.scopes import Domains, Links, Scopes
from legacy.steps.sessions import Sessions
from legacy.steps.summaries import Summaries
from legacy.steps.turns import Turns

# In this order: whatever a row belongs to comes before it.
STEPS: tuple[Step, ...] = (
    Domains(),
    Scopes(),
    Sessions(),
    Links(),
    Turns(),
    Items(),
    Entities(),
    Mentions(),
    Summaries(),
    Edges(),
    History(),
    *LIBRARY,
)

# Tables of the older systems that are not taken along, each with why; they are counted.
LEFT_OUT: dict[str, str] = {
    "memory_chunks": "derived",
    "text_search_configs": "derived",
    "section_fts": "derived",
    "embeddings": "derived",
    "search_logs": "local",
    "api_rate_limits": "local",
}

__all__ = ["LEFT_OUT", "STEPS"]
