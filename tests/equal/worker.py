"""One database on trial: calls come in as JSON lines, answers go out as JSON lines, with clock and ids from outside.

`python -m tests.equal.worker` with a DATABASE_URL and a DATA_DIR of its own. Given the same lines, two workers on
different databases must write the same lines. Nothing here is compared that comes from a random source: the secrets of
new keys are left out by the one who compares.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from unittest import mock
from uuid import UUID

import django

from kernel import clock, ids
from kernel.context import Ctx, Door
from kernel.errors import DomainError
from kernel.loaded import keep_loaded

if TYPE_CHECKING:
    from scopes.selectors import Identity

EXAMPLE_BITS = 38
# Limits that only large stores reach, so low that small ones do too: what is cut must be the same on both databases.
TIGHT: dict[str, dict[str, int]] = {
    "search.selectors.candidates": {"ROW_BUDGET": 12, "CANDIDATES": 6, "AROUND": 3},
    "search.selectors.narrowed": {"ROW_BUDGET": 5, "HELD": 12, "ENOUGH": 3},
    "search.services": {"_FOLD_EVERY": 3, "_BATCH": 7},
    "media.selectors.retrieving": {"FEW": 2, "MAX_SCOPES": 2},
    "memory.selectors.graph": {"MAX_NAMES": 2},
    "memory.selectors.searching": {"MAX_NAMES": 2, "CHUNK": 3},
    "memory.selectors.evidence": {"MAX_EDGES": 1, "LEAST_OF_A_SCOPE": 1},
    "memory.selectors.seen": {"MAX_STANDING": 2},
    "memory.selectors.items": {"MAX_VERSIONS": 1, "MAX_STEPS": 3},
    "memory.selectors.recall": {"MAX_OPEN_TASKS": 1},
    "memory.services.contexts": {"PRUNE_BATCH": 1},
}


def main() -> int:
    """Prepare the database, say so, then answer line by line until the input ends."""
    answers, sys.stdout = sys.stdout, sys.stderr  # a stray print must not look like an answer
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "smartbrain_site.settings")
    django.setup()
    from django.core.management import call_command

    call_command("migrate", interactive=False, verbosity=0)
    keep_loaded()
    print(json.dumps({"ready": True}), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(_answer(json.loads(line)), ensure_ascii=False), file=answers, flush=True)
    return 0


def _answer(asked: dict[str, Any]) -> dict[str, Any]:
    """What one call gives: the answer, the refusal, or the trace of a bug."""
    with clock.use(_still(asked["at"])), ids.use(_numbered(asked)), ExitStack() as limits:
        for module, values in TIGHT.items() if asked["tight"] else ():
            for name, value in values.items():
                limits.enter_context(mock.patch(f"{module}.{name}", value))
        try:
            return _call(asked)
        except DomainError as exc:
            return {"status": exc.status, "body": exc.problem("")}
        except Exception:  # noqa: BLE001  a bug on one side is an answer too: the one who compares reports it
            return {"bug": traceback.format_exc()}


def _call(asked: dict[str, Any]) -> dict[str, Any]:
    from governance import gate

    if asked["action"] == "make_person":
        _make_person(**asked["input"])
        return {"status": 200, "body": {}}
    identity = _identify(asked["actor"])
    answer = gate.call(asked["action"], asked["input"], ctx=Ctx(identity.actor, Door.PYTHON, identity.reach))
    return {"status": answer.status, "body": answer.body()}


@lru_cache(maxsize=8)  # what they may reach is settled before they first act
def _identify(name: str) -> Identity:
    """The actor of that name with what it may reach: the system itself, a person or an agent."""
    from django.contrib.auth import get_user_model

    from governance.gate import system_ctx
    from scopes.selectors import EVERYTHING, Identity, identify_named, identify_person

    if name == "system":
        return Identity(system_ctx("tests", Door.PYTHON).actor, EVERYTHING)
    if name.startswith("person:"):
        return identify_person(get_user_model().objects.get(username=name.removeprefix("person:")))
    found = identify_named(name)
    if found is None:
        raise LookupError(name)
    return found


def _make_person(name: str, is_superuser: bool) -> None:
    from django.contrib.auth import get_user_model

    get_user_model().objects.create_user(name, None, None, is_superuser=is_superuser)


def _still(at: str) -> Callable[[], datetime]:
    moment = datetime.fromisoformat(at)
    return lambda: moment


def _numbered(asked: dict[str, Any]) -> Callable[[], UUID]:
    """Ids of version 7 that sort by time, then by call, then by when they were asked for within the call."""
    milliseconds = int(datetime.fromisoformat(asked["at"]).timestamp() * 1000)
    high = milliseconds << 16 | 7 << 12 | asked["call"] & 0xFFF
    counter = 0

    def next_id() -> UUID:
        nonlocal counter
        counter += 1
        low = 2 << 62 | counter << EXAMPLE_BITS | asked["example"]
        return UUID(int=high << 64 | low)

    return next_id


if __name__ == "__main__":
    sys.exit(main())
