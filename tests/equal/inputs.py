"""What is drawn for both databases: few words, keys, scopes and moments, so that equal ones meet often."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from memory.contracts.commit import ITEM_LISTS
from memory.contracts.search import SearchMode
from memory.keys import TYPES

Tree = dict[str, Any]

SESSIONS = ["s1", "s1", "S1", "会话"]
SCOPES = ["project:alpha", "project:Alpha", "global:all", "task:任务", "expert:e"]

# Words that a database might fold, cut, order or match in its own way.
WORDS = [
    *["tea", "Tea", "database", "Postgres", "数据库", "默认", "会议室", "かな", "한국", "Ann", "Straße", "STRASSE"],
    *[
        "é",
        "e\u0301",
        "ﬁle",
        "１２",
        "İ",
        "10%",
        "a_b",
        "\\",
        "'",
        '"',
        "🙂",
        "ﷺ",
        "is",
        "not",
        "-",
        "data-base",
        "v1.2",
    ],
]
SAID = [
    "Remember that the default database is Postgres.",
    "We decided to use SQLite for local work.",
    "I prefer short answers.",
    "From now on, write the tests first.",
    "My name is Ann and I work in Berlin.",
    "That is wrong: the default database is not Postgres.",
    "The login page is done.",
    "Which database do we use now?",
    "Thanks!",
    "请记住默认数据库是 Postgres。",
    "我们决定本地用 SQLite。",
    "我更喜欢简短的回答。",
    "以后都先写测试。",
    "登录页面完成了。",
    "不对，默认数据库不是Postgres。",
    "默认database用Postgres15，yesterday 说的",
    "",
]
ASKED = [
    "database",
    "What is the default database now?",
    "默认数据库是什么？",
    "Ann 的 tea",
    "what did Ann say yesterday",
    "上周决定了什么",
    "Straße",
    "continue the login task",
    "summarize what we decided",
    "e\u0301",
    "a_b 10%",
    "?!",
]
# Around the clock of an example, which starts at 2026-03-02T09:00Z, and at the ends of the calendar.
MOMENTS = [
    "0001-01-01T00:00:00Z",
    "1969-12-31T23:59:59.999999Z",
    "2026-02-23T10:00:00+08:00",
    "2026-03-01T23:00:00Z",
    "2026-03-02T09:00:00Z",
    "2026-03-02T09:00:01.000001Z",
    "2026-03-02T09:01:30.5Z",
    "2026-03-03T11:00:00-07:00",
    "2026-03-20T00:00:00Z",
    "9999-12-31T23:59:59.999999Z",
]
# For how long something holds in the world, most often always.
WINDOWS: list[dict[str, str]] = [
    *[{}, {}, {}, {"valid_from": MOMENTS[2]}, {"valid_to": MOMENTS[8]}, {"valid_to": MOMENTS[4]}],
    {"valid_from": MOMENTS[0], "valid_to": MOMENTS[9]},
    {"valid_from": MOMENTS[2], "valid_to": MOMENTS[5]},
    {"valid_from": MOMENTS[7]},
]
NUMBERS = [
    0,
    1,
    -1,
    1.0,
    -0.0,
    0.1,
    1 / 3,
    1e-7,
    1e16,
    1.5e20,
    2**53 + 1,
    -(2**63) + 1,
    1.7976931348623157e308,
    5e-324,
]

texts = st.one_of(st.sampled_from(SAID), st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(" ".join))
words = texts.filter(bool)
questions = st.one_of(st.sampled_from(ASKED), st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join))
moments = st.sampled_from(MOMENTS)
windows = st.sampled_from(WINDOWS)
sessions = st.sampled_from(SESSIONS)
shares = st.sampled_from([0.0, 0.3, 1 / 3, 0.5, 0.8, 1.0])
json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.sampled_from(NUMBERS), st.sampled_from(WORDS)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["b", "a", "aa", "ключ", "é"]), inner, max_size=3)
    ),
    max_leaves=5,
)
json_objects = st.dictionaries(st.sampled_from(["b", "a", "aa", "B", "ключ"]), json_values, max_size=3)


def ref(name: str) -> Tree:
    """The scope of a written form."""
    scope_type, _, external_id = name.partition(":")
    return {"type": scope_type, "id": external_id}


def merged(*trees: Tree) -> Tree:
    """All members of all trees."""
    return {name: value for tree in trees for name, value in tree.items()}


def place(session: str, read: list[str], write: int | None = None, default: str | None = None) -> Tree:
    """Where a call happens: in its session, reading these scopes, the first `write` of which may be written."""
    context: Tree = {"read": [ref(name) for name in read]}
    if write is not None:
        context["write"] = context["read"][:write]
    if default is not None:
        context["default_write"] = ref(default)
    return {"session_id": session, "scope_context": context}


def _places(session: str) -> list[Tree]:
    own = f"session:{session}"
    everything = [own, *SCOPES]
    return [
        *(place(session, everything, len(everything), default) for default in (*SCOPES, own)),
        place(session, [*reversed(SCOPES), own], 4, SCOPES[-2]),
        place(session, ["global:all", "project:alpha"], None, "project:alpha"),
        place(session, everything, 3),
        {"session_id": session},
    ]


EVERYWHERE: Tree = place("s1", ["session:s1", *SCOPES])["scope_context"]
places = sessions.flatmap(lambda session: st.sampled_from(_places(session)))


def chosen(**optional: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    """Members that are sometimes there."""
    return optional


scope_refs = st.sampled_from([*SCOPES, "session:s2"]).map(ref)
messages = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "user", "user", "assistant", "tool"]), "content": texts},
    optional=chosen(
        created_at=moments,
        name=st.sampled_from(["Ann", "ann lee", "安"]),
        meta=st.one_of(json_objects, st.just({"origin": "recall"})),
    ),
)
tool_calls = st.fixed_dictionaries(
    {"name": st.sampled_from(["grep", "查"])},
    optional=chosen(args=json_values, result=json_values, created_at=moments),
)
refs = st.fixed_dictionaries(
    {
        "ref_type": st.sampled_from(["file", "url", "artifact"]),
        "ref_uri": st.sampled_from(["file:///a.txt", "https://example.com/数据库", "login"]),
    },
    optional=chosen(ref_meta_json=json_objects),
)
KEYS = {
    "profile": ["profile:user", "profile:user", "profile:Ann"],
    "preferences": ["pref:writing:tone", "pref:writing:tone", "pref:ui:主题"],
    "goals": ["goal:alpha:ship", "goal:Alpha:ship"],
    "tasks": ["task:alpha:login", "task:alpha:登录"],
    "decisions": ["decision:alpha:default-database", "decision:alpha:ｄｅｆａｕｌｔ-database"],
    "events": ["event:alpha:2026-03-01:release", "event:Alpha:2026-02-28:发布"],
    "cases": ["case:db:locked", "case:db:空"],
    "patterns": ["pattern:db:index", "pattern:DB:index"],
    "entities": ["entity:person:ann", "entity:person:Ann", "entity:person:安"],
    "facts": ["fact:database:is", "fact:database:is", "nonsense"],
}
_ITEM = chosen(
    scope_ref=scope_refs,
    review_by=moments,
    importance=st.integers(0, 5),
    evidence_refs=st.lists(st.sampled_from(["https://b/", "https://b/A", "https://b/a"]), max_size=3).map(
        lambda ids: [{"kind": "url", "id": each} for each in ids]
    ),
)
names = st.sampled_from(["Ann", "ANN", "Ann Lee", "安", "octo/brain", "Straße", "ﷺ" * 20])


def _items(of_type: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Tree]:
    told = st.fixed_dictionaries({"key": st.sampled_from(KEYS[of_type]), **fields}, optional=_ITEM)
    return st.builds(merged, told, windows)


items = {
    "profile": _items(
        "profile",
        facts=st.lists(
            st.fixed_dictionaries({"k": st.sampled_from(["city", "City", "名字"]), "v": texts}), min_size=1, max_size=2
        ),
    ),
    "preferences": _items(
        "preferences",
        value=json_values,
        confirmed=st.sampled_from([True, True, False]),
        priority=st.one_of(st.none(), shares),
    ),
    "goals": _items("goals", description=texts, status=st.sampled_from(["active", "done"])),
    "tasks": _items("tasks", title=texts, status=st.sampled_from(["todo", "doing", "done", "blocked"])),
    "decisions": _items("decisions", decision=words, rationale=texts),
    "events": _items("events", title=texts),
    "cases": _items("cases", problem=texts, solution=texts),
    "patterns": _items("patterns", rule=words, confidence=shares),
    "entities": _items(
        "entities",
        canonical=names,
        kind=st.just("person"),
        aliases=st.lists(names, max_size=3),
        attrs=json_objects,
        remember=st.booleans(),
    ),
}
assert set(items) == set(ITEM_LISTS), "every type of item is drawn"

retractions = st.fixed_dictionaries(
    {"type": st.sampled_from(TYPES), "reason": texts}, optional=chosen(scope_ref=scope_refs)
).flatmap(lambda tree: st.sampled_from(KEYS[tree["type"]]).map(lambda key: {**tree, "key": key}))
edges = st.builds(
    merged,
    st.fixed_dictionaries(
        {"subject": names, "predicate": st.sampled_from(["knows", "uses", "认识"]), "object": names},
        optional=chosen(confidence=shares, scope_ref=scope_refs),
    ),
    windows,
)

conversation = st.fixed_dictionaries(
    {"messages": st.lists(messages, min_size=1, max_size=3)},
    optional=chosen(tool_calls=st.lists(tool_calls, max_size=2), refs=st.lists(refs, max_size=2)),
)
knowledge = st.lists(st.sampled_from(ITEM_LISTS), min_size=2, max_size=4, unique=True).flatmap(
    lambda lists: st.fixed_dictionaries(
        {"messages": st.lists(messages, max_size=2)}
        | {name: st.lists(items[name], min_size=1, max_size=2) for name in lists},
    )
)
graph = st.fixed_dictionaries(
    {"edges": st.lists(edges, min_size=1, max_size=3), "entities": st.lists(items["entities"], min_size=1, max_size=2)}
)
denials = st.fixed_dictionaries({"retractions": st.lists(retractions, min_size=1, max_size=3)})


def turn(events: st.SearchStrategy[Tree], **more: st.SearchStrategy[Any]) -> st.SearchStrategy[Tree]:
    """A commit of such events somewhere."""
    return st.builds(merged, places, st.fixed_dictionaries({"turn_events": events, **more}))


searches = st.builds(
    merged,
    places,
    st.fixed_dictionaries(
        {"query": questions, "limit": st.sampled_from([2, 20])},
        optional=chosen(
            mode=st.sampled_from([str(mode) for mode in SearchMode]),
            kinds=st.sampled_from(
                [["memory"], ["message"], ["message", "memory"], ["section"], ["section"], ["section", "memory"]]
            ),
            types=st.lists(st.sampled_from(TYPES), max_size=3, unique=True),
            time_range=st.fixed_dictionaries({}, optional=chosen(since=moments, until=moments)),
            as_of=st.one_of(moments, st.fixed_dictionaries({}, optional=chosen(valid=moments, recorded=moments))),
            history=st.booleans(),
            min_confidence=shares,
        ),
    ),
)
composings = st.builds(
    merged,
    places,
    st.fixed_dictionaries(
        {"user_message": questions},
        optional=chosen(
            agent_state=json_objects,
            render=st.booleans(),
            utc_offset_minutes=st.sampled_from([0, 480, -840]),
            developer_blocks=st.just([{"type": "format_rules", "text": "Answer in Chinese."}]),
        ),
    ),
)
listings = st.fixed_dictionaries(
    {"limit": st.sampled_from([2, 20])},
    optional=chosen(
        scope=st.sampled_from(SCOPES).map(ref),
        type=st.sampled_from(TYPES),
        key=st.sampled_from([key for keys in KEYS.values() for key in keys]),
        status=st.sampled_from(["active", "superseded", "retracted"]),
        history=st.booleans(),
        overdue=st.booleans(),
    ),
)
policies = st.fixed_dictionaries(
    {},
    optional=chosen(
        review=st.sampled_from([["task"], ["global", "session"], []]).map(
            lambda types: {"queue": [{"name": "ask", "actions": ["commit_*"], "scope_types": types}]}
        ),
        composition=st.fixed_dictionaries(
            {},
            optional=chosen(
                token_limit=st.sampled_from([100, 400]),
                system_blocks_max_tokens=st.sampled_from([0, 30]),
                recent_turns_max=st.sampled_from([0, 2]),
                evidence_max_items=st.sampled_from([1, 4]),
                max_snippet_chars=st.just(20),
            ),
        ),
        scopes=st.fixed_dictionaries(
            {},
            optional=chosen(
                max_items_per_scope=st.sampled_from([1, 3]),
                conflict_priority=st.sampled_from([["session", "global"], ["global", "project", "task"]]),
            ),
        ),
        retention=st.fixed_dictionaries(
            {},
            optional=chosen(
                summarize_after_turns=st.sampled_from([1, 2]), context_days=st.just(1), extract_text=st.booleans()
            ),
        ),
    ),
)
