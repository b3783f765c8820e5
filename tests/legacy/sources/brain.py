"""Conversations of SmartBrain 0.1 as it wrote them, in English and Chinese: whole rows that nothing is wrong with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.legacy.sources.rows import Row, Rows

PROJECTS = (
    "orchard",
    "果园",
    "beacon",
    "灯塔",
    "lantern",
    "码头",
    "harbor",
    "牧场",
    "meadow",
    "河谷",
    "quarry",
    "书院",
)
PLACES = ("Lisbon", "Bergen", "Kyoto", "成都", "厦门", "Nairobi", "大理", "Quito")
SAID = {
    "en": (
        "Let us keep {project} on PostgreSQL, the backups run at {number}:00.",
        "The build of {project} fails on runner {number}, the log names a missing certificate.",
        "I moved to {place} last month and prefer meetings before {number}:30.",
        "Please remember that invoices of {project} go out on day {number} of each month.",
        "We measured {number} ms for the nightly export; half of it is compression.",
        "What did we decide about the retry limit of {project}?",
    ),
    "zh": (
        "{project}继续使用 PostgreSQL，备份在每天 {number} 点运行。",
        "{project}的构建在 {number} 号机器上失败了，日志里缺少证书。",
        "上个月我搬到了{place}，会议最好安排在 {number} 点之前。",
        "请记住：{project}的发票每月 {number} 号寄出。",
        "夜间导出用了 {number} 毫秒，一半时间花在压缩上。",
        "关于{project}的重试上限，我们上次是怎么决定的？",
    ),
}
ANSWERED = {
    "en": (
        "Noted: {project}, item {number}.",
        "I looked it up in the runbook of {project} and changed line {number}.",
    ),
    "zh": ("好的，已记录：{project}，第 {number} 条。", "我查了{project}的手册，修改了第 {number} 行。"),
}
TOOLS = ("read_file", "run_tests", "search_web", "shell")


@dataclass
class Talk:
    """One conversation: its session, its language, the word that only it uses, and its turns so far."""

    session: str
    language: str
    project: str
    turns: list[Row] = field(default_factory=list)
    entities: dict[str, str] = field(default_factory=dict)


def converse(rows: Rows, sessions: int, turns: int) -> list[Talk]:
    """So many whole conversations of so many turns each."""
    return [talk_of(rows, number, turns) for number in range(sessions)]


def talk_of(rows: Rows, number: int, turns: int) -> Talk:
    """One conversation; every seventh session has an id that the older application's caller made up."""
    project = f"{PROJECTS[number % len(PROJECTS)]}{number}"
    session = (f"conv-{number:05}", f"会话-{number}")[number % 2] if number % 7 == 3 else rows.id()
    language = "zh" if ord(project[0]) > 0x2FFF else "en"
    talk = Talk(session, language, project)
    rows.add("sessions", id=session, created_at=rows.tick(), metadata_json={"app": "desk", "语言": language})
    for seq in range(1, turns + 1):
        say(rows, talk, seq)
    if turns >= 12:
        summarise(rows, talk, turns)
    return talk


