"""Every kind of dirt that SmartBrain's older schema lets in, each row sealed with what must become of it.

The judgements rest on the issue (bad rows go to the quarantine with a reason and never stop the rest), on the facts of
the older schema, and on the rules that new rows have to keep. They were written before the first migration ran.
"""

from __future__ import annotations

import json
from typing import Any

from tests.legacy.sources import scoped
from tests.legacy.sources.brain import Talk, entity, item, mention, message, ref, talk_of, tool_call
from tests.legacy.sources.manifest import WHOLE, Manifest, bad, changed, rival, told
from tests.legacy.sources.rows import Raw, Row, Rows

LONG = 200_001  # characters: one over the limit of one message
ZERO_WIDTH = "\u200b"
TIMES = ("infinity", "-infinity", "0044-03-15 12:00:00+00 BC", "24000-01-01 00:00:00+00")
# PostgreSQL holds these as jsonb; no computer number, or no reader that keeps its stack, does.
OVERFLOW = Raw('{"n": 1' + "0" * 400 + ".5}")
JSON_TRAPS = {
    "a float beyond every float": OVERFLOW,
    "a number of 5,000 digits": Raw('{"n": ' + "9" * 5_000 + "}"),
    "nested 3,000 deep": Raw("[" * 3_000 + "]" * 3_000),
}


def soil(rows: Rows, manifest: Manifest, number: int = 900) -> Talk:
    """One more conversation in which everything is wrong that can be, between turns that are whole."""
    talk = talk_of(rows, number, 6)
    bad_events(rows, manifest, talk)
    bad_turns(rows, manifest, talk)
    bad_sessions(rows, manifest)
    odd_sessions(rows, manifest)
    bad_items(rows, manifest, talk)
    rival_items(rows, manifest, talk)
    bad_entities(rows, manifest, talk)
    bad_summaries(rows, manifest)
    return talk


def bad_events(rows: Rows, manifest: Manifest, talk: Talk) -> None:
    """Messages, tool calls and references of turns that are whole."""
    turn = talk.turns[0]
    for at in TIMES:
        row = message(rows, turn, "user", "when was that", created_at=Raw(at))
        manifest.seal("messages", row, bad(f"created_at {at}", "bad_time"))
    row = message(rows, turn, "user", "长" * LONG)
    manifest.seal("messages", row, bad("one character over the limit of a message", "text_too_long"))
    message(rows, turn, "user", "长" * (LONG - 1))  # exactly at the limit: whole
    message(rows, turn, "user", "")  # an empty text is a text
    message(rows, turn, "user", f"a{ZERO_WIDTH}b \u202e\t\n 🦊 𠮷 e\u0301 \\u0000")  # odd, and legal
    row = message(rows, turn, "user", "its meta is a list", meta_json=["a"])
    manifest.seal("messages", row, changed("meta is no object: it is kept inside one"))
    row = message(rows, turn, "user", "its meta is a trap", meta_json=OVERFLOW)
    manifest.seal("messages", row, bad("meta holds a float beyond every float", "bad_json"))
    row = message(rows, turn, "user", "its meta is a trap below", meta_json=Raw('{"n": 1e-400}'))
    manifest.seal("messages", row, told("meta holds a float that a computer takes for 0", "bad_json"))
    message(rows, turn, "user", "1e400 is a whole number in jsonb, kept to the digit", meta_json=Raw('{"n": 1e400}'))
    message(rows, turn, "Human Being", "a role that no call could name, kept as it is: events are never gated")
    row = message(rows, turn, "user", "its id has 300 characters")
    row["id"] = "m" * 300
    manifest.seal("messages", row, told("an id that no answer could give back", "bad_id", "text_too_long"))
    for what, trap in JSON_TRAPS.items():
        row = tool_call(rows, turn, "shell", trap)
        manifest.seal("tool_calls", row, bad(what, "bad_json"))
    row = tool_call(rows, turn, "n" * 300, {})
    manifest.seal("tool_calls", row, bad("the tool's name has 300 characters", "text_too_long"))
    tool_call(rows, turn, "shell", [1, "two", None], result_json=Raw("null"))  # any JSON is legal
    row = ref(rows, turn, "file", "f" * 2_001)
    manifest.seal("refs", row, bad("2,001 characters", "text_too_long"))
    ref(rows, turn, "carrier-pigeon", "coop:7")  # no such kind any more, kept as it is: events are never gated
    row = ref(rows, turn, "url", "")
    manifest.seal("refs", row, bad("points nowhere", "missing_value"))


