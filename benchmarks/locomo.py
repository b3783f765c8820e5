"""How well long conversations are found again: LoCoMo committed through the gate and asked through `search_memory`.

    python -m benchmarks.locomo --data PATH [--limit N] [--quick] [--database sqlite|postgres] [--keep FOLDER]
                                [--leave-one-out] [--one-scope]

Every dialogue session is one of our sessions, committed in turns of two messages with the speakers' names; a picture is
said in words, `[shares a photo: …]`, from the caption that comes with the data. The dates of the data name no time
zone and are taken as UTC; all messages of a session carry its date. A conversation writes to a project scope of its own
(`default_write`), and its questions of categories 1 to 4 are asked in that scope. Nothing is learned from the text
(`extract: false`), so this measures the search for messages alone. Evidence is matched by the id of a turn, which is
given as the message id. Recall@k is the share of a question's evidence among the first k results, averaged over the
questions; MRR is that of the first evidence among 20.

The weights of `search.selectors.ranking` were chosen on these five development conversations, so the figure of the
weights in use is not a held-out one. `--leave-one-out` reports beside it what the weights that are best on the other
four conversations reach on each; it covers the grid of window, author, length and word-form weights only. The features
themselves and the weight of dates were picked by trying variants on all five conversations. Only general features were
tried, and no single question was looked at to set them.

`--one-scope` puts all conversations into one project scope and asks there: how recall holds where a scope has five times
as many texts, of ten speakers.

`--database postgres` uses DATABASE_URL where it is set, and otherwise starts a server of its own. `--keep` keeps the
SQLite database in that folder and uses it again. Nothing runs where the data file is absent.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kernel.context import Ctx
    from search.contracts import Hit
    from search.selectors.asking import Asked
    from search.selectors.candidates import Candidates
    from search.selectors.ranking import Weights

DOMAIN = "locomo"
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
DEPTHS = (5, 10, 20)
TURN = 2
QUICK = 20


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the project it is asked in, and the ids of the messages that hold its answer."""

    conversation: str
    project: str
    category: int
    text: str
    evidence: frozenset[str]


@dataclass(slots=True)
class Scores:
    """What was measured over some questions."""

    recall: dict[int, list[float]] = field(default_factory=lambda: {depth: [] for depth in DEPTHS})
    any_hit: dict[int, list[float]] = field(default_factory=lambda: {depth: [] for depth in DEPTHS})
    reciprocal: list[float] = field(default_factory=list)

    def add(self, evidence: frozenset[str], found: Sequence[str]) -> None:
        """Count one question by the ids found, best first."""
        for depth in DEPTHS:
            hits = len(evidence.intersection(found[:depth]))
            self.recall[depth].append(hits / len(evidence))
            self.any_hit[depth].append(float(hits > 0))
        first = next((place for place, found_id in enumerate(found, 1) if found_id in evidence), None)
        self.reciprocal.append(1 / first if first else 0.0)

    def line(self, name: str) -> str:
        """The figures as one row."""
        recall = "  ".join(f"{_mean(self.recall[depth]):.3f}" for depth in DEPTHS)
        hits = "  ".join(f"{_mean(self.any_hit[depth]):.3f}" for depth in DEPTHS)
        return f"{name:<14} {len(self.reciprocal):>5}   {recall}   {hits}   {_mean(self.reciprocal):.3f}"


def main(arguments: Sequence[str]) -> int:
    """Run the measurement; 0 where it ran or the data is absent."""
    options = _options(arguments)
    if not options.data.is_file():
        print(f"Skipped: there is no data file {str(options.data)!r}; give the path of LoCoMo's JSON with --data.")
        return 0
    conversations = json.loads(options.data.read_text("utf-8"))
    with _database(options):
        ctx = _principal()
        shared = "all" if options.one_scope else None
        _commit_all(conversations, shared, ctx)
        questions = [question for each in conversations for question in _questions(each, shared)]
        if options.quick or options.limit:
            questions = _some(questions, options.limit or QUICK)
        _ask_all(questions, ctx)
        if options.leave_one_out:
            _leave_one_out(questions, ctx)
    return 0


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks.locomo", description="Evidence recall on LoCoMo.")
    parser.add_argument("--data", type=Path, required=True, help="LoCoMo's JSON file")
    parser.add_argument("--limit", type=int, default=0, help="questions of each conversation; 0: all")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} questions of each conversation")
    parser.add_argument("--database", choices=["sqlite", "postgres"], default="sqlite")
    parser.add_argument("--keep", type=Path, help="folder in which the SQLite database is kept and found again")
    parser.add_argument("--one-scope", action="store_true", help="all conversations in one scope")
    parser.add_argument("--leave-one-out", action="store_true", help="also choose weights on four, apply to the fifth")
    return parser.parse_args(arguments)


