"""A busy house made for tests: memories with sources, copies, neighbours and contradictions, and a proposal of every kind
about them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from governance.models import Proposal
from memory.models import Conflict, MemoryItem, Message
from tests.conftest import TEAM, Cast, Player, make_agent
from tests.memory.promoting import approve, promote, promoter
from tests.memory.talk import commit, context, decision, only, ref

SHOP, TASK, EXPERT, GLOBAL = "project:shop", "task:t", "expert:e", "global:g"
WHY = {"kind": "url", "id": "https://example.org/why"}
HELD = (
    "write_memory_item",
    "retract_item",
    "correct_item",
    "narrow_item",
    "demote",
    "demote_from_scope",
    "commit_turn",
)
RULES = {"name": "all", "actions": list(HELD)}


class House:
    """The cast's agent with everything that it needs to propose, and what it knows so far."""

    def __init__(self, cast: Cast) -> None:
        self.cast = cast
        self.agent: Player = promoter(cast)
        self.curator = make_agent("curator", rights=["read", "write", "promote"])
        said = commit(
            self.agent, "s0", say="The shop is small.", scopes=context(SHOP), decisions=[decision("Be small")]
        )
        self.memory = {"kind": "memory", "id": only(said)["id"]}
        self.message = {"kind": "message", "id": str(Message.objects.latest("id").pk)}

    def known(self, name: str, scope: str = SHOP) -> str:
        """A memory learned in a conversation, with evidence of each kind, copied, leaned on and contradicted."""
        refs = [self.memory, self.message]

        def told(text: str, key: str, evidence: list[dict[str, Any]], where: str = scope) -> str:
            learned = [decision(text, f"decision:{name}:{key}", evidence_refs=evidence)]
            said = commit(
                self.agent, f"s-{name}", say=f"{text}.", extract=False, scopes=context(where), decisions=learned
            )
            return str(only(said)["id"])

        found = told(f"The port of the {name} service is 5432", "port", refs)
        for target in (EXPERT, "project:copy"):
            approve(self.cast, promote(self.agent, found, target))
        mine = {"kind": "memory", "id": found}
        told(f"The {name} service listens where its port says", "derived", [mine])
        told(f"The port of the {name} service is 9999", "other", [self.memory])
        told(f"The port of the {name} service is at 5432", "near", [self.memory])
        return found

    def propose(self, action: str, item: str, **fields: Any) -> str:
        """The id of the proposal that a call about a memory waits as."""
        given = {"memory_item_id": item, "reason": "it is so", **fields}
        return str(self.agent.do(action, given)["proposal"]["id"])


def proposals(cast: Cast) -> dict[str, str]:
    """A proposal of every kind, by what it is."""
    house = House(cast)
    names = ("promoted", "again", "raised", "gone", "corrected", "narrowed", "demoted", "edited")
    known = {name: house.known(name) for name in names}
    copy = MemoryItem.objects.get(source_item=UUID(house.known("taken-out")), scope__scope_type="expert")
    commit(house.agent, "s-there", scopes=context(GLOBAL), decisions=[decision("Port 1", "decision:again:port")])
    place = ref(SHOP)
    conflict = Conflict.objects.filter(state="open", item_a__key__startswith="decision:promoted").latest("id")
    policy = {"review": {"queue": [RULES], "two_person": [{"name": "two", "actions": ["correct_item"]}]}}
    cast.operator.do("set_policy", domain_id=TEAM, document=policy, reason="people look first")
    refs = [house.memory, house.message, WHY]
    near = str(MemoryItem.objects.get(key="decision:gone:near").pk)
    found = {
        "promotion": house.propose(
            "promote_to_scope", known["promoted"], target_scope=ref(GLOBAL), verification_refs=refs
        ),
        "promotion over another": house.propose(
            "promote_to_scope", known["again"], target_scope=ref(GLOBAL), verification_refs=refs
        ),
        "raising": house.propose(
            "raise_tier", known["raised"], tier="shu", supporting_refs=refs[:2], verification_refs=[WHY]
        ),
        "retraction": house.propose("retract_item", known["gone"], also=[near]),
        "correction": house.propose("correct_item", known["corrected"], text="It is 1", evidence_refs=refs),
        "narrowing": house.propose("narrow_item", known["narrowed"], target_scope=ref(TASK)),
        "demotion": house.propose("demote", known["demoted"], reason_type="unsafe", evidence_refs=refs),
        "taking out": house.propose("demote_from_scope", str(copy.pk), reason_type="unsafe", evidence_refs=refs),
        "an edited correction": house.propose("correct_item", known["edited"], text="It is 2", evidence_refs=refs),
    }
    item = {
        "key": "decision:promoted:port",
        "decision": "The port of the promoted service is 1",
        "evidence_refs": refs,
    }
    written = {"domain_id": TEAM, "scope": place, "type": "decisions", "item": item}
    found["writing"] = house.agent.do("write_memory_item", written)["proposal"]["id"]
    fresh = {**item, "key": "decision:fresh:port", "decision": "The port of the fresh service is 5432"}
    found["writing anew"] = house.agent.do("write_memory_item", {**written, "item": fresh})["proposal"]["id"]
    many = [decision(f"The port of the {name} service is 7", f"decision:{name}:port") for name in names]
    turn = commit(
        house.agent, "s-turn", say="The port of the gone service is 5432", scopes=context(SHOP), decisions=many
    )
    found["a turn of many items"] = turn["proposal"]["id"]
    decided = {"id": str(conflict.pk), "outcome": "keep_b", "reason": "newer"}
    found["conflict"] = house.curator.do("resolve_conflict", decided)["proposal"]["id"]
    cast.reviewer.do("reject_proposal", id=(rejected := found.pop("writing anew")), reason="which service?")
    found["a decided one"] = rejected
    found["policy"] = cast.reviewer.do("draft_rule", id=found["demotion"], reason="always")["proposal"]["id"]
    row = Proposal.objects.get(pk=found["an edited correction"])
    edited = {**row.input, "text": "It is 3"}
    cast.reviewer.do("edit_and_approve", id=str(row.pk), revision=row.revision, input=edited, reason="better so")
    for proposal in found.values():
        cast.reviewer.do("comment_on_proposal", id=proposal, text="see @ann")
    return {name: str(proposal) for name, proposal in found.items()}
