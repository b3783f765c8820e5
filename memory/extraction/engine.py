"""The run over messages: each sentence's cues become proposals, or are skipped with a reason."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from kernel.canonical import canonical_json
from memory.extraction import corrections, cues
from memory.extraction.cue import Hit
from memory.extraction.handlers import corrections_after, drafts, remembered
from memory.extraction.reading import LONGEST, Reading, Sentence, read
from memory.extraction.redaction import looks_like_secret, redact
from memory.extraction.scene import Scene
from memory.extraction.statuses import Board
from memory.extraction.unprompted import Unprompted, unprompted
from memory.extraction.values import INFERRED, USER_ASSERTED, Draft, Proposed, Rejected, Said, Skipped
from memory.keys import slug

_SHOWN = 300
_CARRYING = (":", "following", "以下", "如下", "几点")


@dataclass(frozen=True)
class Extraction:
    """All that the messages propose, in their order, what was rejected, and what counts only against a known fact."""

    proposed: list[Proposed]
    skipped: list[Skipped]
    unprompted: list[Unprompted] = field(default_factory=list)


def extract(said: Sequence[Said], open_tasks: Sequence[tuple[str, str]] = ()) -> Extraction:
    """What the messages propose. `open_tasks` are (key, title) of the tasks that a "done" or "blocked" can mean.

    Only what a user says is asserted; an assistant can at most report the status of an open task, and tools nothing.
    """
    run = _Run(list(said), Board(open_tasks))
    for number in range(len(run.said)):
        run.message(number)
    return Extraction(run.proposed, run.skipped, run.unprompted)


@dataclass
class _Carry:
    """A "remember:" that waits for what follows, or a "that's wrong" that waits for the right value."""

    hit: Hit
    sentence: Sentence
    listing: bool
    used: bool = False


@dataclass(frozen=True)
class _Context:
    """What the sentence under work has: its cues, a cue that waits for it, and the sentence before."""

    hits: list[Hit]
    carry: _Carry | None
    before: Sentence | None


def _refusal(said: Said, sentence: Sentence) -> str:
    """Why nothing in a sentence may become evidence, whatever it says."""
    if said.role not in {"user", "assistant"}:
        return "not_from_user"
    return "too_long" if sentence.end - sentence.start > LONGEST else ""


def _is_secret(scene: Scene, draft: Draft) -> bool:
    """Whether the sentence, its cue, or the statement made of them shows a secret; the sentence is read once."""
    sentence = scene.reading.text[scene.sentence.start : scene.sentence.end]
    if scene.secret is None:
        scene.secret = looks_like_secret(f"{scene.cued} {sentence}")
    return scene.secret or (draft.statement not in sentence and looks_like_secret(draft.statement))


def _hits(reading: Reading, sentence: Sentence) -> list[Hit]:
    return cues.find(reading.view, sentence.start, min(sentence.end, sentence.start + LONGEST))


@dataclass
class _Run:
    said: list[Said]
    board: Board
    proposed: list[Proposed] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    unprompted: list[Unprompted] = field(default_factory=list)
    seen: dict[str, int] = field(default_factory=dict)
    last: Draft | None = None
    last_in: int = -9

    def message(self, number: int) -> None:
        said = self.said[number]
        self._recalled(number)
        if said.recalled:
            return
        reading = read(said.own_words)
        carry: _Carry | None = None
        before: Sentence | None = None
        for sentence in reading.sentences:
            hits = _hits(reading, sentence)
            refusal = _refusal(said, sentence)
            if refusal:
                if hits:
                    self._skip(number, refusal, reading, sentence)
            elif said.role == "assistant":
                self._assistant(number, reading, sentence, hits)
            else:
                if not hits and carry is None:
                    self._plain(number, reading, sentence)
                carry = self._user(number, reading, sentence, _Context(hits, carry, before))
            before = sentence
        if carry is not None and not carry.used:
            self._skip(number, "no_target" if carry.hit.cue.kind == "wrong" else "no_content", reading, carry.sentence)

    def _recalled(self, number: int) -> None:
        """Name the sentences with a cue that came out of memory; nothing in them is read for anything else."""
        reading = read(self.said[number].recalled_words)
        for sentence in reading.sentences:
            if _hits(reading, sentence):
                self._skip(number, "recalled", reading, sentence)

    def _assistant(self, number: int, reading: Reading, sentence: Sentence, hits: list[Hit]) -> None:
        """An assistant reports at most that an open task is done; it says nothing about the user."""
        done = [hit for hit in hits if hit.cue.kind == "done"]
        if not done or not self.board:
            if hits:
                self._skip(number, "not_from_user", reading, sentence)
            return
        scene = self._scene(number, reading, sentence, hits)
        for hit in done:
            scene.at = hits.index(hit)
            try:
                for draft in drafts(scene):
                    self._add(scene, draft, confidence=INFERRED)
            except Rejected as no:
                self._skip(number, no.reason, reading, sentence)

    def _user(self, number: int, reading: Reading, sentence: Sentence, context: _Context) -> _Carry | None:
        scene = self._scene(number, reading, sentence, context.hits)
        waiting = self._carried(scene, context.carry)
        index = 0
        while index < len(scene.hits):
            scene.at = index
            index += 1
            try:
                if scene.hit.cue.kind not in cues.WRAPPING or not scene.wraps():
                    for draft in drafts(scene):
                        self._add(scene, draft)
                elif scene.is_last():
                    waiting = self._left_open(scene, context.before) or waiting
            except Rejected as no:
                self._skip(number, no.reason, reading, sentence)
            index = max(index, scene.swallowed)
        return waiting

    def _plain(self, number: int, reading: Reading, sentence: Sentence) -> None:
        """A sentence that no cue announces may still deny what is known."""
        found = unprompted(number, reading, sentence)
        if found is not None and not looks_like_secret(reading.text[sentence.start : sentence.end]):
            self.unprompted.append(found)

    def _carried(self, scene: Scene, carry: _Carry | None) -> _Carry | None:
        """What "Remember:" or "That's wrong." in the sentence before says about this one."""
        if carry is None or (carry.used and not scene.sentence.bullet):
            return None
        if carry.hit.cue.kind == "wrong":
            scene.denied = True
            if not scene.hits:
                self._try(scene, lambda: corrections_after(scene))
            return None
        scene.explicit = True
        scene.wrapper = carry.hit
        scene.cued = scene.reading.text[carry.sentence.start : carry.sentence.end]
        if not scene.hits or scene.lead():
            scene.lead_rule = carry.hit
            self._try(scene, lambda: remembered(scene, scene.sentence.start, scene.lead_end()))
        carry.used = True
        return carry if carry.listing and scene.sentence.bullet else None

    def _left_open(self, scene: Scene, before: Sentence | None) -> _Carry | None:
        """A wrapper with nothing after it: it looks back in its sentence, then forward, then at the sentence before."""
        hit = scene.hit
        marked = scene.reading.view[hit.start : scene.sentence.end].rstrip().endswith(_CARRYING)
        if hit.cue.kind == "wrong":
            return _Carry(hit, scene.sentence, listing=False)
        earlier = self._promote(scene)
        if earlier or hit.cue.kind == "forget":
            if not earlier:
                self._skip(scene.number, "no_target", scene.reading, scene.sentence)
            return None
        if scene.at == 0 and scene.lead():
            self._try(scene, lambda: remembered(scene, scene.sentence.start, hit.start))
            return None
        if hit.cue.kind == "remember" and (marked or before is None):
            return _Carry(hit, scene.sentence, listing=marked)
        if hit.cue.kind == "remember" and before is not None:
            back = replace(scene, sentence=before)
            self._try(back, lambda: remembered(back, before.start, before.end))
            return None
        self._skip(scene.number, "no_content", scene.reading, scene.sentence)
        return None

    def _promote(self, scene: Scene) -> bool:
        """ "X, remember that": what the same sentence has proposed was meant to be remembered."""
        for at in scene.added if scene.hit.cue.kind == "remember" else ():
            self.proposed[at] = replace(self.proposed[at], explicit=True)
        return bool(scene.added)

    def _try(self, scene: Scene, make: Callable[[], list[Draft]]) -> None:
        try:
            for draft in make():
                self._add(scene, draft)
        except Rejected as no:
            self._skip(scene.number, no.reason, scene.reading, scene.sentence)

    def _antecedent(self, number: int, so_far: str) -> Draft | None:
        """What "it" in a correction stands for: only what was said just before, so no other fact is hit."""
        if self.last_in == number:
            return self.last
        found = corrections.stated_last(so_far)
        for at in range(number - 1, max(-1, number - 3), -1):
            if found is None and self.said[at].role in {"user", "assistant"}:
                found = self.last if self.last_in == at else corrections.stated_last(self.said[at].own_words)
        return found

    def _scene(self, number: int, reading: Reading, sentence: Sentence, hits: list[Hit]) -> Scene:
        name, own = self.said[number].name, reading.text
        return Scene(
            number=number,
            reading=reading,
            sentence=sentence,
            hits=hits,
            board=self.board,
            subject=slug(name) if name.strip() else "user",
            antecedent=lambda: self._antecedent(number, own[max(0, sentence.start - 2000) : sentence.start]),
        )

    def _add(self, scene: Scene, draft: Draft, confidence: float = USER_ASSERTED) -> None:
        if _is_secret(scene, draft):
            self._skip(scene.number, "looks_like_secret", scene.reading, scene.sentence)
            return
        identity = canonical_json([draft.kind, draft.type, draft.key, draft.value])
        hit = scene.rule()
        explicit = scene.explicit or scene.retract or hit.cue.kind == "forget" or hit.cue.arg == "explicit"
        scene.added.append(self.seen.get(identity, len(self.proposed)))
        if identity in self.seen:
            at = self.seen[identity]
            self.proposed[at] = replace(self.proposed[at], explicit=self.proposed[at].explicit or explicit)
            return
        self.seen[identity] = len(self.proposed)
        self.proposed.append(
            Proposed(
                kind=draft.kind,
                type=draft.type,
                key=draft.key,
                value=draft.value,
                statement=draft.statement,
                confidence=confidence,
                explicit=explicit,
                rule=hit.cue.name,
                message=scene.number,
                span=scene.span,
            )
        )
        if draft.kind == "write":
            self.last, self.last_in = draft, scene.number
            if draft.type == "tasks":
                self.board.add(draft.key, str(draft.value["title"]))

    def _skip(self, number: int, reason: str, reading: Reading, sentence: Sentence) -> None:
        text = redact(reading.text[sentence.start : min(sentence.end, sentence.start + LONGEST)])[:_SHOWN]
        entry = Skipped(number, reason, text)
        if not self.skipped or self.skipped[-1] != entry:
            self.skipped.append(entry)