@contextmanager
def _database(options: argparse.Namespace) -> Iterator[None]:
    """Django on a database of the benchmark's own."""
    with ExitStack() as stack:
        folder = options.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        os.environ["DATA_DIR"] = str(folder)
        if options.database == "sqlite":
            os.environ["DATABASE_URL"] = f"sqlite:///{folder.resolve() / 'locomo.sqlite3'}"
        elif "DATABASE_URL" not in os.environ:
            from scripts.postgres import temporary_postgres  # noqa: PLC0415  only where a server is wanted

            os.environ["DATABASE_URL"] = stack.enter_context(temporary_postgres()).url
        os.environ.setdefault("LOG_LEVEL", "ERROR")
        os.environ["DJANGO_SETTINGS_MODULE"] = "smartbrain_site.settings"
        import django  # noqa: PLC0415  needs the environment set above
        from django.core.management import call_command  # noqa: PLC0415

        django.setup()
        call_command("migrate", verbosity=0)
        yield
        from django.db import connections  # noqa: PLC0415

        connections.close_all()


def _principal() -> Ctx:
    from governance import gate  # noqa: PLC0415  needs Django
    from kernel.context import Ctx, Door  # noqa: PLC0415
    from scopes.selectors import identify_named  # noqa: PLC0415

    identity = identify_named(DOMAIN)
    if identity is None:
        gate.call(
            "create_principal", {"name": DOMAIN, "domain_id": DOMAIN}, ctx=gate.system_ctx("benchmark", Door.PYTHON)
        )
        identity = identify_named(DOMAIN)
    if identity is None:
        raise RuntimeError("the principal was not made")
    return Ctx(identity.actor, Door.PYTHON, identity.reach)


def _do(action: str, fields: dict[str, Any], ctx: Ctx) -> dict[str, Any]:
    from governance import gate  # noqa: PLC0415  needs Django
    from kernel.context import Ctx  # noqa: PLC0415  a context of each call's own: it holds the time

    body: dict[str, Any] = gate.call(action, fields, ctx=Ctx(ctx.actor, ctx.door, ctx.reach)).body()
    return body


def _commit_all(conversations: Sequence[dict[str, Any]], shared: str | None, ctx: Ctx) -> None:
    turns = [turn for each in conversations for turn in _turns(each, shared)]
    known = {row["session_id"]: row["turns"] for row in _all_sessions(ctx)}
    if sum(known.values()) == len(turns):
        print(f"{len(turns)} turns are there from an earlier run")
        return
    if known:
        raise SystemExit("The database holds another or an unfinished run: empty it first.")
    took = []
    for turn in _progress("commit", turns):
        start = time.perf_counter()
        _do("commit_turn", turn, ctx)
        took.append(time.perf_counter() - start)
    print(f"commit: {_latency(took)} ms a turn")


def _all_sessions(ctx: Ctx) -> Iterator[dict[str, Any]]:
    cursor = None
    while True:
        body = _do("list_sessions", {"domain_id": DOMAIN, "limit": 100, "cursor": cursor}, ctx)
        yield from body["sessions"]
        cursor = body["next_cursor"]
        if cursor is None:
            return


