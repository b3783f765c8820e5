"""What each kind of cue makes of the words around it."""

from __future__ import annotations

import re
from collections.abc import Callable

from memory.extraction import corrections, facts, shapes
from memory.extraction.cue import Hit
from memory.extraction.cue_orders import AFTER_DENIAL
from memory.extraction.guards import objection
from memory.extraction.reading import fold
from memory.extraction.scene import Scene
from memory.extraction.statuses import mention
from memory.extraction.values import Draft, Rejected
from memory.extraction.words import EMPTY, IMPERATIVE_RULE, REMINISCENCE, SMALL_VALUE

_CONDITION = re.compile(
    r"(?:if|when|whenever|unless|every time|each time|before|after|in case)\b|如果|当|每次|每当|凡是|只要|一旦|要是"
)
_TO_DO = re.compile(r"to (?P<what>(?!always|never).+)", re.DOTALL)
_ALWAYS = re.compile(r"to (?P<what>(?:always|never) .+)", re.DOTALL)
_OTHER_SIDE_ZH = re.compile(r"(?:比起|相比于?|与其|相较于?|和|跟)(?P<y>[^,。]{1,30}?)(?:相比)?,?\s*$")
_NO_RULE = re.compile(
    r"(?:things?|it|everything|life|he|she|they|there|i'm|i am)\b|天气|情况|我就(?!用|要)|他|她|再也|一切"
)
_POINTING = re.compile(
    r"(?:this|that|these|those|the|how|your|it)\b|这|那|"
    r"你(?!(?:回答|回复|解释|写|讲|说话)(?:得|时|用|要|能|先)|先|用|直接|给)"
)
# What friends settle on is no decision of a project.
_CASUAL = re.compile(r"吃|玩|逛|喝|电影|睡|聚餐|聚会|见面|集合|听你的|\b(?:lunch|dinner|drinks?|movie|pizza)\b")
_LONGEST_SETTLED = 200
_TO_ME = re.compile(r"推荐|道歉|提醒我|称呼我|叫我|废话|客套|啰嗦|重复我|列出来|call(?:ing)? me")
_WANTED = re.compile(
    r"(?<![重主需必次概纪摘])要(?!点|求|素)|(?<![取获记值舍])得(?!到)|必须|需要|应该|打算|计划在|准备在|争取|希望|预计|明天|后天|下周|下个月|尽快|之前"
    r"|\b(?:should|must|needs? to|want|hope|will|going to|almost|nearly)\b"
)
_PLANNED = re.compile(
    r"(?:once|when|after|until|if|before|as soon as|unless|make sure|ensure|not)\b|等|如果|当|只要|一旦|没|未|快"
)


def drafts(scene: Scene) -> list[Draft]:
    """What the cue at hand proposes. Raises Rejected with a reason where it proposes nothing."""
    kind = scene.hit.cue.kind
    if kind in {"remember", "standing", "forget"} and not scene.is_last() and _takes_all(scene):
        scene.swallowed = len(scene.hits)
    content = scene.content()
    reason = objection(scene.reading, scene.sentence, scene.hit, fold(content), scene.wrapper)
    if reason:
        raise Rejected(reason)
    made = _HANDLERS[kind](scene, content)
    if scene.retract and kind not in {"forget", "done", "blocked"}:
        return [corrections.retraction(draft, scene.statement()) for draft in made if draft.kind == "write"]
    return made


def _takes_all(scene: Scene) -> bool:
    """Whether the later cues of the sentence are part of what is to be remembered."""
    following = scene.hits[scene.at + 1]
    gap = scene.reading.view[scene.hit.end : following.start].strip()
    return (
        bool(_CONDITION.match(gap))
        or scene.is_plain(following)
        or (following.cue.kind in {"no_longer", "standing", "done", "blocked"} and gap[-1:] not in ",;")
    )


def remembered(scene: Scene, start: int, end: int) -> list[Draft]:
    """What a stretch of words states that the user asked to remember."""
    raw = scene.reading.text[start:end]
    content = shapes.clean(raw)
    shift = raw.find(content) if content else 0
    scene.span = (start + shift, start + shift + len(content))
    scene.explicit = True
    if scene.rule().cue.kind == "standing":
        return [_rule(content, content)]
    return _typed(content, scene.rule().cue.arg == "todo")


def _typed(content: str, todo: bool) -> list[Draft]:
    view = fold(content)
    always = _ALWAYS.match(view)
    if always:
        content = content[always.start("what") :]
        return [shapes.preference(content, content, rule=True)]
    to_do = _TO_DO.match(view)
    if to_do:
        content = content[to_do.start("what") :]
        return [shapes.task(content, content)]
    if IMPERATIVE_RULE.match(view):
        return [shapes.preference(content, content, rule=True)]
    if todo and any(char >= "\u4e00" for char in content[:20]):
        fact = facts.parse(content)
        if fact is None or fact.many:
            return [shapes.task(content, content)]
    return [facts.remembered(shapes.clean(content[start:end])) for start, end in facts.split(content)]


