"""Whatever is altered by hand after moving in is found by the next validation: each compared column of each table, of rows
that were moved as they are and of rows that had to be adjusted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import IntegrityError, models, transaction

from governance.gate import system_ctx
from kernel.context import Door
from legacy.contracts import SourceRow
from legacy.models import MigratedRow
from legacy.selectors.compared import COMPARISONS, Comparison
from legacy.selectors.compared.shapes import Parent, Value
from legacy.selectors.targets import targets
from legacy.services.holding import key_there, look_at_source_rows, look_at_targets
from legacy.services.migrating import Options, migrate
from legacy.services.tally import Tally
from legacy.source import Source, opened
from media.storage import store
from memory.models import (
    EvidenceLink,
    KnowledgeEvent,
    MemoryItem,
    Message,
    Session,
    SessionScopeLink,
    Summary,
    Turn,
)
from scopes.models import MemoryScope, Principal
from tests.conftest import make_agent
from tests.guards.write_guard import unguarded
from tests.legacy.sources import EVERYTHING, everything
from tests.legacy.sources.databases import source
from tests.media.conftest import media_folder, set_conf

__all__ = ["media_folder", "set_conf"]

NEW: dict[type, Any] = {models.DateTimeField: datetime(2001, 2, 3, tzinfo=UTC), models.DateField: date(2001, 2, 3)}
MORE = """
ALTER TABLE kg_edges ADD confidence numeric DEFAULT 0.7, ADD source_turn_id text;
ALTER TABLE knowledge_events ADD actor text DEFAULT 'ada';
"""
VARIED = """
UPDATE kg_edges SET status = 'ended', source_session_id = NULL WHERE id = (SELECT min(id) FROM kg_edges);
UPDATE memory_items SET source_session_id = NULL WHERE id = (SELECT min(id) FROM memory_items);
UPDATE memory_scopes SET metadata_json = '{"a": 1}' WHERE scope_type = 'project';
UPDATE media_jobs SET principal = 'ada' WHERE id = (SELECT min(id) FROM media_jobs);
UPDATE source_documents SET principal = 'ada' WHERE id = (SELECT min(id) FROM source_documents);
"""
# What names a row here: with it altered, another row is looked for, and this one is missing.
UNALTERABLE = {
    ("domains", "id"),
    ("source_documents", "url"),  # read in its place where there is no source_uri yet
    *(("section_tags", column) for column in ("section_id", "tag_id")),
    *(("research_topic_sections", column) for column in ("research_topic_id", "section_id")),
    *(("research_topic_tags", column) for column in ("research_topic_id", "tag_id")),
}


@dataclass(frozen=True, slots=True)
class Moved:
    """A source that was moved in, with the rows of it by table and id."""

    there: Source
    rows: dict[str, dict[str, SourceRow]]


@pytest.fixture
def moved(db: None, postgres: str, media_folder: Path, tmp_path: Path) -> Iterator[Moved]:
    root = tmp_path / "older-media"
    root.mkdir()
    rows, _, manifest = everything(root, sessions=2)
    with source(postgres, rows, manifest, EVERYTHING + MORE) as made:
        with made.connect() as connection:
            connection.execute(VARIED)
        with opened(made.url) as there:
            yield _moved(there, root)


def _moved(there: Source, root: Path) -> Moved:
    ctx = system_ctx("tests", Door.CLI)
    migrate(there, make_agent("older-app", "legacy").identity.actor, Options(media_root=root), ctx, lambda *told: None)
    found = {table: {row.key: row for row in there.rows(table, key=key_there(there, table))} for table in COMPARISONS}
    return Moved(there, found)


def columns_found(moved: Moved, table: str, row: SourceRow) -> set[str]:
    """The columns in which a validation says that this row differs."""
    tally = Tally()
    look_at_source_rows(table, [row], moved.there, tally)
    (check,) = [each for each in tally.checks(with_source=True) if each.code == "value_differs"]
    return {part.partition(":")[0].strip() for each in check.findings for part in each.what.split("; ")}


def test_every_compared_column(moved: Moved) -> None:
    """Altered one at a time, in a row without a note and in one with, each is named."""
    missed, tried = [], set()
    for table, comparison in COMPARISONS.items():
        for value in compared(comparison):
            for became in examples(moved, table, comparison, value):
                row, target = moved.rows[table][became.source_id], target_of(comparison, became)
                assert columns_found(moved, table, row) == set(), (table, became.source_id, became.note)
                for found in altered(target, value, row, partial(columns_found, moved, table, row)):
                    tried.add((table, name_of(value)))
                    if name_of(value) not in found:
                        missed.append((table, name_of(value), became.source_id, became.note))
    assert "\n".join(map(str, missed)) == ""
    wanted = {
        (table, name_of(value))
        for table, comparison in COMPARISONS.items()
        for value in compared(comparison)
        if moved.there.has(table, value.column)
    }
    assert "\n".join(map(str, sorted(wanted - tried - UNALTERABLE))) == ""


def compared(comparison: Comparison) -> list[Value | Parent]:
    return [*comparison.values, *comparison.parents]


def name_of(value: Value | Parent) -> str:
    return value.name if isinstance(value, Value) else value.column


def altered(target: Any, value: Value | Parent, row: SourceRow, look: Callable[[], set[str]]) -> Iterator[set[str]]:
    """What is found while the value is another; it is put back."""
    field = target._meta.get_field(value.attribute.partition(".")[0])
    if field.primary_key or type(target)._meta.pk.name == "pk":
        return
    said = value.read(row) if isinstance(value, Value) and value.part else {}
    for other in others(field, getattr(target, field.attname), said):
        try:
            with transaction.atomic(), unguarded():
                type(target)._default_manager.filter(pk=target.pk).update(
                    **{field.attname: other, **beside(target, field)}
                )
                yield look()
                transaction.set_rollback(True)
        except IntegrityError:  # the place is taken: another value
            continue
        return


def examples(moved: Moved, table: str, comparison: Comparison, value: Value | Parent) -> list[MigratedRow]:
    """A row of which the value is compared without a note, and one with."""
    found: dict[bool, MigratedRow] = {}
    for became in MigratedRow.objects.filter(source_table=table, outcome="migrated").order_by("pk"):
        row = moved.rows[table][became.source_id]
        asked = row.has(value.column) or (value.empty and value.column in row.columns)
        if asked and value.only(row) and says_anything(value, row) and bool(became.note) not in found:
            found[bool(became.note)] = became
    return list(found.values())


def says_anything(value: Value | Parent, row: SourceRow) -> bool:
    """Of an object to which more may be added here, what is there already is compared."""
    return not getattr(value, "part", False) or row.columns[value.column] != "{}"


def target_of(comparison: Comparison, became: MigratedRow) -> Any:
    return targets(comparison.model, [became.target_id], comparison.fetched)[became.target_id]


def beside(target: Any, field: Any) -> dict[str, Any]:
    """What has to make way so that a row can be hung elsewhere."""
    if field.name == "turn" and hasattr(target, "position"):
        return {"position": 999}
    return {"seq": 9_999} if isinstance(target, Turn) and field.name == "session" else {}


def others(field: Any, now: Any, said: Any) -> Iterator[Any]:
    """Other values for a column, to be tried one after the other; `said` is the object there of which it has the members."""
    if isinstance(field, models.ForeignKey):
        rows = field.remote_field.model._default_manager.exclude(pk=now).order_by("-pk")
        yield from rows.values_list(field.target_field.attname, flat=True)[:20]
    elif isinstance(said, dict) and said:
        yield {**now, **dict.fromkeys(said, "altered")}
    else:
        yield NEW.get(type(field), "zz") if now is None else changed(now)
        yield from {"demoted", "failed", "superseded"} - {now} if isinstance(now, str) else ()


def changed(now: Any) -> Any:
    if isinstance(now, bool):
        return not now
    if isinstance(now, float):
        return now - 0.03125 if now > 0.5 else now + 0.03125
    if isinstance(now, int):
        return now + 900
    if isinstance(now, datetime | date):
        return now + timedelta(days=1)
    if isinstance(now, dict):
        return {name: [inner, "altered"] for name, inner in now.items()} or {"altered": 1}
    if isinstance(now, list):
        return [*now, "altered"]
    if isinstance(now, UUID):
        return uuid4()
    return "zz" if now != "zz" else "yy"


def faults(moved: Moved, table: str) -> dict[str, list[str]]:
    """What a validation says of all rows that were moved from a table: by code, the ids here, or there where none is."""
    tally, rows = Tally(), list(moved.rows[table].values())
    came = list(MigratedRow.objects.filter(source_table=table, outcome="migrated"))
    look_at_targets(COMPARISONS[table].model._meta.db_table, came, tally)
    look_at_source_rows(table, rows, moved.there, tally)
    return {
        check.code: [each.target_id or each.source_id for each in check.findings]
        for check in tally.checks(with_source=True)
        if check.fault and check.count
    }


def swap(model: Any, column: str, **where: Any) -> tuple[Any, Any]:
    """Exchange a column between two rows in which it differs."""
    one = model.objects.filter(**where).order_by("pk")[0]
    other = model.objects.filter(**where).exclude(**{column: getattr(one, column)}).order_by("pk")[0]
    for row, value in ((one, getattr(other, column)), (other, getattr(one, column))):
        model.objects.filter(pk=row.pk).update(**{column: value})
    return one, other


def exchange_texts() -> tuple[str, dict[str, int]]:
    swap(Message, "content")
    return "messages", {"value_differs": 2}


def exchange_sessions() -> tuple[str, dict[str, int]]:
    one, other = Turn.objects.filter(seq=1).order_by("pk")[:2]
    Turn.objects.filter(pk=one.pk).update(seq=9_999)
    Turn.objects.filter(pk=other.pk).update(session=one.session_id)
    Turn.objects.filter(pk=one.pk).update(seq=1, session=other.session_id)
    return "turns", {"value_differs": 2, "cross_domain": 2}  # the two sessions lie in different domains


def lie_in_another_scope() -> tuple[str, dict[str, int]]:
    one = Session.objects.order_by("pk")[0]
    spare = MemoryScope.objects.create(domain_id=one.domain_id, scope_type="project", external_id="spare")
    Session.objects.filter(pk=one.pk).update(scope=spare)
    return "sessions", {"value_differs": 1}


def belong_to_another_principal() -> tuple[str, dict[str, int]]:
    item = MemoryItem.objects.order_by("pk")[0]
    MemoryItem.objects.filter(pk=item.pk).update(author_id=str(Principal.objects.create(name="someone").pk))
    return "memory_items", {"value_differs": 1}


def lose_evidence() -> tuple[str, dict[str, int]]:
    EvidenceLink.objects.filter(pk=EvidenceLink.objects.order_by("pk")[0].pk).delete()
    return "memory_items", {"value_differs": 1}


def lose_origin() -> tuple[str, dict[str, int]]:
    KnowledgeEvent.objects.filter(pk=KnowledgeEvent.objects.filter(kind="migrated").order_by("pk")[0].pk).delete()
    return "memory_items", {"no_origin": 1}


def lose_a_link() -> tuple[str, dict[str, int]]:
    SessionScopeLink.objects.filter(
        pk=MigratedRow.objects.filter(target_table="session_scope_links", note="").order_by("pk")[0].target_id
    ).delete()
    return "session_scope_links", {"missing": 1}


def lose_a_summary() -> tuple[str, dict[str, int]]:
    Summary.objects.filter(pk=Summary.objects.order_by("pk")[0].pk).delete()
    return "summaries", {"missing": 1}


def lose_the_record_of_the_quarantine() -> tuple[str, dict[str, int]]:
    row = MigratedRow.objects.filter(outcome="quarantined").order_by("pk")[0]
    MigratedRow.objects.filter(pk=row.pk).delete()
    return row.source_table, {"not_accounted": 1}


def rewrite_the_record_of_the_quarantine() -> tuple[str, dict[str, int]]:
    row = MigratedRow.objects.filter(outcome="quarantined").exclude(content=None).order_by("pk")[0]
    MigratedRow.objects.filter(pk=row.pk).update(content={**row.content, "id": "another"})
    return row.source_table, {"value_differs": 1}


def say_it_was_left_out() -> tuple[str, dict[str, int]]:
    row = MigratedRow.objects.filter(source_table="messages", outcome="migrated").order_by("pk")[0]
    MigratedRow.objects.filter(pk=row.pk).update(outcome="left_out", target_table="", target_id="")
    return "messages", {"not_accounted": 1}


def point_the_record_elsewhere() -> tuple[str, dict[str, int]]:
    row = MigratedRow.objects.filter(source_table="messages", outcome="migrated").order_by("pk")[0]
    MigratedRow.objects.filter(pk=row.pk).update(target_id=str(uuid4()))
    return "messages", {"missing": 1}


def lose_bytes() -> tuple[str, dict[str, int]]:
    row = MigratedRow.objects.filter(source_table="media_objects", outcome="migrated").order_by("pk")[0]
    (target,) = targets(COMPARISONS["media_objects"].model, [row.target_id]).values()
    with store().local_path(target.content_hash) as path:
        path.unlink()
    return "media_objects", {"bytes_lost": 1}


def alter_bytes() -> tuple[str, dict[str, int]]:
    row = MigratedRow.objects.filter(source_table="media_objects", outcome="migrated").order_by("pk")[0]
    (target,) = targets(COMPARISONS["media_objects"].model, [row.target_id]).values()
    with store().local_path(target.content_hash) as path:
        path.chmod(0o600)
        path.write_bytes(b"x" * target.byte_size)
    return "media_objects", {"bytes_lost": 1}


LOSSES = (
    exchange_texts, exchange_sessions, lie_in_another_scope, belong_to_another_principal, lose_evidence, lose_origin,
    lose_a_link, lose_a_summary, lose_the_record_of_the_quarantine, rewrite_the_record_of_the_quarantine,
    say_it_was_left_out, point_the_record_elsewhere, alter_bytes, lose_bytes,
)  # fmt: skip


def test_every_loss(moved: Moved) -> None:
    """Rows exchanged, moved, lost and forged, one loss at a time, are found as what they are, and nothing else is."""
    told = {}
    for loss in LOSSES:
        with transaction.atomic(), unguarded():
            table, wanted = loss()
            found = {code: len(ids) for code, ids in faults(moved, table).items()}
            if found != wanted:
                told[loss.__name__] = found
            transaction.set_rollback(True)
    assert told == {}
