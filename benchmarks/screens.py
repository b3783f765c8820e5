"""How long each screen takes in a full house on SQLite: 100,000 items, 10,000 open proposals, 200,000 audit entries.

`python -m benchmarks.screens [--quick]`. Every page of the navigation, the page of one row of each, the review page of
a proposal of every kind, the queue narrowed, the page that asks before a bulk, and the page of a conflict; the median of
seven, with the statements of one. A page over 300 ms or of 20 statements is marked and the exit status is 1.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time

from benchmarks.measuring import set_up

MOST_MILLISECONDS, MOST_STATEMENTS = 300, 20  # fewer than that many
BRACKETS = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE", "ROLLBACK")


def measure(quick: bool) -> int:
    """Fill the house, open every page, print a table."""
    set_up()
    from django.contrib.auth import get_user_model  # noqa: PLC0415  Django has to be set up first
    from django.test import Client  # noqa: PLC0415

    from benchmarks.crowd import DOMAIN, fill, quarrel  # noqa: PLC0415
    from benchmarks.kinds import propose  # noqa: PLC0415

    share = 100 if quick else 1
    started = time.perf_counter()
    fill(items=100_000 // share, proposals=10_000 // share, entries=200_000 // share, decided=5_000 // share)
    print(
        f"filled in {time.perf_counter() - started:.0f} s\n{'page':<58}{'median ms':>10}{'CPU ms':>10}{'statements':>12}"
    )
    person = get_user_model().objects.create_superuser("bench", None, "correct horse battery")
    client = Client(headers={"host": "localhost"})
    client.force_login(person)
    kinds, conflict = propose(DOMAIN)
    quarrel(conflict, 20_000 // share)
    slow = 0
    for name, address in {**{each: each for each in _addresses(client)}, **_of_kinds(kinds, conflict)}.items():
        median, cpu, statements = _timed(client, address)
        over = median > MOST_MILLISECONDS or statements >= MOST_STATEMENTS
        slow += over
        print(f"{name[:57]:<58}{median:>10.0f}{cpu:>10.0f}{statements:>12}{'  over' if over else ''}")
    return 1 if slow else 0


def _addresses(client: object) -> list[str]:
    """Every page of the navigation, and the page of the newest row of each list."""
    from django.contrib import admin  # noqa: PLC0415
    from django.test import RequestFactory  # noqa: PLC0415
    from django.urls import reverse  # noqa: PLC0415

    from governance.adminbase import ReadOnlyAdmin, page_url, places  # noqa: PLC0415

    request = RequestFactory().get("/")
    request.user = client.get(reverse("admin:index")).wsgi_request.user  # type: ignore[attr-defined]
    found = [reverse("admin:index")]
    for place in places(request):
        found.append(place.link)
    for model in admin.site._registry:  # noqa: SLF001  the list of all pages has no other name
        page = admin.site.get_model_admin(model)
        row = model._default_manager.order_by("-pk").first() if isinstance(page, ReadOnlyAdmin) else None
        found += [page_url(row)] if row is not None else []
    return list(dict.fromkeys(found))


def _of_kinds(kinds: dict[str, str], conflict: str) -> dict[str, str]:
    """The review page of a proposal of every kind, and the page of a conflict, by what they are."""
    from django.urls import reverse  # noqa: PLC0415

    pages = {
        f"a proposal of {name}": reverse("admin:governance_item", args=[proposal], query={"queue": "open"})
        for name, proposal in kinds.items()
    }
    narrowed = {
        "the queue by word": {"text": "thing"},
        "the queue by a rare word": {"text": "数据库 77", "scope": "project:*"},
    }
    lists = {name: reverse("admin:governance_queue", query={"queue": "open", **by}) for name, by in narrowed.items()}
    lists["a bulk of the queue"] = reverse("admin:governance_bulk", query={"queue": "open"})
    lists["a conflict"] = reverse("admin:memory_conflict_change", args=[conflict])
    for name in ("memoryitem", "conflict"):
        for term in ("port", "数据库 thing", "word700 thing", "nothing of it", "decision:atlas:99", "decision:"):
            lists[f"{name} by {term!r}"] = reverse(f"admin:memory_{name}_changelist", query={"q": term})
    return {**pages, **lists}


def _timed(client: object, address: str) -> tuple[float, float, int]:
    """Median milliseconds on the clock and of CPU, and the statements of one request, brackets of transactions aside."""
    from django.core.signals import request_started  # noqa: PLC0415
    from django.db import connection, reset_queries  # noqa: PLC0415
    from django.test.utils import CaptureQueriesContext  # noqa: PLC0415

    request_started.disconnect(reset_queries)
    with CaptureQueriesContext(connection) as asked:
        answer = client.get(address)  # type: ignore[attr-defined]
    statements = len([query for query in asked if not query["sql"].startswith(BRACKETS)])
    reset_queries()
    if answer.status_code != 200:
        raise SystemExit(f"{address} answers {answer.status_code}")
    times, cpu = [], []
    for _ in range(7):
        started, spent = time.perf_counter(), time.process_time()
        client.get(address)  # type: ignore[attr-defined]
        times.append((time.perf_counter() - started) * 1000)
        cpu.append((time.process_time() - spent) * 1000)
    return statistics.median(times), statistics.median(cpu), statements


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.screens")
    parser.add_argument("--quick", action="store_true", help="a hundredth of the rows")
    with tempfile.TemporaryDirectory(prefix="smartbrain-bench-") as folder:
        os.environ.update(DATA_DIR=folder, LOG_LEVEL="ERROR")
        os.environ.pop("DATABASE_URL", None)
        sys.exit(measure(parser.parse_args().quick))