def bad_turns(rows: Rows, manifest: Manifest, talk: Talk) -> None:
    """A gap in the numbers, a newest turn without messages, a turn out of time whose messages are whole."""
    rows.add("turns", id=rows.id(), session_id=talk.session, seq=9, created_at=rows.tick())  # 7 and 8 are gone: whole
    lost = rows.add("turns", id=rows.id(), session_id=talk.session, seq=10, created_at=Raw("infinity"))
    manifest.seal("turns", lost, bad("created_at infinity", "bad_time"))
    row = message(rows, lost, "user", "of a turn that is out of time")
    manifest.seal("messages", row, bad("its turn is in the quarantine", "parent_quarantined"))
    row = tool_call(rows, lost, "shell", {})
    manifest.seal("tool_calls", row, bad("its turn is in the quarantine", "parent_quarantined"))
    before = rows.add("turns", id=rows.id(), session_id=talk.session, seq=-3, created_at=rows.tick())
    manifest.seal("turns", before, bad("a turn before the first", "bad_number"))
    row = message(rows, before, "user", "before the first turn")
    manifest.seal("messages", row, bad("its turn is in the quarantine", "parent_quarantined"))
    # the newest turn has no messages: the older application wrote it first and died
    rows.add("turns", id=rows.id(), session_id=talk.session, seq=11, created_at=rows.tick())


def bad_sessions(rows: Rows, manifest: Manifest) -> None:
    """Ids that no call could name, metadata that is no object; what lies in such a session goes with it."""
    cases: dict[str, tuple[Row, tuple[str, ...]]] = {
        "s" * 201: ({}, ("bad_id",)),
        " padded ": ({}, ("bad_id",)),
        f"sess{ZERO_WIDTH}ion": ({}, ("bad_id",)),
        "": ({}, ("bad_id",)),
        "out-of-time": ({"created_at": Raw("infinity")}, ("bad_time",)),
    }
    for name, (columns, reasons) in cases.items():
        session = rows.add("sessions", **{"id": name, "created_at": rows.tick(), "metadata_json": {}, **columns})
        manifest.seal("sessions", session, bad(f"session {name[:20]!r}", *reasons))
        turn = rows.add("turns", id=rows.id(), session_id=name, seq=1, created_at=rows.tick())
        manifest.seal("turns", turn, bad("its session is in the quarantine", "parent_quarantined"))
        said = message(rows, turn, "user", "said in a session that nobody can name")
        manifest.seal("messages", said, bad("its session is in the quarantine", "parent_quarantined"))
        kept = item(rows, name, "decisions", "decision:p:x", {"decision": "kept nowhere"})
        manifest.seal("memory_items", kept, bad("its session is in the quarantine", "parent_quarantined"))


def odd_sessions(rows: Rows, manifest: Manifest) -> None:
    """Sessions that are whole but for their metadata."""
    row = rows.add("sessions", id="list-meta", created_at=rows.tick(), metadata_json=["x"])
    manifest.seal("sessions", row, changed("metadata is no object: it is kept inside one"))
    rows.add("sessions", id="no turns 没有", created_at=rows.tick(), metadata_json={})


def bad_items(rows: Rows, manifest: Manifest, talk: Talk) -> None:
    """Memories of nobody, and memories that break the rules of keys, values and numbers."""
    good = ("decisions", "decision:soil:", {"decision": "soil"})
    orphan = item(rows, rows.id(), "decisions", "decision:ghost:db", {"decision": "of a session that never was"})
    manifest.seal("memory_items", orphan, bad("no such session", "orphan"))
    cases: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
        ("confidence 1.5", {"confidence": "1.50"}, ("confidence_range",)),
        ("confidence -0.2", {"confidence": "-0.20"}, ("confidence_range",)),
        ("confidence NaN", {"confidence": "NaN"}, ("confidence_range", "bad_number")),
        ("status", {"status": "archived"}, ("unknown_status",)),
        ("time", {"updated_at": Raw("infinity")}, ("bad_time",)),
    ]
    for at, (why, columns, reasons) in enumerate(cases):
        value = {"decision": f"soil {at}"}
        row = item(rows, talk.session, good[0], f"{good[1]}{at}", value, **columns)
        manifest.seal("memory_items", row, bad(why, *reasons))
    keys: list[tuple[str, str, tuple[str, ...]]] = [
        ("decisions", "no-grammar", ("key_grammar",)),
        ("decisions", f"decision:{'p' * 300}:x", ("key_grammar", "text_too_long")),
        ("preferences", "pref:cooking:salt", ("key_grammar",)),
        ("events", "event:soil:yesterday:x", ("key_grammar",)),
        ("tasks", f"task:soil:{ZERO_WIDTH}t1", ("key_grammar",)),
        ("entities", "entity:vegetable:leek", ("key_grammar",)),
        ("moods", "mood:user:fine", ("unknown_type",)),
    ]
    for at, (of_type, key, reasons) in enumerate(keys):
        row = item(rows, talk.session, of_type, key, {"decision": f"key {at}"})
        manifest.seal("memory_items", row, bad(f"{of_type} {key[:40]!r}", *reasons))
    row = item(rows, talk.session, "decisions", "", {"decision": "nameless 无名"})
    manifest.seal("memory_items", row, told("an empty key is none", "key_grammar", "missing_value"))
    for at, shape in enumerate((["a", "list"], "a text", 7)):
        shown = Raw(json.dumps(shape))
        row = item(rows, talk.session, good[0], f"decision:shape:{at}", shown)
        manifest.seal("memory_items", row, bad("its value is no object", "not_an_object"))
    for at, trap in enumerate((OVERFLOW, JSON_TRAPS["a number of 5,000 digits"])):
        row = item(rows, talk.session, good[0], f"decision:trap:{at}", trap)
        manifest.seal("memory_items", row, bad("JSON that no reader takes", "bad_json"))
    gone = item(rows, talk.session, "decisions", "decision:soil:gone", {"decision": "whole"}, source_turn_id=rows.id())
    manifest.seal("memory_items", gone, changed("its source turn is gone; the memory itself is whole"))
    item(rows, talk.session, "decisions", "decision:soil:null", {"decision": "空 null", "rationale": None})


