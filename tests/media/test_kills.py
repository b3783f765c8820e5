"""Server and workers are killed at random moments: no accepted job is lost, none is done twice."""

from __future__ import annotations

import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from django.db.models import Count

from governance.models import AuditEntry
from media.models import MediaJob, SourceDocument, SourceSection
from tests.conftest import TEAM, make_agent
from tests.media.killing import Crew, crew, moments

pytestmark = pytest.mark.django_db(transaction=True)


def text_of(number: int, paragraphs: int) -> str:
    lines = [
        f"Plan {number}, part {part}: the zebra of {number * 1000 + part} 斑马计划 is kept."
        for part in range(paragraphs)
    ]
    return f"# Plan {number}\n\n" + "\n\n".join(lines)


def submit(at: Crew, key: str, numbers: range, paragraphs: int) -> list[str]:
    """Ask for every job once, and again with the same key wherever no answer came."""
    told = []
    for number in numbers:
        options = {"async": True, "text": text_of(number, paragraphs), "name": f"plan-{number}.md"}
        tree = {
            "domain_id": TEAM,
            "operation": "add_document",
            "options": options,
            "idempotency_key": f"plan-{number}",
        }
        told.append(at.ask("/v1/media", key, tree)["job_id"])
    return told


def kill_until(done: threading.Event, at: Crew, seed: int, most: int) -> None:
    for count, (name, pause) in enumerate(moments(seed)):
        if done.wait(pause) or count >= most:
            return
        at.kill_again(name)


def all_done(count: int) -> bool:
    return MediaJob.objects.filter(status__in=["completed", "partial", "failed"]).count() == count


def run(folder: Path, count: int, kills: int, paragraphs: int, seed: int) -> dict[str, Any]:
    """Submit and do `count` jobs while up to `kills` processes die; what happened."""
    agent = make_agent("agent")
    done = threading.Event()
    with crew(folder) as at:
        killer = threading.Thread(target=kill_until, args=(done, at, seed, kills), daemon=True)
        killer.start()
        try:
            told = submit(at, agent.key, range(count), paragraphs)
            until = time.monotonic() + 600 + 3 * count
            while not all_done(count) and time.monotonic() < until:
                time.sleep(0.1)
        finally:  # or it would start what nobody ends
            done.set()
            killer.join()
        assert all_done(count), at.output.read_text("utf-8")[-4000:]
        killed = dict(at.killed)
    return {"told": told, "killed": killed}


def nothing_lost_or_doubled(told: list[str], count: int) -> None:
    rows = {str(row.pk): row for row in MediaJob.objects.all()}
    assert sorted(rows) == sorted(told), "each accepted job has its row, and there is no other"
    assert Counter(row.status for row in rows.values()) == {"completed": count}
    documents = {str(row.pk): row for row in SourceDocument.objects.all()}
    assert sorted(row.result["document_id"] for row in rows.values()) == sorted(documents)
    assert sorted(row.title for row in documents.values()) == sorted(f"Plan {number}" for number in range(count))
    held = dict(SourceSection.objects.values_list("document").annotate(number=Count("pk")))
    assert {str(pk): number for pk, number in held.items()} == {
        row.result["document_id"]: row.result["section_count"] for row in rows.values()
    }
    done = AuditEntry.objects.filter(action="run_media_job", outcome="allowed")
    assert done.count() == count, "each job was stored once"


def test_no_job_is_lost_or_doubled(tmp_path, capsys):
    happened = run(tmp_path, count=20, kills=6, paragraphs=40, seed=20261201)
    nothing_lost_or_doubled(happened["told"], 20)
    assert sum(happened["killed"].values()) > 0


@pytest.mark.soak
def test_no_job_of_many_is_lost_or_doubled(tmp_path):
    happened = run(tmp_path, count=200, kills=80, paragraphs=120, seed=5)
    nothing_lost_or_doubled(happened["told"], 200)
    assert min(happened["killed"].values()) > 0
