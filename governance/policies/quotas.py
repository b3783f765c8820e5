"""The quotas of the policy document: how much an actor may do in a while, and a domain take in a day."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from governance.hooks import PolicySection, register_policy_section
from kernel.context import ActorKind
from kernel.contracts import Contract

Limit = Annotated[int | None, Field(ge=0, le=10_000_000)]
Bytes = Annotated[int | None, Field(ge=0, le=10**15)]


class ActorQuota(Contract):
    """Limits of one actor; null: no limit."""

    calls_per_minute: Limit = Field(default=None, description="Calls of any kind in one minute, refused ones too.")
    writes_per_minute: Limit = Field(default=None, description="Calls in one minute that are no mere reads.")
    items_per_day: Limit = Field(default=None, description="Memory items added in the domain in one day (UTC).")
    upload_bytes_per_day: Bytes = Field(
        default=None,
        description="Bytes brought into the domain in one day (UTC): uploaded, sent along with a call, or fetched for it.",
    )
    open_proposals: Limit = Field(default=None, description="Proposals in the domain that wait at the same time.")


@register_policy_section
class QuotasPolicy(PolicySection):
    """How much is allowed in a while. Nothing is limited until a number is set; over it a call is refused with 429."""

    section: ClassVar[str] = "quotas"

    actor_kinds: list[ActorKind] = Field(default=[ActorKind.AGENT], description="Whose calls are counted.")
    each: ActorQuota = Field(default=ActorQuota(), description="Limits of every actor in the domain, each by itself.")
    principals: dict[str, ActorQuota] = Field(
        default={}, description="Limits of single actors by name, in the place of those in `each`."
    )
    domain_items_per_day: Limit = Field(
        default=None, description="Memory items added by all actors together in one day (UTC)."
    )

    def of(self, name: str) -> ActorQuota:
        """The limits of the actor of that name."""
        return self.principals.get(name, self.each)

    def limits_calls(self, kind: str, name: str) -> bool:
        """Whether calls of that actor are counted at all."""
        limits = self.of(name)
        limited = limits.calls_per_minute is not None or limits.writes_per_minute is not None
        return limited and kind in self.actor_kinds

    def limits_uploads(self, kind: str, name: str) -> bool:
        """Whether the bytes that the actor brings are counted."""
        return kind in self.actor_kinds and self.of(name).upload_bytes_per_day is not None
