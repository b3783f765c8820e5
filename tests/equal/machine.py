"""A history that both databases live through: each step is a call, and each answer must be the same byte for byte."""

from __future__ import annotations

from typing import Any, ClassVar
from uuid import UUID

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.equal import inputs, papers
from tests.equal.inputs import Tree
from tests.equal.pair import Pair

NOBODY = str(UUID(int=7 << 76 | 2 << 62))
LOOKS = ["item", "turns", "turn", "sessions", "scopes", "figures", "document", "documents"]
HANDLED = ["share_document", "share_document", "unshare_document", "remove_document", "get_document"]
picks = st.integers(0, 7)


class History(RuleBasedStateMachine):
    """What one domain lives through: two commits, then steps as they come, and a look at everything in the end."""

    pair: ClassVar[Pair]

    def __init__(self) -> None:
        """In a domain that nothing has used yet."""
        super().__init__()
        self.here = self.pair.example()
        self.items: list[str] = []
        self.turns: list[str] = []
        self.proposals: list[str] = []
        self.documents: list[str] = []
        self.keyed: list[Tree] = []
        self.last: tuple[Tree, ...] = ()
        self.keys: list[Tree] = []

    @initialize(
        turn=inputs.turn(inputs.knowledge),
        elsewhere=st.sampled_from(inputs.SCOPES),
        document=st.one_of(st.none(), st.none(), inputs.policies),
        asked=st.tuples(inputs.searches, inputs.composings),
        paper=st.one_of(st.none(), papers.documents),
        tight=st.booleans(),
    )
    def begin(
        self,
        turn: Tree,
        elsewhere: str,
        document: Tree | None,
        asked: tuple[Tree, Tree],
        paper: Tree | None,
        tight: bool,
    ) -> None:
        """The same keys come to stand in two scopes."""
        self.last, self.here.tight = asked, tight
        events = {
            name: [*rows, *({**row, "scope_ref": inputs.ref(elsewhere)} for row in rows if "key" in row)]
            for name, rows in turn["turn_events"].items()
        }
        self.commit({**turn, "turn_events": events})
        if document is not None:
            self.set_policy(document, "begin")
        if paper is not None:
            self.bring(paper, narrow=False)

    # Hypothesis draws rules of few arguments, and the first of them by name, more often than others.

    @rule(turn=inputs.turn(inputs.knowledge, replaced=st.one_of(st.none(), picks)))
    def add(self, turn: Tree) -> None:
        replaced = turn.pop("replaced")
        if replaced is not None:
            events = turn["turn_events"]
            name = next(name for name in events if name != "messages")
            events[name][0]["supersedes"] = self.pick(self.items, replaced)
        self.commit(turn)

    @rule(given=papers.documents, narrow=st.booleans())
    def bring(self, given: Tree, narrow: bool) -> None:
        """A document, or its source again."""
        answer = self.here.here(self.here.narrow if narrow else self.here.agent, "add_document", **given)
        if answer["status"] == 200 and answer["body"]["document_id"] not in self.documents:
            self.documents.append(answer["body"]["document_id"])

    @precondition(lambda self: self.documents)
    @rule(what=st.sampled_from(HANDLED), which=picks, scope=inputs.scope_refs)
    def handle(self, what: str, which: int, scope: Tree) -> None:
        """One of the documents, whosever it is."""
        more = {"scope": scope} if "share" in what else {"reason": "r"} if what == "remove_document" else {"limit": 2}
        self.here.call(self.here.agent, what, document_id=self.pick(self.documents, which), **more)

    @rule(asked=papers.retrievals, narrow=st.booleans())
    def find_evidence(self, asked: Tree, narrow: bool) -> None:
        self.here.here(self.here.narrow if narrow else self.here.agent, "retrieve", **asked)

    @rule(turn=inputs.turn(inputs.graph))
    def relate(self, turn: Tree) -> None:
        self.commit(turn)

    @rule(turn=inputs.turn(inputs.denials, which=picks))
    def take_back(self, turn: Tree) -> None:
        """Keys at random, and one that was written."""
        which = turn.pop("which")
        if self.keys:
            turn["turn_events"]["retractions"].append(self.keys[-1 - which % len(self.keys)])
        self.commit(turn)

    @rule(turn=inputs.turn(inputs.conversation, keyed=st.booleans()))
    def talk(self, turn: Tree) -> None:
        key = {"idempotency_key": f"k{len(self.keyed)}"} if turn.pop("keyed") else {}
        self.commit({**turn, **key})

    @precondition(lambda self: self.keyed)
    @rule(which=picks)
    def say_again(self, which: int) -> None:
        """The same call with its key again, or another call with that key."""
        again = self.keyed[-1 - which % len(self.keyed)]
        self.commit({**again, "extract": False} if which % 3 == 2 else again)

    @rule(asked=inputs.searches)
    def search(self, asked: Tree) -> None:
        self.read_all(self.here.agent, "search_memory", **asked)

    @rule(asked=inputs.composings)
    def compose(self, asked: Tree) -> None:
        self.here.here(self.here.agent, "compose_context", **asked)

    @rule(asked=inputs.listings, narrow=st.booleans())
    def list_items(self, asked: Tree, narrow: bool) -> None:
        self.read_all(self.here.narrow if narrow else self.here.agent, "list_memory_items", **asked)

    @rule(what=st.sampled_from(LOOKS), which=picks, flag=st.booleans())
    def look(self, what: str, which: int, flag: bool) -> None:
        """At one of the things there are; the flag asks for another order, or comes from one who sees projects only."""
        here, reader = self.here, self.here.narrow if flag else self.here.agent
        if what == "item":
            here.call(reader, "get_memory_item", id=self.pick(self.items, which))
        elif what == "turns":
            session = inputs.SESSIONS[which % len(inputs.SESSIONS)]
            self.read_all(here.agent, "list_turns", session_id=session, newest_first=flag, limit=2)
        elif what == "turn":
            here.call(reader, "get_turn", turn_id=self.pick(self.turns, which))
        elif what == "document":
            self.read_all(reader, "list_documents", tag=papers.TAGS[which % len(papers.TAGS)], limit=2)
        elif what == "figures":
            here.here(here.agent, "diagnostics", limit=which + 1)
        else:
            self.read_all(reader, f"list_{what}", limit=2)

    @rule(document=inputs.policies, reason=inputs.words)
    def set_policy(self, document: Tree, reason: str) -> None:
        self.here.here(self.here.operator, "set_policy", document=document, reason=reason)

    @precondition(lambda self: self.proposals)
    @rule(given=st.tuples(picks, st.sampled_from(["approve", "approve", "reject", "withdraw", "get"])))
    def decide(self, given: tuple[int, str]) -> None:
        which, step = given
        actor = self.here.agent if step in ("withdraw", "get") else self.here.reviewer
        reason = {"reason": "no"} if step == "reject" else {}
        answer = self.here.call(actor, f"{step}_proposal", id=self.pick(self.proposals, which), **reason)
        if step == "approve" and answer["status"] == 200:
            self.remember(answer["body"]["result"])
        self.read_all(self.here.agent, "list_proposals", limit=2)

    @invariant()
    def one_step_more(self) -> None:
        self.pair.steps += 1

    def teardown(self) -> None:
        """What is left to be said, what there is, and the story that the audit log tells."""
        if self.proposals:
            self.decide((0, "approve"))
        for ask, asked in zip((self.search, self.compose), self.last, strict=False):
            ask({**asked, "scope_context": inputs.EVERYWHERE})
        self.list_items({"history": True, "limit": 100}, narrow=False)
        if self.documents:
            self.look_at_documents()
        self.read_all(self.here.agent, "list_conflicts", state=None, limit=3)
        self.read_all(self.here.agent, "inspect_shadows", scope_context=inputs.EVERYWHERE, limit=2)
        self.read_all(self.here.operator, "list_audit", limit=100)

    def look_at_documents(self) -> None:
        """All that is left of them, and what both readers find in them: of everything, and one by one."""
        asked = {**self.last[0], "kinds": ["section"], "scope_context": inputs.EVERYWHERE, "limit": 2}
        asked.pop("types", None)
        for reader in (self.here.agent, self.here.narrow):
            self.read_all(reader, "list_documents", limit=2)
            for text in (asked["query"], "database Ann 数据库 tea"):
                query = {"text": text, "hints": {"weak": True}}
                plan = {**papers.PLAN, "queries": [query], "budget": {"diversity": {"by_document": 9, "by_source": 9}}}
                self.here.here(reader, "retrieve", plan=plan)
        self.read_all(self.here.agent, "search_memory", **asked)
        for document_id in self.documents:
            self.here.call(self.here.agent, "get_document", document_id=document_id, limit=50)
        self.read_all(self.here.agent, "list_tags", limit=2)

    def commit(self, given: Tree) -> None:
        answer = self.here.here(self.here.agent, "commit_turn", **given)
        if answer["status"] == 200:
            self.remember(answer["body"])
        if answer["status"] == 202:
            self.proposals.append(answer["body"]["proposal"]["id"])
        if "idempotency_key" in given and answer["status"] in (200, 202) and given not in self.keyed:
            self.keyed.append(given)

    def remember(self, body: Tree) -> None:
        self.turns.append(body["turn_id"])
        for row in body["memory_written"]["items"]:
            if row["id"] not in self.items:
                self.items.append(row["id"])
                self.keys.append({"type": row["type"], "key": row["key"], "scope_ref": row["scope"]})

    def read_all(self, actor: str, action: str, **fields: Any) -> None:
        for _ in self.here.pages(actor, action, **fields):
            pass

    @staticmethod
    def pick(known: list[str], which: int) -> str:
        """One of the newest that are known; nobody's id where there is none."""
        return known[-1 - which % len(known)] if known else NOBODY