def say(rows: Rows, talk: Talk, seq: int) -> None:
    """One turn with what a turn has: two messages, and now and then a tool call, a reference, memories, an entity."""
    turn = rows.add("turns", id=rows.id(), session_id=talk.session, seq=seq, created_at=rows.tick(30))
    talk.turns.append(turn)
    for role, lines in (("user", SAID), ("assistant", ANSWERED)):
        said = rows.draw.choice(lines[talk.language]).format(
            project=talk.project, number=rows.draw.randrange(1, 29), place=rows.draw.choice(PLACES)
        )
        model = "local-7b" if role == "assistant" else None
        message(rows, turn, role, said, model=model, meta_json={"tokens": len(said) // 4} if model else {})
    if seq % 3 == 0:
        tool_call(rows, turn, rows.draw.choice(TOOLS), {"path": f"src/{talk.project}.py", "n": seq})
    if seq % 4 == 0:
        ref(rows, turn, "file", f"docs/{talk.project}/{seq}.md")
    remember(rows, talk, turn, seq)


def message(rows: Rows, turn: Row, role: str, content: str, **columns: Any) -> Row:
    given = {"model": None, "created_at": rows.tick(2), "meta_json": {}, **columns}
    return rows.add("messages", id=rows.id(), turn_id=turn["id"], role=role, content=content, **given)


def tool_call(rows: Rows, turn: Row, name: str, args: Any, **columns: Any) -> Row:
    given = {
        "result_json": {"ok": True, "lines": ["done", "完成"]},
        "status": "ok",
        "created_at": rows.tick(1),
        **columns,
    }
    return rows.add("tool_calls", id=rows.id(), turn_id=turn["id"], name=name, args_json=args, **given)


def ref(rows: Rows, turn: Row, ref_type: str, uri: str, **columns: Any) -> Row:
    given = {"ref_meta_json": {"lines": [1, 20]}, "created_at": rows.tick(1), **columns}
    return rows.add("refs", id=rows.id(), turn_id=turn["id"], ref_type=ref_type, ref_uri=uri, **given)


def item(rows: Rows, session: str, of_type: str, key: str, value: Any, **columns: Any) -> Row:
    """A memory of a session, with the derived text that the older system kept beside it."""
    given = {
        "confidence": "0.80", "status": "active", "source_turn_id": None, "source_message_id": None,
        "evidence_refs": [], "updated_at": rows.tick(1), **columns,
    }  # fmt: skip
    row = rows.add("memory_items", id=rows.id(), session_id=session, type=of_type, key=key, value_json=value, **given)
    rows.add(
        "memory_chunks", id=rows.id(), memory_item_id=row["id"], text=f"[{of_type}:{key}]", tsv=None, meta_json={}
    )
    return row


def remember(rows: Rows, talk: Talk, turn: Row, seq: int) -> None:
    """What the older extractor kept of a turn, every type in its time."""
    name, session, zh = talk.project, talk.session, talk.language == "zh"
    source = {"source_turn_id": turn["id"], "source_message_id": rows["messages"][-2]["id"]}
    if seq == 1:
        entity(rows, talk, turn, f"octo/{name}", "repo")
        value = {"scope": "writing", "name": "tone", "value": "简短" if zh else "brief", "priority": 0.5}
        item(rows, session, "preferences", "pref:writing:tone", value, status="superseded", **source)
    if seq == 2:
        value = {
            "scope": "writing",
            "name": "tone",
            "value": f"正式 {name}" if zh else f"formal {name}",
            "priority": 0.7,
        }
        item(rows, session, "preferences", "pref:writing:tone", value, **source)
        goal = {
            "project": name,
            "name": "local-first",
            "description": f"{name} 离线可用" if zh else f"{name} works offline",
        }
        item(rows, session, "goals", f"goal:{name}:local-first", goal, **source)
    if seq % 3 == 0:
        task = {
            "project": name,
            "task_id": f"t{seq}",
            "title": f"检查 {name} 第 {seq} 步" if zh else f"Check step {seq} of {name}",
        }
        item(
            rows,
            session,
            "tasks",
            f"task:{name}:t{seq}",
            {**task, "status": "todo"},
            status="superseded",
            confidence="0.90",
        )
        item(rows, session, "tasks", f"task:{name}:t{seq}", {**task, "status": "done"}, confidence="0.90", **source)
    if seq % 5 == 0:
        decision = f"{name} 使用 Postgres {seq}" if zh else f"{name} uses Postgres {seq}"
        value = {"project": name, "topic": f"db{seq}", "decision": decision, "rationale": f"第 {seq} 次讨论"}
        item(rows, session, "decisions", f"decision:{name}:db{seq}", value, evidence_refs=[turn["id"]], **source)
    if seq == 6:
        every_other_type(rows, talk, source)
    if seq % 2 == 0:
        mention(rows, talk, turn, f"octo/{name}")


def every_other_type(rows: Rows, talk: Talk, source: Row) -> None:
    """The types that one conversation has once."""
    name, session, zh = talk.project, talk.session, talk.language == "zh"
    happened = f"{name} 首次发布" if zh else f"First release of {name}"
    given = {
        "events": (f"event:{name}:2025-03-02:release", {"scope": name, "date": "2025-03-02", "title": happened}),
        "profile": ("profile:user", {"subject": "user", "facts": [{"k": "city", "v": rows.draw.choice(PLACES)}]}),
        "entities": (f"entity:repo:octo/{name}", {"kind": "repo", "canonical": f"octo/{name}", "aliases": [name]}),
        "cases": (
            f"case:{name}:empty-index",
            {"domain": name, "problem": f"{name} index empty", "solution": "重建索引"},
        ),
        "patterns": (f"pattern:{name}:slots", {"domain": name, "name": "slots", "rule": f"{name}: slots in order"}),
    }
    for of_type, (key, value) in given.items():
        item(rows, session, of_type, key, value, **source)
    wrong = {"project": name, "topic": "wrong", "decision": f"{name} mistaken"}
    item(rows, session, "decisions", f"decision:{name}:wrong", wrong, status="retracted", **source)


def entity(rows: Rows, talk: Talk, turn: Row, name: str, kind: str) -> Row:
    """An entity and its first mention: the older table does not say whose it is."""
    row = rows.add("entities", id=rows.id(), name=name, kind=kind, canonical_id=None)
    talk.entities[name] = row["id"]
    mention(rows, talk, turn, name)
    return row


def mention(rows: Rows, talk: Talk, turn: Row, name: str, **columns: Any) -> Row:
    given = {"message_id": None, "span_json": {"from": 0, "to": len(name)}, "created_at": rows.tick(1), **columns}
    return rows.add("entity_mentions", id=rows.id(), entity_id=talk.entities[name], turn_id=turn["id"], **given)


def summarise(rows: Rows, talk: Talk, turns: int) -> None:
    text = f"# Goals\n- goal:{talk.project}:local-first\n# Decisions\n- decision:{talk.project}:db5\n# Open Questions\n- None"
    rows.add(
        "summaries", session_id=talk.session, summary_text=text, summary_version=turns // 12,
        summary_source_turn_range={"from": turns - 11, "to": turns}, summary_generated_at=rows.tick(1),
    )  # fmt: skip
