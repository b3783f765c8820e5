"""Taking apart what says what something is: "X is Y", "X's Y: Z", "X 是 Y", and how each of its two sides names."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from memory.conflicts.kinds import state_at_end
from memory.conflicts.reading import Reading, norm_of, normal_word, read, tells
from memory.conflicts.script import HAN
from memory.conflicts.sides import MODAL, OFFICE, B, E, Side
from memory.conflicts.vocabulary import INTRODUCING

# An office as what is held or filled, and nothing that belongs to one, as the office keys; a chair and a seat may be furniture.
_POST = r"\b(?:(?:position|post|office|role)(?: of\b| as\b|\W*$)|(?:chair|seat) of\b)"
# Verbs of one who holds a thing: as good as "is the head of".
_HOLDS = (
    r"chairs|heads|leads|captains|coaches|manages|maintains|owns|directs|hosts|conducts|supervises|moderates|sponsors|coordinates|"
    rf"organi[sz]es|(?:holds|fills)(?= [^.;,]*{_POST})|(?:is|are) (?:in charge of|responsible for)"
)
_HELD = (
    r"(?:is|are) (?:led|headed|chaired|managed|maintained|owned|coached|directed|edited|hosted|conducted|taught|supervised|moderated|sponsored|"
    r"coordinated|organi[sz]ed|captained|run) by|belongs? to|(?:is|are) the property of|(?:is|are) (?:held|filled|occupied|done|looked after) by|(?:lies|rests) with|goes by"
)
_OWNED = re.compile(r"(?:\S+ ){0,2}\S+(?:'s|s')|[^是]{1,8}(?:部|组|队|公司|班|科|学校|家|先生|女士|老师)的")
_HAS = re.compile(r"\b(?:has|have) (?P<who>.+?) as (?:its|their|our) (?P<role>.+)")
_LINK = re.compile(
    rf"{B}(?:(?P<holds>{_HOLDS})|(?P<held>{_HELD})|(?P<for>(?:is |are )?short for|stands? for|refers? to|means)|(?:stands|sits|lies|hangs|stays)(?= (?:in|on|at|under|behind|near) )|(?:is|acts|serves|works|counts|qualifies|(?:is|are) (?:classed|classified|listed|registered)) as|(?:remains?|stays?|has been|have been)|(?P<is>is|are)(?:n't)?(?: (?:an? (?:kind|type|sort|form) of|now|currently|still|always|called|named|(?:located|situated|based|kept|stored|found|to be found|placed|housed|parked|moored|stationed|hung|mounted|docked)(?= (?:in|on|at|under|behind|near|next|with|above|beside|outside|inside) )))?){E}"
    r"|(?P<colon>[:：])|(?P<same>就是|即为?)|(?P<han_holds>担任|出任|兼任|负责(?!人)|主持(?!人)|掌管)|(?P<by>由(?=.{1,10}(?:担任|出任|兼任|负责|主持|管理)))"
    r"|(?P<han_held>属于|归(?=.{1,10}(?:所有|管|负责)))|(?P<han_for>指的是|是指|(?<!手)指代?)"
    r"|(?<![还但可就于或总只])是(?![否因不为由])(?:一种|一类)?|(?<![因认以成作行称])为(?![了什主])|(?P<in>(?<![存正现实好内还仍])在(?<!所在(?=[地的位]))|位于|坐落于|坐落在|设在|放在|存放在)|处于|已经?|[还仍]在?|正(?=在进行)"
)  # fmt: skip
_VERB_LAST = re.compile(r"担任|出任|兼任|负责|主持|管理")
_LEADING = re.compile(
    r"\s*(?:(?:in|on|at|for|during|under|with|from|to|by)\s[^,]{2,40}?(?:,\s*|\s(?=(?:the|our|my)\s))"
    r"|(?:this|next) (?:week|month|year|season|term|time|summer|winter|spring|autumn),?\s|(?:currently|today|tonight|usually),?\s"
    r"|[在对于当]?[^，,是]{2,16}[，,]|(?:本周|这周|下周|本月|下月|今年|明年|今天|目前|现在))"
)
_RELATIVE = re.compile(rf"{B}(?:that|which|who|whom|where|there|here|it|this|he|she|they|what|if|when){E}$")
_BREAK = re.compile(
    r"(?<!\bdr)(?<!\bmr)(?<!\bms)(?<!\bmrs)(?<!\bst)(?<!\bprof)[.;!?](?=\s|$)|[。；;！？?!，]|, (?!and )|, and (?=it |he |she |they |we |the )| because | so that | but | since | although |因为|但是?"
)


@dataclass(frozen=True, slots=True)
class Being:
    """A statement as two sides of "is", in their order. `link` tells how they are joined: is, holds, same, colon, in."""

    left: Side
    right: Side
    link: str
    several: bool
    negations: int
    aside: frozenset[str] = frozenset()  # what stands before all: when, where or for whom it holds

    @property
    def ways(self) -> tuple[tuple[Side, Side, bool], ...]:
        """Each side with the other, and whether it stands first."""
        return (self.left, self.right, True), (self.right, self.left, False)


def being_of(reading: Reading) -> Being | None:
    """The two sides of a statement that says what something is; None where it says something else."""
    return _being(reading.text)


@lru_cache(maxsize=2_000)
def _being(text: str) -> Being | None:
    reading = read(text)
    folded = INTRODUCING.sub(lambda found: " " * len(found.group()), reading.folded)
    folded = folded.replace("’", "'")
    has = _HAS.search(folded)
    if has is not None and has.start():
        return _holder(reading, folded, has)
    for found in _LINK.finditer(folded):
        stop = _stop(folded, found) if _joins(folded, found, reading) else None
        if stop is not None:
            return _with_link(reading, folded, found, stop)
    return _without_is(reading, folded)


def _joins(folded: str, found: re.Match[str], reading: Reading) -> bool:
    """Whether a link joins what stands before it to what follows."""
    before = folded[: found.start()].strip()
    if not before or _RELATIVE.search(before) or _in_clause(folded, found):
        return False
    return found["for"] != "means" or _abbreviates(reading, folded, found)


def _abbreviates(reading: Reading, folded: str, found: re.Match[str]) -> bool:
    """Whether what "means" joins is a short form in capitals and words that begin with its letters: of other things it
    says what follows from them, as in "red means stop"."""
    last = next((token for token in reversed(reading.tokens) if token.to <= found.start()), None)
    short = reading.text[last.start : last.end] if last is not None else ""
    initials = iter([word[0] for word in re.findall(r"\w+", folded[found.end() :])])
    return len(short) > 1 and short.isupper() and all(letter in initials for letter in short.lower())


def _stop(folded: str, found: re.Match[str]) -> int | None:
    """Where what follows a link ends; None where the verb that it waits for stands in another sentence."""
    end = _BREAK.search(folded, found.end())
    stop = end.start() if end is not None else len(folded)
    if not found["by"]:
        return stop
    verb = _VERB_LAST.search(folded, found.end(), stop)
    return verb.start() if verb is not None else None


def _with_link(reading: Reading, folded: str, found: re.Match[str], stop: int) -> Being | None:
    start, aside = _lead(reading, folded, found.start())
    link = next((name for name, value in found.groupdict().items() if value), "is").removeprefix("han_")
    verb = _verb(reading, found)
    before = verb if link in ("held", "by") else frozenset()
    left = _side(reading, folded, start, found.start(), before)
    right = _side(reading, folded, found.end(), stop, verb if link == "holds" else frozenset())
    if left is None or right is None:
        return None
    if link == "is" and _OWNED.fullmatch(right.text):
        left, right, link = (
            replace(left, more=frozenset({"owner"})),
            replace(right, text=right.text.rstrip("的")),
            "held",
        )
    return _joined(reading, Being(left, right, link, found.group().startswith("are"), 0, aside))


def _holder(reading: Reading, folded: str, has: re.Match[str]) -> Being | None:
    """ "The club has Ann as its chair": the chair of the club is Ann."""
    what, role, who = (
        _side(reading, folded, 0, has.start()), _side(reading, folded, *has.span("role")), _side(reading, folded, *has.span("who")),
    )  # fmt: skip
    if what is None or role is None or who is None:
        return None
    left = Side(f"the {role.text} of {what.text}", (*what.tokens, *role.tokens), opens=False)
    return _joined(reading, Being(left, who, "is", several=False, negations=0))


def _verb(reading: Reading, found: re.Match[str]) -> frozenset[str]:
    """What a verb says that is held: of `leads` that there is a lead, of `由…担任` nothing."""
    said = found.group()
    if said in ("担任", "出任", "兼任"):
        return frozenset()
    if HAN.search(said):
        return (
            frozenset({"owner"}) if said in ("属于", "归") else frozenset({"负责"} if "负责" in reading.folded else ())
        )
    if "charge" in said or "responsible" in said:
        return frozenset({normal_word("charge")})
    return frozenset(OFFICE[norm] for norm in map(normal_word, said.split()) if norm in OFFICE)


def _lead(reading: Reading, folded: str, stop: int) -> tuple[int, frozenset[str]]:
    """Where what is spoken of begins, and what goes before it: `On weekends the desk`, `在生产环境，`."""
    found = _LEADING.match(folded[:stop])
    if found is None or not found.group().strip():
        return 0, frozenset()
    tokens = [token for token in reading.tokens if token.to <= found.end()]
    return found.end(), frozenset(norm_of(token) for token in tokens if not token.empty) - {"on"}


def _without_is(reading: Reading, folded: str) -> Being | None:
    """In Chinese a state needs no "is": `签证有效`."""
    said = folded.rstrip("。！!. ")
    state = state_at_end(said) if HAN.search(said) and _BREAK.search(said) is None else None
    if state is None:
        return None
    at = len(said) - len(state)
    left, right = _side(reading, folded, 0, at), _side(reading, folded, at, len(said))
    if left is None or right is None:
        return None
    return _joined(reading, Being(left, right, "is", several=False, negations=0))


def _joined(reading: Reading, being: Being) -> Being:
    end = being.right.tokens[-1].to
    return replace(being, negations=sum(token.kind == "not" and token.at < end for token in reading.tokens))


def _in_clause(folded: str, found: re.Match[str]) -> bool:
    """Whether a Han link only belongs to what goes before `的`, with another link behind."""
    if found.group() not in ("在", "负责", "主持", "已", "已经", "为"):
        return False
    rest = folded[found.end() :]
    return re.match(r"[^是：:，。]*的[^是：:，。]{0,8}(?:是|：|:)", rest) is not None


def _side(reading: Reading, folded: str, start: int, end: int, more: frozenset[str] = frozenset()) -> Side | None:
    tokens = tuple(token for token in reading.tokens if start <= token.at and token.to <= end and token.norm != "-")
    text = folded[start:end]
    opens = not folded[:start].strip()
    stripped = MODAL.sub("", text.strip(" \"'“”‘’,，、()（）-*_`"))
    if text.rstrip(' "”').endswith(("'s", "s'")):
        stripped = text.strip(' "“”')
    return Side(stripped, tokens, opens, more) if stripped and tells(tokens) else None
