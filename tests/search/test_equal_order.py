"""The same texts give the same hits, scores and order on every database: both are held to one digest."""

from __future__ import annotations

import hashlib
import random
from datetime import timedelta

from tests.search.conftest import NOW

WORDS = [
    *["kumquat", "harbour", "project", "database", "meeting", "paint", "study", "sister", "guitar", "camping", "museum", "pottery", "beach", "running", "book", "coffee", "winter", "market", "garden", "window"],
    *["数据库", "会议", "项目", "海边", "咖啡", "画画", "研究"],
]  # fmt: skip
# Made on SQLite; a change of the ranking changes it on purpose.
DIGEST = "08181ba3901ea551"


def test_it_works(shelf):
    draw = random.Random(7)
    for session in range(12):
        lines = [(draw.choice(["Ann", "Bob", "王小明"]), " ".join(draw.choices(WORDS, k=6))) for _ in range(15)]
        shelf.talk(*lines, session=session, scope=draw.choice("ab"), event_time=NOW - timedelta(days=20 * session))
    for _ in range(40):
        shelf.put(" ".join(draw.choices(WORDS, k=8)), scope=draw.choice("ab"), trust=draw.random())
    seen = hashlib.sha256()
    for _ in range(60):
        words = " ".join(draw.choices(WORDS, k=3))
        for query in (words, f"What did Ann say of {words} in May?", f"王小明现在的{words}是什么"):
            for hit in shelf.ask(query, "a", "b"):
                seen.update(
                    f"{hit.object_id} {hit.scope_key == shelf.scope('a')} {hit.score:.6f} {hit.confidence:.4f};".encode()
                )
    assert seen.hexdigest()[:16] == DIGEST
