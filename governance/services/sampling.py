"""A sample of what was decided, for a second reviewer who is not told the verdict."""

from __future__ import annotations

from uuid import UUID

from django.db import IntegrityError, transaction

from governance.contracts import DecisionView, Verdict
from governance.models import BlindReview, Proposal
from governance.selectors import view_decision
from kernel.actions import Change
from kernel.canonical import digest
from kernel.context import Ctx
from kernel.errors import TransitionError

_FINE = 1 << 32
_SAID = {"approve": Verdict.APPROVED, "reject": Verdict.REJECTED}


def in_sample(proposal_id: UUID, share: float) -> bool:
    """Whether a proposal belongs to the sample: by its id alone, so that nobody can choose what is looked at again."""
    return int(digest(["second look", str(proposal_id)])[:8], 16) < share * _FINE


def look_again(row: Proposal, verdict: str, reason: str, ctx: Ctx) -> tuple[BlindReview, DecisionView, Change]:
    """Keep a second verdict beside the decision that stands. Raises TransitionError where another was first."""
    decided = next(d for d in reversed(row.decisions.all()) if d.verdict in (Verdict.APPROVED, Verdict.REJECTED))
    said = _SAID[verdict]
    try:
        with transaction.atomic():
            look = BlindReview.objects.create(
                proposal=row,
                verdict=said,
                agrees=said == decided.verdict,
                by_id=ctx.actor.id,
                by_name=ctx.actor.name,
                reason=reason,
                created_at=ctx.now,
            )
    except IntegrityError as exc:
        raise TransitionError(f"Someone else had a second look at proposal {row.id} just now.") from exc
    change = Change("blind_reviews", str(look.id), None, {"verdict": said, "agrees": look.agrees, "reason": reason})
    return look, view_decision(decided), change
