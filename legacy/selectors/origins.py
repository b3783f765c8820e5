"""What was moved in from the older system and what was not: the ids that rows here have there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from uuid import UUID

from legacy.models import MigratedRow
from memory.models import Session


def older_ids(table: str, pks: Iterable[UUID]) -> dict[UUID, str]:
    """The id in the older system of each of these rows of `table` that came from there."""
    wanted = {str(pk): pk for pk in pks}
    rows = MigratedRow.objects.filter(target_table=table, target_id__in=list(wanted))
    return {wanted[target]: source for target, source in rows.values_list("target_id", "source_id")}


def older_session_names(sessions: Sequence[Session]) -> tuple[dict[UUID, str], list[Session]]:
    """What each session is called in the older system, and those that cannot keep their name there.

    There a name stands for one conversation. The one that came from there keeps it, else the first one of that name;
    any other gets its own id behind it.
    """
    came = older_ids("sessions", [session.pk for session in sessions])
    others = [session for session in sessions if session.pk not in came]
    wanted = {session.external_id for session in others}
    taken = set(
        MigratedRow.objects.filter(source_table="sessions", source_id__in=wanted).values_list("source_id", flat=True)
    )
    bearers: dict[str, list[UUID]] = defaultdict(list)
    for pk, name in Session.objects.filter(external_id__in=wanted).order_by("pk").values_list("pk", "external_id"):
        bearers[name].append(pk)
    renamed = [
        session
        for session in others
        if session.external_id in taken or bearers[session.external_id][:1] != [session.pk]
    ]
    kept = {session.pk: session.external_id for session in others}
    return {**kept, **{session.pk: f"{session.external_id} {session.pk}" for session in renamed}, **came}, renamed