def _remember(scene: Scene, content: str) -> list[Draft]:
    scene.explicit = True
    scene.wrapper = scene.wrapper or scene.hit
    if not content or EMPTY.fullmatch(fold(content)):
        raise Rejected("no_content")
    if (
        scene.hit.cue.name in {"remember", "jide"}
        and not scene.reading.view[: scene.hit.end].rstrip().endswith((":", "that"))
        and REMINISCENCE.match(fold(content))
    ):
        raise Rejected("reminiscence")
    if scene.standing:
        return [shapes.preference(content, content, rule=True)]
    return _typed(content, scene.hit.cue.arg == "todo")


def _standing(scene: Scene, content: str) -> list[Draft]:
    if scene.hit.cue.arg == "scoped" and not (
        scene.explicit or shapes.has_preference_scope(content) or _TO_ME.search(content)
    ):
        raise Rejected("not_a_rule")
    scene.explicit |= scene.hit.cue.arg not in {"soft", "scoped"}
    # A rule that fills its own clause says nothing about the next one.
    scene.standing = not scene.hit.groups.get("all")
    return [_rule(content, scene.statement())]


def _rule(content: str, statement: str) -> Draft:
    if _NO_RULE.match(fold(content)):
        raise Rejected("not_a_rule")
    return shapes.preference(content, statement, rule=True)


def _forget(scene: Scene, content: str) -> list[Draft]:
    return [corrections.forgotten(content, scene.statement(), scene.subject)]


def _wrong(scene: Scene, content: str) -> list[Draft]:
    scene.denied = True
    return _right_value(scene, content)


def corrections_after(scene: Scene) -> list[Draft]:
    """The right value that a sentence gives after "that's wrong"."""
    sentence = scene.sentence
    if sentence.asked_from < sentence.end:
        raise Rejected("no_target")
    scene.span = (sentence.start, sentence.end)
    scene.lead_rule = Hit(AFTER_DENIAL, sentence.start, sentence.start, {})
    return _right_value(scene, shapes.clean(scene.reading.text[sentence.start : sentence.end]))


def _right_value(scene: Scene, content: str) -> list[Draft]:
    if not corrections.starts_with_it(content):
        fact = facts.parse(content)
        if fact is None or fact.many or SMALL_VALUE.fullmatch(fold(fact.value)):
            raise Rejected("no_target")
        earlier = scene.antecedent()
        if earlier is not None and corrections.shortened(fact, earlier):
            return [corrections.restated(earlier, fact.value)]
        return [fact.draft(content)]
    return [_restated(scene, corrections.value_of(content))]


def _restated(scene: Scene, value: str) -> Draft:
    earlier = scene.antecedent()
    if earlier is None:
        raise Rejected("no_target")
    return corrections.restated(earlier, value)


def _correct(scene: Scene, content: str) -> list[Draft]:
    if not scene.denied and re.match(r"it should|i mean|应", scene.reading.view[scene.hit.start : scene.hit.end]):
        return []
    return [_restated(scene, corrections.value_of(content))]


def _correct_full(scene: Scene, content: str) -> list[Draft]:
    return _right_value(scene, content) if content else []


def _correct_mid(scene: Scene, content: str) -> list[Draft]:
    value = corrections.value_of(content)
    subject = scene.clause_before()
    return [corrections.about(subject, value, shapes.clean(scene.reading.text[slice(*scene.span)]))]


def _not_but(scene: Scene, content: str) -> list[Draft]:
    _, value = corrections.replaced(content)
    subject = scene.clause_before()
    if (
        not subject
        or fold(subject) in {"it", "that", "this", "这", "那", "它", "no", "其实", "应该"}
        or (scene.denied and not facts.bare(subject))
    ):
        return [_restated(scene, corrections.value_of(value))]
    return [
        corrections.about(subject, corrections.value_of(value), shapes.clean(scene.reading.text[slice(*scene.span)]))
    ]


def _no_longer(scene: Scene, content: str) -> list[Draft]:
    view = scene.reading.view[scene.hit.start : scene.hit.end]
    subject = scene.clause_before()
    statement = shapes.clean(scene.reading.text[slice(*scene.span)])
    who = fold(subject).split()[-1:] or [""]
    if who[0] in {"i", "we"} or not subject or subject[-1:] in "我们":
        return [
            corrections.taken_back(
                content, statement, ours=who[0] == "we" or who[0].endswith("们"), subject=scene.subject
            )
        ]
    if not re.search(r"\b(?:is|are)\b|是", view):
        return [corrections.taken_back(content, statement, ours=True, subject=scene.subject)]
    return [corrections.retraction(corrections.about(subject, content, f"{subject}{content}"), statement)]