def rival_items(rows: Rows, manifest: Manifest, talk: Talk) -> None:
    """Several active rows of one key: the newest holds, the others are its history, and nothing is lost."""
    for at in range(3):
        value = {"project": "soil", "name": "yield", "description": f"harvest {at} 收成"}
        row = item(rows, talk.session, "goals", "goal:soil:yield", value)
        manifest.seal("memory_items", row, WHOLE if at == 2 else changed("an older active row of an overwrite key"))
    for at in range(2):  # of one instant: one of them holds, whichever
        value = {"project": "soil", "name": "tie", "description": f"tie {at}"}
        item(rows, talk.session, "goals", "goal:soil:tie", value, updated_at=rows.clock)
    for at in range(2):  # the same words twice
        row = item(rows, talk.session, "tasks", "task:soil:same", {"title": "the same words", "status": "todo"})
        manifest.seal("memory_items", row, WHOLE if at else changed("said again in the same words"))
    for at in range(2):  # a versioned key: each is a version, the newest current
        value = {"project": "soil", "topic": "plough", "decision": f"plough {at} 犁"}
        row = item(rows, talk.session, "decisions", "decision:soil:plough", value)
        manifest.seal("memory_items", row, WHOLE if at else told("an older version of a versioned key"))


def bad_entities(rows: Rows, manifest: Manifest, talk: Talk) -> None:
    """Entities that nothing mentions, mentions of turns that are gone, names for two."""
    turn = talk.turns[0]
    lone = rows.add("entities", id=rows.id(), name="nobody speaks of it", kind="topic", canonical_id=None)
    manifest.seal("entities", lone, bad("nothing mentions it, so nobody owns it", "orphan"))
    forgotten = rows.add("entities", id=rows.id(), name="spoken of in a lost turn", kind="topic", canonical_id=None)
    manifest.seal("entities", forgotten, bad("mentioned in a deleted turn only", "orphan"))
    talk.entities["lost"] = forgotten["id"]
    row = mention(rows, talk, {"id": rows.id()}, "lost")
    manifest.seal("entity_mentions", row, bad("of a turn that is gone", "orphan", "parent_quarantined"))
    row = mention(rows, talk, {"id": rows.id()}, f"octo/{talk.project}")
    manifest.seal("entity_mentions", row, bad("of a turn that is gone", "orphan"))
    row = mention(rows, talk, {"id": None}, f"octo/{talk.project}")
    manifest.seal("entity_mentions", row, bad("neither turn nor message", "orphan", "missing_value"))
    said = rows["messages"][0]
    other = next(turn for turn in rows["turns"] if turn["id"] == said["turn_id"])
    assert other["session_id"] != talk.session
    found = entity(rows, talk, turn, "Marguerite 玛格", "person")
    mention(
        rows, talk, {"id": None}, "Marguerite 玛格", message_id=said["id"]
    )  # in another session too: owned by both
    mention(rows, talk, turn, "Marguerite 玛格", message_id=None)
    repeated = rows["entity_mentions"][-1]
    manifest.seal("entity_mentions", repeated, rival("the same entity in the same turn once more", "duplicate"))
    long = entity(rows, talk, turn, "L" * 301, "topic")
    manifest.seal("entities", long, bad("a name of 301 characters", "text_too_long"))
    manifest.seal("entity_mentions", rows["entity_mentions"][-1], bad("of an entity kept aside", "parent_quarantined"))
    odd = entity(rows, talk, turn, "a kind of its own", "vegetable")
    manifest.seal("entities", odd, told("a kind outside the list", "unknown_type"))
    # Only of its entity is something changed; of the mention all is kept, where in the turn it stands too.
    manifest.seal("entity_mentions", rows["entity_mentions"][-1], rival("goes with its entity", "parent_quarantined"))
    twin = entity(rows, talk, turn, "MARGUERITE 玛格", found["kind"])
    manifest.seal(
        "entities", twin, rival("the same name after folding: the other may be the one that changed", "duplicate")
    )
    manifest.seal(
        "entity_mentions",
        rows["entity_mentions"][-1],
        rival("goes with its entity", "parent_quarantined", "duplicate"),
    )


