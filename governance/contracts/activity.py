"""What is given and answered about the activity of agents and people."""

from __future__ import annotations

from datetime import datetime

from pydantic import Field

from kernel.context import ActorKind
from kernel.contracts import Contract
from scopes.contracts import DomainId


class AgentActivityInput(Contract):
    """Whose activity to sum up."""

    domain_id: DomainId | None = Field(default=None, description="Only calls in this domain.")
    kind: ActorKind = Field(default=ActorKind.AGENT, description="`agent`, `person` or `system`.")
    days: int = Field(default=7, ge=1, le=30, description="How far back, 1 to 30 days.")
    limit: int = Field(default=50_000, ge=1, le=50_000, description="Newest calls to look at, at most.")


class ActorActivity(Contract):
    """What one actor did in that time, as far as you may see it."""

    actor_id: str = Field(description="Stable id of the actor.")
    name: str = Field(description="Its name, kept after the account is gone.")
    calls: int = Field(description="Calls of every kind.")
    writes: int = Field(description="Calls of actions that write.")
    denied: int = Field(description="Calls that were denied.")
    failed: int = Field(description="Calls with unusable input, and calls that failed.")
    recent_writes: int = Field(description="Writes in the last ten minutes.")
    burst: bool = Field(
        description="Whether the last ten minutes saw 20 writes or more, and five times as many as its usual ten minutes."
    )
    last_seen: datetime = Field(description="When it was last heard of.")
    proposed: int = Field(description="Proposals made.")
    waiting: int = Field(description="Of them, still open.")
    approved: int = Field(description="Approvals of its proposals in that time that stand.")
    rejected: int = Field(description="Rejections of its proposals in that time that stand.")
    approve_rate: float | None = Field(
        description="Approvals among these approvals and rejections, 0 to 1, as `review_stats` tells it; null without any."
    )


class AgentActivityResult(Contract):
    """Activity by actor, the one with most calls first."""

    since: datetime = Field(description="Calls since then were looked at.")
    looked_at: int = Field(description="How many calls that were.")
    complete: bool = Field(
        description="False where more calls were made than `limit`: only the newest were looked at."
    )
    actors: list[ActorActivity] = Field(description="Actors, 100 at most.")