def _anymore(scene: Scene, content: str) -> list[Draft]:
    ours = scene.reading.view.startswith("we", scene.hit.start)
    return [corrections.taken_back(content, scene.statement(), ours=ours, subject=scene.subject)]


def _decide(scene: Scene, content: str) -> list[Draft]:
    return [shapes.decision(content, scene.statement())]


def _settled(scene: Scene, content: str) -> list[Draft]:
    """ "That's settled": what follows it, or else the words before it."""
    settled = content if any(char.isalnum() for char in content) else scene.clause_before()
    if _CASUAL.search(fold(settled)) or len(settled) > _LONGEST_SETTLED:
        raise Rejected("not_a_decision")
    return [shapes.decision(settled, settled)]


def _prefer(scene: Scene, content: str) -> list[Draft]:
    other = _OTHER_SIDE_ZH.search(
        scene.reading.view[max(scene.sentence.start, scene.hit.start - 40) : scene.hit.start]
    )
    over = other["y"] if other else ""
    return [shapes.preference(content, scene.statement(), topic=scene.hit.groups.get("topic") or "", over=over)]


def _like(scene: Scene, content: str) -> list[Draft]:
    if (
        scene.explicit
        or re.search(r"不喜欢|讨厌|而不是|胜过|多于", content)
        or (shapes.has_preference_scope(content) and not _pointing(content))
    ):
        return [shapes.preference(content, scene.statement())]
    raise Rejected("not_a_preference")


def _habit(scene: Scene, content: str) -> list[Draft]:
    if not shapes.has_preference_scope(content):
        raise Rejected("not_a_preference")
    return [shapes.preference(content, scene.statement())]


def _dislike(scene: Scene, content: str) -> list[Draft]:
    if scene.explicit or (shapes.has_preference_scope(content) and not _pointing(content)):
        return [shapes.preference(content, scene.statement(), avoid=True)]
    raise Rejected("not_a_preference")


def _pointing(content: str) -> bool:
    """Whether a liking is about the thing at hand: praise or venting, not a taste."""
    return bool(_POINTING.match(fold(content)))


def _profile(scene: Scene, content: str) -> list[Draft]:
    key = scene.hit.cue.arg or (scene.hit.groups.get("k") or "")
    return shapes.profile(key, content, scene.statement(), scene.subject)


def _goal(scene: Scene, content: str) -> list[Draft]:
    return [shapes.goal(content, scene.statement())]


def _task(scene: Scene, content: str) -> list[Draft]:
    return [shapes.task(content, content)]


def _done(scene: Scene, content: str) -> list[Draft]:
    return [_status(scene, content if scene.hit.cue.arg.startswith("after") else scene.clause_before(), "done")]


def _blocked(scene: Scene, content: str) -> list[Draft]:
    where = scene.hit.cue.arg.rstrip("?")
    if where == "both":
        content = re.sub(r"(?:上|里|这里|那里|这一步)?了?$", "", content)
    before = scene.clause_before() if where in {"before", "both"} else ""
    name = content if where == "after" or (where == "both" and not before) else before
    if where == "both" and not before:
        name = content
    why = scene.hit.groups.get("why") or re.sub(r"^.{1,60}? until ", "", content)
    why = re.sub(r"^(?:by|on|waiting (?:for|on)|because(?: of)?)\s", "", why)
    draft = _status(scene, name, "blocked")
    return [
        Draft(draft.type, draft.key, {**draft.value, "reason": why}, draft.statement, draft.kind)
        if why and why != name
        else draft
    ]


def _status(scene: Scene, words: str, status: str) -> Draft:
    if _PLANNED.match(fold(words)) or (status == "done" and _WANTED.search(fold(words))):
        raise Rejected("hypothetical")
    name = mention(words)
    statement = shapes.clean(scene.reading.text[slice(*scene.span)])
    if scene.board:
        key, title = scene.board.find(name)
    elif scene.hit.cue.arg.endswith("?"):
        raise Rejected("no_open_task")
    else:
        if len(name.split()) > 8 or len(name) > 60:
            raise Rejected("no_target")
        title, key = name, shapes.task(name, name, status).key
    return Draft("tasks", key, {"status": status, "title": title}, statement, "task_status")


_HANDLERS: dict[str, Callable[[Scene, str], list[Draft]]] = {
    "remember": _remember,
    "standing": _standing,
    "forget": _forget,
    "wrong": _wrong,
    "correct": _correct,
    "correct_full": _correct_full,
    "correct_mid": _correct_mid,
    "not_but": _not_but,
    "no_longer": _no_longer,
    "anymore": _anymore,
    "decide": _decide,
    "settled": _settled,
    "habit": _habit,
    "prefer": _prefer,
    "like": _like,
    "dislike": _dislike,
    "profile": _profile,
    "goal": _goal,
    "task": _task,
    "done": _done,
    "blocked": _blocked,
}