def bad_summaries(rows: Rows, manifest: Manifest) -> None:
    def summary(session: str, **columns: Any) -> Row:
        given = {
            "summary_text": "# Goals\n- None", "summary_version": 1, "summary_source_turn_range": {"from": 1, "to": 1},
            "summary_generated_at": rows.tick(), **columns,
        }  # fmt: skip
        return rows.add("summaries", session_id=session, **given)

    manifest.seal("summaries", summary(rows.id()), bad("of an unknown session", "orphan"))
    small = talk_of(rows, 901, 1)
    manifest.seal(
        "summaries",
        summary(small.session, summary_generated_at=Raw("infinity")),
        bad("generated at infinity", "bad_time"),
    )
    other = talk_of(rows, 902, 1)
    row = summary(other.session, summary_source_turn_range=[])
    manifest.seal("summaries", row, told("a range without ends", "not_an_object", "bad_number", "missing_value"))
    third = talk_of(rows, 904, 1)
    row = summary(third.session, summary_version=-1)
    manifest.seal("summaries", row, bad("version -1", "bad_number"))


def soil_scoped(rows: Rows, manifest: Manifest, talk: Talk) -> None:
    """What 0.2 lets in: scopes that are gone, rows in another domain than their session, states that do not exist.
    Called after the rows became those of 0.2."""
    team = next(
        row for row in rows["memory_scopes"] if row["domain_id"] == scoped.TEAM and row["scope_type"] == "project"
    )
    own = next(row for row in rows["memory_scopes"] if row["external_id"] == talk.session)
    legacy = {"scope_id": own["id"], "source_session_id": talk.session, "lifecycle_status": "promoted"}
    cases: list[tuple[str, Row, tuple[str, ...]]] = [
        ("a scope that is gone", {"scope_id": rows.id()}, ("unknown_scope",)),
        ("a scope of another domain", {"scope_id": team["id"]}, ("foreign_domain",)),
        ("no such lifecycle", {"lifecycle_status": "zombie"}, ("unknown_status",)),
    ]
    for at, (why, columns, reasons) in enumerate(cases):
        value = {"decision": f"scoped soil {at}"}
        row = item(rows, talk.session, "decisions", f"decision:scoped:{at}", value, **{**legacy, **columns})
        manifest.seal("memory_items", row, bad(why, *reasons))
    value = {"decision": "canonical without a tier"}
    row = item(
        rows, talk.session, "decisions", "decision:scoped:canon", value, **{**legacy, "lifecycle_status": "canonical"}
    )
    manifest.seal("memory_items", row, changed("no tier: canonical is not legal, promoted is what it means"))
    value = {"decision": "filled in from its session"}
    given = {**legacy, "scope_id": None, "source_session_id": None}
    item(rows, talk.session, "decisions", "decision:scoped:null", value, **given)  # the session says both: whole
    strange = scoped.scope(rows, scoped.TEAM, "galaxy", "andromeda")
    manifest.seal("memory_scopes", strange, bad("no such type of scope", "unknown_type", "unknown_scope"))
    bad_id = scoped.scope(rows, scoped.TEAM, "task", " padded ")
    manifest.seal("memory_scopes", bad_id, bad("an id that no call could name", "bad_id"))
    wrong = scoped.domain(rows, "no such name!")
    manifest.seal("domains", wrong, bad("a domain that no call could name", "bad_domain", "bad_id"))
    for why, columns, reasons in (
        ("an endless subject", {"subject": "s" * 301}, ("text_too_long",)),
        ("no object", {"object": " "}, ("missing_value",)),
        ("ends before it begins", {"valid_to": rows.clock.replace(year=2020)}, ("bad_time",)),
        ("begins at infinity", {"valid_from": Raw("infinity")}, ("bad_time",)),
        ("a scope that is gone", {"scope_id": rows.id()}, ("unknown_scope",)),
        ("no such status", {"status": "archived"}, ("unknown_status",)),
    ):
        row = scoped.relate(rows, talk, own, **{"predicate": why.replace(" ", "_"), **columns})
        manifest.seal("kg_edges", row, bad(why, *reasons))
    row = scoped.relate(rows, talk, own)
    manifest.seal("kg_edges", row, told("the same relation once more", "duplicate"))
    orphan = scoped.relate(rows, Talk(rows.id(), "en", "ghost"), own)
    manifest.seal("kg_edges", orphan, bad("of a session that never was", "orphan"))
