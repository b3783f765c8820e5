"""Domains in which the owner of what was moved in has sessions that it may not read and write."""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote

from kernel.context import ANY, Right
from scopes.contracts import SESSION
from scopes.models import MemoryScope, Principal
from scopes.selectors import identify_principal

NEEDED = frozenset({Right.READ, Right.WRITE})


@dataclass(frozen=True, slots=True)
class Closed:
    """A domain with sessions of that principal's, and the rights on all of it with which they would open: those that it
    has there, and the needed ones."""

    owner: str
    domain_id: str
    sessions: int
    rights: tuple[Right, ...]

    @property
    def command(self) -> str:
        """What an operator runs to open it."""
        return f"manage.py grant_access {quote(self.owner)} --domain {quote(self.domain_id)} --rights {','.join(self.rights)}"

    @property
    def told(self) -> str:
        """For people: what is closed, and what opens it."""
        many = f"{self.sessions} session{'' if self.sessions == 1 else 's'}"
        return f"{self.owner} has {many} in the domain {self.domain_id} and may not read and write them there: {self.command}"


def closed_to(owner_id: str) -> list[Closed]:
    """The domains, by name, where nothing grants this principal to read and write its own sessions."""
    owner = Principal.objects.filter(pk=owner_id).first()
    if owner is None:
        return []
    reach = identify_principal(owner).reach
    sessions = MemoryScope.objects.filter(scope_type=SESSION, owner=owner_id)
    found = []
    for domain_id in sessions.order_by("domain_id").values_list("domain_id", flat=True).distinct():
        if all(any(each.covers(domain_id, f"{SESSION}:{ANY}", right) for each in reach) for right in NEEDED):
            continue
        held = {
            each for grant in reach if (grant.domain_id, grant.pattern) == (domain_id, ANY) for each in grant.rights
        }
        rights = tuple(right for right in Right if right in NEEDED | held)
        found.append(Closed(owner.name, domain_id, sessions.filter(domain_id=domain_id).count(), rights))
    return found
