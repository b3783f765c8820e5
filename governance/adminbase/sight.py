"""What the signed-in person may see, so that a page with nothing to show tells "nothing there" from "nothing for you"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from governance.adminbase.cells import place_of
from kernel.context import ANY, Ctx, Right

Per = Literal["scope", "session", "domain", "installation"]
NAMED = 12


@dataclass(frozen=True, slots=True)
class Sight:
    """Where the person sees rows of one kind: everywhere (`whole`), or in `places`, of which `further` are not named.
    `per` is what one has to hold a right on: single scopes, sessions, whole domains, or the installation."""

    whole: bool
    places: list[str]
    further: int
    per: Per


def sight_of(ctx: Ctx, right: Right, per: Per = "scope") -> Sight:
    """The sight that a right gives. It says nothing of what lies outside."""
    held = [grant for grant in ctx.reach if right in grant.rights]
    whole = any(grant.domain_id == ANY and grant.pattern == ANY for grant in held)
    if per == "installation":
        held = []
    if per == "session":
        held = [grant for grant in held if grant.pattern == ANY or grant.pattern.startswith("session:")]
    if per == "domain":
        held = [grant for grant in held if grant.pattern == ANY]
    places = sorted({place_of(grant.domain_id, grant.pattern) for grant in held})
    return Sight(whole, places[:NAMED], max(len(places) - NAMED, 0), per)