def _turns(conversation: dict[str, Any], shared: str | None) -> Iterator[dict[str, Any]]:
    """The commits of one conversation, into the shared project or one of its own."""
    name, spoken = conversation["sample_id"], conversation["conversation"]
    scope = {"type": "project", "id": shared or name}
    for number in sorted(int(found[1]) for key in spoken if (found := re.fullmatch(r"session_(\d+)", key))):
        at = _instant(spoken[f"session_{number}_date_time"])
        lines = spoken[f"session_{number}"]
        for start in range(0, len(lines), TURN):
            yield {
                "domain_id": DOMAIN,
                "session_id": f"{name}/session-{number}",
                "scope_context": {"read": [scope], "default_write": scope},
                "extract": False,
                "turn_events": {
                    "messages": [
                        {
                            "id": f"{name}/{line['dia_id']}",
                            "role": "user" if line["speaker"] == spoken["speaker_a"] else "assistant",
                            "name": line["speaker"],
                            "content": _content(line),
                            "created_at": at,
                        }
                        for line in lines[start : start + TURN]
                    ]
                },
            }


def _content(line: dict[str, Any]) -> str:
    caption = line.get("blip_caption")
    return f"{line['text']} [shares a photo: {caption}]" if caption else str(line["text"])


def _instant(text: str) -> str:
    """Such as `1:56 pm on 8 May, 2023`, which names no zone: taken as UTC."""
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC).isoformat()


def _questions(conversation: dict[str, Any], shared: str | None) -> Iterator[Question]:
    """The questions whose evidence is in the conversation; the data names some evidence that is not."""
    name, spoken = conversation["sample_id"], conversation["conversation"]
    said = {line["dia_id"] for lines in spoken.values() if isinstance(lines, list) for line in lines}
    for asked in conversation["qa"]:
        evidence = frozenset(one for each in asked["evidence"] for one in re.split(r"[;\s]+", each)) & said
        if asked["category"] in CATEGORIES and evidence:
            ids = frozenset(f"{name}/{one}" for one in evidence)
            yield Question(name, shared or name, asked["category"], asked["question"], ids)


def _some(questions: Sequence[Question], most: int) -> list[Question]:
    by_conversation: dict[str, list[Question]] = defaultdict(list)
    for question in questions:
        by_conversation[question.conversation].append(question)
    return [question for each in by_conversation.values() for question in each[:most]]


def _ask_all(questions: Sequence[Question], ctx: Ctx) -> None:
    total, by_category = Scores(), defaultdict[int, Scores](Scores)
    sure: dict[bool, list[float]] = defaultdict(list)
    took = []
    for question in _progress("ask", questions):
        start = time.perf_counter()
        body = _do("search_memory", _search(question), ctx)
        took.append(time.perf_counter() - start)
        found = [result["ref"]["message_id"] for result in body["results"]]
        for scores in (total, by_category[question.category]):
            scores.add(question.evidence, found)
        for result in body["results"][:1]:
            sure[result["weak"]].append(float(result["ref"]["message_id"] in question.evidence))
    print(
        f"{'':<14} {'n':>5}   recall@{'/'.join(map(str, DEPTHS))}        any-hit@{'/'.join(map(str, DEPTHS))}       MRR"
    )
    print(total.line("all"))
    for category, scores in sorted(by_category.items()):
        print(scores.line(f"{category} {CATEGORIES[category]}"))
    print(f"search: {_latency(took)} ms")
    for weak, right in sorted(sure.items()):
        print(f"first result {'weak' if weak else 'not weak'}: {len(right)}, of these evidence {_mean(right):.3f}")


def _search(question: Question) -> dict[str, Any]:
    return {
        "domain_id": DOMAIN,
        "scope_context": {"read": [{"type": "project", "id": question.project}]},
        "query": question.text,
        "kinds": ["message"],
        "limit": max(DEPTHS),
    }


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A question with its candidates as plain values, to be ranked again with other weights."""

    question: Question
    asked: Asked
    candidates: Candidates


def _leave_one_out(questions: Sequence[Question], ctx: Ctx) -> None:
    """Report the weights in use, and for each conversation those that are best on all others."""
    from search.selectors.ranking import WEIGHTS  # noqa: PLC0415  needs Django

    prepared = _prepare(questions)
    ids = _message_ids()
    names = sorted({each.question.conversation for each in prepared})
    grid = list(_grid(WEIGHTS))
    scored: list[dict[str, float]] = []
    for weights in _progress("weights", grid):
        by_name: dict[str, Scores] = defaultdict(Scores)
        for each in prepared:
            by_name[each.question.conversation].add(each.question.evidence, _ranked(each, weights, ids))
        scored.append({name: sum(by_name[name].recall[10]) for name in names})
    counts = {name: sum(1 for each in prepared if each.question.conversation == name) for name in names}
    reached = 0.0
    for name in names:
        best = max(range(len(grid)), key=lambda n: sum(scored[n][other] for other in names if other != name))
        reached += scored[best][name]
        print(f"{name}: recall@10 {scored[best][name] / counts[name]:.3f} with {_shown(grid[best])}")
    print(f"leave-one-out recall@10 {reached / sum(counts.values()):.3f}")
    best = max(range(len(grid)), key=lambda n: sum(scored[n].values()))
    print(f"best on all {sum(scored[best].values()) / sum(counts.values()):.3f} with {_shown(grid[best])}")
    in_use = next((n for n, weights in enumerate(grid) if weights == WEIGHTS), None)
    if in_use is not None:
        print(f"weights in use {sum(scored[in_use].values()) / sum(counts.values()):.3f}")


def _prepare(questions: Sequence[Question]) -> list[_Prepared]:
    from kernel import clock  # noqa: PLC0415  needs Django
    from scopes.selectors import scope_rows  # noqa: PLC0415
    from search.contracts import Kind, Query  # noqa: PLC0415
    from search.selectors.asking import read  # noqa: PLC0415
    from search.selectors.candidates import find_candidates  # noqa: PLC0415

    prepared = []
    for question in _progress("candidates", questions):
        key = scope_rows(DOMAIN, [f"project:{question.project}"], "")[0].key
        query = Query(question.text, DOMAIN, (key,), (Kind.MESSAGE,), clock.now())
        asked = read(query.text, query.valid_at)
        found = find_candidates(query, asked)
        if found is not None:
            prepared.append(_Prepared(question, asked, found))
    return prepared


def _message_ids() -> dict[Any, str]:
    from memory.models import Message  # noqa: PLC0415  needs Django

    return {row.id: row.external_id or "" for row in Message.objects.only("id", "external_id")}


def _ranked(each: _Prepared, weights: Weights, ids: dict[Any, str]) -> list[str]:
    from kernel import clock  # noqa: PLC0415  needs Django
    from search.contracts import Kind, Query  # noqa: PLC0415
    from search.selectors.ranking import rank  # noqa: PLC0415

    query = Query(each.question.text, DOMAIN, (), (Kind.MESSAGE,), clock.now())
    hits: list[Hit] = rank(query, each.asked, each.candidates, weights)
    return [ids[hit.object_id] for hit in hits[: max(DEPTHS)]]


def _grid(start: Weights) -> Iterator[Weights]:
    """Weights around those in use, coarse on purpose."""
    windows = [((0.5, 0.3), (0.3, 0.2)), ((0.4, 0.2), (0.2, 0.1)), ((0.6, 0.4), (0.4, 0.3))]
    for (before, after), b, form, author in product(windows, (0.2, 0.4), (0.6, 0.8), (0.5, 0.8, 1.1)):
        text = replace(start.text, before=before, after=after, b=b, form=form)
        yield replace(start, text=text, author=author)


def _shown(weights: Weights) -> str:
    text = weights.text
    return f"before {text.before} after {text.after} b {text.b} form {text.form} author {weights.author}"


def _latency(seconds: Sequence[float]) -> str:
    ordered = sorted(seconds)
    return f"p50 {statistics.median(ordered) * 1000:.1f}, p95 {ordered[int(len(ordered) * 0.95)] * 1000:.1f}"


def _mean(values: Iterable[float]) -> float:
    kept = list(values)
    return sum(kept) / len(kept) if kept else 0.0


def _progress(name: str, rows: Sequence[Any]) -> Iterator[Any]:
    """The rows, with a bar and a rate on a terminal, and a line every tenth elsewhere."""
    start = time.perf_counter()
    step = max(len(rows) // (100 if sys.stderr.isatty() else 4), 1)
    for number, row in enumerate(rows, 1):
        yield row
        if number % step == 0 or number == len(rows):
            rate = number / max(time.perf_counter() - start, 1e-9)
            bar = "#" * (20 * number // len(rows))
            end = "\r" if sys.stderr.isatty() and number < len(rows) else "\n"
            print(f"{name:<10} [{bar:<20}] {number}/{len(rows)}  {rate:.0f}/s", end=end, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
